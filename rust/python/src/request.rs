//! Builds a request: the history's own objects, and copies of what differs.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use turnfit_core::reasoning::Thought;

use crate::history::fields_of;
use crate::objects::plain;
use crate::table::{Body, Fields, Kind, Shape, Table, Use, ascii_item};
use crate::value::items;

/// What is changed in one row of a message.
pub(crate) struct Edit<'py> {
    /// The row's number among the calls and results of its message.
    pub(crate) place: u32,
    /// The content of a result.
    pub(crate) content: Bound<'py, PyAny>,
    /// Or the arguments of a call, where they are an object.
    pub(crate) arguments: Option<Bound<'py, PyDict>>,
}

/// Puts messages into a request, those of some responses without their reasoning.
pub(crate) struct Bare<'t, 'py> {
    table: &'t Table,
    /// The reasoning that goes, that of later messages first.
    gone: Vec<Thought>,
    /// The messages so far of a response whose reasoning goes.
    response: Vec<Bound<'py, PyAny>>,
    /// Where that response ends.
    end: usize,
    /// Single messages of which this was made before.
    made: &'t Mutex<HashMap<u32, Py<PyAny>>>,
}

impl<'t, 'py> Bare<'t, 'py> {
    pub(crate) fn new(
        table: &'t Table,
        mut gone: Vec<Thought>,
        made: &'t Mutex<HashMap<u32, Py<PyAny>>>,
    ) -> Self {
        gone.reverse();
        Bare { table, gone, response: Vec::new(), end: 0, made }
    }

    pub(crate) fn push(
        &mut self,
        index: usize,
        message: Bound<'py, PyAny>,
        edited: bool,
        request: &mut Vec<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        while let Some(thought) = self.gone.pop_if(|thought| thought.message as usize <= index) {
            self.end = thought.end as usize;
        }
        if index >= self.end {
            request.push(message);
            return Ok(());
        }
        let py = message.py();
        let alone = self.response.is_empty() && index + 1 == self.end && !edited;
        if let Some(made) = self.made().get(&(index as u32)).filter(|_| alone) {
            request.push(made.bind(py).clone());
            return Ok(());
        }
        self.response.push(message);
        if index + 1 < self.end {
            return Ok(());
        }
        let before = request.len();
        self.close(request)?;
        if alone && let [made] = &request[before..] {
            self.made().insert(index as u32, made.clone().unbind());
        }
        Ok(())
    }

    fn made(&self) -> MutexGuard<'t, HashMap<u32, Py<PyAny>>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The response is whole: what is left of it goes into the request.
    pub(crate) fn close(&mut self, request: &mut Vec<Bound<'py, PyAny>>) -> PyResult<()> {
        let response = std::mem::take(&mut self.response);
        let (Some(strip), Some(first)) = (&self.table.strip, response.first()) else { return Ok(()) };
        let py = first.py();
        let response: PyResult<Vec<_>> = response.iter().map(|message| self.of_dicts(message)).collect();
        for message in strip.bind(py).call1((PyList::new(py, response?)?,))?.try_iter()? {
            let message = message?;
            if !message.is_none() {
                request.push(message);
            }
        }
        Ok(())
    }

    /// A message without the SDKs' objects; those of the format's own classes stay.
    fn of_dicts(&self, message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.table.rewriter.is_some() || self.table.has_class_of(message)? {
            return Ok(message.clone());
        }
        Ok(plain(message)?.unwrap_or_else(|| message.clone()))
    }
}

/// A copy of a message with these edits made, which are in the order of their places;
/// nothing else is copied. None where the message has no longer what they edit.
pub(crate) fn rewrite<'py>(
    table: &Table,
    message: &Bound<'py, PyAny>,
    edits: &[Edit<'py>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = message.py();
    if let Some(rewriter) = &table.rewriter {
        return rewriter.bind(py).call1((message, bodies(py, edits)?)).map(Some);
    }
    // What else such a dict holds is not walked, so that it may hold objects.
    if let Ok(dict) = message.cast_exact::<PyDict>()
        && let Some(changed) = lone_result(table, dict, edits)?
    {
        return Ok(Some(changed.into_any()));
    }
    let is_object = table.has_class_of(message)?;
    let plain = if is_object { None } else { plain(message)? };
    let Some(dict) = fields_of(table, plain.as_ref().unwrap_or(message))? else { return Ok(None) };
    let changed = match lone_result(table, &dict, edits)? {
        None => Rewriter::new(table, edits, &dict).rewritten(&dict)?,
        changed => changed,
    };
    match (&table.rebuild, changed) {
        (Some(rebuild), Some(changed)) if is_object => rebuild.bind(py).call1((message, changed)).map(Some),
        (_, changed) => Ok(changed.map(Bound::into_any)),
    }
}

/// From a row's number to its new body.
fn bodies<'py>(py: Python<'py>, edits: &[Edit<'py>]) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    for edit in edits {
        let arguments = edit.arguments.as_ref().map(Bound::as_any);
        made.set_item(edit.place, arguments.unwrap_or(&edit.content))?;
    }
    Ok(made)
}

