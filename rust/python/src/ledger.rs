//! The Python face of the ledger and the walk.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use turnfit_core::facts::{Facts, Role, Row, Tool, ToolId};
use turnfit_core::ledger;
use turnfit_core::pairing::{Key, KeyMap, Label};
use turnfit_core::reasoning::{Reasoning, Seen, Stripped, Thought, first_change};
use turnfit_core::walk::{self, Keep, Rules, Step};

use crate::errors::format_error;
use crate::history::{Found, read};
use crate::pricing::Pricing;
use crate::request::{Bare, Edit, rewrite};
use crate::table::{Kind, Table};
use crate::tally::{Read, ReadRow, Tally};
use crate::terms::{Terms, scaled};
use crate::text::Text;

/// After so many messages other threads get their turn.
const BREATH: usize = 4096;

/// So many tools are sooner told by their names than by a hash of them.
const FEW: usize = 8;

/// A history's costs and pairs under some terms.
#[pyclass(module = "turnfit._core")]
pub(crate) struct Ledger {
    ledger: ledger::Ledger,
    table: Py<Table>,
    terms: Py<Terms>,
    tools: KeyMap<ToolId>,
    names: Vec<(Py<PyString>, Key)>,
    /// What was read of each message, for ledgers that begin with the same messages.
    reads: Option<Vec<Arc<Read>>>,
    reasoning: Option<Reasoning>,
    treatment: Treatment,
    /// Messages without their reasoning, as they were made once.
    bare: Mutex<HashMap<u32, Py<PyAny>>>,
}

/// What becomes of stale reasoning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Treatment {
    /// It is sent.
    Keep,
    /// It is left out.
    Strip,
    /// It is left out, but not of the last turn.
    StripButLastTurn,
}

/// What a request keeps of its history.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Plan {
    plan: walk::Plan,
    seen: Option<Seen>,
    stripped: Stripped,
}

#[pymethods]
impl Ledger {
    /// One that `remembers` what it read can be adopted by another.
    #[new]
    #[pyo3(signature = (table, terms, remembers = false))]
    fn new(table: Py<Table>, terms: Py<Terms>, remembers: bool) -> Self {
        let ledger = ledger::Ledger::new(terms.get().clearing);
        let reads = remembers.then(Vec::new);
        Ledger {
            ledger,
            table,
            terms,
            tools: KeyMap::default(),
            names: Vec::new(),
            reads,
            reasoning: None,
            treatment: Treatment::Keep,
            bare: Mutex::default(),
        }
    }

