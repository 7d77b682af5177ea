//! Which reasoning is stale: what stood before it when the model gave it stands there no more.
//!
//! Providers bind reasoning to all that stood before it. A plan is a function of the
//! history alone; so what was sent when a message was answered is known again from the
//! messages before it, on the assumption that every answer was given to a request
//! planned by the same rules.
//!
//! [`Reasoning`] follows a history as it grows. Where a message brings reasoning, the
//! request that it answered is planned, and compared with the request that the reasoning
//! before it answered: from the first message that differs on, all earlier reasoning is
//! stale, for good. What is left is valid by construction: no request since it was given
//! differs anywhere before it, in what was said or in what reasoning was left out. So
//! stale reasoning always reaches from a change to the move that made it, and none is
//! missing between others that stay.
//!
//! A thought becomes stale at most once, and what is valid lies in no more runs than
//! there were moves. A history without reasoning costs nothing.

use std::ops::Range;

use crate::facts::{Facts, Role};
use crate::ledger::Ledger;
use crate::walk::{Plan, Rules, plan};

/// A message's reasoning.
#[derive(Clone, Copy, Debug)]
pub struct Thought {
    /// Its message.
    pub message: u32,
    /// Where the response ends of which it is a part.
    pub end: u32,
    /// What it costs, in tokens.
    pub tokens: u64,
    /// It can't be left out: an item of its response is refused without it.
    pub bound: bool,
    /// The number of the thought whose request showed that this one is stale.
    stale_since: u32,
}

/// What a plan saw of the reasoning in a history; it holds when the history has grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// So many thoughts had been given.
    thoughts: u32,
    /// From this message on, the request differs from the one that the last thought answered.
    change: u32,
    /// All reasoning before this message is stale.
    forgotten: u32,
    /// What was thought from this message on stays, stale or not.
    held_from: u32,
}

/// What is left out of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stripped {
    /// So many thoughts.
    pub thoughts: u64,
    /// What they cost, in tokens.
    pub tokens: u64,
}

/// No message: all come before it.
const NEVER: u32 = u32::MAX;

/// The reasoning in a history, and which of it is still valid.
pub struct Reasoning {
    rules: Rules,
    thoughts: Vec<Thought>,
    /// What the first so many thoughts that can be left out are, in all.
    sums: Vec<Stripped>,
    /// Runs of the thoughts that no later thought's request found stale.
    valid: Vec<Range<u32>>,
    /// The request that the last thought answered.
    last: Option<Plan>,
    /// The request that the response answers which the model is giving.
    asked: Option<Plan>,
    /// All reasoning before this message is stale.
    forgotten: u32,
    /// Likewise, from when the history has come there.
    forgets: u32,
    /// The messages by which the user opened the last turn, and the one before it.
    turns: [u32; 2],
    /// The message in which the model spoke last.
    spoken: u32,
    /// Whether the response that the model gives has thoughts.
    thinking: bool,
}

impl Reasoning {
    /// Follows a history whose requests are planned by these rules; reasoning before the
    /// message `stale_before` answered requests of others.
    #[must_use]
    pub fn new(rules: Rules, stale_before: usize) -> Self {
        Reasoning {
            rules,
            thoughts: Vec::new(),
            sums: vec![Stripped::default()],
            valid: Vec::new(),
            last: None,
            asked: None,
            forgotten: 0,
            forgets: stale_before as u32,
            turns: [0, 0],
            spoken: 0,
            thinking: false,
        }
    }