/// A message that is itself a result needs no walk; None for others.
fn lone_result<'py>(
    table: &Table,
    dict: &Bound<'py, PyDict>,
    edits: &[Edit<'py>],
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let ([edit], Some((_, shape))) = (edits, table.told(dict)?) else { return Ok(None) };
    let Some((key, body)) = shape.fields.body().filter(|_| shape.kind == Kind::Result) else {
        return Ok(None);
    };
    if !dict.contains(key.bind(dict.py()))? {
        return Ok(None);
    }
    let copy = dict.copy()?;
    copy.set_item(key, body.bearing(&edit.content)?)?;
    Ok(Some(copy))
}

/// Walks a message in the order in which it was read, so that rows get the
/// same numbers.
struct Rewriter<'t, 'py> {
    table: &'t Table,
    edits: &'t [Edit<'py>],
    message: Bound<'py, PyDict>,
    rows: u32,
    made: HashSet<u32>,
}

impl<'t, 'py> Rewriter<'t, 'py> {
    fn new(table: &'t Table, edits: &'t [Edit<'py>], message: &Bound<'py, PyDict>) -> Self {
        Rewriter { table, edits, message: message.clone(), rows: 0, made: HashSet::new() }
    }

    /// The whole message; None where not all edits found their places.
    fn rewritten(mut self, dict: &Bound<'py, PyDict>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some((_, shape)) = self.table.told(dict)? else { return Ok(None) };
        let changed = self.thing(dict, shape)?;
        Ok(changed.filter(|_| self.made.len() == self.edits.len()))
    }

    fn thing(&mut self, dict: &Bound<'py, PyDict>, shape: &'t Shape) -> PyResult<Option<Bound<'py, PyDict>>> {
        if shape.is_told_by(&self.message)? {
            return Ok(None);
        }
        let row = shape.kind_of(dict)?.is_row().then_some(self.rows);
        self.rows += u32::from(row.is_some());
        self.fields(dict, &shape.fields, row)
    }

    fn fields(
        &mut self,
        dict: &Bound<'py, PyDict>,
        fields: &'t Fields,
        row: Option<u32>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut copy: Option<Bound<'py, PyDict>> = None;
        for (key, value) in items(dict) {
            let used = fields.get(&key)?;
            let Some(changed) = used.map(|used| self.used(&value, used, row)).transpose()?.flatten() else {
                continue;
            };
            let copy = match &mut copy {
                Some(copy) => copy,
                None => copy.insert(dict.copy()?),
            };
            copy.set_item(key, changed)?;
        }
        Ok(copy)
    }

    fn used(
        &mut self,
        value: &Bound<'py, PyAny>,
        used: &'t Use,
        row: Option<u32>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match used {
            Use::Body(body) => self.body(value, body, row),
            Use::Nested(fields) => match value.cast::<PyDict>() {
                Ok(dict) => Ok(self.fields(dict, fields, row)?.map(Bound::into_any)),
                Err(_) => Ok(None),
            },
            Use::Things(shape) => match value.cast::<PyDict>() {
                Ok(dict) => Ok(self.thing(dict, shape)?.map(Bound::into_any)),
                Err(_) => self.each(value, |this, item| this.thing(item, shape)),
            },
            _ => Ok(None),
        }
    }

    fn body(
        &mut self,
        value: &Bound<'py, PyAny>,
        body: &'t Body,
        row: Option<u32>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if value.is_none() {
            return Ok(None);
        }
        let edit = row.and_then(|row| self.edits.binary_search_by_key(&row, |edit| edit.place).ok());
        match edit.map(|edit| &self.edits[edit]) {
            Some(edit) => {
                self.made.insert(edit.place);
                Ok(Some(edit.body(value, body)?))
            }
            None if row.is_some() => Ok(None),
            None => self.each(value, |this, part| this.part(part, body)),
        }
    }

    fn part(&mut self, part: &Bound<'py, PyDict>, body: &'t Body) -> PyResult<Option<Bound<'py, PyDict>>> {
        let table = self.table;
        let shape = match &body.part {
            Some(shape) => Some(&**shape),
            None => ascii_item(part, intern!(part.py(), "type"), |kind| table.part(kind))?,
        };
        shape.map_or(Ok(None), |shape| self.thing(part, shape))
    }

    /// A copy of a list, if any of its objects changes.
    fn each(
        &mut self,
        value: &Bound<'py, PyAny>,
        mut change: impl FnMut(&mut Self, &Bound<'py, PyDict>) -> PyResult<Option<Bound<'py, PyDict>>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let list = match value.cast::<PyTuple>() {
            Ok(tuple) => tuple.to_list(),
            Err(_) => match value.cast::<PyList>() {
                Ok(list) => list.clone(),
                Err(_) => return Ok(None),
            },
        };
        let mut copy: Option<Bound<'py, PyList>> = None;
        for (index, item) in list.iter().enumerate() {
            let Ok(item) = item.cast::<PyDict>() else { continue };
            let Some(changed) = change(self, item)? else { continue };
            let copy = match &mut copy {
                Some(copy) => copy,
                None => copy.insert(list.get_slice(0, list.len())),
            };
            copy.set_item(index, changed)?;
        }
        Ok(copy.map(Bound::into_any))
    }
}

impl<'py> Edit<'py> {
    /// Arguments keep the form that they had: an object, or JSON in a string.
    fn body(&self, value: &Bound<'py, PyAny>, body: &Body) -> PyResult<Bound<'py, PyAny>> {
        match &self.arguments {
            Some(_) if value.is_instance_of::<PyString>() => Ok(self.content.clone()),
            Some(arguments) => Ok(arguments.clone().into_any()),
            None => body.bearing(&self.content),
        }
    }
}
