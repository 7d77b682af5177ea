//! What a history costs and how its calls and results hang together.
//!
//! A [`Ledger`] is append-only: one [`Facts`] per message goes in, and columns
//! with their prefix sums grow. Each question that the walk asks (what does this
//! stretch cost, where may one cut, how much would clearing free) is then a
//! subtraction or a binary search. Appending is amortised O(1) per row.
//!
//! Messages, results, calls and clearable results are numbered from 0 in the
//! order in which they came. A prefix-sum column has one entry more than rows.

use std::ops::Range;

use crate::facts::{Facts, Role, Row, Tool, ToolId};
use crate::maybe::Maybe;
use crate::pairing::{Label, Pairing};

/// How results are cleared; fixed for a ledger's life.
#[derive(Clone, Copy, Debug)]
pub struct Clearing {
    /// A result is worth clearing if its content costs more than this many notes.
    pub worth: f64,
    /// Boundaries lie at multiples of this many results.
    pub batch: usize,
    /// Boundaries are at least so many freed tokens apart; 0 for any distance.
    pub stride: u64,
    /// What the note in place of a result costs, in tokens.
    pub note: u64,
    /// Likewise for a result whose tool must not run again.
    pub note_done: u64,
}

/// A result, where it stands and what it answers.
#[derive(Clone, Copy, Debug)]
pub struct ResultRow {
    /// Its message.
    pub message: u32,
    /// Its place among the calls and results of that message.
    pub place: u32,
    /// The call it answers.
    pub call: Maybe,
    /// Its tool, as its call or it itself names it.
    pub tool: Maybe,
}

/// A call, where it stands and since when it is answered.
#[derive(Clone, Copy, Debug)]
pub struct CallRow {
    /// Its message.
    pub message: u32,
    /// Its place among the calls and results of that message.
    pub place: u32,
    /// Its tool.
    pub tool: Maybe,
    answered: bool,
    saving: u64,
}

/// A result that is worth clearing.
#[derive(Clone, Copy, Debug)]
pub struct Clearable {
    /// Its number among all results.
    pub result: u32,
    /// The call whose arguments go with it.
    pub arguments_of: Maybe,
}

/// A message that always stays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pin {
    pub(crate) message: u32,
    pub(crate) paired: bool,
    pub(crate) opens_turn: bool,
    pub(crate) is_marker: bool,
}

/// Append-only columns over a history, and their prefix sums.
///
/// ```
/// use turnfit_core::facts::{Facts, Role};
/// use turnfit_core::ledger::{Clearing, Ledger};
///
/// let clearing = Clearing { worth: 2.0, batch: 4, stride: 0, note: 20, note_done: 20 };
/// let mut ledger = Ledger::new(clearing);
/// ledger.append(&Facts { role: Role::User, tokens: 12, ..Facts::default() });
/// assert_eq!((ledger.len(), ledger.tokens()), (1, 12));
/// ```
pub struct Ledger {
    clearing: Clearing,
    tools: Vec<Tool>,
    cost: Vec<u64>,
    lean: Vec<i64>,
    clearables_before: Vec<u32>,
    results: Vec<ResultRow>,
    content: Vec<u64>,
    clearables: Vec<Clearable>,
    freed: Vec<u64>,
    boundaries: Vec<u32>,
    line: u64,
    calls: Vec<CallRow>,
    pairing: Pairing,
    turns: Vec<u32>,
    rounds: Vec<u32>,
    preamble: u32,
    first_user: Option<u32>,
    in_flight: Option<u32>,
    pins: Vec<Pin>,
    trim_notes: Vec<u32>,
    unfinished: Vec<u32>,
    unanswered: usize,
    /// What stands before this message costs nothing: the provider has replaced it.
    horizon: u32,
    last_role: Option<Role>,
    /// Where the response begins that the model gave last.
    response: u32,
}

impl Ledger {
    /// An empty ledger.
    #[must_use]
    pub fn new(clearing: Clearing) -> Self {
        Ledger {
            clearing,
            tools: Vec::new(),
            cost: vec![0],
            lean: vec![0],
            clearables_before: vec![0],
            results: Vec::new(),
            content: vec![0],
            clearables: Vec::new(),
            freed: vec![0],
            boundaries: Vec::new(),
            line: clearing.stride,
            calls: Vec::new(),
            pairing: Pairing::default(),
            turns: Vec::new(),
            rounds: Vec::new(),
            preamble: 0,
            first_user: None,
            in_flight: None,
            pins: Vec::new(),
            trim_notes: Vec::new(),
            unfinished: Vec::new(),
            unanswered: 0,
            horizon: 0,
            last_role: None,
            response: 0,
        }
    }