    #[allow(clippy::needless_pass_by_value)]
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Ok(bare) = self.bare.try_lock() {
            bare.values().try_for_each(|message| visit.call(message))?;
        }
        visit.call(&self.terms)
    }

    fn __len__(&self) -> usize {
        self.ledger.len()
    }

    /// What all messages cost, in tokens.
    #[getter]
    fn tokens(&self) -> u64 {
        self.ledger.tokens()
    }

    /// What one message costs, in tokens.
    fn message_tokens(&self, message: usize) -> PyResult<u64> {
        self.in_range(message)?;
        Ok(self.ledger.message_tokens(message))
    }

    /// Reads and appends messages: all of them or, on an error, none.
    fn extend(&mut self, messages: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut read = Vec::new();
        self.read_all(messages, None, |_, facts| read.push(facts.clone()))?;
        read.iter().for_each(|facts| self.append(facts));
        Ok(())
    }

    /// Reads and appends messages one by one, for a ledger that an error makes useless.
    fn fill(&mut self, messages: &Bound<'_, PyAny>) -> PyResult<()> {
        self.ledger.reserve(messages.len().unwrap_or(0));
        self.read_all(messages, None, Self::append)
    }

    /// Likewise, at costs that are known: those that `costs` gave for these messages.
    #[allow(clippy::needless_pass_by_value)]
    fn fill_at(&mut self, messages: &Bound<'_, PyAny>, costs: Vec<u64>) -> PyResult<()> {
        self.ledger.reserve(messages.len().unwrap_or(0));
        self.read_all(messages, Some(&costs), Self::append)
    }

    /// Appends messages as another ledger has read them, which has them from `start` on:
    /// nothing is read or priced again.
    fn adopt(&mut self, messages: &Bound<'_, PyList>, other: &Ledger, start: usize) -> PyResult<()> {
        let py = messages.py();
        let terms = self.terms.clone_ref(py);
        let mut facts = self.new_facts(py);
        self.ledger.reserve(messages.len());
        for (message, read) in messages.iter().zip(other.reads.iter().flatten().skip(start)) {
            self.gather(&mut facts, terms.get(), self.ledger.len(), &message, read)?;
            self.append(&facts);
            self.reads.iter_mut().for_each(|reads| reads.push(read.clone()));
        }
        Ok(())
    }

    /// For each message what it was read to cost, unscaled, how many calls and results it
    /// has, and what the body of each costs: for `fill_at`.
    fn costs(&self) -> Vec<u64> {
        self.reads.iter().flatten().flat_map(|read| read.costs()).collect()
    }

    /// Messages whose last part never came to its end.
    fn unfinished(&self) -> Vec<u32> {
        self.ledger.unfinished().to_vec()
    }

    /// Calls that nothing has answered yet: message, place among its calls and results.
    fn unanswered(&self) -> Vec<(u32, u32)> {
        self.ledger.unanswered().map(|call| (call.message, call.place)).collect()
    }

    /// Calls that nothing will answer any more: message, place among its calls and results.
    fn dead_calls(&self) -> Vec<(u32, u32)> {
        self.ledger.dead_calls().map(|call| (call.message, call.place)).collect()
    }

    /// Results that answer no call, likewise.
    fn orphans(&self) -> Vec<(u32, u32)> {
        self.ledger.orphans().map(|row| (row.message, row.place)).collect()
    }

    /// Where the history may be cut: how long its preamble is, its first user message, and
    /// the safe starts of turns and of rounds, in rising order.
    fn cuts(&self) -> (usize, Option<usize>, Vec<u32>, Vec<u32>) {
        let ledger = &self.ledger;
        (ledger.preamble(), ledger.first_user(), ledger.turns().to_vec(), ledger.rounds().to_vec())
    }

    /// The oldest result that is worth clearing: message, place among its calls and results.
    fn first_clearable(&self) -> Option<(u32, u32)> {
        let row = self.ledger.results()[self.ledger.clearables().first()?.result as usize];
        Some((row.message, row.place))
    }

    /// Plans a request of at most `room` tokens.
    fn plan(&self, room: u64, keep_in: &str, keep: u64, keep_at_least: usize, stride: u64) -> PyResult<Plan> {
        let plan = walk::plan(&self.ledger, &self.rules(room, keep_in, keep, keep_at_least, stride)?);
        let Some(reasoning) = &self.reasoning else {
            return Ok(Plan { plan, seen: None, stripped: Stripped::default() });
        };
        let seen = reasoning.seen(&self.ledger, &plan, self.treatment == Treatment::StripButLastTurn);
        let strips = self.treatment != Treatment::Keep;
        let stripped = if strips { reasoning.stripped(&plan, seen) } else { Stripped::default() };
        Ok(Plan { plan, seen: Some(seen), stripped })
    }

    /// Follows which reasoning is stale; `rules` are those of `plan`. What is there already, or
    /// will stand before the message `stale_before`, answered requests of other rules: all its
    /// reasoning is stale.
    #[pyo3(signature = (rules, treatment, stale_before = 0))]
    fn follow(
        &mut self,
        rules: (u64, String, u64, usize, u64),
        treatment: &str,
        stale_before: usize,
    ) -> PyResult<()> {
        let (room, keep_in, keep, keep_at_least, stride) = rules;
        let rules = self.rules(room, &keep_in, keep, keep_at_least, stride)?;
        self.treatment = match treatment {
            "keep" => Treatment::Keep,
            "strip" => Treatment::Strip,
            "strip_but_last_turn" => Treatment::StripButLastTurn,
            other => return Err(PyValueError::new_err(format!("treatment {other:?} is unknown"))),
        };
        if self.table.get().strip.is_none() {
            self.treatment = Treatment::Keep;
        }
        let message = self.ledger.len();
        self.reasoning.get_or_insert_with(|| Reasoning::new(rules, stale_before)).forget(message, rules);
        Ok(())
    }

    /// The stale reasoning in a request: message, tokens, whether it is left out.
    fn stale(&self, plan: &Plan) -> Vec<(u32, u64, bool)> {
        let (Some(reasoning), Some(seen)) = (&self.reasoning, plan.seen) else { return Vec::new() };
        let mut gone = self.gone(plan).into_iter().peekable();
        let stale = reasoning.stale(&plan.plan, seen);
        let told = stale.map(|one| {
            (one.message, one.tokens, gone.next_if(|thought| thought.message == one.message).is_some())
        });
        told.collect()
    }

    /// The first message at which a request differs from an earlier one, or None; and the
    /// tokens of the messages before it.
    fn kept(&self, before: &Plan, plan: &Plan) -> (Option<u32>, u64) {
        let change = self.change(before, plan);
        let end = (change as usize).min(before.plan.messages);
        let kept = plan.plan.kept.iter().map(|range| range.start..range.end.min(end));
        let note = plan.plan.note_before.filter(|&number| {
            plan.plan.kept.get(number).map_or(plan.plan.messages, |range| range.start) < end
        });
        let messages: u64 = kept.filter(|range| !range.is_empty()).map(|range| self.sent(plan, range)).sum();
        (
            Some(change).filter(|&change| change != u32::MAX),
            messages + note.map_or(0, |_| self.terms.get().trim_note),
        )
    }

    /// The request that a plan makes of the history which this ledger holds.
    fn request<'py>(&self, history: &Bound<'py, PyList>, plan: &Plan) -> PyResult<Bound<'py, PyList>> {
        let py = history.py();
        let mut edits = self.edits(py, plan)?.into_iter().peekable();
        let mut bare = Bare::new(self.table.get(), self.gone(plan), &self.bare);
        let mut request = Vec::with_capacity(plan.plan.kept.iter().map(Range::len).sum::<usize>() + 1);
        for (number, range) in plan.plan.kept.iter().enumerate() {
            if plan.plan.note_before == Some(number) {
                request.push(self.note(history, request.len())?);
            }
            for index in range.clone() {
                if index % BREATH == BREATH - 1 {
                    py.detach(|| ());
                }
                let message = history.get_item(index).map_err(|_| changed(py, index))?;
                match edits.next_if(|(message, _)| *message == index) {
                    Some((_, edits)) => {
                        let edited = rewrite(self.table.get(), &message, &edits)?;
                        bare.push(index, edited.ok_or_else(|| changed(py, index))?, true, &mut request)?;
                    }
                    None => bare.push(index, message, false, &mut request)?,
                }
            }
            bare.close(&mut request)?;
        }
        if plan.plan.note_before == Some(plan.plan.kept.len()) {
            request.push(self.note(history, request.len())?);
        }
        PyList::new(py, request)
    }

    /// The results that a plan clears: message, place among the message's calls
    /// and results, tool, tokens freed.
    fn cleared(&self, py: Python<'_>, plan: &Plan) -> Vec<(u32, u32, Option<Py<PyString>>, u64)> {
        let name = |tool: ToolId| self.names[tool as usize].0.clone_ref(py);
        let cleared = plan.plan.cleared_in(&self.ledger).map(|(number, clearable)| {
            let row = self.ledger.results()[clearable.result as usize];
            (row.message, row.place, row.tool.get().map(name), self.ledger.freed_by(number))
        });
        cleared.collect()
    }

    /// How many results a plan clears, and the tokens that this frees.
    fn cleared_totals(&self, plan: &Plan) -> (usize, u64) {
        let cleared = plan.plan.cleared_in(&self.ledger);
        cleared.fold((0, 0), |(count, freed), (number, _)| (count + 1, freed + self.ledger.freed_by(number)))
    }
}

