//! Python's strings and buffers as slices: all the `unsafe` that touches CPython.
//!
//! CPython keeps a `str` in the narrowest of three widths (PEP 393) and marks the
//! ASCII ones. Reading that storage in place makes an ASCII string O(1) and any
//! other a scan without a copy.

#![allow(unsafe_code)]

use std::hash::BuildHasher;
use std::ptr;
use std::slice;
use std::sync::LazyLock;

use foldhash::quality::RandomState;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::string::PyStringData;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use turnfit_core::pairing::Key;
use turnfit_core::scan;
use turnfit_core::scan::weigh::Weigher;
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
        // SAFETY: the object is a str, and the slice lives no longer than the reference.
        if let Some(units) = unsafe { compact_ascii(string.as_ptr()) } {
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

    /// Whether it is so short that no other thread need run meanwhile.
    #[inline]
    pub(crate) fn is_quick(&self) -> bool {
        self.len() < LONG
    }

    pub(crate) fn counts(&self, py: Python<'_>) -> ScriptCounts {
        match self {
            Text::Ascii(_) => self.scan(),
            _ if self.len() >= LONG => py.detach(|| self.scan()),
            _ => self.scan(),
        }
    }

    #[inline]
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

    /// Lets a weigher go on with the text.
    pub(crate) fn weigh(&self, weigher: &mut Weigher<'_>) {
        match self {
            Text::Ascii(units) | Text::Latin1(units) => weigher.latin1(units),
            Text::Ucs2(units) => weigher.ucs2(units),
            Text::Ucs4(units) => weigher.ucs4(units),
        }
    }

    /// Its parts between the characters that JSON escapes, each with the one behind it.
    pub(crate) fn between_escapes(&self, mut take: impl FnMut(Text<'a>, Option<u32>)) {
        match *self {
            Text::Ascii(units) => between(units, Text::Ascii, &mut take),
            Text::Latin1(units) => between(units, Text::Latin1, &mut take),
            Text::Ucs2(units) => between(units, Text::Ucs2, &mut take),
            Text::Ucs4(units) => between(units, Text::Ucs4, &mut take),
        }
    }

    /// The code points.
    pub(crate) fn code_points(&self) -> Vec<u32> {
        match self {
            Text::Ascii(units) | Text::Latin1(units) => units.iter().map(|&unit| unit.into()).collect(),
            Text::Ucs2(units) => units.iter().map(|&unit| unit.into()).collect(),
            Text::Ucs4(units) => units.to_vec(),
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
        unsafe { slice::from_raw_parts(start, size) }
    }
}

/// The common case without a call: ASCII characters right behind their header.
///
/// # Safety
///
/// The object is a str, and outlives the slice.
#[inline]
#[cfg(not(Py_3_14))]
unsafe fn compact_ascii<'a>(object: *mut ffi::PyObject) -> Option<&'a [u8]> {
    // SAFETY: the object is a str, its header says that it is compact and ASCII,
    // and then its characters are as many bytes behind the header (PEP 393).
    unsafe {
        if ffi::PyUnicode_IS_COMPACT_ASCII(object) == 0 {
            return None;
        }
        let units = object.cast::<ffi::PyASCIIObject>().add(1).cast::<u8>();
        Some(slice::from_raw_parts(units, ffi::PyUnicode_GET_LENGTH(object) as usize))
    }
}

/// From Python 3.14 on the header's bits can't be read; see [`is_ascii`].
#[cfg(Py_3_14)]
unsafe fn compact_ascii<'a>(_: *mut ffi::PyObject) -> Option<&'a [u8]> {
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

fn between<'a, T: Copy + Into<u32>>(
    units: &'a [T],
    text: fn(&'a [T]) -> Text<'a>,
    take: &mut impl FnMut(Text<'a>, Option<u32>),
) {
    let mut start = 0;
    for (at, &unit) in units.iter().enumerate() {
        if escape(unit.into()) > 0 {
            take(text(&units[start..at]), Some(unit.into()));
            start = at + 1;
        }
    }
    take(text(&units[start..]), None);
}

fn escape(code_point: u32) -> u64 {
    let short = matches!(code_point, 0x08 | 0x09 | 0x0A | 0x0C | 0x0D | 0x22 | 0x5C);
    let long = code_point < 0x20 && !short;
    u64::from(short) + 5 * u64::from(long)
}

/// Counts the classes of whatever may be called a text.
pub(crate) fn counts_of(text: &Bound<'_, PyAny>) -> PyResult<ScriptCounts> {
    match text.cast::<PyString>() {
        Ok(string) => Ok(Text::of(string)?.counts(text.py())),
        Err(_) => of_text(text, |row| row.scan()),
    }
}

/// Looks at whatever may be called a text; other threads may run meanwhile if it is
/// long and its memory can't change.
pub(crate) fn of_text<T: Send>(text: &Bound<'_, PyAny>, look: impl Fn(Row<'_>) -> T + Sync) -> PyResult<T> {
    let py = text.py();
    let unlocked = |row: Row<'_>| if row.len() >= LONG { py.detach(|| look(row)) } else { look(row) };
    if let Ok(string) = text.cast::<PyString>() {
        return Ok(unlocked(Row::Text(Text::of(string)?)));
    }
    if let Ok(bytes) = text.cast::<PyBytes>() {
        return Ok(unlocked(Row::Bytes(bytes.as_bytes())));
    }
    of_buffer(text, look)
}

/// The interpreter lock is held throughout, since the memory can change.
fn of_buffer<T>(text: &Bound<'_, PyAny>, look: impl Fn(Row<'_>) -> T) -> PyResult<T> {
    let Ok(buffer) = PyBuffer::<u8>::get(text) else {
        let kind = text.get_type().qualname()?;
        return Err(PyTypeError::new_err(format!("text must be a str or a buffer of bytes, not {kind}")));
    };
    if !buffer.is_c_contiguous() {
        return Ok(look(Row::Bytes(&buffer.to_vec(text.py())?)));
    }
    if buffer.len_bytes() == 0 {
        return Ok(look(Row::Bytes(&[])));
    }
    // SAFETY: the buffer is contiguous and held, its pointer isn't null since it
    // isn't empty, and no Python code runs before the slice is done with.
    let bytes = unsafe { slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), buffer.len_bytes()) };
    Ok(look(Row::Bytes(bytes)))
}

