//! Python's strings and buffers as slices: all the `unsafe` that touches CPython.
//!
//! CPython keeps a `str` in the narrowest of three widths (PEP 393) and marks the
//! ASCII ones. Reading that storage in place makes an ASCII string O(1) and any
//! other a scan without a copy.

#![allow(unsafe_code)]

use std::hash::BuildHasher;
use std::sync::LazyLock;

use foldhash::quality::RandomState;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyBytes, PyString};
use turnfit_core::pairing::Key;
use turnfit_core::scan;
use turnfit_core::script::ScriptCounts;
use turnfit_core::units::Units;

/// From this length on other threads may run during a scan.
const LONG: usize = 1 << 16;

/// A string's own storage.
#[derive(Clone, Copy)]
pub(crate) enum Text<'a> {
    Ascii(&'a [u8]),
    Latin1(&'a [u8]),
    Ucs2(&'a [u16]),
    Ucs4(&'a [u32]),
}

impl<'a> Text<'a> {
    #[inline]
    pub(crate) fn of(string: &'a Bound<'_, PyString>) -> PyResult<Self> {
        if let Some(units) = compact_ascii(string) {
            return Ok(Text::Ascii(units));
        }
        // SAFETY: the object is a str, and `data` has made sure that it is ready;
        // a str never changes, and the slice lives no longer than the reference.
        Ok(match unsafe { string.data()? } {
            PyStringData::Ucs1(units) if is_ascii(units, string) => Text::Ascii(units),
            PyStringData::Ucs1(units) => Text::Latin1(units),
            PyStringData::Ucs2(units) => Text::Ucs2(units),
            PyStringData::Ucs4(units) => Text::Ucs4(units),
        })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Text::Ascii(units) | Text::Latin1(units) => units.len(),
            Text::Ucs2(units) => units.len(),
            Text::Ucs4(units) => units.len(),
        }
    }

    pub(crate) fn counts(&self, py: Python<'_>) -> ScriptCounts {
        match self {
            Text::Ascii(_) => self.scan(),
            _ if self.len() >= LONG => py.detach(|| self.scan()),
            _ => self.scan(),
        }
    }

    pub(crate) fn scan(&self) -> ScriptCounts {
        match self {
            Text::Ascii(units) => ScriptCounts { ascii: units.len() as u64, cjk: 0, other: 0 },
            Text::Latin1(units) => scan::latin1(units),
            Text::Ucs2(units) => scan::ucs2(units),
            Text::Ucs4(units) => scan::ucs4(units),
        }
    }

    pub(crate) fn units(&self) -> Units<'a> {
        match *self {
            Text::Ascii(units) => Units::Ascii(units),
            Text::Latin1(units) => Units::Latin1(units),
            Text::Ucs2(units) => Units::Ucs2(units),
            Text::Ucs4(units) => Units::Ucs4(units),
        }
    }

    /// The characters, if all are ASCII.
    pub(crate) fn ascii(&self) -> Option<&'a [u8]> {
        match self {
            Text::Ascii(units) => Some(units),
            _ => None,
        }
    }

    /// The characters that JSON's escapes add to a text.
    pub(crate) fn escapes(&self) -> u64 {
        match self {
            Text::Ascii(units) | Text::Latin1(units) => units.iter().map(|&unit| escape(unit.into())).sum(),
            Text::Ucs2(units) => units.iter().map(|&unit| escape(unit.into())).sum(),
            Text::Ucs4(units) => units.iter().map(|&unit| escape(unit)).sum(),
        }
    }

    /// A hash wide enough that two texts which share it are equal.
    pub(crate) fn hash(&self) -> Key {
        static STATES: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);
        Key(STATES.each_ref().map(|state| state.hash_one((self.len(), self.storage()))))
    }

    fn storage(&self) -> &'a [u8] {
        let (start, size) = match self {
            Text::Ascii(units) | Text::Latin1(units) => return units,
            Text::Ucs2(units) => (units.as_ptr().cast::<u8>(), size_of_val(*units)),
            Text::Ucs4(units) => (units.as_ptr().cast::<u8>(), size_of_val(*units)),
        };
        // SAFETY: the same memory, read as the bytes that it is made of.
        unsafe { std::slice::from_raw_parts(start, size) }
    }
}

