//! Reads messages by their format's table.

use std::ops::Deref;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use smallvec::SmallVec;
use turnfit_core::facts::Role;

use crate::errors::format_error;
use crate::objects::{dict_of, dumped, plain};
use crate::pricing::Pricing;
use crate::table::{Body, Fields, Kind, Shape, Table, Use, ascii_item};
use crate::tally::{Read, Reading, Tally};
use crate::text::Text;

/// A message that was read just now, or once before.
pub(crate) enum Found<'a> {
    Fresh(&'a Read),
    Remembered(Arc<Read>),
}

impl Found<'_> {
    /// What was read, to be kept.
    pub(crate) fn shared(self, py: Python<'_>) -> Arc<Read> {
        match self {
            Found::Fresh(read) => Arc::new(read.clone_ref(py)),
            Found::Remembered(read) => read,
        }
    }
}

impl Deref for Found<'_> {
    type Target = Read;

    fn deref(&self) -> &Read {
        match self {
            Found::Fresh(read) => read,
            Found::Remembered(read) => read,
        }
    }
}

/// Reads one message.
pub(crate) fn read<'a>(
    table: &Table,
    index: usize,
    message: &Bound<'_, PyAny>,
    tally: &'a mut Tally,
) -> PyResult<Found<'a>> {
    if let Some(reader) = &table.reader {
        let reader = reader.bind(message.py());
        return read_object(&table.name, reader, index, message, tally.pricing()).map(Found::Remembered);
    }
    let mut role = read_by_table(table, index, message, tally);
    // Objects are rare, so they are looked for where a message couldn't be read without.
    if role.is_err()
        && !table.has_class_of(message)?
        && let Some(plain) = plain(message)?
    {
        role = read_by_table(table, index, &plain, tally);
    }
    tally.read.role = role.map_err(|error| at_message(message.py(), index, error))?;
    Ok(Found::Fresh(&tally.read))
}

fn read_by_table(
    table: &Table,
    index: usize,
    message: &Bound<'_, PyAny>,
    tally: &mut Tally,
) -> PyResult<Role> {
    tally.begin();
    Reader { table, index, tally, message: None }.read_message(message)
}

/// A message that is an object: its format reads it, and may remember the reading.
fn read_object(
    name: &str,
    reader: &Bound<'_, PyAny>,
    index: usize,
    message: &Bound<'_, PyAny>,
    pricing: &Pricing,
) -> PyResult<Arc<Read>> {
    let py = message.py();
    let read = reader.call1((message,))?;
    if read.is_none() {
        return Err(format_error(message.py(), index, &not_a_message(message, name)?));
    }
    if let Ok(reading) = read.cast::<Reading>() {
        return reading.get().priced_by(py, pricing);
    }
    let read =
        read.extract::<(String, Bound<'_, PyAny>)>().and_then(|(role, rows)| Reading::new(&role, &rows));
    read.and_then(|reading| reading.priced_by(py, pricing)).map_err(|error| at_message(py, index, error))
}

/// The fields of a message: itself, the dict in which an object has them, or what it is
/// sent as.
pub(crate) fn fields_of<'py>(
    table: &Table,
    message: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    if let Ok(dict) = message.cast::<PyDict>() {
        return Ok(Some(dict.clone()));
    }
    if !table.has_class_of(message)? {
        return dumped(message);
    }
    Ok(Some(message.getattr(intern!(message.py(), "__dict__"))?.cast_into()?))
}

