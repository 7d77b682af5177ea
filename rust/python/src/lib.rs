//! The Python face of turnfit-core: glue only.

mod errors;
mod history;
mod ledger;
mod request;
mod table;
mod text;
mod value;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use pyo3::prelude::*;
    use pyo3::types::PyString;
    use turnfit_core::profile::Profile;

    use crate::history::read;
    use crate::table::{Kind, Table};
    use crate::text::counts_of;
    use crate::value;

    #[pymodule_export]
    use crate::history::recognise;
    #[pymodule_export]
    use crate::ledger::{Ledger, Plan, Terms};
    #[pymodule_export]
    use crate::table::{Recogniser, Table as _Table};

    /// Estimates the tokens of a text. [placeholder]
    #[pyfunction]
    #[pyo3(signature = (text, /))]
    fn estimate(text: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(Profile::SCRIPT.tokens(counts_of(text)?))
    }

    /// The counts of a text's script classes: ascii, cjk, other.
    #[pyfunction]
    #[pyo3(signature = (text, /))]
    fn count_scripts(text: &Bound<'_, PyAny>) -> PyResult<(u64, u64, u64)> {
        let counts = counts_of(text)?;
        Ok((counts.ascii, counts.cjk, counts.other))
    }

    /// The tokens of a JSON-like value as compact JSON.
    #[pyfunction]
    #[pyo3(signature = (value, /))]
    fn estimate_value(value: &Bound<'_, PyAny>) -> PyResult<u64> {
        value::tokens(value, &Profile::SCRIPT)
    }

    type Rows = Vec<(&'static str, Option<Py<PyString>>, Option<Py<PyString>>, u64)>;

    /// A message as it is read: role, tokens, and its calls and results as
    /// `("call" | "result", id, name, tokens of its arguments or content)`.
    #[pyfunction]
    fn read_message(table: &Table, index: usize, message: &Bound<'_, PyAny>) -> PyResult<(String, u64, Rows)> {
        let read = read(table, &Profile::SCRIPT, index, message)?;
        let kind = |kind| if kind == Kind::Call { "call" } else { "result" };
        let rows = read.rows.into_iter().map(|row| (kind(row.kind), row.id, row.name, row.body)).collect();
        Ok((format!("{:?}", read.role).to_lowercase(), read.tokens, rows))
    }
}
