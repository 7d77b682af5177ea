//! Reads messages into a ledger: prices, calls and results as the terms want them.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use turnfit_core::facts::{Facts, Role, Row, Tool, ToolId};
use turnfit_core::pairing::{Key, Label};

use crate::errors::format_error;
use crate::history::{Found, read};
use crate::ledger::{BREATH, Ledger};
use crate::pricing::Pricing;
use crate::table::Kind;
use crate::tally::{Read, ReadRow, Tally};
use crate::terms::{Terms, scaled};
use crate::text::Text;

/// So many tools are sooner told by their names than by a hash of them.
const FEW: usize = 8;

impl Ledger {
    pub(crate) fn new_facts(&self, py: Python<'_>) -> Facts {
        Facts { continues: self.table.bind(py).get().flat, ..Facts::default() }
    }

    pub(crate) fn read_all(
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

    pub(crate) fn gather(
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
}

/// A part of a message's cost, rounded down: parts don't add up to more than the whole.
fn part_scaled(scale: f64, tokens: u64) -> u64 {
    if scale == 1.0 { tokens } else { (tokens as f64 * scale) as u64 }
}
