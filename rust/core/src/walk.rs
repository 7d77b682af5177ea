//! The budget walk: from a [`Ledger`] and [`Rules`] to a [`Plan`].
//!
//! The steps, each taken only where the ones before were not enough:
//!
//! 0. **whole**: everything fits as it is.
//! 1. **results**: old tool results are cleared, in batches; then all old ones.
//! 2. **turns**: the newest whole turns that fit, behind the first user message.
//! 3. **rounds**: within the newest turn, the newest whole rounds that fit.
//!
//! A step costs a few binary searches over the ledger's prefix sums, and work in
//! proportion to the pinned messages and to the notes that came in, both few.
//!
//! *Lean* is a cost with every clearable result counted as cleared.

use std::ops::Range;

use crate::ledger::{Clearable, Ledger};

/// How many of the newest results are kept whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// As many as hold at most so many tokens.
    Tokens(u64),
    /// So many.
    Results(usize),
}

/// What a request has to obey.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Tokens that the messages of a request may cost.
    pub room: u64,
    /// The newest results that stay whole.
    pub keep: Keep,
    /// At least so many of the newest results stay whole.
    pub keep_at_least: usize,
    /// Cuts move in steps of at least so many tokens; 0 for any.
    pub stride: u64,
    /// What the note that earlier conversation was trimmed costs, in tokens.
    pub trim_note: u64,
}

/// How far the walk had to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The request is the history.
    Whole,
    /// Results were cleared.
    Results,
    /// Turns were dropped.
    Turns,
    /// Rounds were dropped.
    Rounds,
}

/// What a request keeps of its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How far the walk had to go.
    pub step: Step,
    /// The messages kept, in order; neighbouring ranges don't touch unless the
    /// note stands between them.
    pub kept: Vec<Range<usize>>,
    /// The trim note stands before the range of this number.
    pub note_before: Option<usize>,
    /// So many of the oldest clearable results are cleared, where they are kept.
    pub cleared: usize,
    /// What the request's messages cost, in tokens.
    pub tokens: u64,
    /// How many messages the history had.
    pub messages: usize,
}

/// Plans a request from a history that fits the rules, or comes as near as can be.
///
/// ```
/// use turnfit_core::facts::{Facts, Role};
/// use turnfit_core::ledger::{Clearing, Ledger};
/// use turnfit_core::walk::{Keep, Rules, Step, plan};
///
/// let mut ledger = Ledger::new(Clearing { worth: 2.0, batch: 4, stride: 0, note: 20, note_done: 20 });
/// for role in [Role::User, Role::Assistant, Role::User, Role::Assistant] {
///     ledger.append(&Facts { role, tokens: 100, ..Facts::default() });
/// }
/// let rules = Rules { room: 350, keep: Keep::Tokens(0), keep_at_least: 1, stride: 0, trim_note: 30 };
/// let plan = plan(&ledger, &rules);
/// assert_eq!((plan.step, plan.tokens), (Step::Turns, 330));
/// assert_eq!(plan.kept, vec![0..1, 2..4]);
/// ```
#[must_use]
pub fn plan(ledger: &Ledger, rules: &Rules) -> Plan {
    if ledger.tokens() <= rules.room {
        return whole(ledger, Step::Whole, 0);
    }
    let old = old_clearables(ledger, rules);
    let batch = ledger.last_boundary(old);
    for cleared in [batch, old] {
        if cleared > 0 && ledger.tokens() - ledger.freed_up_to(cleared) <= rules.room {
            return whole(ledger, Step::Results, cleared);
        }
    }
    Cut::new(ledger, rules, old, batch).plan()
}

/// The plan that drops nothing.
fn whole(ledger: &Ledger, step: Step, cleared: usize) -> Plan {
    Plan {
        step,
        kept: std::iter::once(0..ledger.len()).filter(|range| !range.is_empty()).collect(),
        note_before: None,
        cleared,
        tokens: ledger.tokens() - ledger.freed_up_to(cleared),
        messages: ledger.len(),
    }
}

/// The number of the first result that is kept whole.
fn first_kept_result(ledger: &Ledger, rules: &Rules) -> usize {
    let results = ledger.results().len();
    let by_size = match rules.keep {
        Keep::Results(newest) => results.saturating_sub(newest),
        Keep::Tokens(tokens) => {
            let total = ledger.content_total();
            ledger.content().partition_point(|&before| total - before > tokens)
        }
    };
    by_size.min(results.saturating_sub(rules.keep_at_least))
}

