//! Tells a history's wire format from what only messages of that format have.

use std::collections::HashMap;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::history::{listed, tells};
use crate::objects::{dict_of, dumped};
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
        let told: Option<String> = recogniser.of_object.bind(py).call1((message,))?.extract()?;
        return match (told, dumped(message)?) {
            (None, Some(dict)) => recognise_one(&dict, recogniser),
            (told, _) => Ok(told),
        };
    };
    let signs = &recogniser.signs;
    for (key, signs) in [(intern!(py, "type"), &signs.types), (intern!(py, "role"), &signs.roles)] {
        let told = ascii_item(dict, key, |name| signs.get(name).cloned())?;
        if told.is_some() {
            return Ok(told);
        }
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
        let Some(part) = dict_of(&part)? else { continue };
        let format = ascii_item(&part, intern!(py, "type"), |kind| signs.parts.get(kind).cloned())?;
        let format = match format {
            None => of_untyped(&part, &signs.part_keys)?,
            told => told,
        };
        if format.is_some() {
            return Ok(format);
        }
    }
    Ok(None)
}

/// A part without a type may tell its format by its keys.
fn of_untyped(part: &Bound<'_, PyDict>, signs: &HashMap<Box<[u8]>, String>) -> PyResult<Option<String>> {
    if part.contains(intern!(part.py(), "type"))? {
        return Ok(None);
    }
    for (key, _) in items(part) {
        let Ok(key) = key.cast::<PyString>() else { continue };
        if let Some(format) = Text::of(key)?.ascii().and_then(|key| signs.get(key)) {
            return Ok(Some(format.clone()));
        }
    }
    Ok(None)
}