/// The index of the last message by which the provider has replaced all before it.
pub(crate) fn last_marker(table: &Table, messages: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let Some(messages) = listed(messages).filter(|_| table.has_markers) else { return Ok(None) };
    for (index, message) in messages.iter().enumerate().rev() {
        if is_marker(table, message)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn is_marker(table: &Table, message: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(dict) = fields_of(table, message)? else { return Ok(false) };
    let Some((_, shape)) = table.told(&dict)? else { return Ok(false) };
    let Some((key, _)) = shape.fields.body() else { return Ok(shape.kind == Kind::Marker) };
    let parts = dict.get_item(key)?.and_then(|content| listed(&content)).unwrap_or_default();
    for part in &parts {
        let Some(part) = dict_of(part)? else { continue };
        let kind = ascii_item(&part, intern!(part.py(), "type"), |kind| table.part(kind))?;
        if kind.is_some_and(|shape| shape.kind == Kind::Marker) {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Reader<'t, 'py> {
    table: &'t Table,
    index: usize,
    tally: &'t mut Tally,
    message: Option<Bound<'py, PyDict>>,
}

impl<'t, 'py> Reader<'t, 'py> {
    fn read_message(&mut self, message: &Bound<'py, PyAny>) -> PyResult<Role> {
        let py = message.py();
        let Some(dict) = fields_of(self.table, message)? else {
            return Err(self.error(py, &not_a_message(message, &self.table.name)?));
        };
        let Some((role, shape)) = self.table.told(&dict)? else {
            return Err(self.unknown_role(&dict)?);
        };
        self.message = Some(dict.clone());
        self.read_thing(&dict, shape, true)?;
        self.tally.read.unfinished |= shape.is_unfinished(&dict)?;
        self.tally.read.bound = shape.bound;
        if shape.is_thought(&dict)? {
            self.tally.read.thought = Some(self.tally.read.tokens);
        }
        Ok(*role)
    }

    /// A message, a part or a call: one row, if it is a call or a result.
    fn read_thing(&mut self, dict: &Bound<'_, PyDict>, shape: &'t Shape, is_message: bool) -> PyResult<()> {
        if let Some(message) = &self.message
            && shape.is_told_by(message)?
        {
            return Ok(());
        }
        let kind = shape.kind_of(dict)?;
        self.tally.read.unfinished = shape.is_unfinished(dict)?;
        let row = self.tally.open_row(kind, shape.clearable);
        if kind == Kind::Opaque {
            return self.tally.add_unknown(dict);
        }
        self.read_fields(dict, &shape.fields, row, is_message)
    }

    fn read_fields(
        &mut self,
        dict: &Bound<'_, PyDict>,
        fields: &'t Fields,
        row: Option<usize>,
        is_message: bool,
    ) -> PyResult<()> {
        let before = self.tally.open_dict(dict, fields, row)?;
        while let Some((number, key, value)) = self.tally.next_item(dict.py(), before) {
            match number {
                Some(number) => self.read_use(dict, &value, fields.at(number), row)?,
                None => self.read_unknown(&key, &value, is_message)?,
            }
        }
        Ok(())
    }

    fn read_unknown(
        &mut self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        is_message: bool,
    ) -> PyResult<()> {
        if let Ok(name) = key.cast::<PyString>()
            && let Some(name) = Text::of(name)?.ascii()
        {
            if name == b"cache_control" {
                return Ok(());
            }
            if is_message && tells(value) {
                self.refuse_foreign(key.py(), name, self.table.foreign.keys.get(name), "key")?;
            }
        }
        self.tally.add_value(value)
    }

    fn read_use(
        &mut self,
        dict: &Bound<'_, PyDict>,
        value: &Bound<'_, PyAny>,
        used: &'t Use,
        row: Option<usize>,
    ) -> PyResult<()> {
        match used {
            Use::Free => {}
            Use::Text => self.tally.add_text(value)?,
            Use::Body(body) => self.read_body(value, body, row)?,
            Use::Id => self.tally.add_id(value, row)?,
            Use::Name => self.tally.add_name(value, row)?,
            Use::Sealed => self.tally.add_sealed(value)?,
            Use::Medium => self.read_medium(dict, value)?,
            Use::Source => self.read_source(dict, value)?,
            Use::Nested(fields) => match value.cast::<PyDict>() {
                Ok(dict) => self.read_fields(dict, fields, row, false)?,
                Err(_) => self.tally.add_unknown(value)?,
            },
            Use::Things(shape) => self.read_things(value, shape)?,
            Use::Thought => {
                let before = (self.tally.read.tokens, self.tally.read.thought);
                self.tally.add_sealed(value)?;
                self.tally.add_thought(before);
            }
        }
        Ok(())
    }

    fn read_things(&mut self, value: &Bound<'_, PyAny>, shape: &'t Shape) -> PyResult<()> {
        match only_item(value) {
            Some(thing) => self.read_thing_in(&thing, shape),
            None => match listed(value) {
                Some(things) => things.iter().try_for_each(|thing| self.read_thing_in(thing, shape)),
                None => self.read_thing_in(value, shape),
            },
        }
    }

    /// A part of a message, which may be reasoning.
    fn read_block(&mut self, dict: &Bound<'_, PyDict>, shape: &'t Shape) -> PyResult<()> {
        let before = (self.tally.read.tokens, self.tally.read.thought);
        self.read_thing(dict, shape, false)?;
        if shape.is_thought(dict)? {
            self.tally.add_thought(before);
        }
        Ok(())
    }

    fn read_thing_in(&mut self, value: &Bound<'_, PyAny>, shape: &'t Shape) -> PyResult<()> {
        match value.cast::<PyDict>() {
            Ok(dict) => self.read_thing(dict, shape, false),
            Err(_) => self.read_plain(value),
        }
    }

    /// The content of a message or result, or the arguments of a call.
    fn read_body(&mut self, value: &Bound<'_, PyAny>, body: &'t Body, row: Option<usize>) -> PyResult<()> {
        let opened = self.tally.open_body();
        if let Some(text) = body.wrapped(value)? {
            self.tally.add_text(&text)?;
        } else if let Some(parts) = listed(value).filter(|_| !self.tally.is_call(row)) {
            parts.iter().try_for_each(|part| self.read_part(part, body.part.as_deref(), row))?;
        } else if body.part.is_some() {
            let what =
                format!("the format {} wants a list, not {}", self.table.name, value.get_type().qualname()?);
            return Err(self.error(value.py(), &what));
        } else if value.is_instance_of::<PyDict>() {
            self.tally.add_text(value)?;
        } else {
            self.read_plain(value)?;
        }
        self.tally.close_body(row, opened);
        Ok(())
    }

    /// A part of a content. Inside a result nothing is a call or a result.
    fn read_part(
        &mut self,
        part: &Bound<'_, PyAny>,
        shape: Option<&'t Shape>,
        row: Option<usize>,
    ) -> PyResult<()> {
        let Ok(dict) = part.cast::<PyDict>() else { return self.read_plain(part) };
        if let Some(shape) = shape {
            return self.read_block(dict, shape);
        }
        let table = self.table;
        let kind = intern!(part.py(), "type");
        let shape = ascii_item(dict, kind, |kind| table.part(kind))?;
        if let Some(shape) = shape.filter(|shape| row.is_none() || !shape.kind.is_row()) {
            return self.read_block(dict, shape);
        }
        let refused = |kind: &[u8]| {
            let format = table.foreign.parts.get(kind);
            self.refuse_foreign(part.py(), kind, format, "block of type").err()
        };
        match ascii_item(dict, kind, refused)? {
            Some(refused) => Err(refused),
            None => self.tally.add_unknown(part),
        }
    }

    /// What JSON has besides objects; no object of a class.
    fn read_plain(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if is_json(value) {
            return self.tally.add_text(value);
        }
        let what = not_json(value)?;
        Err(self.error(value.py(), &what))
    }

    /// A medium, or a list of such.
    fn read_medium(&mut self, holder: &Bound<'_, PyDict>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(media) = listed(value) else { return self.tally.add_medium(value, Some(holder)) };
        media.iter().try_for_each(|medium| self.tally.add_medium(medium, Some(holder)))
    }

    /// A source whose `type` is `text` or `content` holds what is to be read.
    fn read_source(&mut self, holder: &Bound<'_, PyDict>, source: &Bound<'_, PyAny>) -> PyResult<()> {
        let Ok(dict) = source.cast::<PyDict>() else { return self.tally.add_unknown(source) };
        let is_text = |kind: &[u8]| matches!(kind, b"text" | b"content").then_some(());
        match ascii_item(dict, intern!(source.py(), "type"), is_text)? {
            Some(()) => self.tally.add_unknown(source),
            None => self.tally.add_medium(source, Some(holder)),
        }
    }

    fn refuse_foreign(
        &self,
        py: Python<'_>,
        sign: &[u8],
        format: Option<&String>,
        what: &str,
    ) -> PyResult<()> {
        let Some(format) = format else { return Ok(()) };
        let sign = String::from_utf8_lossy(sign);
        let read_as = &self.table.name;
        Err(self
            .error(py, &format!("the {what} {sign:?} is of the format {format}, the history is {read_as}")))
    }

    fn unknown_role(&self, message: &Bound<'_, PyDict>) -> PyResult<PyErr> {
        let py = message.py();
        let types = &self.table.foreign.types;
        if let Some(format) = ascii_item(message, intern!(py, "type"), |name| types.get(name))? {
            let kind = message.get_item(intern!(py, "type"))?.expect("it was there").to_string();
            let what = self.refuse_foreign(py, kind.as_bytes(), Some(format), "message of type");
            return Ok(what.expect_err("a format was given"));
        }
        let Some(role) = self.table.mistold(message)? else { return Ok(self.error(py, "it has no role")) };
        let shown = role.repr().map_or_else(|_| "?".to_string(), |repr| repr.to_string());
        let name = &self.table.name;
        Ok(self.error(py, &format!("its role {shown} is not one of the format {name}")))
    }

    fn error(&self, py: Python<'_>, what: &str) -> PyErr {
        format_error(py, self.index, what)
    }
}

fn not_a_message(message: &Bound<'_, PyAny>, format: &str) -> PyResult<String> {
    let class = message.get_type().qualname()?.to_string();
    let article = if class.starts_with(|first| "AEIOUaeiou".contains(first)) { "an" } else { "a" };
    Ok(format!("{article} {class} is not a message of the format {format}"))
}

fn not_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let class = value.get_type().qualname()?;
    Ok(format!("it holds an object of the class {class} where JSON is wanted"))
}

pub(crate) fn is_json(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyDict>()
        || value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>()
}

/// The items of a list or a tuple.
pub(crate) fn listed<'py>(value: &Bound<'py, PyAny>) -> Option<SmallVec<[Bound<'py, PyAny>; 8]>> {
    if let Ok(list) = value.cast::<PyList>() {
        return Some(list.iter().collect());
    }
    value.cast::<PyTuple>().ok().map(|tuple| tuple.iter().collect())
}

/// The item of a list that has but one, as most lists of calls do.
fn only_item<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let list = value.cast::<PyList>().ok().filter(|list| list.len() == 1)?;
    list.get_item(0).ok()
}

/// An empty list of calls tells nothing.
pub(crate) fn tells(value: &Bound<'_, PyAny>) -> bool {
    !value.is_none() && value.cast::<PyList>().map_or(true, |list| !list.is_empty())
}

/// An error of reading, with the message's index; one that comes from elsewhere, such
/// as from an object's own code, gets it as a note.
fn at_message(py: Python<'_>, index: usize, error: PyErr) -> PyErr {
    if error.get_type(py).is(py.get_type::<PyValueError>()) {
        return format_error(py, index, &error.value(py).to_string());
    }
    if !error.is_instance_of::<PyValueError>(py) {
        // An exception without notes stays as it is.
        let _ = error
            .value(py)
            .call_method1(intern!(py, "add_note"), (format!("turnfit was reading message {index}"),));
    }
    error
}