    /// Begins anew at a message by which the provider has replaced all before it.
    fn restart(&mut self, message: u32) {
        let before = message as usize + 1;
        let tools = std::mem::take(&mut self.tools);
        *self = Ledger {
            tools,
            cost: vec![0; before],
            lean: vec![0; before],
            clearables_before: vec![0; before],
            preamble: message,
            horizon: message,
            ..Ledger::new(self.clearing)
        };
    }

    /// Makes room for so many more messages, of which about half hold a call and
    /// half a result.
    pub fn reserve(&mut self, messages: usize) {
        self.cost.reserve(messages);
        self.lean.reserve(messages);
        self.clearables_before.reserve(messages);
        self.results.reserve(messages / 2);
        self.content.reserve(messages / 2);
        self.clearables.reserve(messages / 2);
        self.freed.reserve(messages / 2);
        self.calls.reserve(messages / 2);
        self.rounds.reserve(messages / 2);
        self.pairing.reserve(messages / 2);
    }

    /// Makes a tool known and gives its number.
    pub fn add_tool(&mut self, tool: Tool) -> ToolId {
        self.tools.push(tool);
        (self.tools.len() - 1) as ToolId
    }

    /// Appends one message.
    ///
    /// # Panics
    /// If the history would have more than `u32::MAX` messages.
    pub fn append(&mut self, facts: &Facts) {
        let message = u32::try_from(self.len()).expect("at most u32::MAX messages");
        if facts.marker {
            self.restart(message);
        }
        if !self.goes_on(facts) {
            self.response = message;
        }
        let calls_before = self.calls.len();
        let freed_before = self.freed_total();
        let answers = self.append_rows(message, facts);
        let freed = self.freed_total() - freed_before;
        self.append_costs(facts, freed);
        self.append_marks(message, facts);
        self.append_start(message, facts, answers);
        self.follow_flight(message, facts, calls_before);
        self.last_role = Some(facts.role);
    }

    /// Whether a message is of the same response as the one before.
    pub(crate) fn goes_on(&self, facts: &Facts) -> bool {
        facts.continues && facts.role == Role::Assistant && self.last_role == Some(Role::Assistant)
    }

    fn append_rows(&mut self, message: u32, facts: &Facts) -> bool {
        let mut answers = false;
        for (place, row) in (0..).zip(&facts.rows) {
            match *row {
                Row::Call { id, name, tool, saving } => {
                    let saving = if facts.pinned { 0 } else { saving };
                    self.calls.push(CallRow { message, place, tool: tool.into(), answered: false, saving });
                    self.unanswered += 1;
                    self.pairing.add_call(self.response, id, name);
                }
                Row::Result { label, tool, content, clearable } => {
                    answers = true;
                    let call = self.answer(label);
                    let tool = call.and_then(|call| self.calls[call as usize].tool.get()).or(tool);
                    let row = ResultRow { message, place, call: call.into(), tool: tool.into() };
                    self.append_result(row, content, clearable && !facts.pinned);
                }
                Row::Reference => {
                    self.calls.push(CallRow {
                        message,
                        place,
                        tool: Maybe::default(),
                        answered: true,
                        saving: 0,
                    });
                    self.pairing.add_reference(message);
                }
            }
        }
        answers
    }

    fn answer(&mut self, label: Label) -> Option<u32> {
        let number = self.pairing.answer(label)?;
        let call = &mut self.calls[number as usize];
        self.unanswered -= usize::from(!call.answered);
        call.answered = true;
        let message = call.message;
        self.forbid_cuts_after(message);
        Some(number)
    }

    /// A result has come for a call of this message: what starts behind the call
    /// would separate the two. All such starts lie at the end of the columns.
    fn forbid_cuts_after(&mut self, message: u32) {
        for starts in [&mut self.turns, &mut self.rounds] {
            while starts.last().is_some_and(|&start| start > message) {
                starts.pop();
            }
        }
    }

    fn append_result(&mut self, row: ResultRow, content: u64, clearable: bool) {
        let tool = row.tool.get().map_or(Tool::default(), |tool| self.tools[tool as usize]);
        let note = if tool.no_rerun { self.clearing.note_done } else { self.clearing.note };
        if clearable && !tool.excluded && content as f64 > self.clearing.worth * note as f64 {
            self.append_clearable(row, content.saturating_sub(note));
        }
        self.results.push(row);
        self.content.push(self.content_total() + content);
    }

