//! Prices whole columns of texts: lists, numpy's strings, Arrow.
//!
//! A column is a number of rows and a way to count each. How rows are spread over
//! threads, and how a price is written, is the same for all of them.

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
use turnfit_core::profile::Profile;
use turnfit_core::scan;
use turnfit_core::script::ScriptCounts;

use crate::text::Text;

/// How a row's price is written: rounded up, or exact, for totals.
pub(crate) trait Price: ArrowPrimitiveType<Native: Element> {
    fn of(counts: ScriptCounts) -> Self::Native;
}

impl Price for Int64Type {
    fn of(counts: ScriptCounts) -> i64 {
        Profile::SCRIPT.tokens(counts) as i64
    }
}

impl Price for Float64Type {
    fn of(counts: ScriptCounts) -> f64 {
        Profile::SCRIPT.exact_tokens(counts)
    }
}

/// The prices of so many rows, by so many threads.
fn prices<P: Price>(
    rows: usize,
    threads: usize,
    count: impl Fn(usize) -> ScriptCounts + Sync,
) -> Vec<P::Native> {
    filled(rows, threads, |first, part: &mut [P::Native]| {
        for (row, price) in (first..).zip(part) {
            *price = P::of(count(row));
        }
    })
}

/// So many rows, each thread's part filled in by itself.
fn filled<T: Copy + Default + Send>(
    rows: usize,
    threads: usize,
    fill: impl Fn(usize, &mut [T]) + Sync,
) -> Vec<T> {
    let mut filled = vec![T::default(); rows];
    let part = rows.div_ceil(threads.max(1)).max(1);
    if part >= rows {
        fill(0, &mut filled);
        return filled;
    }
    std::thread::scope(|scope| {
        for (number, part_of_rows) in filled.chunks_mut(part).enumerate() {
            let fill = &fill;
            scope.spawn(move || fill(number * part, part_of_rows));
        }
    });
    filled
}

/// The prices of an Arrow column as an Arrow array, nulls kept.
pub(crate) fn of_arrow<P: Price>(py: Python<'_>, column: AnyArray, threads: usize) -> PyResult<PyArray> {
    let (chunks, _) = column.into_chunked_array()?.into_inner();
    let priced = py.detach(|| {
        let chunks = chunks.iter().map(|chunk| of_chunk::<P>(chunk, threads));
        chunks.collect::<Result<Vec<_>, _>>().map(joined)
    });
    Ok(PyArray::from_array_ref(std::sync::Arc::new(priced.map_err(PyTypeError::new_err)?)))
}

fn joined<P: Price>(mut chunks: Vec<PrimitiveArray<P>>) -> PrimitiveArray<P> {
    match chunks.len() {
        1 => chunks.remove(0),
        _ => chunks.iter().flat_map(PrimitiveArray::iter).collect(),
    }
}

fn of_chunk<P: Price>(chunk: &ArrayRef, threads: usize) -> Result<PrimitiveArray<P>, String> {
    let rows = chunk.len();
    let prices = match chunk.data_type() {
        DataType::Utf8 => of_strings::<P, i32>(chunk.as_string(), threads),
        DataType::LargeUtf8 => of_strings::<P, i64>(chunk.as_string(), threads),
        DataType::Utf8View => {
            let texts = chunk.as_string_view();
            prices::<P>(rows, threads, |row| scan::utf8(texts.value(row).as_bytes()))
        }
        DataType::Dictionary(_, _) => return of_dictionary::<P>(chunk, threads),
        DataType::Struct(fields) if fields.len() == 1 => {
            return of_chunk::<P>(chunk.as_struct().column(0), threads);
        }
        other => return Err(format!("column must hold texts, not {other}")),
    };
    Ok(PrimitiveArray::new(prices.into(), chunk.nulls().cloned()))
}

/// So many rows are looked at together first.
const TOGETHER: usize = 64;

/// Rows lie one behind the other: where a stretch of them is ASCII, their lengths
/// say all.
fn of_strings<P: Price, O: OffsetSizeTrait>(texts: &GenericStringArray<O>, threads: usize) -> Vec<P::Native> {
    let offsets: &[O] = texts.value_offsets();
    let bytes = texts.value_data();
    let fill = |first: usize, part: &mut [P::Native]| {
        for (first, part) in (first..).step_by(TOGETHER).zip(part.chunks_mut(TOGETHER)) {
            let ends = &offsets[first..=first + part.len()];
            let stretch = &bytes[ends[0].as_usize()..ends[part.len()].as_usize()];
            let ascii = stretch.is_ascii();
            for (price, row) in part.iter_mut().zip(ends.windows(2)) {
                let (start, end) = (row[0].as_usize(), row[1].as_usize());
                *price = P::of(if ascii { all_ascii(end - start) } else { scan::utf8(&bytes[start..end]) });
            }
        }
    };
    filled(texts.len(), threads, fill)
}