/// How many clearable results are older than those kept whole.
fn old_clearables(ledger: &Ledger, rules: &Rules) -> usize {
    let first_kept = first_kept_result(ledger, rules);
    ledger.clearables().partition_point(|row| (row.result as usize) < first_kept)
}

/// What the kept results are allowed to grow to before the start must move again.
fn kept_and_stride(ledger: &Ledger, rules: &Rules) -> u64 {
    let kept = match rules.keep {
        Keep::Tokens(tokens) => tokens,
        Keep::Results(_) => ledger.content_total() - ledger.content()[first_kept_result(ledger, rules)],
    };
    kept.saturating_add(rules.stride).min(ledger.freed_total())
}

/// A stretch that stays although it stands before the start, and what all such
/// stretches up to its end hold.
struct Span {
    range: Range<usize>,
    lean: i64,
    messages: usize,
}

/// Steps 2 and 3: a start is sought, and what stands before it is dropped, but
/// for the preamble, the first user message, pinned spans and a turn's opening.
struct Cut<'a> {
    ledger: &'a Ledger,
    rules: &'a Rules,
    old: usize,
    batch: usize,
    growth: u64,
    spans: Vec<Span>,
    opening: Option<usize>,
}

impl<'a> Cut<'a> {
    fn new(ledger: &'a Ledger, rules: &'a Rules, old: usize, batch: usize) -> Self {
        let growth = kept_and_stride(ledger, rules);
        let mut cut = Cut { ledger, rules, old, batch, growth, spans: Vec::new(), opening: None };
        cut.collect_spans();
        cut
    }

    fn plan(mut self) -> Plan {
        let turns = self.ledger.turns();
        if let Some((start, cleared)) = self.choose(turns) {
            return self.finish(Step::Turns, start, cleared);
        }
        let turn = turns.last().map(|&turn| turn as usize);
        let rounds = self.rounds_behind(turn);
        self.opening = turn.filter(|&turn| Some(turn) != self.ledger.first_user() && !self.in_span(turn));
        if let Some((start, cleared)) = self.choose(rounds) {
            return self.finish(Step::Rounds, start, cleared);
        }
        let newest = rounds.last().map(|&round| round as usize);
        let last_resort = newest.or(turn).unwrap_or(self.ledger.preamble());
        self.finish(Step::Rounds, last_resort, self.old)
    }

