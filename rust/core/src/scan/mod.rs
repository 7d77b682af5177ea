//! One pass over a text: how many code points of each script class it has.
//!
//! One entry point per encoding in which Python keeps text: [`utf8`] for bytes,
//! and [`latin1`], [`ucs2`], [`ucs4`] for the three widths of a `str`
//! (PEP 393), so that no string is copied to be counted.
//!
//! # Levels
//!
//! The shared loops (`kernel` for UTF-8, `strings` for units that are code
//! points) know no instruction: they are written over small traits of vectors.
//! A module per [`Level`] gives the vectors and compiles the loops for them,
//! and `scalar` counts without any. Which of them a process uses is found out
//! at its first scan and kept, with no `target-cpu` at compile time: one build
//! serves every machine. Texts too short to repay a vector never ask.
//!
//! Every level gives the same counts for every input. The tests run each level
//! of the machine against `scalar`, and that against the decoders of Rust and
//! CPython.
//!
//! # Time and memory
//!
//! Linear and constant, whatever the bytes: see `docs/performance.md` for
//! figures, and for what was tried and rejected.

#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "there are no vectors")
)]

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod blocks;
mod container;
mod kernel;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod no_vectors;
mod scalar;
mod strings;
mod tables;
pub mod weigh;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::ops::Range;
use std::sync::OnceLock;

use crate::script::ScriptCounts;

pub use blocks::cut_before;
pub use container::Rest;

#[cfg(target_arch = "aarch64")]
use aarch64 as arch;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use no_vectors as arch;
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

/// Fewer units are counted sooner one by one than a vector loop starts.
const SHORT: usize = 4;

/// Counts the code points of UTF-8 text.
///
/// Bytes need not be valid: each maximal invalid sequence, as
/// `bytes.decode("utf-8", "replace")` marks it, is one *other*.
///
/// ```
/// use turnfit_core::{scan, script::ScriptCounts};
/// let counts = scan::utf8("ok, ясно, 好".as_bytes());
/// assert_eq!(counts, ScriptCounts { ascii: 6, cjk: 1, other: 4 });
/// assert_eq!(scan::utf8(b"\xE2\x82a\xFF").other, 2);
/// ```
#[inline]
pub fn utf8(bytes: &[u8]) -> ScriptCounts {
    match bytes.len() {
        ..64 if bytes.is_ascii() => all_ascii(bytes.len()),
        ..SHORT => scalar::utf8(bytes),
        _ => (active().1.utf8)(bytes),
    }
}

/// Whether a part of a text is ASCII, sooner told than by [`utf8`].
///
/// # Panics
///
/// If the text ends sooner than the part.
///
/// ```
/// use turnfit_core::scan;
/// assert!(scan::is_ascii("нет yes".as_bytes(), 6..10));
/// ```
#[inline]
pub fn is_ascii(bytes: &[u8], part: Range<usize>) -> bool {
    let mut lines = part.start;
    bytes[part].chunks(4 * kernel::BLOCK).all(|chunk| {
        for line in 0..4 {
            arch::prefetch(bytes, lines + line * kernel::BLOCK + kernel::AHEAD);
        }
        lines += chunk.len();
        chunk.is_ascii()
    })
}

/// Counts UTF-8 texts that lie one behind the other, as Arrow keeps them: each
/// from one of `ends` to the next. Every text counts as [`utf8`] counts it alone.
///
/// # Panics
///
/// If `ends` do not ascend, or `bytes` end sooner.
///
/// ```
/// use turnfit_core::{scan, script::ScriptCounts};
/// let mut counts = [ScriptCounts::default(); 2];
/// scan::utf8_rows("okда".as_bytes(), &[0, 2, 6], &mut counts);
/// assert_eq!(counts, [scan::utf8(b"ok"), scan::utf8("да".as_bytes())]);
/// ```
#[inline]
pub fn utf8_rows(bytes: &[u8], ends: &[usize], counts: &mut [ScriptCounts]) {
    (active().1.utf8_rows)(bytes, ends, counts);
}

/// Counts the code points of Latin-1 text (PEP 393's one-byte strings).
///
/// ```
/// use turnfit_core::{scan, script::ScriptCounts};
/// let counts = scan::latin1(b"caf\xE9");
/// assert_eq!(counts, ScriptCounts { ascii: 3, cjk: 0, other: 1 });
/// ```
#[inline]
pub fn latin1(units: &[u8]) -> ScriptCounts {
    match units.len() {
        ..SHORT => scalar::latin1(units),
        _ => (active().1.latin1)(units),
    }
}

