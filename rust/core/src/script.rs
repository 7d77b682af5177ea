//! The script classes, and the one place that knows their code points.
//!
//! A token of a byte-pair vocabulary holds about four characters of English,
//! two of Russian and one of Chinese. Three classes therefore carry most of
//! what a text's length says about its price:
//!
//! | class | code points |
//! |---|---|
//! | [`Ascii`](Script::Ascii) | U+0000 to U+007F |
//! | [`Cjk`](Script::Cjk) | [`CJK_RANGES`]: Chinese, Japanese, Korean, their punctuation and full-width forms |
//! | [`Other`](Script::Other) | everything else: Cyrillic, Greek, Devanagari, accented letters, emoji, surrogates |
//!
//! Everything else that needs the ranges derives from [`CJK_RANGES`]: the
//! vector tables of [`scan`](crate::scan) are computed from it when the crate
//! is compiled.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// The class of a code point.
///
/// ```
/// use turnfit_core::script::{Script, classify};
/// assert_eq!(classify('я' as u32), Script::Other);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Script {
    /// U+0000 to U+007F.
    Ascii,
    /// Chinese, Japanese and Korean: one of [`CJK_RANGES`].
    Cjk,
    /// Every other code point, assigned or not.
    Other,
}

/// The first and the last code point of every range of [`Script::Cjk`],
/// in ascending order and disjoint.
pub const CJK_RANGES: [(u32, u32); 11] = [
    (0x1100, 0x11FF),
    (0x2E80, 0x9FFF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
    (0x1_AFF0, 0x1_B16F),
    (0x1_F200, 0x1_F2FF),
    (0x2_0000, 0x3_FFFF),
];

/// The class of a code point. A surrogate, or a number past U+10FFFF, is
/// [`Script::Other`].
///
/// ```
/// use turnfit_core::script::{Script, classify};
/// assert_eq!(classify('a' as u32), Script::Ascii);
/// assert_eq!(classify('語' as u32), Script::Cjk);
/// assert_eq!(classify('é' as u32), Script::Other);
/// assert_eq!(classify(0xD800), Script::Other);
/// ```
#[inline]
pub const fn classify(code_point: u32) -> Script {
    if code_point < 0x80 {
        return Script::Ascii;
    }
    let mut i = 0;
    while i < CJK_RANGES.len() && code_point >= CJK_RANGES[i].0 {
        if code_point <= CJK_RANGES[i].1 {
            return Script::Cjk;
        }
        i += 1;
    }
    Script::Other
}

/// How many code points of each class a text has.
///
/// Counts of parts add up to the counts of the whole, as long as no part ends
/// within a UTF-8 sequence.
///
/// ```
/// use turnfit_core::{scan, script::ScriptCounts};
/// let whole: ScriptCounts = ["turn ", "поворот ", "回合"]
///     .iter()
///     .map(|part| scan::utf8(part.as_bytes()))
///     .sum();
/// assert_eq!(whole, ScriptCounts { ascii: 6, cjk: 2, other: 7 });
/// assert_eq!(whole.total(), 15);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptCounts {
    /// Code points of [`Script::Ascii`].
    pub ascii: u64,
    /// Code points of [`Script::Cjk`].
    pub cjk: u64,
    /// Code points of [`Script::Other`].
    pub other: u64,
}

impl ScriptCounts {
    /// All code points: the length of the text as a Python `str`.
    ///
    /// ```
    /// use turnfit_core::scan;
    /// assert_eq!(scan::utf8("naïve 語".as_bytes()).total(), 7);
    /// ```
    #[inline]
    pub const fn total(self) -> u64 {
        self.ascii + self.cjk + self.other
    }

    #[inline]
    pub(crate) const fn push(&mut self, script: Script) {
        match script {
            Script::Ascii => self.ascii += 1,
            Script::Cjk => self.cjk += 1,
            Script::Other => self.other += 1,
        }
    }
}

impl Add for ScriptCounts {
    type Output = Self;

    #[inline]
    fn add(self, more: Self) -> Self {
        Self { ascii: self.ascii + more.ascii, cjk: self.cjk + more.cjk, other: self.other + more.other }
    }
}

impl AddAssign for ScriptCounts {
    #[inline]
    fn add_assign(&mut self, more: Self) {
        *self = *self + more;
    }
}

impl Sum for ScriptCounts {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_ascend_and_do_not_touch() {
        assert!(CJK_RANGES.iter().all(|(first, last)| first <= last));
        assert!(CJK_RANGES.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
    }

    #[test]
    fn classify_agrees_with_the_ranges_at_every_code_point() {
        for code_point in 0..0x11_0000 {
            let cjk = CJK_RANGES.iter().any(|&(first, last)| (first..=last).contains(&code_point));
            let expected = match code_point {
                0..0x80 => Script::Ascii,
                _ if cjk => Script::Cjk,
                _ => Script::Other,
            };
            assert_eq!(classify(code_point), expected, "U+{code_point:04X}");
        }
    }
}
