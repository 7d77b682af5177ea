//! Where the rows of a table end: lines, or records of CSV whose fields may hold lines.

use crate::units::Units;

/// What of a table is kept, and how many rows that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Where the kept rows at the start end.
    pub head: usize,
    /// Where the kept rows at the end begin.
    pub tail: usize,
    /// Rows before `head`.
    pub head_rows: usize,
    /// Rows from `tail` on.
    pub tail_rows: usize,
    /// All rows; blank lines are none.
    pub total: usize,
}

/// The rows that are whole before one place and behind another, in one pass.
///
/// `quoted` says that a newline between double quotes ends no row (RFC 4180).
///
/// ```
/// use turnfit_core::rows::{rows, Rows};
/// use turnfit_core::units::Units;
///
/// let text = Units::Ascii(b"1\n\"2\n2\"\n3\n4\n");
/// let kept = rows(text, true, 4, 9);
/// assert_eq!(kept, Rows { head: 2, tail: 10, head_rows: 1, tail_rows: 1, total: 4 });
/// ```
#[must_use]
pub fn rows(text: Units<'_>, quoted: bool, head: usize, tail: usize) -> Rows {
    let read = Reader { quoted, head, tail };
    match text {
        Units::Ascii(units) | Units::Latin1(units) => read.rows(units),
        Units::Ucs2(units) => read.rows(units),
        Units::Ucs4(units) => read.rows(units),
    }
}

struct Reader {
    quoted: bool,
    head: usize,
    tail: usize,
}

impl Reader {
    fn rows<T: Copy + PartialEq + From<u8>>(&self, units: &[T]) -> Rows {
        let (newline, quote) = (T::from(b'\n'), T::from(b'"'));
        let mut kept = Rows { head: 0, tail: units.len(), head_rows: 0, tail_rows: 0, total: 0 };
        let (mut start, mut inside, mut before_tail) = (0, false, 0);
        for (place, &unit) in units.iter().enumerate() {
            inside ^= self.quoted && unit == quote;
            if unit == newline && !inside {
                self.close(&mut kept, &mut before_tail, start, place + 1, is_blank(units, start, place));
                start = place + 1;
            }
        }
        if start < units.len() {
            self.close(&mut kept, &mut before_tail, start, units.len(), false);
        }
        kept.tail_rows = kept.total - before_tail;
        kept
    }

    fn close(&self, kept: &mut Rows, before_tail: &mut usize, start: usize, end: usize, blank: bool) {
        if start >= self.tail && kept.tail > start {
            kept.tail = start;
        }
        kept.total += usize::from(!blank);
        if end <= self.head {
            kept.head = end;
            kept.head_rows = kept.total;
        }
        if start < self.tail {
            *before_tail = kept.total;
        }
    }
}

fn is_blank<T: Copy + PartialEq + From<u8>>(units: &[T], start: usize, end: usize) -> bool {
    end - start < 2 && units[start..end].iter().all(|&unit| unit == T::from(b'\r'))
}