/// The common case without a call: ASCII characters right behind their header.
#[inline]
#[cfg(not(Py_3_14))]
fn compact_ascii<'a>(string: &'a Bound<'_, PyString>) -> Option<&'a [u8]> {
    let object = string.as_ptr();
    // SAFETY: the object is a str, its header says that it is compact and ASCII,
    // and then its characters are as many bytes behind the header (PEP 393).
    unsafe {
        if ffi::PyUnicode_IS_COMPACT_ASCII(object) == 0 {
            return None;
        }
        let units = object.cast::<ffi::PyASCIIObject>().add(1).cast::<u8>();
        Some(std::slice::from_raw_parts(units, ffi::PyUnicode_GET_LENGTH(object) as usize))
    }
}

/// From Python 3.14 on the header's bits can't be read; see [`is_ascii`].
#[cfg(Py_3_14)]
fn compact_ascii<'a>(_: &'a Bound<'_, PyString>) -> Option<&'a [u8]> {
    None
}

/// A str of a subclass keeps its characters apart from its header.
#[cfg(not(Py_3_14))]
fn is_ascii(_: &[u8], string: &Bound<'_, PyString>) -> bool {
    // SAFETY: the object is a str, made ready by `data`.
    unsafe { ffi::PyUnicode_IS_ASCII(string.as_ptr()) != 0 }
}

/// Only of a compact ASCII str do the characters stand right behind the shorter of
/// the two headers; one of a subclass is looked through.
#[cfg(Py_3_14)]
fn is_ascii(units: &[u8], string: &Bound<'_, PyString>) -> bool {
    let behind_header = string.as_ptr().addr() + size_of::<ffi::PyASCIIObject>();
    units.as_ptr().addr() == behind_header || (!string.is_exact_instance_of::<PyString>() && units.is_ascii())
}

/// Equal texts are stored alike, in the narrowest width that holds them.
impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.storage() == other.storage()
    }
}

fn escape(code_point: u32) -> u64 {
    let short = matches!(code_point, 0x08 | 0x09 | 0x0A | 0x0C | 0x0D | 0x22 | 0x5C);
    let long = code_point < 0x20 && !short;
    u64::from(short) + 5 * u64::from(long)
}

/// Counts the classes of whatever may be called a text.
pub(crate) fn counts_of(text: &Bound<'_, PyAny>) -> PyResult<ScriptCounts> {
    let py = text.py();
    if let Ok(string) = text.cast::<PyString>() {
        return Ok(Text::of(string)?.counts(py));
    }
    if let Ok(bytes) = text.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        let long = bytes.len() >= LONG;
        return Ok(if long { py.detach(|| scan::utf8(bytes)) } else { scan::utf8(bytes) });
    }
    buffer_counts(text)
}

/// The interpreter lock is held throughout, since the memory can change.
fn buffer_counts(text: &Bound<'_, PyAny>) -> PyResult<ScriptCounts> {
    let Ok(buffer) = PyBuffer::<u8>::get(text) else {
        let kind = text.get_type().qualname()?;
        return Err(PyTypeError::new_err(format!("text must be a str or a buffer of bytes, not {kind}")));
    };
    if !buffer.is_c_contiguous() {
        return Ok(scan::utf8(&buffer.to_vec(text.py())?));
    }
    if buffer.len_bytes() == 0 {
        return Ok(ScriptCounts::default());
    }
    // SAFETY: the buffer is contiguous and held, its pointer isn't null since it
    // isn't empty, and no Python code runs before the slice is done with.
    let bytes = unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), buffer.len_bytes()) };
    Ok(scan::utf8(bytes))
}