/// Counts the code points of UCS-2 text (PEP 393's two-byte strings): each
/// unit is one code point, and a surrogate is one *other*.
///
/// ```
/// use turnfit_core::{scan, script::ScriptCounts};
/// let counts = scan::ucs2(&[0x61, 0x4E2D, 0x0416, 0xD83D]);
/// assert_eq!(counts, ScriptCounts { ascii: 1, cjk: 1, other: 2 });
/// ```
#[inline]
pub fn ucs2(units: &[u16]) -> ScriptCounts {
    match units.len() {
        ..SHORT => scalar::ucs2(units),
        _ => (active().1.ucs2)(units),
    }
}

/// Counts the code points of UCS-4 text (PEP 393's four-byte strings).
///
/// ```
/// use turnfit_core::{scan, script::ScriptCounts};
/// let counts = scan::ucs4(&['a' as u32, '𠀀' as u32, '🙂' as u32]);
/// assert_eq!(counts, ScriptCounts { ascii: 1, cjk: 1, other: 1 });
/// ```
#[inline]
pub fn ucs4(units: &[u32]) -> ScriptCounts {
    match units.len() {
        ..SHORT => scalar::ucs4(units),
        _ => (active().1.ucs4)(units),
    }
}

/// What is left of a JSON array or object from the beginning of a value in it on, by its
/// brackets alone: Latin-1 units. `None` if it doesn't end.
///
/// ```
/// use turnfit_core::scan::{self, Rest};
///
/// let rest = scan::container_latin1(br#"[1, "]"], {"a": 2}], 3"#);
/// assert_eq!(rest, Some(Rest { length: 19, commas: 1 }));
/// ```
#[inline]
pub fn container_latin1(units: &[u8]) -> Option<Rest> {
    (active().1.container_latin1)(units)
}

/// [`container_latin1`] for UCS-2.
#[inline]
pub fn container_ucs2(units: &[u16]) -> Option<Rest> {
    (active().1.container_ucs2)(units)
}

/// [`container_latin1`] for UCS-4.
#[inline]
pub fn container_ucs4(units: &[u32]) -> Option<Rest> {
    (active().1.container_ucs4)(units)
}

fn all_ascii(length: usize) -> ScriptCounts {
    ScriptCounts { ascii: length as u64, ..ScriptCounts::default() }
}

/// The scan's entry points at one vector level.
#[derive(Clone, Copy)]
struct Kernels {
    utf8: fn(&[u8]) -> ScriptCounts,
    utf8_rows: fn(&[u8], &[usize], &mut [ScriptCounts]),
    latin1: fn(&[u8]) -> ScriptCounts,
    ucs2: fn(&[u16]) -> ScriptCounts,
    ucs4: fn(&[u32]) -> ScriptCounts,
    weigh: weigh::Weighing,
    container_latin1: fn(&[u8]) -> Option<Rest>,
    container_ucs2: fn(&[u16]) -> Option<Rest>,
    container_ucs4: fn(&[u32]) -> Option<Rest>,
}

const SCALAR: Kernels = Kernels {
    utf8: scalar::utf8,
    utf8_rows: scalar::utf8_rows,
    latin1: scalar::latin1,
    ucs2: scalar::ucs2,
    ucs4: scalar::ucs4,
    weigh: weigh::SCALAR,
    container_latin1: container::rest_plainly,
    container_ucs2: container::rest_plainly,
    container_ucs4: container::rest_plainly,
};

/// What kind of vectors a scan uses. Every level gives the same counts.
///
/// The methods scan at this level, for tests and comparisons; at a level that
/// the machine does not have they scan at [`Level::Scalar`].
///
/// ```
/// use turnfit_core::scan;
/// for level in scan::levels() {
///     assert_eq!(level.utf8(b"the same"), scan::utf8(b"the same"));
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// No vectors: every machine.
    Scalar,
    /// 16 bytes: every x86-64.
    Sse2,
    /// 32 bytes, with byte shuffles and bit manipulation (x86-64-v3).
    Avx2,
    /// 64 bytes, with masks (AVX-512 F and BW).
    Avx512,
    /// The same, with look-ups of whole bytes (AVX-512 VBMI).
    Avx512Vbmi,
    /// 16 bytes: every AArch64.
    Neon,
}

impl Level {
    fn weighing(self) -> weigh::Weighing {
        self.kernels().unwrap_or(SCALAR).weigh
    }

