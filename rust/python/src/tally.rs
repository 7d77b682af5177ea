//! What a message costs, added up text by text, and the rows that it holds.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::sync::Arc;
use turnfit_core::ledger::Role;
use turnfit_core::profile::Profile;

use crate::table::{Kind, role_named};
use crate::text::Text;
use crate::value::{self, MEDIUM};

/// The frame that a provider puts around a message, and around a request, in
/// tokens; OpenAI's published rule is 3 and 3
/// (<https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken>).
pub(crate) const FRAME: u64 = 3;

/// Notes are shorter than this many characters; longer texts aren't hashed.
pub(crate) const NOTE_LENGTH: usize = 1024;

/// A message as it was read: what it costs, and its calls and results. It
/// depends on the message and the profile alone, not on a policy.
pub(crate) struct Read {
    pub(crate) role: Role,
    pub(crate) tokens: u64,
    pub(crate) rows: Vec<ReadRow>,
    /// The hash of its only text, if it is short.
    pub(crate) text: Option<u128>,
}

/// A call or a result.
pub(crate) struct ReadRow {
    pub(crate) kind: Kind,
    pub(crate) id: Option<Py<PyString>>,
    pub(crate) name: Option<Py<PyString>>,
    /// What the arguments or the content cost, in tokens.
    pub(crate) body: u64,
    /// The hash of the content, if it is one short text.
    pub(crate) text: Option<u128>,
    pub(crate) clearable: bool,
}

/// Adds up a message.
pub(crate) struct Tally<'t> {
    profile: &'t Profile,
    pub(crate) tokens: u64,
    rows: Vec<ReadRow>,
    texts: usize,
    text: Option<u128>,
}

impl<'t> Tally<'t> {
    pub(crate) fn new(profile: &'t Profile) -> Self {
        Tally { profile, tokens: FRAME, rows: Vec::new(), texts: 0, text: None }
    }

    pub(crate) fn finish(self, role: Role) -> Read {
        let text = self.text.filter(|_| self.texts == 1);
        Read { role, tokens: self.tokens, rows: self.rows, text }
    }

    /// Opens a row, unless the thing is neither call nor result; gives its number.
    pub(crate) fn open_row(&mut self, kind: Kind, clearable: bool) -> Option<usize> {
        if kind == Kind::Plain {
            return None;
        }
        self.rows.push(ReadRow { kind, id: None, name: None, body: 0, text: None, clearable });
        Some(self.rows.len() - 1)
    }

    pub(crate) fn is_call(&self, row: Option<usize>) -> bool {
        row.is_some_and(|row| self.rows[row].kind == Kind::Call)
    }

    /// What was added since `before` is the body of this row.
    pub(crate) fn close_body(&mut self, row: Option<usize>, before: u64, text: Option<u128>) {
        if let Some(row) = row {
            let row = &mut self.rows[row];
            row.body += self.tokens - before;
            row.text = text;
        }
    }

    /// A string as it is, anything else as JSON. The hash, if it is a short text.
    pub(crate) fn add_text(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Option<u128>> {
        let Ok(string) = value.cast::<PyString>() else {
            self.add_json(value)?;
            return Ok(None);
        };
        let text = Text::of(string)?;
        self.tokens += self.profile.tokens(text.counts(value.py()));
        self.texts += 1;
        self.text = (text.len() < NOTE_LENGTH).then(|| text.hash());
        Ok(self.text)
    }

    pub(crate) fn add_json(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if !value.is_none() {
            self.texts += 1;
            self.tokens += value::tokens(value, self.profile)?;
        }
        Ok(())
    }

    pub(crate) fn add_medium(&mut self) {
        self.texts += 1;
        self.tokens += MEDIUM;
    }

    pub(crate) fn add_id(&mut self, value: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let id = self.add_label(value)?;
        if let Some(row) = row {
            self.rows[row].id = Some(id);
        }
        Ok(())
    }

    pub(crate) fn add_name(&mut self, value: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let name = self.add_label(value)?;
        if let Some(row) = row {
            self.rows[row].name = Some(name);
        }
        Ok(())
    }

    fn add_label(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Py<PyString>> {
        let string = match value.cast::<PyString>() {
            Ok(string) => string.clone(),
            Err(_) => value.str()?,
        };
        self.tokens += self.profile.tokens(Text::of(&string)?.counts(value.py()));
        Ok(string.unbind())
    }

    /// `("text", text)`, `("medium",)`, `("call", id, name, arguments)` or
    /// `("result", id, name, content, clearable)`.
    fn add_object_row(&mut self, row: &Bound<'_, PyTuple>) -> PyResult<()> {
        let kind: String = row.get_item(0)?.extract()?;
        let (kind, clearable) = match kind.as_str() {
            "text" => return self.add_text(&row.get_item(1)?).map(drop),
            "medium" => {
                self.add_medium();
                return Ok(());
            }
            "call" => (Kind::Call, true),
            "result" => (Kind::Result, row.get_item(4)?.extract()?),
            other => return Err(PyValueError::new_err(format!("unknown kind of row {other:?}"))),
        };
        let (id, name) = (row.get_item(1)?, row.get_item(2)?);
        let number = self.open_row(kind, clearable);
        if !id.is_none() {
            self.add_id(&id, number)?;
        }
        if !name.is_none() {
            self.add_name(&name, number)?;
        }
        self.add_object_body(&row.get_item(3)?, number)
    }

    /// Arguments, or one text, or a tuple of texts and media (`None`).
    fn add_object_body(&mut self, body: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let before = self.tokens;
        let mut text = None;
        match body.cast::<PyTuple>() {
            Err(_) => text = self.add_text(body)?,
            Ok(parts) => {
                for part in parts {
                    if part.is_none() {
                        self.add_medium();
                    } else {
                        self.add_text(&part)?;
                    }
                }
            }
        }
        self.close_body(row, before, text);
        Ok(())
    }
}

/// A message that is an object, as it was read once.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Reading(pub(crate) Arc<Read>);

#[pymethods]
impl Reading {
    #[new]
    fn new(role: &str, rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut tally = Tally::new(&Profile::SCRIPT);
        for row in rows.try_iter()? {
            tally.add_object_row(row?.cast::<PyTuple>()?)?;
        }
        Ok(Reading(Arc::new(tally.finish(role_named(role)?))))
    }

    /// What the message costs, in tokens, frame included.
    #[getter]
    fn tokens(&self) -> u64 {
        self.0.tokens
    }
}