    fn rounds_behind(&self, turn: Option<usize>) -> &'a [u32] {
        let rounds = self.ledger.rounds();
        &rounds[rounds.partition_point(|&round| turn.is_some_and(|turn| round as usize <= turn))..]
    }

    /// The start that the rules choose among these, and how many of the oldest
    /// clearable results are cleared with it.
    fn choose(&self, starts: &[u32]) -> Option<(usize, usize)> {
        self.choose_with_room(starts).map(|start| (start, self.batch)).or_else(|| {
            let fits = |start: usize| self.tokens(start, self.old) <= self.rules.room as i64;
            let first = self.first_where(starts, fits)?;
            Some((starts[first] as usize, self.old))
        })
    }

    fn choose_with_room(&self, starts: &[u32]) -> Option<usize> {
        let stride = self.rules.stride;
        if stride == 0 {
            return None;
        }
        let has_room = |start: usize| self.has_room(start);
        let first = self.first_where(starts, has_room)?;
        let line = (self.passed(starts[first] as usize) as u64).div_ceil(stride) * stride;
        let on_grid =
            first + starts[first..].partition_point(|&start| (self.passed(start as usize) as u64) < line);
        let chosen = starts.get(on_grid).map(|&start| start as usize).filter(|&start| has_room(start));
        Some(chosen.unwrap_or(starts[first] as usize))
    }

    /// The first of the starts for which the condition holds, which once it holds
    /// for one holds for all later ones, but for those that drop nothing yet and
    /// so need no note: these are all alike.
    fn first_where(&self, starts: &[u32], condition: impl Fn(usize) -> bool) -> Option<usize> {
        let dropping = starts.partition_point(|&start| !self.drops(start as usize));
        if dropping > 0 && condition(starts[0] as usize) {
            return Some(0);
        }
        let found = dropping + starts[dropping..].partition_point(|&start| !condition(start as usize));
        (found < starts.len()).then_some(found)
    }

    /// Whether the request has room for the kept results to grow.
    fn has_room(&self, start: usize) -> bool {
        let uncleared = self.uncleared(start, self.batch);
        self.lean(start) + self.growth.max(uncleared) as i64 <= self.rules.room as i64
    }

    /// The tokens of the request from this start with so many results cleared.
    fn tokens(&self, start: usize, cleared: usize) -> i64 {
        self.lean(start) + self.uncleared(start, cleared) as i64
    }

    /// Tokens before a start, outside the preamble and the first user message.
    fn passed(&self, start: usize) -> i64 {
        let before = self.ledger.lean(self.ledger.preamble()..start);
        before - self.first_user_before(start).map_or(0, |first| self.ledger.lean(first..first + 1))
    }

    /// The lean cost of the request from this start, note included.
    fn lean(&self, start: usize) -> i64 {
        let ledger = self.ledger;
        let single = |message: Option<usize>| message.map_or(0, |at| ledger.lean(at..at + 1));
        let spans = self.spans_before(start).last().map_or(0, |span| span.lean);
        let note = if self.needs_note(start) { self.rules.trim_note as i64 } else { 0 };
        ledger.lean(0..ledger.preamble())
            + single(self.first_user_before(start))
            + single(self.opening_before(start))
            + spans
            + ledger.lean(start..ledger.len())
            + note
    }

    /// What the clearable results beyond the first so many take in this request.
    fn uncleared(&self, start: usize, cleared: usize) -> u64 {
        let spans = self.spans_before(start).iter().map(|span| span.range.clone());
        let kept = spans.chain(std::iter::once(start..self.ledger.len()));
        kept.map(|range| self.uncleared_in(range, cleared)).sum()
    }

    fn uncleared_in(&self, range: Range<usize>, cleared: usize) -> u64 {
        let [first, last] = [range.start, range.end].map(|at| self.ledger.clearables_before(at).max(cleared));
        self.ledger.freed_up_to(last) - self.ledger.freed_up_to(first)
    }

    fn needs_note(&self, start: usize) -> bool {
        !self.ledger.trim_notes().is_empty() || self.drops(start)
    }

    /// Whether anything but notes of ours stands before the start and goes.
    fn drops(&self, start: usize) -> bool {
        let before = start - self.ledger.preamble() - self.notes_in(&(0..start));
        let spans = self.spans_before(start).last().map_or(0, |span| span.messages);
        let first = usize::from(self.first_user_before(start).is_some());
        let opening = usize::from(self.opening_before(start).is_some());
        before > first + spans + opening
    }

    fn first_user_before(&self, start: usize) -> Option<usize> {
        self.ledger.first_user().filter(|&first| first < start)
    }

    fn opening_before(&self, start: usize) -> Option<usize> {
        self.opening.filter(|&opening| opening < start)
    }

    fn in_span(&self, message: usize) -> bool {
        self.spans.iter().any(|span| span.range.contains(&message))
    }

    fn spans_before(&self, start: usize) -> &[Span] {
        &self.spans[..self.spans.partition_point(|span| span.range.end <= start)]
    }

    fn notes_in(&self, range: &Range<usize>) -> usize {
        let notes = self.ledger.trim_notes();
        let before = |at: usize| notes.partition_point(|&note| (note as usize) < at);
        before(range.end) - before(range.start)
    }

    /// The pinned stretches in order, without preamble and first user message.
    fn collect_spans(&mut self) {
        let ledger = self.ledger;
        let pins = ledger.pins().iter().filter(|pin| pin.message as usize >= ledger.preamble());
        let stretches = pins.map(|pin| ledger.stretch_of(pin));
        let mut ranges: Vec<_> = stretches.flat_map(|range| self.without_first_user(range)).collect();
        ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        ranges.into_iter().for_each(|range| self.push_span(range));
    }

    fn without_first_user(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let first = self.ledger.first_user().filter(|first| range.contains(first));
        let parts = match first {
            Some(first) => [range.start..first, first + 1..range.end],
            None => [range.clone(), range.end..range.end],
        };
        parts.into_iter().filter(|part| !part.is_empty())
    }

    /// One span holds another or stands apart from it; the wider comes first.
    fn push_span(&mut self, range: Range<usize>) {
        if self.spans.last().is_some_and(|last| last.range.end >= range.end) {
            return;
        }
        let (lean, messages) = self.spans.last().map_or((0, 0), |last| (last.lean, last.messages));
        let messages = messages + range.len() - self.notes_in(&range);
        let lean = lean + self.ledger.lean(range.clone());
        self.spans.push(Span { range, lean, messages });
    }

    fn finish(&self, step: Step, start: usize, cleared: usize) -> Plan {
        let (kept, note_before) = self.kept(start);
        Plan {
            step,
            kept,
            note_before,
            cleared,
            tokens: self.tokens(start, cleared) as u64,
            messages: self.ledger.len(),
        }
    }

    /// The ranges kept, and before which of them the note stands: right behind
    /// the first user message, or the preamble where that message comes later.
    fn kept(&self, start: usize) -> (Vec<Range<usize>>, Option<usize>) {
        let head_end = match self.ledger.first_user() {
            Some(first) if first <= start => first + 1,
            _ => self.marker_end().unwrap_or(self.ledger.preamble()),
        };
        let mut ranges = Ranges { notes: self.ledger.trim_notes(), kept: Vec::new() };
        ranges.push(self.ledger.horizon()..self.ledger.preamble());
        let needs_note = self.needs_note(start);
        let mut note_before = None;
        for range in self.behind_preamble(start) {
            let [head, tail] = split(range, head_end);
            ranges.push(head);
            if needs_note && note_before.is_none() && !tail.is_empty() {
                note_before = Some(ranges.kept.len());
                ranges.push_apart(tail);
            } else {
                ranges.push(tail);
            }
        }
        let end = ranges.kept.len();
        (ranges.kept, note_before.or_else(|| needs_note.then_some(end)))
    }

    /// Where the stretch of the message ends by which the provider replaced what was before.
    fn marker_end(&self) -> Option<usize> {
        let marker = self.ledger.pins().first().filter(|pin| pin.is_marker)?;
        Some(self.ledger.stretch_of(marker).end)
    }

    fn behind_preamble(&self, start: usize) -> Vec<Range<usize>> {
        let singles = [self.first_user_before(start), self.opening_before(start)];
        let singles = singles.into_iter().flatten().map(|at| at..at + 1);
        let spans = self.spans_before(start).iter().map(|span| span.range.clone());
        let mut ranges: Vec<_> = singles.chain(spans).collect();
        ranges.sort_by_key(|range| range.start);
        ranges.push(start..self.ledger.len());
        ranges
    }
}

