//! What a message costs, added up text by text, and the rows that it holds.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};
use turnfit_core::facts::Role;

use crate::pricing::Pricing;
use crate::table::{Fields, Kind, Use, role_named};
use crate::text::Text;
use crate::value::{self, DataUrls};

/// Notes are shorter than this many characters; longer texts aren't compared with them.
pub(crate) const NOTE_LENGTH: usize = 1024;

/// A message as it was read: what it costs, and its calls and results. It
/// depends on the message and the profile alone, not on a policy.
pub(crate) struct Read {
    pub(crate) role: Role,
    pub(crate) tokens: u64,
    pub(crate) rows: Vec<ReadRow>,
    /// The provider has replaced by it what stands before it.
    pub(crate) marker: bool,
    /// What the reasoning in it costs, in tokens, if there is any.
    pub(crate) thought: Option<u64>,
    /// It is refused without the reasoning before it in the same response.
    pub(crate) bound: bool,
    /// Its content, if that is one short text.
    pub(crate) text: Option<Py<PyString>>,
    /// Its last part never came to its end.
    pub(crate) unfinished: bool,
}

impl Read {
    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Read {
        Read {
            rows: self.rows.iter().map(|row| row.clone_ref(py)).collect(),
            text: self.text.as_ref().map(|text| text.clone_ref(py)),
            ..*self
        }
    }

    /// What it costs, and what the reasoning in it does, how many rows it has, and what the body
    /// of each costs.
    pub(crate) fn costs(&self) -> impl Iterator<Item = u64> + '_ {
        [self.tokens, self.thought.unwrap_or(0), self.rows.len() as u64]
            .into_iter()
            .chain(self.rows.iter().map(|row| row.body))
    }

    /// The same at costs that begin with its own, and those that are left of them; None where
    /// they are of another message.
    pub(crate) fn at_costs<'c>(&self, py: Python<'_>, costs: &'c [u64]) -> Option<(Read, &'c [u64])> {
        let [tokens, thought, rows, costs @ ..] = costs else { return None };
        let (bodies, left) = costs.split_at_checked(self.rows.len())?;
        if *rows != self.rows.len() as u64 {
            return None;
        }
        let thought = self.thought.map(|_| *thought);
        let mut read = Read { tokens: *tokens, thought, ..self.clone_ref(py) };
        read.rows.iter_mut().zip(bodies).for_each(|(row, &body)| row.body = body);
        Some((read, left))
    }
}

/// A call or a result.
pub(crate) struct ReadRow {
    pub(crate) kind: Kind,
    pub(crate) id: Option<Py<PyString>>,
    pub(crate) name: Option<Py<PyString>>,
    /// What the arguments or the content cost, in tokens.
    pub(crate) body: u64,
    /// The content, if it is one short text.
    pub(crate) text: Option<Py<PyString>>,
    pub(crate) clearable: bool,
}

impl ReadRow {
    fn clone_ref(&self, py: Python<'_>) -> ReadRow {
        let label = |label: &Option<Py<PyString>>| label.as_ref().map(|label| label.clone_ref(py));
        ReadRow { id: label(&self.id), name: label(&self.name), text: label(&self.text), ..*self }
    }
}

/// Adds up a message, and then the next.
pub(crate) struct Tally {
    pricing: Pricing,
    pub(crate) read: Read,
    /// Texts, media and unknown things in the body that is open.
    pieces: usize,
    /// The last text in it, if that is short.
    text: Option<Py<PyString>>,
    /// Keys and values still to be read, those of the innermost dict last.
    waiting: Vec<(Option<usize>, Py<PyAny>, Py<PyAny>)>,
}

/// What stands in a dict: its number among the fields, if it is one, key and value.
type Waiting<'py> = (Option<usize>, Bound<'py, PyAny>, Bound<'py, PyAny>);

impl Tally {
    pub(crate) fn pricing(&self) -> &Pricing {
        &self.pricing
    }

    pub(crate) fn new(pricing: Pricing) -> Self {
        let read = Read {
            role: Role::User,
            tokens: 0,
            rows: Vec::new(),
            marker: false,
            thought: None,
            bound: false,
            text: None,
            unfinished: false,
        };
        Tally { pricing, read, pieces: 0, text: None, waiting: Vec::new() }
    }

    /// Begins a message.
    pub(crate) fn begin(&mut self) {
        self.read.tokens = self.pricing.frames.message;
        self.read.rows.clear();
        self.read.marker = false;
        self.read.thought = None;
        self.read.bound = false;
        self.read.text = None;
        self.read.unfinished = false;
        self.waiting.clear();
    }

