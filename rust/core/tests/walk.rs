//! The walk against what may be counted by hand: a plan's tokens are the sum of
//! what it keeps, no pair is parted, and what fits is never over the room.

use proptest::prelude::*;
use turnfit_core::facts::{Facts, Role, Row, Tool};
use turnfit_core::ledger::{Clearing, Ledger};
use turnfit_core::pairing::{Key, Label};
use turnfit_core::walk::{Keep, Plan, Rules, Step, plan};

const TRIM_NOTE: u64 = 40;

#[derive(Clone, Debug)]
enum Kind {
    System,
    User,
    Note,
    Call(u64),
    Result(u64, u64),
    Say,
}

fn facts(kind: &Kind, pinned: bool) -> Facts {
    let (role, tokens, rows) = match *kind {
        Kind::System => (Role::System, 10, vec![]),
        Kind::User | Kind::Note => (Role::User, 20, vec![]),
        Kind::Say => (Role::Assistant, 15, vec![]),
        Kind::Call(id) => {
            let id = Some(Key([id, 0]));
            (Role::Assistant, 30, vec![Row::Call { id, name: None, tool: Some(0), saving: 12 }])
        }
        Kind::Result(id, content) => {
            let row = Row::Result { label: Label::Id(Key([id, 0])), tool: None, content, clearable: true };
            (Role::Tool, content + 5, vec![row])
        }
    };
    Facts { role, tokens, pinned, trim_note: matches!(kind, Kind::Note), rows, ..Facts::default() }
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        1 => Just(Kind::System),
        2 => Just(Kind::User),
        1 => Just(Kind::Note),
        6 => (0..4u64).prop_map(Kind::Call),
        6 => ((0..4u64), (0..400u64)).prop_map(|(id, content)| Kind::Result(id, content)),
        2 => Just(Kind::Say),
    ]
}

fn ledger_of(history: &[(Kind, bool)], batch: usize, stride: u64) -> Ledger {
    let mut ledger = Ledger::new(Clearing { worth: 2.0, batch, stride, note: 25, note_done: 30 });
    ledger.add_tool(Tool::default());
    history.iter().for_each(|(kind, pinned)| ledger.append(&facts(kind, *pinned)));
    ledger
}

fn kept(plan: &Plan) -> Vec<usize> {
    plan.kept.iter().cloned().flatten().collect()
}

/// The tokens of a request, summed message by message.
fn tokens(ledger: &Ledger, plan: &Plan) -> u64 {
    let messages: u64 = kept(plan).iter().map(|&message| ledger.message_tokens(message)).sum();
    let freed: u64 = plan.cleared_in(ledger).map(|(number, _)| ledger.freed_by(number)).sum();
    messages - freed + if plan.note_before.is_some() { TRIM_NOTE } else { 0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    /// Counted by what the results say that they answer.
    #[test]
    fn calls_are_unanswered_until_a_result_answers_them(
        history in prop::collection::vec((kinds(), any::<bool>()), 0..40)
    ) {
        let ledger = ledger_of(&history, 4, 0);
        let answered: Vec<u32> = ledger.results().iter().filter_map(|row| row.call.get()).collect();
        let open = (0..).zip(ledger.calls()).filter(|(number, _)| !answered.contains(number));
        let open: Vec<u32> = open.map(|(_, call)| call.message).collect();
        prop_assert_eq!(ledger.unanswered().map(|call| call.message).collect::<Vec<_>>(), open);
    }


    #[test]
    fn a_plan_costs_what_it_keeps_and_parts_no_pair(
        history in prop::collection::vec((kinds(), prop::bool::weighted(0.05)), 0..40),
        batch in 1..5usize,
        stride in prop_oneof![Just(0u64), 1..300u64],
        share in 0.0..1.1f64,
        keep in 0..500u64,
        keep_at_least in 0..3usize,
    ) {
        let ledger = ledger_of(&history, batch, stride);
        let room = (ledger.tokens() as f64 * share) as u64;
        let rules = Rules { room, keep: Keep::Tokens(keep), keep_at_least, stride, trim_note: TRIM_NOTE };
        let plan = plan(&ledger, &rules);
        prop_assert_eq!(plan.tokens, tokens(&ledger, &plan));
        prop_assert!(plan.tokens <= room || plan.step == Step::Rounds);
        let kept = kept(&plan);
        prop_assert!(kept.is_sorted());
        for row in ledger.results() {
            if let Some(call) = row.call.get() {
                let caller = ledger.calls()[call as usize].message;
                prop_assert_eq!(kept.contains(&(row.message as usize)), kept.contains(&(caller as usize)));
            }
        }
        for (message, (kind, pinned)) in history.iter().enumerate() {
            prop_assert!(!pinned || matches!(kind, Kind::Note) || kept.contains(&message));
        }
    }
}