/// The objects of a list or a tuple, read where they lie: to take a reference to
/// each would write to all their memory.
pub(crate) struct Items<'a>(&'a [*mut ffi::PyObject]);

// SAFETY: nothing but headers and characters of strings is read, which nobody
// writes to while the items may be looked at; see `with_items`.
unsafe impl Sync for Items<'_> {}

/// A text among the objects of a column.
pub(crate) enum Row<'a> {
    Text(Text<'a>),
    Bytes(&'a [u8]),
}

impl Row<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Row::Text(text) => text.len(),
            Row::Bytes(bytes) => bytes.len(),
        }
    }

    #[inline]
    pub(crate) fn scan(&self) -> ScriptCounts {
        match self {
            Row::Text(text) => text.scan(),
            Row::Bytes(bytes) => scan::utf8(bytes),
        }
    }

    /// Lets a weigher go on with the text.
    pub(crate) fn weigh(&self, weigher: &mut Weigher<'_>) {
        match self {
            Row::Text(text) => text.weigh(weigher),
            Row::Bytes(bytes) => weigher.utf8(bytes),
        }
    }

    /// The code points, invalid sequences as U+FFFD.
    pub(crate) fn code_points(&self) -> Vec<u32> {
        match self {
            Row::Text(text) => text.code_points(),
            Row::Bytes(bytes) => String::from_utf8_lossy(bytes).chars().map(u32::from).collect(),
        }
    }

    /// Whether it is so long that other threads should run while it is read.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        self.len() >= LONG
    }

    /// Whether its classes can be counted without reading it.
    #[inline]
    pub(crate) fn is_known_ascii(&self) -> bool {
        matches!(self, Row::Text(Text::Ascii(_)))
    }
}

