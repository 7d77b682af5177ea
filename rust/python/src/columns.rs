//! Prices whole columns of texts: lists, numpy's strings, Arrow.
//!
//! A column is a number of rows and a way to count each. How rows are spread over
//! threads, and how a price is written, is the same for all of them.

use std::sync::{Mutex, PoisonError};
use std::thread;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, GenericStringArray, OffsetSizeTrait, PrimitiveArray,
    downcast_dictionary_array,
};
use arrow_schema::DataType;
use numpy::{Element, PyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use pyo3_arrow::PyArray;
use pyo3_arrow::input::AnyArray;
use turnfit_core::profile::{Rates, tokens_of_weight};
use turnfit_core::scan;
use turnfit_core::scan::weigh::{Weigher, Weights};
use turnfit_core::script::ScriptCounts;

use crate::text::{Items, Row, Text, with_items};

/// How a row's price is written: rounded up, or exact, for totals.
pub(crate) trait Price: ArrowPrimitiveType<Native: Element> {
    fn of(counts: ScriptCounts) -> Self::Native;

    fn of_weight(weight: u64) -> Self::Native;
}

impl Price for Int64Type {
    fn of(counts: ScriptCounts) -> i64 {
        Rates::SCRIPT.tokens(counts) as i64
    }

    fn of_weight(weight: u64) -> i64 {
        tokens_of_weight(weight) as i64
    }
}

impl Price for Float64Type {
    fn of(counts: ScriptCounts) -> f64 {
        Rates::SCRIPT.exact_tokens(counts)
    }

    /// Exact, since a token is a power of two.
    fn of_weight(weight: u64) -> f64 {
        weight as f64 / Weights::UNIT as f64
    }
}

/// By what rows are priced.
#[derive(Clone, Copy)]
pub(crate) enum By<'a> {
    Script,
    Weights(&'a Weights),
}

impl By<'_> {
    /// Whether other threads should run while a row is priced.
    #[inline]
    fn takes_long(self, row: &Row<'_>) -> bool {
        row.is_long() && !(matches!(self, By::Script) && row.is_known_ascii())
    }

    #[inline]
    fn price<P: Price>(self, row: &Row<'_>) -> P::Native {
        match self {
            By::Script => P::of(row.scan()),
            By::Weights(weights) => {
                let mut weigher = Weigher::new(weights);
                row.weigh(&mut weigher);
                P::of_weight(weigher.weight())
            }
        }
    }
}

/// The prices of so many rows, by at most so many threads. `bytes` says roughly
/// what all rows have.
fn prices<P: Price>(
    rows: usize,
    bytes: usize,
    threads: usize,
    price: impl Fn(usize) -> P::Native + Sync,
) -> Vec<P::Native> {
    filled(rows, bytes, threads, |first, stretch: &mut [P::Native]| {
        for (row, priced) in (first..).zip(stretch) {
            *priced = price(row);
        }
    })
}

/// So many rows are filled in together.
const TOGETHER: usize = 64;

/// A thread with less to read than this takes longer to start.
const WORTH_A_THREAD: usize = 1 << 20;

/// So many rows, filled in stretch by stretch.
fn filled<T: Copy + Default + Send>(
    rows: usize,
    bytes: usize,
    threads: usize,
    fill: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    match threads.min(bytes / WORTH_A_THREAD) {
        0 | 1 => filled_by_one(rows, fill),
        threads => filled_by_many(rows, threads, fill),
    }
}

/// Stretches go through a buffer, so that nothing has to be zeroed first.
fn filled_by_one<T: Copy + Default>(rows: usize, fill: impl Fn(usize, &mut [T])) -> Vec<T> {
    let mut filled = Vec::with_capacity(rows);
    let mut buffer = [T::default(); TOGETHER];
    for first in (0..rows).step_by(TOGETHER) {
        let stretch = &mut buffer[..TOGETHER.min(rows - first)];
        fill(first, stretch);
        filled.extend_from_slice(stretch);
    }
    filled
}

/// Parts of a column for each thread. Whichever is free takes the next: rows may be
/// of any length, and a core may have other things to do.
const PARTS: usize = 16;

fn filled_by_many<T: Copy + Default + Send>(
    rows: usize,
    threads: usize,
    fill: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    let mut filled = vec![T::default(); rows];
    let size = rows.div_ceil(threads * PARTS).max(1);
    let parts = Mutex::new((0..).step_by(size).zip(filled.chunks_mut(size)));
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some((first, part)) = next() {
            for (first, stretch) in (first..).step_by(TOGETHER).zip(part.chunks_mut(TOGETHER)) {
                fill(first, stretch);
            }
        }
    };
    thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    filled
}

