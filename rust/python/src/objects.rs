//! Messages as the providers' SDKs hand them out: objects, or dicts that hold objects.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::value::items;

/// Messages hold their blocks, and blocks theirs, within so many levels.
const DEEP: usize = 8;

/// A dict itself, or what an object says it is sent as; None for anything else.
pub(crate) fn dict_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    match value.cast::<PyDict>() {
        Ok(dict) => Ok(Some(dict.clone())),
        Err(_) => dumped(value),
    }
}

/// What an object of the SDKs is sent as: they are pydantic's models, and leave out what
/// was not given.
pub(crate) fn dumped<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let py = value.py();
    let dump = intern!(py, "model_dump");
    // A class is no message, though it has the method.
    if !value.hasattr(dump)? || value.is_instance_of::<pyo3::types::PyType>() {
        return Ok(None);
    }
    let how = PyDict::new(py);
    how.set_item(intern!(py, "by_alias"), true)?;
    how.set_item(intern!(py, "exclude_none"), true)?;
    Ok(value.call_method(dump, (), Some(&how))?.cast_into().ok())
}

/// A copy of a message in which all objects have become dicts; None where it has none.
pub(crate) fn plain<'py>(message: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    plain_within(message, DEEP)
}

fn plain_within<'py>(value: &Bound<'py, PyAny>, deep: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
    if deep == 0 {
        return Ok(None);
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(plain_dict(dict, deep)?.map(Bound::into_any));
    }
    if let Ok(list) = value.cast::<PyList>() {
        return Ok(plain_list(list, deep)?.map(Bound::into_any));
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return Ok(plain_list(&tuple.to_list(), deep)?.map(Bound::into_any));
    }
    if crate::history::is_json(value) {
        return Ok(None);
    }
    Ok(dumped(value)?.map(Bound::into_any))
}

fn plain_dict<'py>(dict: &Bound<'py, PyDict>, deep: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
    let mut copy: Option<Bound<'py, PyDict>> = None;
    for (key, value) in items(dict) {
        let Some(plain) = plain_within(&value, deep - 1)? else { continue };
        let copy = match &mut copy {
            Some(copy) => copy,
            None => copy.insert(dict.copy()?),
        };
        copy.set_item(key, plain)?;
    }
    Ok(copy)
}

fn plain_list<'py>(list: &Bound<'py, PyList>, deep: usize) -> PyResult<Option<Bound<'py, PyList>>> {
    let mut copy: Option<Bound<'py, PyList>> = None;
    for (index, value) in list.iter().enumerate() {
        let Some(plain) = plain_within(&value, deep - 1)? else { continue };
        let copy = match &mut copy {
            Some(copy) => copy,
            None => copy.insert(list.get_slice(0, list.len())),
        };
        copy.set_item(index, plain)?;
    }
    Ok(copy)
}