    /// Reads the texts with which a dict begins, and takes down what else it holds now: to
    /// read a value may run other code, here or in another thread, and the dict may change
    /// under an iteration. One list serves all dicts. Gives how long the list was.
    pub(crate) fn open_dict(
        &mut self,
        dict: &Bound<'_, PyDict>,
        fields: &Fields,
        row: Option<usize>,
    ) -> PyResult<usize> {
        let before = self.waiting.len();
        for (key, value) in dict.iter() {
            let number = fields.position(&key)?;
            if let Some(number) = number {
                let used = fields.at(number);
                let is_first = self.waiting.len() == before;
                if used.costs_nothing(&value) || (is_first && self.add_at_once(&value, used, row)?) {
                    continue;
                }
            } else if value.is_none() {
                continue;
            }
            self.waiting.push((number, key.unbind(), value.unbind()));
        }
        self.waiting[before..].reverse();
        Ok(before)
    }

    /// Adds a text that runs no other code when it is priced; tells whether it is one.
    fn add_at_once(&mut self, value: &Bound<'_, PyAny>, used: &Use, row: Option<usize>) -> PyResult<bool> {
        if !self.pricing.is_quick(value) {
            return Ok(false);
        }
        match used {
            Use::Text => self.add_text(value)?,
            Use::Id => self.add_id(value, row)?,
            Use::Name => self.add_name(value, row)?,
            Use::Body(body) if body.part.is_none() => {
                let opened = self.open_body();
                self.add_text(value)?;
                self.close_body(row, opened);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The next of the dict that was opened at this length: its number among the
    /// fields, if it is one, key and value.
    pub(crate) fn next_item<'py>(&mut self, py: Python<'py>, before: usize) -> Option<Waiting<'py>> {
        if self.waiting.len() == before {
            return None;
        }
        let (number, key, value) = self.waiting.pop()?;
        Some((number, key.into_bound(py), value.into_bound(py)))
    }

    /// What was added since there were so many tokens, and so much reasoning, is reasoning.
    pub(crate) fn add_thought(&mut self, (tokens, thought): (u64, Option<u64>)) {
        self.read.thought = Some(thought.unwrap_or(0) + self.read.tokens - tokens);
    }

    /// Opens a row, unless the thing is neither call nor result; gives its number.
    pub(crate) fn open_row(&mut self, kind: Kind, clearable: bool) -> Option<usize> {
        if !kind.is_row() {
            self.read.marker |= kind == Kind::Marker;
            return None;
        }
        self.read.tokens += match kind {
            Kind::Call => self.pricing.frames.call,
            Kind::Result => self.pricing.frames.result,
            _ => 0,
        };
        self.read.rows.push(ReadRow { kind, id: None, name: None, body: 0, text: None, clearable });
        Some(self.read.rows.len() - 1)
    }

    pub(crate) fn is_call(&self, row: Option<usize>) -> bool {
        row.is_some_and(|row| self.read.rows[row].kind == Kind::Call)
    }

    /// Opens the content of a message or result, or the arguments of a call.
    pub(crate) fn open_body(&mut self) -> u64 {
        (self.pieces, self.text) = (0, None);
        self.read.tokens
    }

    /// What was added since the body was opened is the body of this row, or of the message.
    pub(crate) fn close_body(&mut self, row: Option<usize>, opened: u64) {
        let text = self.text.take().filter(|_| self.pieces == 1);
        match row {
            None => self.read.text = text,
            Some(row) => {
                let row = &mut self.read.rows[row];
                row.body += self.read.tokens - opened;
                if self.pieces > 0 {
                    row.text = text;
                }
            }
        }
    }

    /// A string as it is, anything else as the JSON text that it is sent as.
    pub(crate) fn add_text(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.pieces += 1;
        let value = &value::sent_form(value)?;
        let Ok(string) = value.cast::<PyString>() else {
            self.read.tokens += self.pricing.json(value, DataUrls::AreText)?;
            return Ok(());
        };
        self.read.tokens += self.pricing.text(string)?;
        let text = Text::of(string)?;
        self.text = (text.len() < NOTE_LENGTH).then(|| string.clone().unbind());
        Ok(())
    }

    /// Something unknown in a body.
    pub(crate) fn add_unknown(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.pieces += 1;
        self.add_value(&value::without_cache_mark(value)?)
    }

    /// What stands under an unknown key.
    pub(crate) fn add_value(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.read.tokens += self.pricing.json(value, DataUrls::AreMedia)?;
        Ok(())
    }

    /// An encrypted payload.
    pub(crate) fn add_sealed(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = &value::sent_form(value)?;
        let Ok(string) = value.cast::<PyString>() else { return self.add_text(value) };
        self.pieces += 1;
        self.read.tokens += self.pricing.sealed(string)?;
        Ok(())
    }

    /// A picture, a sound or a file, in the dict that holds it.
    pub(crate) fn add_medium(
        &mut self,
        medium: &Bound<'_, PyAny>,
        holder: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.pieces += 1;
        self.read.tokens += self.pricing.medium(medium, holder)?;
        Ok(())
    }

    pub(crate) fn add_id(&mut self, value: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let id = label(value)?;
        if self.pricing.frames.ids {
            self.read.tokens += self.pricing.text(&id)?;
        }
        let id = id.unbind();
        if let Some(row) = row {
            self.read.rows[row].id = Some(id);
        }
        Ok(())
    }

    pub(crate) fn add_name(&mut self, value: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let name = label(value)?;
        self.read.tokens += self.pricing.text(&name)?;
        let name = name.unbind();
        if let Some(row) = row {
            self.read.rows[row].name = Some(name);
        }
        Ok(())
    }

    /// `("text", text)`, `("medium",)` or
    /// `("medium", medium)`, `("call", id, name, arguments)` or
    /// `("result", id, name, content, clearable)`.
    fn add_object_row(&mut self, row: &Bound<'_, PyTuple>) -> PyResult<()> {
        let kind: String = row.get_item(0)?.extract()?;
        let wanted = match kind.as_str() {
            "text" => 2,
            "medium" => row.len().clamp(1, 2),
            "call" => 4,
            "result" => 5,
            other => return Err(PyValueError::new_err(format!("unknown kind of row {other:?}"))),
        };
        if row.len() != wanted {
            return Err(PyValueError::new_err(format!(
                "a row {kind:?} has {wanted} entries, not {}",
                row.len()
            )));
        }
        let (kind, clearable) = match kind.as_str() {
            "text" => return self.add_text(&row.get_item(1)?),
            "medium" => {
                let medium = row.iter().nth(1).unwrap_or_else(|| row.py().None().into_bound(row.py()));
                return self.add_medium(&medium, None);
            }
            "call" => (Kind::Call, true),
            _ => (Kind::Result, row.get_item(4)?.extract()?),
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

    /// Arguments, or one text, or a tuple of texts and media (each in a tuple, or `None`).
    fn add_object_body(&mut self, body: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let opened = self.open_body();
        let Ok(parts) = body.cast::<PyTuple>() else {
            self.add_text(body)?;
            self.close_body(row, opened);
            return Ok(());
        };
        for part in parts {
            if part.is_none() {
                self.add_medium(&part, None)?;
            } else if let Ok(medium) = part.cast::<PyTuple>() {
                self.add_medium(&medium.get_item(0)?, None)?;
            } else {
                self.add_text(&part)?;
            }
        }
        self.close_body(row, opened);
        Ok(())
    }
}

/// An id or a name, which some send as a number.
fn label<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    match value.cast::<PyString>() {
        Ok(string) => Ok(string.clone()),
        Err(_) => value.str(),
    }
}

/// A message that is an object, as it was read once.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Reading {
    rows: Py<PyTuple>,
    by_script: Arc<Read>,
    /// By what else it was priced last.
    priced: Mutex<Option<(Pricing, Arc<Read>)>>,
}

#[pymethods]
impl Reading {
    #[new]
    pub(crate) fn new(role: &str, rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        let items = rows.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        let rows = PyTuple::new(rows.py(), items)?;
        let by_script = Arc::new(read_rows(role_named(role)?, &rows, Pricing::SCRIPT)?);
        Ok(Reading { rows: rows.unbind(), by_script, priced: Mutex::new(None) })
    }

