//! The Python face of the ledger and the walk.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use turnfit_core::facts::{Facts, ToolId};
use turnfit_core::ledger;
use turnfit_core::pairing::{Key, KeyMap};
use turnfit_core::reasoning::{Reasoning, Stripped, Thought, first_change};
use turnfit_core::walk::{self, Keep, Rules};

use crate::errors::format_error;
use crate::plan::Plan;
use crate::request::{Bare, Edit, rewrite};
use crate::table::Table;
use crate::tally::Read;
use crate::terms::Terms;

/// After so many messages other threads get their turn.
pub(crate) const BREATH: usize = 4096;

/// A history's costs and pairs under some terms.
#[pyclass(module = "turnfit._core")]
pub(crate) struct Ledger {
    pub(crate) ledger: ledger::Ledger,
    pub(crate) table: Py<Table>,
    pub(crate) terms: Py<Terms>,
    pub(crate) tools: KeyMap<ToolId>,
    pub(crate) names: Vec<(Py<PyString>, Key)>,
    /// What was read of each message, for ledgers that begin with the same messages.
    pub(crate) reads: Option<Vec<Arc<Read>>>,
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

    /// The oldest result in a plan's request that is worth clearing still: message, place.
    fn next_clearable(&self, plan: &Plan) -> Option<(u32, u32)> {
        let from = self.ledger.clearables().get(plan.plan.cleared..)?;
        let row = |clearable: &ledger::Clearable| self.ledger.results()[clearable.result as usize];
        let stays = |message: u32| plan.plan.kept.iter().any(|kept| kept.contains(&(message as usize)));
        let next = from.iter().map(row).find(|row| stays(row.message))?;
        Some((next.message, next.place))
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
