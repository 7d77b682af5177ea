//! What a message costs, added up text by text, and the rows that it holds.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};
use turnfit_core::facts::Role;

use crate::pricing::Pricing;
use crate::table::{Fields, Kind, Use, role_named};
use crate::text::Text;
use crate::value::{self, DataUrls, MEDIUM};

/// The frame that a provider puts around a message, and around a request, in
/// tokens; OpenAI's published rule is 3 and 3
/// (<https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken>).
pub(crate) const FRAME: u64 = 3;

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
    /// Its content, if that is one short text.
    pub(crate) text: Option<Py<PyString>>,
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
        let read = Read { role: Role::User, tokens: 0, rows: Vec::new(), marker: false, text: None };
        Tally { pricing, read, pieces: 0, text: None, waiting: Vec::new() }
    }

    /// Begins a message.
    pub(crate) fn begin(&mut self) {
        self.read.tokens = FRAME;
        self.read.rows.clear();
        self.read.marker = false;
        self.read.text = None;
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

    /// Opens a row, unless the thing is neither call nor result; gives its number.
    pub(crate) fn open_row(&mut self, kind: Kind, clearable: bool) -> Option<usize> {
        if !kind.is_row() {
            self.read.marker |= kind == Kind::Marker;
            return None;
        }
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

    pub(crate) fn add_medium(&mut self) {
        self.add_media(1);
    }

    pub(crate) fn add_media(&mut self, media: usize) {
        self.pieces += 1;
        self.read.tokens += media as u64 * MEDIUM;
    }

    pub(crate) fn add_id(&mut self, value: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let id = self.add_label(value)?;
        if let Some(row) = row {
            self.read.rows[row].id = Some(id);
        }
        Ok(())
    }

    pub(crate) fn add_name(&mut self, value: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let name = self.add_label(value)?;
        if let Some(row) = row {
            self.read.rows[row].name = Some(name);
        }
        Ok(())
    }

    fn add_label(&mut self, value: &Bound<'_, PyAny>) -> PyResult<Py<PyString>> {
        let string = match value.cast::<PyString>() {
            Ok(string) => string.clone(),
            Err(_) => value.str()?,
        };
        self.read.tokens += self.pricing.text(&string)?;
        Ok(string.unbind())
    }

    /// `("text", text)`, `("medium",)`, `("call", id, name, arguments)` or
    /// `("result", id, name, content, clearable)`.
    fn add_object_row(&mut self, row: &Bound<'_, PyTuple>) -> PyResult<()> {
        let kind: String = row.get_item(0)?.extract()?;
        let wanted = match kind.as_str() {
            "text" => 2,
            "medium" => 1,
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
                self.add_medium();
                return Ok(());
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

    /// Arguments, or one text, or a tuple of texts and media (`None`).
    fn add_object_body(&mut self, body: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        let opened = self.open_body();
        let Ok(parts) = body.cast::<PyTuple>() else {
            self.add_text(body)?;
            self.close_body(row, opened);
            return Ok(());
        };
        for part in parts {
            if part.is_none() {
                self.add_medium();
            } else {
                self.add_text(&part)?;
            }
        }
        self.close_body(row, opened);
        Ok(())
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
        let by_script = Arc::new(read_rows(role_named(role)?, &rows, Pricing::Script)?);
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
        if pricing.is(&Pricing::Script) {
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
