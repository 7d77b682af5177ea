//! What a message says, by its format's table: its texts, calls and results.
//!
//! [`crate::history`] prices all that stands in a message; here the words themselves are
//! gathered, and of reasoning and media nothing.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use turnfit_core::facts::Role;

use crate::errors::format_error;
use crate::history::{fields_of, listed};
use crate::table::{Body, Fields, Kind, Shape, Table, Use, ascii_item};
use crate::value::items;

/// A call: id, name, arguments as they stand there.
pub(crate) type Call<'py> = (Option<Bound<'py, PyAny>>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// A result: id, name, text, whether it is marked as an error.
pub(crate) type Answer<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>, Bound<'py, PyAny>, bool);

/// Role, texts, calls and results.
pub(crate) type Contents<'py> = (Role, Bound<'py, PyList>, Vec<Call<'py>>, Vec<Answer<'py>>);

/// Parts nested deeper than this are taken to contain themselves.
const DEEPEST: usize = 200;

pub(crate) fn contents<'py>(
    table: &Table,
    index: usize,
    message: &Bound<'py, PyAny>,
) -> PyResult<Contents<'py>> {
    let py = message.py();
    let refused = || format_error(py, index, &format!("not a message of {}", table.name));
    let dict = fields_in(table, message)?.ok_or_else(refused)?;
    let (role, shape) = table.told(&dict)?.ok_or_else(refused)?;
    let texts = PyList::empty(py);
    let mut walk = Walk {
        table,
        message: &dict,
        depth: 0,
        texts: texts.clone(),
        row: None,
        calls: Vec::new(),
        results: Vec::new(),
    };
    if !table.has_reasoning || !table.telling(&dict)?.is_some_and(|name| name == "reasoning") {
        walk.thing(&dict, shape)?;
    }
    Ok((*role, texts, walk.calls, walk.results))
}

/// The fields of a message, or of whatever object has its own in a dict.
fn fields_in<'py>(table: &Table, message: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(dict) = fields_of(table, message)? else {
        let dict = message.getattr_opt(intern!(message.py(), "__dict__"))?;
        return Ok(dict.and_then(|dict| dict.cast_into().ok()));
    };
    Ok(Some(dict))
}

struct Walk<'t, 'py> {
    table: &'t Table,
    message: &'t Bound<'py, PyDict>,
    depth: usize,
    texts: Bound<'py, PyList>,
    /// The call or result that is read just now.
    row: Option<Row<'py>>,
    calls: Vec<Call<'py>>,
    results: Vec<Answer<'py>>,
}

struct Row<'py> {
    kind: Kind,
    id: Option<Bound<'py, PyAny>>,
    name: Option<Bound<'py, PyAny>>,
    body: Option<Bound<'py, PyAny>>,
    texts: Vec<Bound<'py, PyAny>>,
}

impl<'t, 'py> Walk<'t, 'py> {
    /// A message, a part or a call; one that is a call or a result makes a row.
    fn thing(&mut self, dict: &Bound<'py, PyDict>, shape: &'t Shape) -> PyResult<()> {
        if shape.is_told_by(self.message)? {
            return Ok(());
        }
        let kind = shape.kind_of(dict)?;
        if self.row.is_some() || !matches!(kind, Kind::Call | Kind::Result) {
            return self.fields(dict, &shape.fields);
        }
        self.row = Some(Row { kind, id: None, name: None, body: None, texts: Vec::new() });
        let read = self.fields(dict, &shape.fields);
        let row = self.row.take();
        read?;
        row.map_or(Ok(()), |row| self.close(row, dict))
    }

    fn close(&mut self, row: Row<'py>, dict: &Bound<'py, PyDict>) -> PyResult<()> {
        let py = dict.py();
        if row.kind == Kind::Call {
            let name = match row.name.filter(|name| name.is_truthy().unwrap_or(true)) {
                // A message may tell its tool by its type.
                None if dict.is(self.message) => self.table.telling(dict)?.map(Bound::into_any),
                name => name,
            };
            let name = name.unwrap_or_else(|| intern!(py, "").clone().into_any());
            self.calls.push((row.id, name, row.body));
        } else {
            self.results.push((row.id, row.name, joined(py, &row.texts)?, is_failed(dict)?));
        }
        Ok(())
    }