/// A part of a message's cost, rounded down: parts don't add up to more than the whole.
fn part_scaled(scale: f64, tokens: u64) -> u64 {
    if scale == 1.0 { tokens } else { (tokens as f64 * scale) as u64 }
}

impl Ledger {
    fn append(&mut self, facts: &Facts) {
        if let Some(reasoning) = &mut self.reasoning {
            reasoning.append(&self.ledger, facts);
        }
        self.ledger.append(facts);
    }

    fn rules(
        &self,
        room: u64,
        keep_in: &str,
        keep: u64,
        keep_at_least: usize,
        stride: u64,
    ) -> PyResult<Rules> {
        let keep = match keep_in {
            "tokens" => Keep::Tokens(keep),
            "results" => Keep::Results(usize::try_from(keep)?),
            other => return Err(PyValueError::new_err(format!("keep in {other:?} is unknown"))),
        };
        let trim_note = self.terms.get().trim_note;
        Ok(Rules { room, keep, keep_at_least, stride, trim_note })
    }

    /// The reasoning that a request leaves out, in order.
    fn gone(&self, plan: &Plan) -> Vec<Thought> {
        match (&self.reasoning, plan.seen) {
            (Some(reasoning), Some(seen)) if plan.stripped.thoughts > 0 => {
                reasoning.strippable(&plan.plan, seen).copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The first message at which a request differs from an earlier one.
    fn change(&self, before: &Plan, plan: &Plan) -> u32 {
        let change = first_change(&self.ledger, &before.plan, &plan.plan);
        let [then, now] = [before, plan].map(|plan| self.gone(plan));
        let messages = |gone: &[Thought]| gone.iter().map(|thought| thought.message).collect::<Vec<_>>();
        let (then, now) = (messages(&then), messages(&now));
        let same = then.iter().zip(&now).take_while(|(then, now)| then == now).count();
        let differing = [then.get(same), now.get(same)].into_iter().flatten().copied();
        differing
            .filter(|&message| (message as usize) < before.plan.messages)
            .chain([change])
            .min()
            .unwrap_or(change)
    }

    /// What the kept messages of a range cost as they are sent, in tokens.
    fn sent(&self, plan: &Plan, range: Range<usize>) -> u64 {
        let gone = self.gone(plan);
        let gone = gone.iter().filter(|thought| range.contains(&(thought.message as usize)));
        let gone: u64 = gone.map(|thought| thought.tokens).sum();
        self.ledger.cost_of(range.clone()) - self.ledger.freed_in(range, plan.plan.cleared) - gone
    }

    fn in_range(&self, message: usize) -> PyResult<()> {
        if message < self.ledger.len() {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("there is no message {message}")))
    }

    fn new_facts(&self, py: Python<'_>) -> Facts {
        Facts { continues: self.table.bind(py).get().flat, ..Facts::default() }
    }

    fn read_all(
        &mut self,
        messages: &Bound<'_, PyAny>,
        mut costs: Option<&[u64]>,
        mut take: impl FnMut(&mut Self, &Facts),
    ) -> PyResult<()> {
        let py = messages.py();
        let (table, terms) = (self.table.clone_ref(py), self.terms.clone_ref(py));
        let pricing = costs.map_or_else(|| terms.get().pricing.clone(), |_| Pricing::KNOWN);
        let mut tally = Tally::new(pricing);
        let mut facts = self.new_facts(py);
        let mut reads = Vec::new();
        for (index, message) in (self.ledger.len()..).zip(messages.try_iter()?) {
            let message = message?;
            if index % BREATH == BREATH - 1 {
                py.detach(|| ());
            }
            let mut read = read(table.get(), index, &message, &mut tally)?;
            if let Some(costs) = &mut costs {
                let (known, left) = read
                    .at_costs(py, costs)
                    .ok_or_else(|| format_error(py, index, "its costs are those of another message"))?;
                read = Found::Remembered(Arc::new(known));
                *costs = left;
            }
            self.gather(&mut facts, terms.get(), index, &message, &read)?;
            take(self, &facts);
            if self.reads.is_some() {
                reads.push(read.shared(py));
            }
        }
        self.reads.iter_mut().for_each(|kept| kept.append(&mut reads));
        Ok(())
    }

    fn gather(
        &mut self,
        facts: &mut Facts,
        terms: &Terms,
        index: usize,
        message: &Bound<'_, PyAny>,
        read: &Read,
    ) -> PyResult<()> {
        let py = message.py();
        facts.role = read.role;
        facts.tokens = scaled(terms.scale, read.tokens);
        facts.pinned = terms.pinned.holds(index, message)?;
        facts.trim_note = read.role == Role::User
            && read.rows.is_empty()
            && terms.notes.known_trimmed.hold(py, read.text.as_ref())?;
        facts.marker = read.marker;
        facts.unfinished = read.unfinished;
        facts.thought = read
            .thought
            .filter(|_| read.role == Role::Assistant)
            .map(|tokens| part_scaled(terms.scale, tokens));
        facts.bound = read.bound;
        facts.rows.clear();
        for row in &read.rows {
            facts.rows.push(self.row(py, terms, row)?);
        }
        Ok(())
    }

    fn row(&mut self, py: Python<'_>, terms: &Terms, row: &ReadRow) -> PyResult<Row> {
        let id = row.id.as_ref().map(|id| Text::of(id.bind(py)).map(|id| id.hash())).transpose()?;
        let tool = row.name.as_ref().map(|name| self.tool(name.bind(py), terms)).transpose()?;
        let (name, tool) = (tool.map(|(name, _)| name), tool.map(|(_, tool)| tool));
        if row.kind == Kind::Reference {
            return Ok(Row::Reference);
        }
        let body = part_scaled(terms.scale, row.body);
        if row.kind == Kind::Call {
            let saving =
                terms.arguments.filter(|_| row.clearable).map_or(0, |note| body.saturating_sub(note));
            return Ok(Row::Call { id, name, tool, saving });
        }
        let label = id.map_or_else(|| name.map_or(Label::None, Label::Name), Label::Id);
        let is_note = terms.notes.known_cleared.hold(py, row.text.as_ref())?;
        Ok(Row::Result { label, tool, content: body, clearable: row.clearable && !is_note })
    }

    /// A tool's key and number; the policy is asked about it when it first appears.
    fn tool(&mut self, label: &Bound<'_, PyString>, terms: &Terms) -> PyResult<(Key, ToolId)> {
        let text = Text::of(label)?;
        for (number, (name, key)) in (0..).zip(self.names.iter().take(FEW)) {
            if Text::of(name.bind(label.py()))? == text {
                return Ok((*key, number));
            }
        }
        let key = text.hash();
        if let Some(&tool) = self.tools.get(&key) {
            return Ok((key, tool));
        }
        let (excluded, no_rerun) = terms.treatment.bind(label.py()).call1((label,))?.extract()?;
        let tool = self.ledger.add_tool(Tool { excluded, no_rerun });
        self.tools.insert(key, tool);
        self.names.push((label.clone().unbind(), key));
        Ok((key, tool))
    }

    /// What a plan changes, by message and in their order.
    fn edits<'py>(&self, py: Python<'py>, plan: &Plan) -> PyResult<Vec<(usize, Vec<Edit<'py>>)>> {
        let notes = &self.terms.get().notes;
        let mut edits = Vec::new();
        for (_, clearable) in plan.plan.cleared_in(&self.ledger) {
            let row = self.ledger.results()[clearable.result as usize];
            let note = if self.is_done(row.tool.get()) { &notes.cleared_done } else { &notes.cleared };
            let content = note.bind(py).clone().into_any();
            edits.push((row.message, Edit { place: row.place, content, arguments: None }));
            if let Some(call) = clearable.arguments_of.get() {
                let call = self.ledger.calls()[call as usize];
                let content = notes.arguments_text.bind(py).clone().into_any();
                let arguments = Some(notes.arguments.bind(py).copy()?);
                edits.push((call.message, Edit { place: call.place, content, arguments }));
            }
        }
        edits.sort_by_key(|(message, edit)| (*message, edit.place));
        Ok(grouped(edits))
    }

    fn is_done(&self, tool: Option<ToolId>) -> bool {
        tool.is_some_and(|tool| self.ledger.tool(tool).no_rerun)
    }

    /// The trim note; where one stood in this very place, that one.
    fn note<'py>(&self, history: &Bound<'py, PyList>, place: usize) -> PyResult<Bound<'py, PyAny>> {
        let note = self.terms.get().notes.trimmed.bind(history.py());
        match history.get_item(place) {
            Ok(there) if there.eq(note)? => Ok(there),
            _ => note.py().import("copy")?.call_method1("deepcopy", (note,)),
        }
    }
}