    /// Takes a message in, before the ledger does.
    ///
    /// ```
    /// use turnfit_core::facts::{Facts, Role};
    /// use turnfit_core::ledger::{Clearing, Ledger};
    /// use turnfit_core::reasoning::Reasoning;
    /// use turnfit_core::walk::{Keep, Rules, plan};
    ///
    /// let mut ledger = Ledger::new(Clearing { worth: 2.0, batch: 4, stride: 0, note: 20, note_done: 20 });
    /// let rules = Rules { room: 450, keep: Keep::Tokens(0), keep_at_least: 1, stride: 0, trim_note: 30 };
    /// let mut reasoning = Reasoning::new(rules, 0);
    /// for role in [Role::User, Role::Assistant, Role::User, Role::Assistant, Role::User] {
    ///     let thought = (role == Role::Assistant).then_some(50);
    ///     let facts = Facts { role, tokens: 100, thought, ..Facts::default() };
    ///     reasoning.append(&ledger, &facts);
    ///     ledger.append(&facts);
    /// }
    /// // The first turn was dropped; the second answer was given to the whole history.
    /// let plan = plan(&ledger, &rules);
    /// let seen = reasoning.seen(&ledger, &plan, false);
    /// assert_eq!(plan.kept, vec![0..1, 2..5]);
    /// assert_eq!(reasoning.stale(&plan, seen).map(|thought| thought.message).collect::<Vec<_>>(), [3]);
    /// ```
    pub fn append(&mut self, ledger: &Ledger, facts: &Facts) {
        let message = ledger.len() as u32;
        let goes_on = ledger.goes_on(facts);
        if facts.role == Role::Assistant && !goes_on {
            self.thinking = false;
            // Of a response in several items, a later one may be the first to bring reasoning.
            let asked = facts.continues || facts.thought.is_some();
            self.asked = asked.then(|| plan(ledger, &self.rules));
        }
        if facts.marker {
            // The provider has replaced what was before: it reads no reasoning there, and none
            // that follows is bound to it.
            *self =
                Reasoning { forgotten: self.forgotten, ..Reasoning::new(self.rules, self.forgets as usize) };
        }
        self.follow_turns(ledger, message, facts);
        match facts.thought {
            Some(tokens) => self.think(ledger, message, tokens),
            None if goes_on => self.go_on(message, facts.bound),
            None => {}
        }
        if message + 1 == self.forgets {
            self.forget(message as usize + 1, self.rules);
        }
    }

    /// To a provider that merges neighbours, what the user says beside results belongs to
    /// them and opens no turn.
    fn follow_turns(&mut self, ledger: &Ledger, message: u32, facts: &Facts) {
        let beside = matches!(ledger.last_role(), Some(Role::User | Role::Tool));
        let [opened, before] = self.turns;
        if facts.results() > 0 && beside && opened >= self.spoken {
            self.turns = [before, before];
        } else if facts.role == Role::User && facts.results() == 0 && !facts.trim_note && !beside {
            self.turns = [message, opened];
        } else if facts.role == Role::Assistant {
            self.spoken = message;
        }
    }

    fn think(&mut self, ledger: &Ledger, message: u32, tokens: u64) {
        if let Some(asked) = self.asked.take() {
            let change = self.last.as_ref().map_or(NEVER, |last| first_change(ledger, last, &asked));
            self.make_stale_from(change);
            self.last = Some(asked);
        }
        if let Some(last) = &mut self.last {
            last.reach(message as usize);
        }
        // What is thought after the rules have changed is no part of a response from before.
        if self.thoughts.last().is_some_and(|last| last.message >= self.forgotten) {
            self.go_on(message, false);
        }
        let number = self.thoughts.len() as u32;
        let end = message + 1;
        self.thoughts.push(Thought { message, end, tokens, bound: false, stale_since: NEVER });
        self.sums.push(self.sums[number as usize].and(tokens));
        match self.valid.last_mut().filter(|run| run.end == number) {
            Some(run) => run.end = number + 1,
            None => self.valid.push(number..number + 1),
        }
        self.thinking = true;
    }

    /// Another item of the response that the model is giving.
    fn go_on(&mut self, message: u32, bound: bool) {
        if !self.thinking {
            return;
        }
        let first =
            self.thoughts.iter().rposition(|thought| thought.end != message).map_or(0, |last| last + 1);
        for thought in &mut self.thoughts[first..] {
            thought.end = message + 1;
            thought.bound |= bound;
        }
        if bound {
            self.sum_from(first);
        }
    }