/// The prices of an Arrow column as an Arrow array, nulls kept.
pub(crate) fn of_arrow<P: Price>(
    py: Python<'_>,
    column: AnyArray,
    by: By<'_>,
    threads: usize,
) -> PyResult<PyArray> {
    let (chunks, _) = column.into_chunked_array()?.into_inner();
    let priced = py.detach(|| {
        let chunks = chunks.iter().map(|chunk| of_chunk::<P>(chunk, by, threads));
        chunks.collect::<Result<Vec<_>, _>>().map(joined)
    });
    Ok(PyArray::from_array_ref(std::sync::Arc::new(priced.map_err(PyTypeError::new_err)?)))
}

/// The texts of an Arrow column; None where it holds something else.
pub(crate) fn texts_of_arrow(
    py: Python<'_>,
    column: AnyArray,
) -> PyResult<Option<Vec<Option<Py<PyString>>>>> {
    let (chunks, _) = column.into_chunked_array()?.into_inner();
    let texts = chunks.iter().map(|chunk| texts_of_chunk(py, chunk));
    Ok(texts.collect::<Option<Vec<_>>>().map(|chunks| chunks.into_iter().flatten().collect()))
}

fn texts_of_chunk(py: Python<'_>, chunk: &ArrayRef) -> Option<Vec<Option<Py<PyString>>>> {
    let text = |text: Option<&str>| text.map(|text| PyString::new(py, text).unbind());
    Some(match chunk.data_type() {
        DataType::Utf8 => chunk.as_string::<i32>().iter().map(text).collect(),
        DataType::LargeUtf8 => chunk.as_string::<i64>().iter().map(text).collect(),
        DataType::Utf8View => chunk.as_string_view().iter().map(text).collect(),
        DataType::Dictionary(_, _) => return texts_of_dictionary(py, chunk),
        _ => return None,
    })
}

fn texts_of_dictionary(py: Python<'_>, chunk: &ArrayRef) -> Option<Vec<Option<Py<PyString>>>> {
    downcast_dictionary_array! {
        chunk => {
            let values = texts_of_chunk(py, chunk.values())?;
            let text = |key: usize| values[key].as_ref().map(|text| text.clone_ref(py));
            Some(chunk.keys_iter().map(|key| key.and_then(text)).collect())
        }
        _ => None,
    }
}

/// Numbers as an Arrow array.
pub(crate) fn arrow_of(numbers: Vec<Option<i64>>) -> PyArray {
    PyArray::from_array_ref(std::sync::Arc::new(PrimitiveArray::<Int64Type>::from(numbers)))
}

fn joined<P: Price>(mut chunks: Vec<PrimitiveArray<P>>) -> PrimitiveArray<P> {
    match chunks.len() {
        1 => chunks.remove(0),
        _ => chunks.iter().flat_map(PrimitiveArray::iter).collect(),
    }
}

fn of_chunk<P: Price>(chunk: &ArrayRef, by: By<'_>, threads: usize) -> Result<PrimitiveArray<P>, String> {
    let rows = chunk.len();
    let prices = match chunk.data_type() {
        DataType::Utf8 => of_strings::<P, i32>(chunk.as_string(), by, threads),
        DataType::LargeUtf8 => of_strings::<P, i64>(chunk.as_string(), by, threads),
        DataType::Utf8View => {
            let texts = chunk.as_string_view();
            let bytes = texts.lengths().map(|length| length as usize).sum();
            prices::<P>(rows, bytes, threads, |row| by.price::<P>(&Row::Bytes(texts.value(row).as_bytes())))
        }
        DataType::Dictionary(_, _) => return of_dictionary::<P>(chunk, by, threads),
        DataType::Struct(fields) if fields.len() == 1 => {
            return of_chunk::<P>(chunk.as_struct().column(0), by, threads);
        }
        other => return Err(format!("column must hold texts, not {other}")),
    };
    Ok(PrimitiveArray::new(prices.into(), chunk.nulls().cloned()))
}

/// Rows lie one behind the other.
fn of_strings<P: Price, O: OffsetSizeTrait>(
    texts: &GenericStringArray<O>,
    by: By<'_>,
    threads: usize,
) -> Vec<P::Native> {
    let offsets: &[O] = texts.value_offsets();
    let bytes = offsets[texts.len()].as_usize() - offsets[0].as_usize();
    if let By::Weights(_) = by {
        return prices::<P>(texts.len(), bytes, threads, |row| {
            by.price::<P>(&Row::Bytes(texts.value(row).as_bytes()))
        });
    }
    filled(texts.len(), bytes, threads, |first, stretch: &mut [P::Native]| {
        of_stretch::<P, O>(texts.value_data(), &offsets[first..=first + stretch.len()], stretch);
    })
}

/// Where all rows are ASCII, their lengths say all.
#[inline]
fn of_stretch<P: Price, O: OffsetSizeTrait>(bytes: &[u8], offsets: &[O], prices: &mut [P::Native]) {
    let rows = prices.len();
    if scan::is_ascii(bytes, offsets[0].as_usize()..offsets[rows].as_usize()) {
        for (price, row) in prices.iter_mut().zip(offsets.windows(2)) {
            *price = P::of(all_ascii(row[1].as_usize() - row[0].as_usize()));
        }
        return;
    }
    let (mut ends, mut counts) = ([0; TOGETHER + 1], [ScriptCounts::default(); TOGETHER]);
    for (end, offset) in ends.iter_mut().zip(offsets) {
        *end = offset.as_usize();
    }
    scan::utf8_rows(bytes, &ends[..=rows], &mut counts[..rows]);
    for (price, &counts) in prices.iter_mut().zip(&counts) {
        *price = P::of(counts);
    }
}

