//! One code point after the other: the oracle of the vector kernels, and what
//! runs where there are none.
//!
//! Written to be obviously right. [`<[u8]>::utf8_chunks`] splits bytes as
//! CPython's `bytes.decode("utf-8", "replace")` does: each maximal part of an
//! ill-formed sequence becomes one replacement character.

use crate::script::{Script, ScriptCounts, classify};

pub(super) fn utf8(bytes: &[u8]) -> ScriptCounts {
    let mut counts = ScriptCounts::default();
    for chunk in bytes.utf8_chunks() {
        counts += code_points(chunk.valid().chars().map(u32::from));
        if !chunk.invalid().is_empty() {
            counts.push(Script::Other);
        }
    }
    counts
}

pub(super) fn utf8_rows(bytes: &[u8], ends: &[usize], counts: &mut [ScriptCounts]) {
    for (row, counts) in ends.windows(2).zip(counts) {
        *counts = utf8(&bytes[row[0]..row[1]]);
    }
}

pub(super) fn latin1(units: &[u8]) -> ScriptCounts {
    code_points(units.iter().copied().map(u32::from))
}

pub(super) fn ucs2(units: &[u16]) -> ScriptCounts {
    code_points(units.iter().copied().map(u32::from))
}

pub(super) fn ucs4(units: &[u32]) -> ScriptCounts {
    code_points(units.iter().copied())
}

pub(super) fn code_points(code_points: impl Iterator<Item = u32>) -> ScriptCounts {
    let mut counts = ScriptCounts::default();
    code_points.for_each(|code_point| counts.push(classify(code_point)));
    counts
}