    fn sum_from(&mut self, first: usize) {
        self.sums.truncate(first + 1);
        for thought in &self.thoughts[first..] {
            let sum = self.sums[self.sums.len() - 1];
            self.sums.push(if thought.bound { sum } else { sum.and(thought.tokens) });
        }
    }

    /// All reasoning from this message on is stale.
    fn make_stale_from(&mut self, change: u32) {
        let since = self.thoughts.len() as u32;
        let first = self.number_from(change);
        while let Some(run) = self.valid.pop() {
            let stays = run.start..run.end.min(first);
            for number in run.start.max(first)..run.end {
                self.thoughts[number as usize].stale_since = since;
            }
            if !stays.is_empty() {
                self.valid.push(stays);
                return;
            }
        }
    }

    /// All reasoning before this message is stale: the rules have changed, or what stands
    /// before all messages.
    pub fn forget(&mut self, message: usize, rules: Rules) {
        self.rules = rules;
        self.forgotten = message as u32;
        self.valid.clear();
        (self.last, self.asked) = (None, None);
    }

    fn number_from(&self, message: u32) -> u32 {
        self.thoughts.partition_point(|thought| thought.message < message) as u32
    }

    /// What a plan, made just now, sees; where the last turn holds its reasoning, what was
    /// thought since the user spoke last stays.
    #[must_use]
    pub fn seen(&self, ledger: &Ledger, plan: &Plan, holds: bool) -> Seen {
        Seen {
            thoughts: self.thoughts.len() as u32,
            change: self.last.as_ref().map_or(NEVER, |last| first_change(ledger, last, plan)),
            forgotten: self.forgotten,
            held_from: if holds { self.held_from(plan) } else { NEVER },
        }
    }

    /// Where the turn begins that holds its reasoning: it does so where the answer is kept that
    /// ended the turn before. Behind a gap it may have come to stand beside pinned results,
    /// and then their calls belong to it.
    fn held_from(&self, plan: &Plan) -> u32 {
        let opened = self.turns[0];
        let inside =
            |range: &Range<usize>| range.start < opened as usize && range.contains(&(opened as usize));
        if plan.kept.iter().any(inside) { opened } else { 0 }
    }

    /// The stale reasoning in a request, in order.
    pub fn stale<'a>(&'a self, plan: &'a Plan, seen: Seen) -> impl Iterator<Item = &'a Thought> + 'a {
        plan.kept.iter().flat_map(move |range| {
            let is_stale = move |thought: &&Thought| {
                thought.stale_since < seen.thoughts
                    || thought.message >= seen.change
                    || thought.message < seen.forgotten
            };
            self.thoughts_in(range, seen).iter().filter(is_stale)
        })
    }

    /// What of it can be left out, in order.
    pub fn strippable<'a>(&'a self, plan: &'a Plan, seen: Seen) -> impl Iterator<Item = &'a Thought> + 'a {
        let goes = move |thought: &&Thought| !thought.bound && thought.message < seen.held_from;
        self.stale(plan, seen).filter(goes)
    }

    fn thoughts_in(&self, range: &Range<usize>, seen: Seen) -> &[Thought] {
        let known = &self.thoughts[..seen.thoughts as usize];
        let [first, end] = [range.start, range.end]
            .map(|at| known.partition_point(|thought| (thought.message as usize) < at));
        &known[first..end]
    }

    /// What a plan that was made just now leaves out, in all.
    #[must_use]
    pub fn stripped(&self, plan: &Plan, seen: Seen) -> Stripped {
        let held = self.number_from(seen.held_from);
        let changed = self.number_from(seen.change);
        let mut all = Stripped::default();
        for range in &plan.kept {
            let [first, end] = [range.start, range.end].map(|at| self.number_from(at as u32).min(held));
            all = all.and_all(self.sum(first..end));
            let runs = self.valid.partition_point(|run| run.end <= first);
            for run in self.valid[runs..].iter().take_while(|run| run.start < end.min(changed)) {
                all = all.less(self.sum(run.start.max(first)..run.end.min(end).min(changed)));
            }
        }
        all
    }

    fn sum(&self, range: Range<u32>) -> Stripped {
        let [first, end] = [range.start, range.end.max(range.start)].map(|at| self.sums[at as usize]);
        end.less(first)
    }
}

