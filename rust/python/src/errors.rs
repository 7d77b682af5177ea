//! Errors that name what was wrong and where; their classes stand in `turnfit.errors`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

static FORMAT_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A message that can't be read, by its index in the history.
pub(crate) fn format_error(py: Python<'_>, index: usize, what: &str) -> PyErr {
    match FORMAT_ERROR.import(py, "turnfit.errors", "FormatError") {
        Ok(class) => PyErr::from_type(class.clone(), (format!("message {index}: {what}"), index)),
        Err(error) => error,
    }
}