fn all_ascii(length: usize) -> ScriptCounts {
    ScriptCounts { ascii: length as u64, cjk: 0, other: 0 }
}

/// Each value of the dictionary is priced once.
fn of_dictionary<P: Price>(chunk: &ArrayRef, threads: usize) -> Result<PrimitiveArray<P>, String> {
    downcast_dictionary_array! {
        chunk => {
            let values = of_chunk::<P>(chunk.values(), threads)?;
            let keys = chunk.keys_iter();
            Ok(keys.map(|key| key.filter(|&key| values.is_valid(key)).map(|key| values.value(key))).collect())
        }
        other => Err(format!("column must hold texts, not {other}")),
    }
}

/// The prices of texts in a list or a tuple as a numpy array.
pub(crate) fn of_objects<'py, P: Price>(
    texts: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<P::Native>>> {
    let prices = match texts.cast::<PyList>() {
        Ok(list) if threads == 1 => one_by_one::<P, _>(list.iter())?,
        Ok(list) => of_objects_apart::<P>(&list.to_tuple(), threads)?,
        Err(_) => {
            let tuple = texts.cast::<PyTuple>()?;
            if threads == 1 {
                one_by_one::<P, _>(tuple.iter())?
            } else {
                of_objects_apart::<P>(tuple, threads)?
            }
        }
    };
    Ok(PyArray1::from_vec(texts.py(), prices))
}

fn one_by_one<'py, P: Price, I>(texts: I) -> PyResult<Vec<P::Native>>
where
    I: ExactSizeIterator<Item = Bound<'py, PyAny>>,
{
    let mut prices = Vec::with_capacity(texts.len());
    for (row, text) in texts.enumerate() {
        prices.push(P::of(Row::of(row, &text)?.count()));
    }
    Ok(prices)
}

/// Other threads may not touch Python's objects, but their storage.
fn of_objects_apart<P: Price>(texts: &Bound<'_, PyTuple>, threads: usize) -> PyResult<Vec<P::Native>> {
    let held: Vec<_> = texts.iter_borrowed().collect();
    let rows = held.iter().enumerate().map(|(row, text)| Row::of(row, text));
    let rows = rows.collect::<PyResult<Vec<_>>>()?;
    // The tuple holds the texts, and neither it nor they can change.
    Ok(texts.py().detach(|| prices::<P>(rows.len(), threads, |row| rows[row].count())))
}

/// A text among Python objects.
enum Row<'a> {
    Text(Text<'a>),
    Bytes(&'a [u8]),
}

impl<'a> Row<'a> {
    #[inline]
    fn of(row: usize, text: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(string) = text.cast::<PyString>() {
            return Ok(Row::Text(Text::of(string)?));
        }
        Self::of_no_string(row, text)
    }

    #[cold]
    fn of_no_string(row: usize, text: &'a Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = text.cast::<PyBytes>() {
            return Ok(Row::Bytes(bytes.as_bytes()));
        }
        let kind = text.get_type().qualname()?;
        Err(PyTypeError::new_err(format!("row {row}: text must be str or bytes, not {kind}")))
    }

    #[inline]
    fn count(&self) -> ScriptCounts {
        match self {
            Row::Text(text) => text.scan(),
            Row::Bytes(bytes) => scan::utf8(bytes),
        }
    }
}

/// The prices of numpy's strings of one width, given as their code points: rows
/// are filled up with zeros.
pub(crate) fn of_code_points<'py, P: Price>(
    py: Python<'py>,
    code_points: &PyReadonlyArray2<'py, u32>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<P::Native>>> {
    let width = code_points.as_array().ncols();
    let units = code_points.as_slice()?;
    let rows = code_points.as_array().nrows();
    let priced = prices::<P>(rows, threads, |row| {
        let text = &units[row * width..][..width];
        let length = width - text.iter().rev().take_while(|&&unit| unit == 0).count();
        scan::ucs4(&text[..length])
    });
    Ok(PyArray1::from_vec(py, priced))
}