    fn fields(&mut self, dict: &Bound<'py, PyDict>, fields: &'t Fields) -> PyResult<()> {
        if self.depth == DEEPEST {
            return Err(PyValueError::new_err("a message contains itself, or nests too deep"));
        }
        if let Some(thought) = dict.get_item(intern!(dict.py(), "thought"))?
            && thought.is_truthy()?
        {
            return Ok(());
        }
        self.depth += 1;
        for (key, value) in &items(dict) {
            if let Some(number) = fields.position(key)?.filter(|_| !value.is_none()) {
                self.used(value, fields, number)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn used(&mut self, value: &Bound<'py, PyAny>, fields: &'t Fields, number: usize) -> PyResult<()> {
        match (fields.at(number), &mut self.row) {
            (Use::Body(body), _) => self.body(value, body)?,
            (Use::Text, _) if says(fields.name(number)) => self.text(value)?,
            (Use::Id, Some(row)) => row.id = Some(value.clone()),
            (Use::Name, Some(row)) => row.name = Some(value.clone()),
            (Use::Things(shape), _) => self.things(value, shape)?,
            (Use::Nested(nested), _) => {
                if let Ok(dict) = value.cast::<PyDict>() {
                    self.fields(dict, nested)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let text = if value.is_instance_of::<PyString>() { value.clone() } else { as_json(value)? };
        match &mut self.row {
            Some(row) => row.texts.push(text),
            None => self.texts.append(text)?,
        }
        Ok(())
    }

    fn things(&mut self, value: &Bound<'py, PyAny>, shape: &'t Shape) -> PyResult<()> {
        let Some(things) = listed(value) else { return self.thing_in(value, shape) };
        things.iter().try_for_each(|thing| self.thing_in(thing, shape))
    }

    fn thing_in(&mut self, value: &Bound<'py, PyAny>, shape: &'t Shape) -> PyResult<()> {
        value.cast::<PyDict>().map_or(Ok(()), |dict| self.thing(dict, shape))
    }

    /// A content, or the arguments of a call.
    fn body(&mut self, value: &Bound<'py, PyAny>, body: &'t Body) -> PyResult<()> {
        if let Some(row) = self.row.as_mut().filter(|row| row.kind == Kind::Call) {
            row.body = Some(value.clone());
        } else if let Some(parts) = listed(value) {
            parts.iter().try_for_each(|part| self.part(part, body))?;
        } else {
            // An object that only wraps the text, under whatever key.
            let wrapped = value.cast::<PyDict>().ok().filter(|dict| dict.len() == 1);
            let wrapped = wrapped.and_then(|dict| items(dict).pop()).map(|(_, text)| text);
            self.text(wrapped.as_ref().unwrap_or(value))?;
        }
        Ok(())
    }

    fn part(&mut self, part: &Bound<'py, PyAny>, body: &'t Body) -> PyResult<()> {
        let Ok(dict) = part.cast::<PyDict>() else {
            return if part.is_instance_of::<PyString>() { self.text(part) } else { Ok(()) };
        };
        let table = self.table;
        let shape = match &body.part {
            Some(shape) => Some(&**shape),
            None => ascii_item(dict, intern!(dict.py(), "type"), |kind| table.part(kind))?,
        };
        shape.filter(|shape| shape.kind != Kind::Marker).map_or(Ok(()), |shape| self.thing(dict, shape))
    }
}

/// Signatures and thoughts stand under other keys.
fn says(key: &[u8]) -> bool {
    matches!(key, b"text" | b"output" | b"stdout" | b"stderr" | b"json" | b"code")
}

fn is_failed(dict: &Bound<'_, PyDict>) -> PyResult<bool> {
    let py = dict.py();
    let is_error = dict.get_item(intern!(py, "is_error"))?.map_or(Ok(false), |told| told.is_truthy())?;
    let status = ascii_item(dict, intern!(py, "status"), |status| Some(status == b"error"))?;
    Ok(is_error || status.unwrap_or(false))
}

/// A line each.
fn joined<'py>(py: Python<'py>, texts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    match texts {
        [text] => Ok(text.clone()),
        _ => intern!(py, "\n").call_method1(intern!(py, "join"), (PyTuple::new(py, texts)?,)),
    }
}

fn as_json<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static AS_JSON: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    AS_JSON.import(value.py(), "turnfit.messages.contents", "as_json")?.call1((value,))
}