fn split(range: Range<usize>, at: usize) -> [Range<usize>; 2] {
    let at = at.clamp(range.start, range.end);
    [range.start..at, at..range.end]
}

/// Collects kept ranges, joins neighbours, and leaves out notes that came in.
struct Ranges<'a> {
    notes: &'a [u32],
    kept: Vec<Range<usize>>,
}

impl Ranges<'_> {
    fn push(&mut self, range: Range<usize>) {
        match self.kept.last_mut() {
            Some(last) if last.end == range.start && !range.is_empty() => {
                let start = last.start;
                self.kept.pop();
                self.push_apart(start..range.end);
            }
            _ => self.push_apart(range),
        }
    }

    fn push_apart(&mut self, mut range: Range<usize>) {
        let first = self.notes.partition_point(|&note| (note as usize) < range.start);
        for note in self.notes[first..].iter().map(|&note| note as usize).take_while(|&note| note < range.end)
        {
            if range.start < note {
                self.kept.push(range.start..note);
            }
            range.start = note + 1;
        }
        if !range.is_empty() {
            self.kept.push(range);
        }
    }
}

impl Plan {
    /// The clearable results that are cleared in this request, by number.
    pub fn cleared_in<'a>(&'a self, ledger: &'a Ledger) -> impl Iterator<Item = (usize, Clearable)> + 'a {
        self.kept.iter().flat_map(move |range| {
            let [first, last] =
                [range.start, range.end].map(|at| ledger.clearables_before(at).min(self.cleared));
            (first..last).map(|number| (number, ledger.clearables()[number]))
        })
    }
}
