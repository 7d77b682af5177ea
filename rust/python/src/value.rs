//! Prices JSON-like Python values as the JSON text that a provider would see,
//! without writing it.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use smallvec::SmallVec;

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

/// Where a value's compact JSON goes, piece by piece and in order.
pub(crate) trait Paper {
    /// Punctuation, a number, a word of JSON.
    fn ascii(&mut self, text: &[u8]);

    /// What stands between a string's quotes, not yet escaped.
    fn string(&mut self, py: Python<'_>, text: &Text<'_>);
}

/// Writes a value; gives the media in it, which are not written.
pub(crate) fn write<'py>(
    value: &Bound<'py, PyAny>,
    data_urls: DataUrls,
    paper: &mut impl Paper,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut json =
        Json { paper, media: Vec::new(), data_urls, waiting: SmallVec::new(), containers: SmallVec::new() };
    json.add(value)?;
    while let Some(container) = json.containers.last_mut() {
        if json.waiting.len() == container.before {
            json.paper.ascii(container.end);
            json.containers.pop();
            continue;
        }
        if !std::mem::replace(&mut container.is_first, false) {
            json.paper.ascii(b",");
        }
        let Some((key, value)) = json.waiting.pop() else { break };
        if let Some(key) = key {
            json.add_key(&key)?;
        }
        json.add(&value)?;
        if json.containers.len() > DEEPEST {
            return Err(PyValueError::new_err("a value contains itself, or nests too deep to be JSON"));
        }
    }
    Ok(json.media)
}

/// A value, with its key if it stands in a dict.
type Item<'py> = (Option<Bound<'py, PyAny>>, Bound<'py, PyAny>);

struct Json<'p, 'py, P> {
    paper: &'p mut P,
    media: Vec<Bound<'py, PyAny>>,
    data_urls: DataUrls,
    /// What is still to be written; the next is the last. One list serves all containers.
    waiting: SmallVec<[Item<'py>; 8]>,
    containers: SmallVec<[Container; 4]>,
}

/// A dict, a list or a tuple of which something is still to be written.
struct Container {
    /// How much waited before what it holds.
    before: usize,
    is_first: bool,
    end: &'static [u8],
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

/// An int that Rust writes as Python does, in less time.
fn small(value: &Bound<'_, PyAny>) -> Option<i64> {
    value.cast_exact::<PyInt>().ok()?.extract().ok()
}

/// Whether a string is a data URL that carries a medium and nothing else.
fn is_data_url(text: &Text<'_>) -> bool {
    let Some(bytes) = text.ascii().filter(|bytes| bytes.starts_with(b"data:")) else { return false };
    let head = &bytes[..bytes.len().min(128)];
    head.windows(8).any(|window| window == b";base64,")
}

impl<'py, P: Paper> Json<'_, 'py, P> {
    /// Writes a value, or begins with it if it holds others.
    fn add(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Ok(string) = value.cast::<PyString>() {
            self.add_string(string)
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.open(dict.iter().map(|(key, value)| (Some(key), value)), [b"{", b"}"]);
            Ok(())
        } else if let Ok(list) = value.cast::<PyList>() {
            self.open(list.iter().map(|item| (None, item)), [b"[", b"]"]);
            Ok(())
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.open(tuple.iter().map(|item| (None, item)), [b"[", b"]"]);
            Ok(())
        } else {
            self.add_scalar(value)
        }
    }

    fn open(&mut self, items: impl Iterator<Item = Item<'py>>, [start, end]: [&'static [u8; 1]; 2]) {
        self.paper.ascii(start);
        let before = self.waiting.len();
        self.waiting.extend(items);
        self.waiting[before..].reverse();
        self.containers.push(Container { before, is_first: true, end });
    }

    /// JSON has no keys but strings.
    fn add_key(&mut self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        match key.cast::<PyString>() {
            Ok(string) => self.add_text(string.py(), &Text::of(string)?),
            Err(_) => self.add_text(key.py(), &Text::of(&key.str()?)?),
        }
        self.paper.ascii(b":");
        Ok(())
    }

    fn add_string(&mut self, string: &Bound<'py, PyString>) -> PyResult<()> {
        let text = Text::of(string)?;
        if self.data_urls == DataUrls::AreMedia && is_data_url(&text) {
            self.media.push(string.clone().into_any());
        } else {
            self.add_text(string.py(), &text);
        }
        Ok(())
    }

    fn add_text(&mut self, py: Python<'_>, text: &Text<'_>) {
        self.paper.ascii(b"\"");
        self.paper.string(py, text);
        self.paper.ascii(b"\"");
    }

    fn add_scalar(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if value.is_none() {
            self.paper.ascii(b"null");
        } else if let Ok(truth) = value.cast::<PyBool>() {
            self.paper.ascii(if truth.is_true() { b"true" } else { b"false" });
        } else if let Some(number) = small(value) {
            self.paper.ascii(number.to_string().as_bytes());
        } else if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
            self.paper.ascii(value.str()?.to_str()?.as_bytes());
        } else {
            self.add_text(value.py(), &Text::of(&sent_form(value)?.str()?)?);
        }
        Ok(())
    }
}