    fn append_clearable(&mut self, row: ResultRow, mut freed: u64) {
        let result = self.results.len() as u32;
        let arguments_of = row.call.get().filter(|&call| self.calls[call as usize].saving > 0);
        if let Some(call) = arguments_of {
            freed += std::mem::take(&mut self.calls[call as usize].saving);
        }
        self.clearables.push(Clearable { result, arguments_of: arguments_of.into() });
        let sum = self.freed_total() + freed;
        self.freed.push(sum);
        if self.clearables.len().is_multiple_of(self.clearing.batch) && sum >= self.line {
            self.boundaries.push(self.clearables.len() as u32);
            self.line = match self.clearing.stride {
                0 => 0,
                stride => (sum / stride + 1) * stride,
            };
        }
    }

    fn append_costs(&mut self, facts: &Facts, freed: u64) {
        let lean = if facts.trim_note { 0 } else { facts.tokens as i64 - freed as i64 };
        self.cost.push(self.tokens() + facts.tokens);
        self.lean.push(self.lean[self.lean.len() - 1] + lean);
        self.clearables_before.push(self.clearables.len() as u32);
    }

    fn append_marks(&mut self, message: u32, facts: &Facts) {
        if facts.unfinished {
            self.unfinished.push(message);
        }
        if facts.role == Role::System && self.preamble == message {
            self.preamble += 1;
        }
        if facts.trim_note {
            self.trim_notes.push(message);
        } else if facts.pinned || facts.marker {
            let opens_turn = facts.role == Role::User && facts.rows.is_empty();
            let in_response = facts.pinned && facts.continues && facts.role == Role::Assistant;
            let paired = in_response || !facts.rows.is_empty();
            self.pins.push(Pin { message, paired, opens_turn, is_marker: facts.marker });
        }
    }

    fn append_start(&mut self, message: u32, facts: &Facts, answers: bool) {
        match facts.role {
            Role::User if !answers && !facts.trim_note => {
                self.first_user.get_or_insert(message);
                self.turns.push(message);
            }
            Role::Assistant if !self.goes_on(facts) => self.append_round(message, facts),
            _ => {}
        }
    }

    /// An assistant message may hold a result of an earlier message's call.
    fn append_round(&mut self, message: u32, facts: &Facts) {
        let own = self.results[self.results.len() - facts.results()..].iter();
        let mut callers = own.filter_map(|row| row.call.get()).map(|call| self.calls[call as usize].message);
        if callers.all(|caller| caller == message) {
            self.rounds.push(message);
        }
    }

    fn follow_flight(&mut self, message: u32, facts: &Facts, calls_before: usize) {
        if facts.role == Role::User || facts.results() > 0 {
            self.in_flight = None;
        }
        let unanswered = self.calls[calls_before..].iter().any(|call| !call.answered);
        if unanswered && self.in_flight.is_none() {
            self.in_flight = Some(message);
        }
    }

