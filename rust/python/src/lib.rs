//! The Python face of turnfit-core: glue only.

mod columns;
mod compile;
mod errors;
mod files;
mod history;
mod ledger;
mod recognise;
mod request;
mod table;
mod tally;
mod terms;
mod text;
mod value;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use std::path::PathBuf;

    use arrow_array::types::{Float64Type, Int64Type};
    use numpy::PyReadonlyArray2;
    use pyo3::prelude::*;
    use pyo3::types::PyString;
    use pyo3_arrow::PyArray;
    use pyo3_arrow::input::AnyArray;
    use turnfit_core::profile::Profile;
    use turnfit_core::script::ScriptCounts;

    use crate::columns;
    use crate::files;
    use crate::history::{self, read};
    use crate::table::Kind;
    use crate::tally::Tally;
    use crate::text::counts_of;
    use crate::value::{self, DataUrls};

    #[pymodule_export]
    use crate::ledger::{Ledger, Plan};
    #[pymodule_export]
    use crate::recognise::recognise;
    #[pymodule_export]
    use crate::table::{Recogniser, Table};
    #[pymodule_export]
    use crate::tally::Reading;
    #[pymodule_export]
    use crate::terms::Terms;

    /// The frame of a message, and of a request, in tokens.
    #[pymodule_export]
    const FRAME: u64 = crate::tally::FRAME;

    /// Notes are shorter than this many characters.
    #[pymodule_export]
    const NOTE_LENGTH: usize = crate::tally::NOTE_LENGTH;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Estimate the tokens of a text.
    ///
    /// Priced by script, in exact integers, rounded up once: 4 ASCII characters a token,
    /// 1 Chinese, Japanese or Korean one, 2 of any other script. This is a rule of thumb:
    /// it is too low for digits, hex, base64 and minified JSON.
    ///
    /// Args:
    ///     text: a str, or UTF-8 in bytes or any other buffer of bytes (a bytearray, a
    ///         memoryview, a numpy array of uint8). Invalid sequences count as ``bytes.decode("utf-8", "replace")`` would mark them, lone
    ///         surrogates as one character each.
    ///
    /// Returns:
    ///     The tokens; 0 for an empty text. An ASCII str costs the same time at any length.
    ///
    /// Raises:
    ///     TypeError: for anything else.
    ///
    /// >>> from turnfit import estimate
    /// >>> estimate("hello world"), estimate("привет мир"), estimate("世界".encode())
    /// (3, 5, 2)
    #[pyfunction]
    #[pyo3(signature = (text, /))]
    fn estimate(text: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(Profile::SCRIPT.tokens(counts_of(text)?))
    }

    /// The tokens of a text with so many characters of each class.
    #[pyfunction]
    fn price(ascii: u64, cjk: u64, other: u64) -> u64 {
        Profile::SCRIPT.tokens(ScriptCounts { ascii, cjk, other })
    }

    /// The counts of a text's script classes: ascii, cjk, other.
    #[pyfunction]
    #[pyo3(signature = (text, /))]
    fn count_scripts(text: &Bound<'_, PyAny>) -> PyResult<(u64, u64, u64)> {
        let counts = counts_of(text)?;
        Ok((counts.ascii, counts.cjk, counts.other))
    }

    /// The tokens of a tool's definition, as compact JSON.
    #[pyfunction]
    #[pyo3(signature = (tool, /))]
    fn estimate_tool(tool: &Bound<'_, PyAny>) -> PyResult<u64> {
        value::tokens(&value::without_cache_mark(tool)?, &Profile::SCRIPT, DataUrls::AreText)
    }

    /// The prices of an Arrow column as an Arrow array.
    #[pyfunction]
    fn estimate_arrow(py: Python<'_>, column: AnyArray, exact: bool, threads: usize) -> PyResult<PyArray> {
        match exact {
            true => columns::of_arrow::<Float64Type>(py, column, threads),
            false => columns::of_arrow::<Int64Type>(py, column, threads),
        }
    }

    /// The prices of texts in a list or a tuple as a numpy array.
    #[pyfunction]
    fn estimate_objects<'py>(
        texts: &Bound<'py, PyAny>,
        exact: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(match exact {
            true => columns::of_objects::<Float64Type>(texts, threads)?.into_any(),
            false => columns::of_objects::<Int64Type>(texts, threads)?.into_any(),
        })
    }

    /// The prices of numpy's strings, given as rows of code points.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn estimate_code_points<'py>(
        py: Python<'py>,
        code_points: PyReadonlyArray2<'py, u32>,
        exact: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(match exact {
            true => columns::of_code_points::<Float64Type>(py, &code_points, threads)?.into_any(),
            false => columns::of_code_points::<Int64Type>(py, &code_points, threads)?.into_any(),
        })
    }

    /// Where bytes can be cut at or shortly before a place, so that both sides count
    /// apart what they count together.
    #[pyfunction]
    fn cut_before(text: &[u8], place: usize) -> usize {
        turnfit_core::scan::cut_before(text, place)
    }

    /// The counts of files, or the error number of each that can't be read.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn count_files<'py>(
        py: Python<'py>,
        paths: Vec<PathBuf>,
        threads: usize,
        told: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let counted = files::count(py, paths, threads, told.as_ref())?;
        let made = counted.into_iter().map(|counts| match counts {
            Ok(counts) => Ok((counts.ascii, counts.cjk, counts.other).into_pyobject(py)?.into_any()),
            Err(error) => Ok(error.raw_os_error().unwrap_or_default().into_pyobject(py)?.into_any()),
        });
        made.collect()
    }

    /// The index of the last message by which the provider has replaced all before it.
    #[pyfunction]
    fn last_marker(table: &Table, messages: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        history::last_marker(table, messages)
    }

    type Rows = Vec<(&'static str, Option<Py<PyString>>, Option<Py<PyString>>, bool, u64)>;

    /// A message as it is read: role, tokens, and its calls and results as
    /// `("call" | "result" | "reference", id, name, whether it may be cleared, tokens of its
    /// arguments or content)`.
    #[pyfunction]
    fn read_message(
        table: &Table,
        index: usize,
        message: &Bound<'_, PyAny>,
    ) -> PyResult<(String, u64, Rows)> {
        let mut tally = Tally::new(Profile::SCRIPT);
        let read = read(table, index, message, &mut tally)?;
        let kind = |kind| match kind {
            Kind::Call => "call",
            Kind::Reference => "reference",
            _ => "result",
        };
        let py = message.py();
        let label = |label: &Option<Py<PyString>>| label.as_ref().map(|label| label.clone_ref(py));
        let rows = read.rows.iter();
        let rows = rows
            .map(|row| (kind(row.kind), label(&row.id), label(&row.name), row.clearable, row.body))
            .collect();
        Ok((format!("{:?}", read.role).to_lowercase(), read.tokens, rows))
    }
}
