//! Tells a history's wire format from what only messages of that format have.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::history::{listed, tells};
use crate::table::{Recogniser, ascii_item};
use crate::text::Text;
use crate::value::items;

/// The name of the format that the first telling message has.
#[pyfunction]
pub(crate) fn recognise(messages: &Bound<'_, PyAny>, recogniser: &Recogniser) -> PyResult<Option<String>> {
    for message in messages.try_iter()? {
        let format = recognise_one(&message?, recogniser)?;
        if format.is_some() {
            return Ok(format);
        }
    }
    Ok(None)
}

fn recognise_one(message: &Bound<'_, PyAny>, recogniser: &Recogniser) -> PyResult<Option<String>> {
    let py = message.py();
    let Ok(dict) = message.cast::<PyDict>() else {
        let native = message.is_instance(recogniser.native.bind(py))?;
        return Ok(native.then(|| "turnfit".to_string()));
    };
    let signs = &recogniser.signs;
    let role = ascii_item(dict, intern!(py, "role"), |role| signs.roles.get(role).cloned())?;
    if role.is_some() {
        return Ok(role);
    }
    for (key, value) in items(dict) {
        let key = match key.cast::<PyString>() {
            Ok(key) => Text::of(key)?.ascii().and_then(|key| signs.keys.get(key)),
            Err(_) => None,
        };
        if key.is_some() && tells(&value) {
            return Ok(key.cloned());
        }
    }
    let Some(content) = dict.get_item(intern!(py, "content"))? else { return Ok(None) };
    for part in listed(&content).unwrap_or_default() {
        let Ok(part) = part.cast::<PyDict>() else { continue };
        let format = ascii_item(part, intern!(py, "type"), |kind| signs.parts.get(kind).cloned())?;
        if format.is_some() {
            return Ok(format);
        }
    }
    Ok(None)
}