fn changed(py: Python<'_>, index: usize) -> PyErr {
    format_error(py, index, "it has changed since it was read")
}

fn grouped(edits: Vec<(u32, Edit<'_>)>) -> Vec<(usize, Vec<Edit<'_>>)> {
    let mut groups: Vec<(usize, Vec<Edit<'_>>)> = Vec::new();
    for (message, edit) in edits {
        match groups.last_mut() {
            Some((last, group)) if *last == message as usize => group.push(edit),
            _ => groups.push((message as usize, vec![edit])),
        }
    }
    groups
}

#[pymethods]
impl Plan {
    /// How far the walk had to go: "whole", "results", "turns" or "rounds".
    #[getter]
    fn step(&self) -> &'static str {
        match self.plan.step {
            Step::Whole => "whole",
            Step::Results => "results",
            Step::Turns => "turns",
            Step::Rounds => "rounds",
        }
    }

    /// What the request's messages cost, in tokens.
    #[getter]
    fn tokens(&self) -> u64 {
        self.plan.tokens
    }

    /// How much reasoning is left out: thoughts, and what they cost in tokens.
    #[getter]
    fn stripped(&self) -> (u64, u64) {
        (self.stripped.thoughts, self.stripped.tokens)
    }

    /// How many messages the history had.
    #[getter]
    fn messages(&self) -> usize {
        self.plan.messages
    }

    /// The kept messages, as ranges of indices.
    #[getter]
    fn kept(&self) -> Vec<(usize, usize)> {
        self.plan.kept.iter().map(|range| (range.start, range.end)).collect()
    }

    /// Whether a later plan of the same history only goes on where this one ended.
    fn goes_on_in(&self, later: &Plan) -> bool {
        let (Some((last, head)), Some((later_last, later_head))) =
            (self.plan.kept.split_last(), later.plan.kept.split_last())
        else {
            return false;
        };
        later.plan.messages >= self.plan.messages
            && head == later_head
            && last.start == later_last.start
            && last.end == self.plan.messages
            && self.plan.note_before == later.plan.note_before
            && self.plan.cleared == later.plan.cleared
            && self.stripped == later.stripped
    }
}