    /// The number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cost.len() - 1
    }

    /// Whether there is no message yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What all messages cost, in tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.cost[self.len()]
    }

    /// What one message costs, in tokens.
    #[must_use]
    pub fn message_tokens(&self, message: usize) -> u64 {
        self.cost[message + 1] - self.cost[message]
    }

    /// The results, in order.
    #[must_use]
    pub fn results(&self) -> &[ResultRow] {
        &self.results
    }

    /// The calls, in order.
    #[must_use]
    pub fn calls(&self) -> &[CallRow] {
        &self.calls
    }

    /// The results that are worth clearing, in order.
    #[must_use]
    pub fn clearables(&self) -> &[Clearable] {
        &self.clearables
    }

    /// What clearing one of [`Ledger::clearables`] frees, in tokens.
    #[must_use]
    pub fn freed_by(&self, clearable: usize) -> u64 {
        self.freed[clearable + 1] - self.freed[clearable]
    }

    /// How a tool is treated.
    #[must_use]
    pub fn tool(&self, tool: ToolId) -> Tool {
        self.tools[tool as usize]
    }

    pub(crate) fn lean(&self, range: Range<usize>) -> i64 {
        self.lean[range.end] - self.lean[range.start]
    }

    pub(crate) fn content(&self) -> &[u64] {
        &self.content
    }

    pub(crate) fn content_total(&self) -> u64 {
        self.content[self.content.len() - 1]
    }

    /// What clearing the first so many clearable results frees, in tokens.
    pub(crate) fn freed_up_to(&self, clearables: usize) -> u64 {
        self.freed[clearables]
    }

    pub(crate) fn freed_total(&self) -> u64 {
        self.freed[self.freed.len() - 1]
    }

    /// Who spoke last.
    pub(crate) fn last_role(&self) -> Option<Role> {
        self.last_role
    }

    /// What the messages of a range cost, in tokens.
    #[must_use]
    pub fn cost_of(&self, range: Range<usize>) -> u64 {
        self.cost[range.end] - self.cost[range.start]
    }

    /// What clearing frees in a range, if so many of the oldest results are cleared.
    #[must_use]
    pub fn freed_in(&self, range: Range<usize>, cleared: usize) -> u64 {
        let [first, end] = [range.start, range.end].map(|at| self.clearables_before(at).min(cleared));
        self.freed_up_to(end) - self.freed_up_to(first)
    }

    /// The messages that change where a clearable result is cleared: its own, and that of
    /// the call whose arguments go with it.
    pub(crate) fn cleared_messages(&self, clearable: usize) -> (usize, Option<usize>) {
        let row = self.clearables[clearable];
        let call = row.arguments_of.get().map(|call| self.calls[call as usize].message as usize);
        (self.results[row.result as usize].message as usize, call)
    }

    /// How many clearable results stand before a message.
    pub(crate) fn clearables_before(&self, message: usize) -> usize {
        self.clearables_before[message] as usize
    }

    /// How many of the first so many clearable results end a batch.
    pub(crate) fn last_boundary(&self, clearables: usize) -> usize {
        let passed = self.boundaries.partition_point(|&end| end as usize <= clearables);
        passed.checked_sub(1).map_or(0, |last| self.boundaries[last] as usize)
    }

    /// The safe starts of turns, calls in flight respected.
    #[must_use]
    pub fn turns(&self) -> &[u32] {
        self.before_flight(&self.turns)
    }

    /// The safe starts of rounds, calls in flight respected.
    #[must_use]
    pub fn rounds(&self) -> &[u32] {
        self.before_flight(&self.rounds)
    }

    fn before_flight<'a>(&self, starts: &'a [u32]) -> &'a [u32] {
        let last = self.in_flight.unwrap_or(u32::MAX);
        &starts[..starts.partition_point(|&start| start <= last)]
    }

    /// What a pinned message keeps: with a call or a result, or between a call and
    /// its result, the whole stretch around it; else itself.
    pub(crate) fn stretch_of(&self, pin: &Pin) -> Range<usize> {
        let message = pin.message;
        let alone = message as usize..message as usize + 1;
        let apart =
            !pin.opens_turn || self.first_user == Some(message) || self.turns.binary_search(&message).is_ok();
        if pin.paired || !apart { self.unit_around(message) } else { alone }
    }

    /// The stretch between two neighbouring cuts that part no call from its result.
    fn unit_around(&self, message: u32) -> Range<usize> {
        let mut unit = self.preamble as usize..self.len();
        for starts in [&self.turns, &self.rounds] {
            let after = starts.partition_point(|&start| start <= message);
            if let Some(&start) = after.checked_sub(1).map(|last| &starts[last]) {
                unit.start = unit.start.max(start as usize);
            }
            if let Some(&end) = starts.get(after) {
                unit.end = unit.end.min(end as usize);
            }
        }
        unit
    }

    /// Messages before this one cost nothing.
    pub(crate) fn horizon(&self) -> usize {
        self.horizon as usize
    }

    /// Results that answer no call, in order.
    pub fn orphans(&self) -> impl Iterator<Item = ResultRow> + '_ {
        self.results.iter().filter(|row| row.call.get().is_none()).copied()
    }

    /// Calls that nothing will answer any more, in order.
    pub fn dead_calls(&self) -> impl Iterator<Item = CallRow> + '_ {
        let in_flight = self.in_flight.unwrap_or(u32::MAX);
        self.calls.iter().filter(move |call| !call.answered && call.message < in_flight).copied()
    }

    /// Calls that nothing has answered yet, in order.
    pub fn unanswered(&self) -> impl Iterator<Item = CallRow> + '_ {
        self.calls.iter().filter(|call| !call.answered).take(self.unanswered).copied()
    }

    /// Messages whose last part never came to its end, in rising order.
    #[must_use]
    pub fn unfinished(&self) -> &[u32] {
        &self.unfinished
    }

    /// How many messages lead the history as its preamble.
    #[must_use]
    pub fn preamble(&self) -> usize {
        self.preamble as usize
    }

    /// The first user message.
    #[must_use]
    pub fn first_user(&self) -> Option<usize> {
        self.first_user.map(|message| message as usize)
    }

    pub(crate) fn pins(&self) -> &[Pin] {
        &self.pins
    }

    pub(crate) fn trim_notes(&self) -> &[u32] {
        &self.trim_notes
    }
}