    /// What the message costs, in tokens, frame included.
    #[pyo3(signature = (pricing = None))]
    fn tokens(&self, py: Python<'_>, pricing: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        Ok(self.priced_by(py, &Pricing::of(pricing)?)?.tokens)
    }
}

impl Reading {
    pub(crate) fn priced_by(&self, py: Python<'_>, pricing: &Pricing) -> PyResult<Arc<Read>> {
        if pricing.is(&Pricing::SCRIPT) || pricing.is(&Pricing::KNOWN) {
            return Ok(self.by_script.clone());
        }
        let last = |priced: &Mutex<Option<(Pricing, Arc<Read>)>>| {
            let priced = priced.lock().unwrap_or_else(PoisonError::into_inner);
            priced.as_ref().filter(|(by, _)| by.is(pricing)).map(|(_, read)| read.clone())
        };
        if let Some(read) = last(&self.priced) {
            return Ok(read);
        }
        let read = Arc::new(read_rows(self.by_script.role, self.rows.bind(py), pricing.clone())?);
        *self.priced.lock().unwrap_or_else(PoisonError::into_inner) = Some((pricing.clone(), read.clone()));
        Ok(read)
    }
}

fn read_rows(role: Role, rows: &Bound<'_, PyTuple>, pricing: Pricing) -> PyResult<Read> {
    let mut tally = Tally::new(pricing);
    tally.begin();
    let opened = tally.open_body();
    for row in rows {
        tally.add_object_row(row.cast::<PyTuple>()?)?;
    }
    tally.close_body(None, opened);
    tally.read.role = role;
    Ok(tally.read)
}
