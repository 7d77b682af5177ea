//! A plan costs what it keeps, fits where it says so, and parts no call from its result.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use turnfit_core::facts::{Facts, Role, Row, Tool};
use turnfit_core::ledger::{Clearing, Ledger};
use turnfit_core::pairing::{Key, Label};
use turnfit_core::walk::{Keep, Plan, Rules, Step, plan};

const NOTE: u64 = 25;
const TRIM_NOTE: u64 = 40;

#[derive(Arbitrary, Debug)]
enum Said {
    System,
    User,
    Note,
    Calls(Vec<u8>),
    Result(u8, u16),
    Words(u8),
}

#[derive(Arbitrary, Debug)]
struct Case {
    history: Vec<(Said, bool)>,
    batch: u8,
    stride: u16,
    room: u32,
    keep: u16,
    at_least: u8,
}

fuzz_target!(|case: Case| {
    let ledger = ledger_of(&case);
    let rules = Rules {
        room: u64::from(case.room) % (ledger.tokens() + 100),
        keep: Keep::Tokens(case.keep.into()),
        keep_at_least: case.at_least.into(),
        stride: case.stride.into(),
        trim_note: TRIM_NOTE,
    };
    let made = plan(&ledger, &rules);
    let held = kept(&made);
    assert!(held.is_sorted() && held.iter().all(|&message| message < ledger.len()));
    assert_eq!(made.tokens, tokens(&ledger, &made, &held));
    if made.step < Step::Turns {
        assert_eq!(held.len(), ledger.len());
    }
    for result in ledger.results() {
        if let Some(call) = result.call.get() {
            let call = ledger.calls()[call as usize].message as usize;
            let both = [call, result.message as usize].map(|message| held.contains(&message));
            assert_eq!(both[0], both[1], "a pair is parted");
        }
    }
    assert_eq!(plan(&ledger, &rules), made);
});

fn ledger_of(case: &Case) -> Ledger {
    let clearing = Clearing {
        worth: 2.0,
        batch: usize::from(case.batch).max(1),
        stride: case.stride.into(),
        note: NOTE,
        note_done: 30,
    };
    let mut ledger = Ledger::new(clearing);
    ledger.add_tool(Tool::default());
    for (said, pinned) in &case.history {
        ledger.append(&facts(said, *pinned));
    }
    ledger
}

fn facts(said: &Said, pinned: bool) -> Facts {
    let key = |id: u8| Key([id.into(), 0]);
    let (role, tokens, rows) = match said {
        Said::System => (Role::System, 10, vec![]),
        Said::User | Said::Note => (Role::User, 20, vec![]),
        Said::Words(tokens) => (Role::Assistant, u64::from(*tokens) + 3, vec![]),
        Said::Calls(ids) => {
            let call = |&id: &u8| Row::Call { id: Some(key(id)), name: None, tool: Some(0), saving: 0 };
            (Role::Assistant, 30 + 20 * ids.len() as u64, ids.iter().map(call).collect())
        }
        Said::Result(id, content) => {
            let content = u64::from(*content);
            let row = Row::Result { label: Label::Id(key(*id)), tool: None, content, clearable: true };
            (Role::Tool, content + 5, vec![row])
        }
    };
    Facts { role, tokens, pinned, trim_note: matches!(said, Said::Note), rows, ..Facts::default() }
}

fn kept(plan: &Plan) -> Vec<usize> {
    plan.kept.iter().cloned().flatten().collect()
}

fn tokens(ledger: &Ledger, plan: &Plan, held: &[usize]) -> u64 {
    let messages: u64 = held.iter().map(|&message| ledger.message_tokens(message)).sum();
    let freed: u64 = plan.cleared_in(ledger).map(|(number, _)| ledger.freed_by(number)).sum();
    messages - freed + plan.note_before.map_or(0, |_| TRIM_NOTE)
}