fn all_ascii(length: usize) -> ScriptCounts {
    ScriptCounts { ascii: length as u64, cjk: 0, other: 0 }
}

/// Each value of the dictionary is priced once.
fn of_dictionary<P: Price>(
    chunk: &ArrayRef,
    by: By<'_>,
    threads: usize,
) -> Result<PrimitiveArray<P>, String> {
    downcast_dictionary_array! {
        chunk => {
            let values = of_chunk::<P>(chunk.values(), by, threads)?;
            let keys = chunk.keys_iter();
            Ok(keys.map(|key| key.filter(|&key| values.is_valid(key)).map(|key| values.value(key))).collect())
        }
        other => Err(format!("column must hold texts, not {other}")),
    }
}

/// The prices of texts in a list or a tuple as a numpy array.
///
/// Short texts are priced where they lie, while nothing else runs; what is left
/// then are long ones, and objects that must be looked at more closely.
pub(crate) fn of_objects<'py, P: Price>(
    texts: &Bound<'py, PyAny>,
    by: By<'_>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<P::Native>>> {
    let (mut prices, mut left) = with_items(texts, |items| of_short_texts::<P>(items, by, threads))?;
    if !left.is_empty() {
        left.sort_unstable();
        for (row, price) in left.iter().zip(of_held_texts::<P>(texts, &left, by, threads)?) {
            prices[*row] = price;
        }
    }
    Ok(PyArray1::from_vec(texts.py(), prices))
}

/// Roughly what a short text among Python's objects has.
const SHORT_TEXT: usize = 64;

/// The prices, and the rows that are left.
fn of_short_texts<P: Price>(items: &Items<'_>, by: By<'_>, threads: usize) -> (Vec<P::Native>, Vec<usize>) {
    let left = Mutex::new(Vec::new());
    let prices =
        filled(items.len(), items.len() * SHORT_TEXT, threads, |first, stretch: &mut [P::Native]| {
            for (row, price) in (first..).zip(stretch) {
                match items.row(row) {
                    Some(text) if !by.takes_long(&text) => *price = by.price::<P>(&text),
                    _ => left.lock().unwrap_or_else(PoisonError::into_inner).push(row),
                }
            }
        });
    (prices, left.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The prices of some rows, while other threads may run and change the column.
fn of_held_texts<P: Price>(
    texts: &Bound<'_, PyAny>,
    rows: &[usize],
    by: By<'_>,
    threads: usize,
) -> PyResult<Vec<P::Native>> {
    let held = rows.iter().map(|&row| item(texts, row)).collect::<PyResult<Vec<_>>>()?;
    let texts = rows.iter().zip(&held).map(|(&row, text)| row_of(row, text));
    let texts = texts.collect::<PyResult<Vec<_>>>()?;
    let bytes = texts.iter().map(Row::len).sum();
    Ok(held[0].py().detach(|| prices::<P>(texts.len(), bytes, threads, |row| by.price::<P>(&texts[row]))))
}

fn item<'py>(texts: &Bound<'py, PyAny>, row: usize) -> PyResult<Bound<'py, PyAny>> {
    match texts.cast::<PyList>() {
        Ok(list) => list.get_item(row),
        Err(_) => texts.cast::<PyTuple>()?.get_item(row),
    }
}

fn row_of<'a>(row: usize, text: &'a Bound<'_, PyAny>) -> PyResult<Row<'a>> {
    if let Ok(string) = text.cast::<PyString>() {
        return Ok(Row::Text(Text::of(string)?));
    }
    if let Ok(bytes) = text.cast::<PyBytes>() {
        return Ok(Row::Bytes(bytes.as_bytes()));
    }
    let kind = text.get_type().qualname()?;
    Err(PyTypeError::new_err(format!("row {row}: text must be str or bytes, not {kind}")))
}

/// The prices of numpy's strings of one width, given as their code points: rows
/// are filled up with zeros.
pub(crate) fn of_code_points<'py, P: Price>(
    py: Python<'py>,
    code_points: &PyReadonlyArray2<'py, u32>,
    by: By<'_>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<P::Native>>> {
    let width = code_points.as_array().ncols();
    let units = code_points.as_slice()?;
    let rows = code_points.as_array().nrows();
    let priced = prices::<P>(rows, size_of_val(units), threads, |row| {
        let text = &units[row * width..][..width];
        let length = width - text.iter().rev().take_while(|&&unit| unit == 0).count();
        by.price::<P>(&Row::Text(Text::Ucs4(&text[..length])))
    });
    Ok(PyArray1::from_vec(py, priced))
}