    const ALL: [Self; 6] = [Self::Scalar, Self::Sse2, Self::Avx2, Self::Avx512, Self::Avx512Vbmi, Self::Neon];

    /// [`utf8`] at this level.
    ///
    /// ```
    /// # use turnfit_core::scan::Level;
    /// assert_eq!(Level::Scalar.utf8("ё".as_bytes()).other, 1);
    /// ```
    pub fn utf8(self, bytes: &[u8]) -> ScriptCounts {
        (self.kernels().unwrap_or(SCALAR).utf8)(bytes)
    }

    /// [`utf8_rows`] at this level.
    ///
    /// ```
    /// # use turnfit_core::scan::Level;
    /// let mut counts = [Default::default(); 2];
    /// Level::Scalar.utf8_rows("ёж".as_bytes(), &[0, 2, 4], &mut counts);
    /// assert_eq!(counts.map(|counts| counts.other), [1, 1]);
    /// ```
    pub fn utf8_rows(self, bytes: &[u8], ends: &[usize], counts: &mut [ScriptCounts]) {
        (self.kernels().unwrap_or(SCALAR).utf8_rows)(bytes, ends, counts);
    }

    /// [`latin1`] at this level.
    ///
    /// ```
    /// # use turnfit_core::scan::Level;
    /// assert_eq!(Level::Scalar.latin1(b"\xFF").other, 1);
    /// ```
    pub fn latin1(self, units: &[u8]) -> ScriptCounts {
        (self.kernels().unwrap_or(SCALAR).latin1)(units)
    }

    /// [`ucs2`] at this level.
    ///
    /// ```
    /// # use turnfit_core::scan::Level;
    /// assert_eq!(Level::Scalar.ucs2(&[0xAC00]).cjk, 1);
    /// ```
    pub fn ucs2(self, units: &[u16]) -> ScriptCounts {
        (self.kernels().unwrap_or(SCALAR).ucs2)(units)
    }

    /// [`ucs4`] at this level.
    ///
    /// ```
    /// # use turnfit_core::scan::Level;
    /// assert_eq!(Level::Scalar.ucs4(&[0x2_0000]).cjk, 1);
    /// ```
    pub fn ucs4(self, units: &[u32]) -> ScriptCounts {
        (self.kernels().unwrap_or(SCALAR).ucs4)(units)
    }

    /// [`container_latin1`] at this level.
    pub fn container_latin1(self, units: &[u8]) -> Option<Rest> {
        (self.kernels().unwrap_or(SCALAR).container_latin1)(units)
    }

    /// [`container_ucs2`] at this level.
    pub fn container_ucs2(self, units: &[u16]) -> Option<Rest> {
        (self.kernels().unwrap_or(SCALAR).container_ucs2)(units)
    }

    /// [`container_ucs4`] at this level.
    pub fn container_ucs4(self, units: &[u32]) -> Option<Rest> {
        (self.kernels().unwrap_or(SCALAR).container_ucs4)(units)
    }

    fn kernels(self) -> Option<Kernels> {
        match self {
            Self::Scalar => Some(SCALAR),
            vectors => arch::kernels(vectors),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Vbmi => "avx512vbmi",
            Self::Neon => "neon",
        }
    }
}

/// The level at which this process scans: the machine's best, or the one named
/// by the environment variable `TURNFIT_SIMD` (`scalar`, `sse2`, `avx2`,
/// `avx512`, `avx512vbmi`, `neon`) if the machine has it. Chosen at the first scan.
///
/// ```
/// use turnfit_core::scan;
/// assert!(scan::levels().any(|level| level == scan::level()));
/// ```
pub fn level() -> Level {
    active().0
}

/// The levels that this machine has, from the plainest to the fastest.
///
/// ```
/// use turnfit_core::scan;
/// assert_eq!(scan::levels().next(), Some(scan::Level::Scalar));
/// ```
pub fn levels() -> impl DoubleEndedIterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.kernels().is_some())
}

fn active() -> &'static (Level, Kernels) {
    static ACTIVE: OnceLock<(Level, Kernels)> = OnceLock::new();
    ACTIVE.get_or_init(|| {
        let wanted = std::env::var("TURNFIT_SIMD").unwrap_or_default();
        let level = levels()
            .find(|level| level.name() == wanted)
            .or_else(|| levels().next_back())
            .unwrap_or(Level::Scalar);
        (level, level.kernels().unwrap_or(SCALAR))
    })
}