/// Looks at the items of a list or a tuple. `look` can't have anything by which it
/// could run Python code, since that is not [`Send`]: the items stay as they are.
pub(crate) fn with_items<T>(
    texts: &Bound<'_, PyAny>,
    look: impl FnOnce(&Items<'_>) -> T + Send,
) -> PyResult<T> {
    let object = texts.as_ptr();
    if texts.cast::<PyList>().is_ok() {
        return Ok(with_critical_section(texts, || {
            // SAFETY: the object is a list, which can't change before `look` returns.
            let items =
                unsafe { Items::at((*object.cast::<ffi::PyListObject>()).ob_item, ffi::Py_SIZE(object)) };
            look(&items)
        }));
    }
    texts.cast::<PyTuple>()?;
    // SAFETY: the object is a tuple, whose items stand in it.
    let items = unsafe {
        let first = &raw const (*object.cast::<ffi::PyTupleObject>()).ob_item;
        Items::at(first.cast(), ffi::Py_SIZE(object))
    };
    Ok(look(&items))
}

impl<'a> Items<'a> {
    /// # Safety
    ///
    /// From `first` on there are so many objects, which outlive the items.
    unsafe fn at(first: *const *mut ffi::PyObject, length: ffi::Py_ssize_t) -> Self {
        match length {
            // An empty list has no memory.
            0 => Items(&[]),
            // SAFETY: the caller's promise.
            _ => Items(unsafe { slice::from_raw_parts(first, length as usize) }),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The text in a row. None: it is to be looked at as a Python object.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> Option<Row<'a>> {
        let ahead = self.0.get(row + ITEMS_AHEAD).map_or(ptr::null(), |&ahead| ahead.cast_const());
        prefetch(ahead, HEADER);
        let object = self.0[row];
        // SAFETY: the list holds the object, and its type says what it is.
        unsafe {
            let kind = ffi::Py_TYPE(object);
            if kind == &raw mut ffi::PyUnicode_Type {
                let text = stored(object)?;
                if !matches!(text, Text::Ascii(_)) {
                    prefetch(ahead, CHARACTERS);
                }
                return Some(Row::Text(text));
            }
            if kind == &raw mut ffi::PyBytes_Type {
                let start = ffi::PyBytes_AS_STRING(object).cast();
                return Some(Row::Bytes(slice::from_raw_parts(start, ffi::Py_SIZE(object) as usize)));
            }
        }
        None
    }
}

/// Objects by which to ask for memory in advance: they may lie anywhere.
const ITEMS_AHEAD: usize = 64;

/// Where a string's kind stands, about.
const HEADER: usize = 32;

/// Where the first of its characters stand that aren't in the header's line.
const CHARACTERS: usize = HEADER + 64;

/// Asks for the line in which an object has something.
#[inline]
fn prefetch(_object: *const ffi::PyObject, _offset: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction, which takes any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(_object.wrapping_byte_add(_offset).cast());
    }
}

/// A str's own storage. None: the interpreter must make it ready first, as could be
/// before Python 3.12.
///
/// # Safety
///
/// The object is a str, not of a subclass, and outlives the text.
#[inline]
unsafe fn stored<'a>(object: *mut ffi::PyObject) -> Option<Text<'a>> {
    // SAFETY: the object is a str; one that is ready has as many units of its kind
    // as its length says (PEP 393).
    unsafe {
        if let Some(units) = compact_ascii(object) {
            return Some(Text::Ascii(units));
        }
        #[cfg(not(Py_3_12))]
        if ffi::PyUnicode_IS_READY(object) == 0 {
            return None;
        }
        let (units, length) = (ffi::PyUnicode_DATA(object), ffi::PyUnicode_GET_LENGTH(object) as usize);
        match ffi::PyUnicode_KIND(object) {
            ffi::PyUnicode_1BYTE_KIND if units.addr() == object.addr() + size_of::<ffi::PyASCIIObject>() => {
                Some(Text::Ascii(slice::from_raw_parts(units.cast(), length)))
            }
            ffi::PyUnicode_1BYTE_KIND => Some(Text::Latin1(slice::from_raw_parts(units.cast(), length))),
            ffi::PyUnicode_2BYTE_KIND => Some(Text::Ucs2(slice::from_raw_parts(units.cast(), length))),
            ffi::PyUnicode_4BYTE_KIND => Some(Text::Ucs4(slice::from_raw_parts(units.cast(), length))),
            _ => None,
        }
    }
}
