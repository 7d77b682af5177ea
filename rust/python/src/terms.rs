//! What a policy says of a ledger: how results are cleared, and what stays.

use std::collections::HashSet;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use turnfit_core::ledger::Clearing;

use crate::history::read;
use crate::pricing::Pricing;
use crate::table::Table;
use crate::tally::Tally;
use crate::text::Text;
use crate::value::DataUrls;

/// The notes of a policy, and all wordings that are notes.
pub(crate) struct Notes {
    pub(crate) cleared: Py<PyString>,
    pub(crate) cleared_done: Py<PyString>,
    pub(crate) arguments: Py<PyDict>,
    pub(crate) arguments_text: Py<PyString>,
    pub(crate) trimmed: Py<PyAny>,
    pub(crate) known_cleared: Wordings,
    pub(crate) known_trimmed: Wordings,
}

/// Which messages stay in every request.
pub(crate) enum Pinned {
    Indices(HashSet<usize>),
    Predicate(Py<PyAny>),
}

impl Pinned {
    pub(crate) fn holds(&self, index: usize, message: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self {
            Pinned::Indices(indices) => Ok(!indices.is_empty() && indices.contains(&index)),
            Pinned::Predicate(predicate) => predicate.bind(message.py()).call1((message,))?.is_truthy(),
        }
    }
}

/// What a policy says of the ledger: how results are cleared, and by which tool.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Terms {
    pub(crate) clearing: Clearing,
    pub(crate) arguments: Option<u64>,
    pub(crate) notes: Notes,
    pub(crate) pinned: Pinned,
    /// From a tool's name to `(excluded, no_rerun)`.
    pub(crate) treatment: Py<PyAny>,
    pub(crate) trim_note: u64,
    pub(crate) pricing: Pricing,
    /// By what every cost is multiplied.
    pub(crate) scale: f64,
}

#[pymethods]
impl Terms {
    #[new]
    #[pyo3(signature = (
        table, *, worth, clear_batch, stride, notes, arguments, known_cleared, known_trimmed,
        clear_inputs, pinned, treatment, pricing, scale
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        table: &Bound<'_, Table>,
        worth: f64,
        clear_batch: usize,
        stride: u64,
        notes: (Py<PyString>, Py<PyString>, Py<PyString>),
        arguments: Bound<'_, PyDict>,
        known_cleared: &Bound<'_, PyAny>,
        known_trimmed: &Bound<'_, PyAny>,
        clear_inputs: bool,
        pinned: &Bound<'_, PyAny>,
        treatment: Py<PyAny>,
        pricing: Option<&Bound<'_, PyAny>>,
        scale: f64,
    ) -> PyResult<Self> {
        let py = table.py();
        let pricing = Pricing::of(pricing)?;
        let (cleared, cleared_done, trimmed) = notes;
        let price = |note: &Py<PyString>| pricing.text(note.bind(py)).map(|tokens| scaled(scale, tokens));
        let clearing = Clearing {
            worth,
            batch: clear_batch,
            stride,
            note: price(&cleared)?,
            note_done: price(&cleared_done)?,
        };
        let trimmed = table.get().note.bind(py).call1((trimmed,))?;
        let trim_note = read(table.get(), 0, &trimmed, &mut Tally::new(pricing.clone()))?.tokens;
        let trim_note = scaled(scale, trim_note);
        let arguments_tokens = scaled(scale, pricing.json(&arguments, DataUrls::AreText)?);
        let notes = Notes {
            cleared,
            cleared_done,
            arguments_text: as_json(&arguments)?,
            arguments: arguments.unbind(),
            trimmed: trimmed.unbind(),
            known_cleared: Wordings::new(known_cleared)?,
            known_trimmed: Wordings::new(known_trimmed)?,
        };
        let pinned = match pinned.is_callable() {
            true => Pinned::Predicate(pinned.clone().unbind()),
            false => Pinned::Indices(pinned.extract()?),
        };
        let arguments = clear_inputs.then_some(arguments_tokens);
        Ok(Terms { clearing, arguments, notes, pinned, treatment, trim_note, pricing, scale })
    }

    /// A predicate may belong to what owns the conversation.
    #[allow(clippy::needless_pass_by_value)]
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.treatment)?;
        match &self.pinned {
            Pinned::Predicate(predicate) => visit.call(predicate),
            Pinned::Indices(_) => Ok(()),
        }
    }
}

/// Tokens times a scale, rounded up; a scale of 1 changes none.
pub(crate) fn scaled(scale: f64, tokens: u64) -> u64 {
    if scale == 1.0 { tokens } else { (tokens as f64 * scale).ceil() as u64 }
}

/// The compact JSON text of an object.
fn as_json(object: &Bound<'_, PyDict>) -> PyResult<Py<PyString>> {
    let py = object.py();
    let options = PyDict::new(py);
    options.set_item("separators", (",", ":"))?;
    let text = py.import("json")?.call_method("dumps", (object,), Some(&options))?;
    Ok(text.cast_into::<PyString>()?.unbind())
}

/// Wordings of notes, each with its length: most texts differ in that already.
pub(crate) struct Wordings(Vec<(usize, Py<PyString>)>);

impl Wordings {
    fn new(notes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let with_length = |note: Bound<'_, PyAny>| -> PyResult<_> {
            let note = note.cast_into::<PyString>()?;
            Ok((Text::of(&note)?.len(), note.unbind()))
        };
        Ok(Wordings(notes.try_iter()?.map(|note| with_length(note?)).collect::<PyResult<_>>()?))
    }

    /// Whether a text is one of the notes.
    pub(crate) fn hold(&self, py: Python<'_>, text: Option<&Py<PyString>>) -> PyResult<bool> {
        let Some(text) = text else { return Ok(false) };
        let text = Text::of(text.bind(py))?;
        for (length, note) in &self.0 {
            if *length == text.len() && Text::of(note.bind(py))? == text {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
