//! The Python face of turnfit-core: glue only.

mod columns;
mod compile;
mod contents;
mod errors;
mod files;
mod gather;
mod history;
mod ledger;
mod objects;
mod outputs;
mod plan;
mod pricing;
mod recognise;
mod request;
mod table;
mod tally;
mod tariff;
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
    use pyo3::types::{PyList, PyString};
    use pyo3_arrow::PyArray;
    use pyo3_arrow::input::AnyArray;
    use turnfit_core::profile::{Rates, tokens_of_weight};
    use turnfit_core::script::ScriptCounts;

    use crate::columns;
    use crate::contents;
    use crate::files;
    use crate::history::{self, read};
    use crate::objects;
    use crate::outputs;
    use crate::pricing::{self, Pricing};
    use crate::table::{Kind, role_name};
    use crate::tally::Tally;
    use crate::text::counts_of;
    use crate::value::{self, DataUrls};

    #[pymodule_export]
    use crate::ledger::Ledger;
    #[pymodule_export]
    use crate::plan::Plan;
    #[pymodule_export]
    use crate::pricing::Weights;
    #[pymodule_export]
    use crate::recognise::recognise;
    #[pymodule_export]
    use crate::table::{Recogniser, Table};
    #[pymodule_export]
    use crate::tally::Reading;
    #[pymodule_export]
    use crate::tariff::Tariff;
    #[pymodule_export]
    use crate::terms::Terms;

    /// Notes are shorter than this many characters.
    #[pymodule_export]
    const NOTE_LENGTH: usize = crate::tally::NOTE_LENGTH;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Estimate the tokens of a text.
    ///
    /// Without a profile, priced by script, in exact integers, rounded up once: 4 ASCII
    /// characters a token, 1 Chinese, Japanese or Korean one, 2 of any other script. This is
    /// a rule of thumb: it is too low for digits, hex, base64 and minified JSON, which a
    /// calibrated profile prices rightly.
    ///
    /// Args:
    ///     text: a str, or UTF-8 in bytes or any other buffer of bytes (a bytearray, a
    ///         memoryview, a numpy array of uint8). Invalid sequences count as ``bytes.decode("utf-8", "replace")`` would mark them, lone
    ///         surrogates as one character each.
    ///     profile: the name of a profile (``"o200k_base"``, ...; see `turnfit.profile`), a
    ///         `turnfit.Profile`, or a callable from a str to its tokens.
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
    #[pyo3(signature = (text, /, *, profile = None))]
    fn estimate(text: &Bound<'_, PyAny>, profile: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        match profile {
            None => Ok(Rates::SCRIPT.tokens(counts_of(text)?)),
            Some(profile) => Pricing::named(profile)?.any_text(text),
        }
    }

    /// The tokens of a text with so many characters of each class.
    #[pyfunction]
    fn price(ascii: u64, cjk: u64, other: u64) -> u64 {
        Rates::SCRIPT.tokens(ScriptCounts { ascii, cjk, other })
    }

    /// The counts that a profile weighs of a text: their indices and how many, none of them 0.
    #[pyfunction]
    #[pyo3(signature = (text, /))]
    fn features(text: &Bound<'_, PyAny>) -> PyResult<(Vec<u32>, Vec<u64>)> {
        pricing::features(text)
    }

    /// The counts of a text's script classes: ascii, cjk, other.
    #[pyfunction]
    #[pyo3(signature = (text, /))]
    fn count_scripts(text: &Bound<'_, PyAny>) -> PyResult<(u64, u64, u64)> {
        let counts = counts_of(text)?;
        Ok((counts.ascii, counts.cjk, counts.other))
    }

    /// The tokens of a text by a tariff.
    #[pyfunction]
    #[pyo3(signature = (text, pricing = None, /))]
    fn estimate_text(text: &Bound<'_, PyString>, pricing: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        Pricing::of(pricing)?.text(text)
    }

    /// The tokens of a tool's definition, as compact JSON.
    #[pyfunction]
    #[pyo3(signature = (tool, pricing = None, /))]
    fn estimate_tool(tool: &Bound<'_, PyAny>, pricing: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        Pricing::of(pricing)?.json(&value::without_cache_mark(tool)?, DataUrls::AreText)
    }

    /// The prices of an Arrow column as an Arrow array.
    #[pyfunction]
    #[pyo3(signature = (column, exact, threads, weights = None))]
    fn estimate_arrow(
        py: Python<'_>,
        column: AnyArray,
        exact: bool,
        threads: usize,
        weights: Option<&Weights>,
    ) -> PyResult<PyArray> {
        let by = Weights::by(weights);
        match exact {
            true => columns::of_arrow::<Float64Type>(py, column, by, threads),
            false => columns::of_arrow::<Int64Type>(py, column, by, threads),
        }
    }

    /// The texts of an Arrow column, None for null; None where it holds something else.
    #[pyfunction]
    fn arrow_texts(py: Python<'_>, column: AnyArray) -> PyResult<Option<Vec<Option<Py<PyString>>>>> {
        columns::texts_of_arrow(py, column)
    }

    /// Numbers as an Arrow array of int64, None as null.
    #[pyfunction]
    fn arrow_of(numbers: Vec<Option<i64>>) -> PyArray {
        columns::arrow_of(numbers)
    }

    /// The prices of texts in a list or a tuple as a numpy array.
    #[pyfunction]
    #[pyo3(signature = (texts, exact, threads, weights = None))]
    fn estimate_objects<'py>(
        texts: &Bound<'py, PyAny>,
        exact: bool,
        threads: usize,
        weights: Option<&Weights>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let by = Weights::by(weights);
        Ok(match exact {
            true => columns::of_objects::<Float64Type>(texts, by, threads)?.into_any(),
            false => columns::of_objects::<Int64Type>(texts, by, threads)?.into_any(),
        })
    }

    /// The prices of numpy's strings, given as rows of code points.
    #[pyfunction]
    #[pyo3(signature = (code_points, exact, threads, weights = None))]
    #[allow(clippy::needless_pass_by_value)]
    fn estimate_code_points<'py>(
        py: Python<'py>,
        code_points: PyReadonlyArray2<'py, u32>,
        exact: bool,
        threads: usize,
        weights: Option<&Weights>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let by = Weights::by(weights);
        Ok(match exact {
            true => columns::of_code_points::<Float64Type>(py, &code_points, by, threads)?.into_any(),
            false => columns::of_code_points::<Int64Type>(py, &code_points, by, threads)?.into_any(),
        })
    }

    /// Where bytes can be cut at or shortly before a place, so that both sides count
    /// apart what they count together.
    #[pyfunction]
    fn cut_before(text: &[u8], place: usize) -> usize {
        turnfit_core::scan::cut_before(text, place)
    }

    /// The counts of files and their tokens by weights, or the error number of each that
    /// can't be read.
    #[pyfunction]
    #[pyo3(signature = (paths, threads, told, weights = None))]
    #[allow(clippy::needless_pass_by_value)]
    fn count_files<'py>(
        py: Python<'py>,
        paths: Vec<PathBuf>,
        threads: usize,
        told: Option<Bound<'py, PyAny>>,
        weights: Option<&Weights>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let counted = files::count(py, paths, weights.map(Weights::shared), threads, told.as_ref())?;
        let made = counted.into_iter().map(|total| match total {
            Ok(total) => {
                let (counts, tokens) = (total.counts, total.weight.map(tokens_of_weight));
                Ok((counts.ascii, counts.cjk, counts.other, tokens).into_pyobject(py)?.into_any())
            }
            Err(error) => Ok(error.raw_os_error().unwrap_or_default().into_pyobject(py)?.into_any()),
        });
        made.collect()
    }

    /// The index of the last message by which the provider has replaced all before it.
    #[pyfunction]
    fn last_marker(table: &Table, messages: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        history::last_marker(table, messages)
    }

    /// A copy of a message in which the SDKs' objects are the dicts that they are sent as;
    /// the message itself where it has none.
    #[pyfunction]
    fn plain<'py>(message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Ok(objects::plain(message)?.unwrap_or_else(|| message.clone()))
    }

    type Rows = Vec<(&'static str, Option<Py<PyString>>, Option<Py<PyString>>, bool, u64)>;

    /// A message as it is read: role, tokens, and its calls and results as
    /// `("call" | "result" | "reference", id, name, whether it may be cleared, tokens of its
    /// arguments or content)`.
    #[pyfunction]
    #[pyo3(signature = (table, index, message, pricing = None))]
    fn read_message(
        table: &Table,
        index: usize,
        message: &Bound<'_, PyAny>,
        pricing: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(&'static str, u64, Rows)> {
        let mut tally = Tally::new(Pricing::of(pricing)?);
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
        Ok((role_name(read.role), read.tokens, rows))
    }

    /// What a message says: its role, its texts, its calls as `(id, name, arguments as they
    /// stand there)` and its results as `(id, name, text, whether it is marked as an error)`.
    #[pyfunction]
    #[allow(clippy::type_complexity)]
    fn read_contents<'py>(
        table: &Table,
        index: usize,
        message: &Bound<'py, PyAny>,
    ) -> PyResult<(&'static str, Bound<'py, PyList>, Vec<contents::Call<'py>>, Vec<contents::Answer<'py>>)>
    {
        let (role, texts, calls, results) = contents::contents(table, index, message)?;
        Ok((role_name(role), texts, calls, results))
    }

    /// Whether a text is within a limit; it is read no further than that.
    ///
    /// A limit is a pair: how many, and whether of tokens (or else of characters).
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn fits(text: &Bound<'_, PyString>, limit: outputs::Limit) -> PyResult<bool> {
        outputs::fits(text, &limit)
    }

    /// Where the head ends and the tail begins that a limit leaves of a text from `start`
    /// on, if `reserved` is put between them.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn cut_text(
        text: &Bound<'_, PyString>,
        start: usize,
        limit: outputs::Limit,
        reserved: &str,
        head_share: f64,
    ) -> PyResult<(usize, usize)> {
        outputs::cut_text(text, start, &limit, reserved, head_share)
    }

    /// As `cut_text`, by rows; and how many rows the head, the tail and the text have.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn cut_rows(
        text: &Bound<'_, PyString>,
        start: usize,
        limit: outputs::Limit,
        reserved: &str,
        head_share: f64,
        quoted: bool,
    ) -> PyResult<(usize, usize, usize, usize, usize)> {
        outputs::cut_rows(text, start, &limit, reserved, head_share, quoted)
    }

    /// The nearest place where a text may be cut, towards its end or its start.
    #[pyfunction]
    fn safe_place(text: &Bound<'_, PyString>, place: usize, forward: bool) -> PyResult<usize> {
        outputs::safe_place(text, place, forward)
    }

    /// What a limit leaves of a JSON text: the JSON, how many characters of the text are
    /// in it, how many of these are lone surrogates that were replaced, the hint as the first
    /// marker has it, and the omissions as `(pointer, of what, shown, total)`. None if the text
    /// isn't JSON or the limit has no room for a marker.
    #[pyfunction]
    #[allow(clippy::needless_pass_by_value)]
    fn trim_json(
        text: &Bound<'_, PyString>,
        limit: outputs::Limit,
        hint: &str,
        head_share: f64,
    ) -> PyResult<Option<outputs::Trimmed>> {
        outputs::trim(text, &limit, hint, head_share)
    }

    /// Whether a text is JSON.
    #[pyfunction]
    fn is_json(text: &Bound<'_, PyString>) -> PyResult<bool> {
        outputs::is_json(text)
    }

    /// A text without its sequences for a terminal.
    #[pyfunction]
    fn strip_escapes(text: &Bound<'_, PyString>) -> PyResult<String> {
        outputs::strip_escapes(text)
    }

    /// The first so many lines from an offset on where a pattern is found: their numbers
    /// from 1, where they start and where they end.
    #[pyfunction]
    fn find_lines(
        text: &Bound<'_, PyString>,
        pattern: &str,
        offset: usize,
        most: usize,
    ) -> PyResult<Vec<(usize, usize, usize)>> {
        outputs::find_lines(text, pattern, offset, most)
    }
}
