//! Prices JSON-like Python values as the JSON text that a provider would see,
//! without writing it.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use smallvec::SmallVec;
use turnfit_core::profile::Profile;
use turnfit_core::script::ScriptCounts;

use crate::text::Text;

/// What a picture, a sound or a file costs, in tokens, until its size is read:
/// the most that a picture costs with Anthropic, a little over what it costs
/// with OpenAI in high detail
/// (<https://platform.claude.com/docs/en/build-with-claude/vision>).
pub(crate) const MEDIUM: u64 = 1600;

/// Deeper values are taken to contain themselves.
const DEEPEST: usize = 10_000;

/// What strings are that hold nothing but a data URL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataUrls {
    AreText,
    AreMedia,
}

/// What a value holds as compact JSON.
struct Json {
    counts: ScriptCounts,
    media: u64,
    data_urls: DataUrls,
}

/// The tokens of a value as compact JSON.
pub(crate) fn tokens(value: &Bound<'_, PyAny>, profile: &Profile, data_urls: DataUrls) -> PyResult<u64> {
    let mut json = Json { counts: ScriptCounts::default(), media: 0, data_urls };
    let mut waiting = vec![(value.clone(), 0)];
    while let Some((value, depth)) = waiting.pop() {
        if depth > DEEPEST {
            return Err(PyValueError::new_err("a value contains itself, or nests too deep to be JSON"));
        }
        json.add(&value, depth, &mut waiting)?;
    }
    Ok(profile.tokens(json.counts) + json.media)
}

/// A dict's keys and values.
pub(crate) type Items<'py> = SmallVec<[(Bound<'py, PyAny>, Bound<'py, PyAny>); 8]>;

/// What a dict holds now. To read a value may run Python code, here or, while a long
/// text is scanned, in another thread: the dict may change under an iteration.
pub(crate) fn items<'py>(dict: &Bound<'py, PyDict>) -> Items<'py> {
    dict.iter().collect()
}

/// A block or a tool without its cache mark, which is an instruction to the provider
/// and no content.
pub(crate) fn without_cache_mark<'py>(block: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let mark = intern!(block.py(), "cache_control");
    match block.cast::<PyDict>() {
        Ok(dict) if dict.contains(mark)? => {
            let copy = dict.copy()?;
            copy.del_item(mark)?;
            Ok(copy.into_any())
        }
        _ => Ok(block.clone()),
    }
}

/// A value as it is sent: bytes go as base64.
pub(crate) fn sent_form<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let Ok(bytes) = value.cast::<PyBytes>() else { return Ok(value.clone()) };
    let encoded = value.py().import("base64")?.call_method1("b64encode", (bytes,))?;
    encoded.call_method1("decode", ("ascii",))
}

/// Whether a string is a data URL that carries a medium and nothing else.
fn is_data_url(text: &Text<'_>) -> bool {
    let Some(bytes) = text.ascii().filter(|bytes| bytes.starts_with(b"data:")) else { return false };
    let head = &bytes[..bytes.len().min(128)];
    head.windows(8).any(|window| window == b";base64,")
}

impl Json {
    fn add<'py>(
        &mut self,
        value: &Bound<'py, PyAny>,
        depth: usize,
        waiting: &mut Vec<(Bound<'py, PyAny>, usize)>,
    ) -> PyResult<()> {
        if let Ok(string) = value.cast::<PyString>() {
            self.add_string(string)?;
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.add_punctuation(dict.len(), 1);
            for (key, value) in items(dict) {
                self.add_key(&key)?;
                waiting.push((value, depth + 1));
            }
        } else if let Ok(list) = value.cast::<PyList>() {
            self.add_punctuation(list.len(), 0);
            waiting.extend(list.iter().map(|item| (item, depth + 1)));
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.add_punctuation(tuple.len(), 0);
            waiting.extend(tuple.iter().map(|item| (item, depth + 1)));
        } else {
            self.add_scalar(value)?;
        }
        Ok(())
    }

    /// Brackets, and commas and colons between the items.
    fn add_punctuation(&mut self, items: usize, colons: usize) {
        self.counts.ascii += (2 + items.saturating_sub(1) + items * colons) as u64;
    }

    /// JSON has no keys but strings.
    fn add_key(&mut self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        match key.cast::<PyString>() {
            Ok(string) => self.add_text(&Text::of(string)?, string.py()),
            Err(_) => self.add_text(&Text::of(&key.str()?)?, key.py()),
        }
        Ok(())
    }

    fn add_string(&mut self, string: &Bound<'_, PyString>) -> PyResult<()> {
        let text = Text::of(string)?;
        if self.data_urls == DataUrls::AreMedia && is_data_url(&text) {
            self.media += MEDIUM;
        } else {
            self.add_text(&text, string.py());
        }
        Ok(())
    }

    fn add_text(&mut self, text: &Text<'_>, py: Python<'_>) {
        self.counts += text.counts(py);
        self.counts.ascii += 2 + text.escapes();
    }

    fn add_scalar(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if value.is_none() {
            self.counts.ascii += 4;
        } else if let Ok(truth) = value.cast::<PyBool>() {
            self.counts.ascii += if truth.is_true() { 4 } else { 5 };
        } else if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
            self.counts.ascii += value.str()?.len()? as u64;
        } else {
            self.add_text(&Text::of(&sent_form(value)?.str()?)?, value.py());
        }
        Ok(())
    }
}