impl Stripped {
    fn and(self, tokens: u64) -> Self {
        self.and_all(Stripped { thoughts: 1, tokens })
    }

    fn and_all(self, other: Self) -> Self {
        Stripped { thoughts: self.thoughts + other.thoughts, tokens: self.tokens + other.tokens }
    }

    fn less(self, other: Self) -> Self {
        Stripped { thoughts: self.thoughts - other.thoughts, tokens: self.tokens - other.tokens }
    }
}

/// The first message at which a later request differs from what an earlier one was; all that
/// came after the earlier one is no difference.
#[must_use]
pub fn first_change(ledger: &Ledger, before: &Plan, after: &Plan) -> u32 {
    let changes = [
        change_of_kept(before, after),
        change_of_note(before, after),
        change_of_cleared(ledger, before, after),
    ];
    changes.into_iter().flatten().min().map_or(NEVER, |change| change as u32)
}

/// The first message that only one of the requests has.
fn change_of_kept(before: &Plan, after: &Plan) -> Option<usize> {
    let [mut one, mut other] = [before, after].map(|plan| edges(plan, before.messages));
    loop {
        match (one.next(), other.next()) {
            (Some(one), Some(other)) if one == other => {}
            (one, other) => return one.into_iter().chain(other).min(),
        }
    }
}

/// Where kept messages begin and end to be kept, up to the end of a request.
fn edges(plan: &Plan, end: usize) -> impl Iterator<Item = usize> + '_ {
    let kept = &plan.kept;
    let starts = |number: usize| (number > 0 && kept[number - 1].end == kept[number].start).then_some(());
    let edges = kept.iter().enumerate().flat_map(move |(number, range)| {
        let joins_last = starts(number).is_some();
        let joins_next = number + 1 < kept.len() && starts(number + 1).is_some();
        [(!joins_last).then_some(range.start), (!joins_next).then_some(range.end)]
    });
    edges.flatten().take_while(move |&edge| edge < end)
}

/// Where the note came, went or moved.
fn change_of_note(before: &Plan, after: &Plan) -> Option<usize> {
    match (before.note_at(), after.note_at()) {
        // A note right behind the request stands before the answer to it.
        (None, Some(now)) => Some(now).filter(|&now| now <= before.messages),
        (then, now) if then == now => None,
        (then, now) => then.into_iter().chain(now).min(),
    }
}

/// The first message in which something was cleared, or is no longer.
fn change_of_cleared(ledger: &Ledger, before: &Plan, after: &Plan) -> Option<usize> {
    let rows = before.cleared.min(after.cleared)..before.cleared.max(after.cleared);
    let was_sent = |message: &usize| *message < before.messages && before.keeps(*message);
    let mut first = None;
    for row in rows {
        let (result, call) = ledger.cleared_messages(row);
        first = [first, Some(result).filter(was_sent), call.filter(was_sent)].into_iter().flatten().min();
        // Results stand in order; only the calls of later ones may stand further up.
        if first.is_some() && call.is_none() {
            break;
        }
    }
    first
}

impl Plan {
    /// The message before which the note stands.
    fn note_at(&self) -> Option<usize> {
        self.note_before.map(|number| self.kept.get(number).map_or(self.messages, |range| range.start))
    }

    fn keeps(&self, message: usize) -> bool {
        let number = self.kept.partition_point(|range| range.end <= message);
        self.kept.get(number).is_some_and(|range| range.start <= message)
    }

    /// The request with the messages that followed it, up to this one.
    fn reach(&mut self, message: usize) {
        let followed = self.messages..message;
        self.messages = message;
        let in_place = self.note_before.is_none_or(|number| number < self.kept.len());
        match self.kept.last_mut().filter(|last| in_place && last.end == followed.start) {
            Some(last) => last.end = followed.end,
            None if followed.is_empty() => {}
            None => self.kept.push(followed),
        }
    }
}
