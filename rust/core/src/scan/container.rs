//! The shared loop over JSON: where a container ends that is open, and how many commas
//! part its own values.
//!
//! Of 64 units at a time each kind of sign is one `u64`. A quote that no backslash
//! escapes turns everything behind it into a string or out of it, which is the running
//! exclusive or of the quotes (Langdale, Lemire: Parsing Gigabytes of JSON per Second,
//! 2019, <https://arxiv.org/abs/1902.08318>). Of what is left only brackets count, and
//! commas where no other bracket is open. A block in which the container can't end,
//! since more brackets are open than are closed in it, is done by counting.

use super::arch::prefetch;
use super::kernel::{AHEAD, BLOCK, Bytes};

/// What is left of a container from some place in it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Units up to its closing bracket, and with it.
    pub length: usize,
    /// Commas between its own values.
    pub commas: u64,
}

/// A unit as the byte by which JSON's signs are told.
pub(super) trait Narrow: Copy {
    fn narrow(self) -> u8;
}

impl Narrow for u8 {
    #[inline(always)]
    fn narrow(self) -> u8 {
        self
    }
}

impl Narrow for u16 {
    #[inline(always)]
    fn narrow(self) -> u8 {
        self.min(0xFF) as u8
    }
}

impl Narrow for u32 {
    #[inline(always)]
    fn narrow(self) -> u8 {
        self.min(0xFF) as u8
    }
}

/// What is left of a container; `None` if it doesn't end. The units begin outside of
/// strings.
#[inline(always)]
pub(super) fn rest<V: Bytes, T: Narrow>(units: &[T]) -> Option<Rest> {
    let mut state = State::default();
    for (number, group) in units.chunks(GROUP).enumerate() {
        prefetch(units, (number + 1) * GROUP + AHEAD / size_of::<T>());
        let mut bytes = [b' '; GROUP];
        bytes.iter_mut().zip(group).for_each(|(byte, unit)| *byte = unit.narrow());
        for (i, block) in bytes.as_chunks::<BLOCK>().0.iter().enumerate() {
            if let Some(place) = state.follow(signs::<V>(block)) {
                let length = number * GROUP + i * BLOCK + place + 1;
                return Some(Rest { length, commas: state.commas });
            }
        }
    }
    None
}

/// Units that are made bytes at once: what was just written is slow to read.
const GROUP: usize = 8 * BLOCK;

/// One after the other: the oracle, and what runs where there are no vectors.
pub(super) fn rest_plainly<T: Narrow>(units: &[T]) -> Option<Rest> {
    let (mut depth, mut commas, mut string, mut escapes) = (0u64, 0, false, false);
    for (place, unit) in units.iter().enumerate() {
        let unit = unit.narrow();
        let escaped = escapes;
        escapes = unit == b'\\' && !escaped;
        match unit {
            b'"' => string ^= !escaped,
            _ if string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth == 0 => return Some(Rest { length: place + 1, commas }),
            b']' | b'}' => depth -= 1,
            b',' if depth == 0 => commas += 1,
            _ => {}
        }
    }
    None
}

/// Where each kind of sign stands in a block.
#[derive(Clone, Copy)]
struct Signs {
    quotes: u64,
    backslashes: u64,
    opening: u64,
    closing: u64,
    commas: u64,
}

/// A sign is what is below its successor and not below itself.
#[inline(always)]
fn signs<V: Bytes>(block: &[u8; BLOCK]) -> Signs {
    let mut signs = Signs { quotes: 0, backslashes: 0, opening: 0, closing: 0, commas: 0 };
    for at in (0..BLOCK).step_by(V::LANES) {
        let bytes = V::load(&block[at..]);
        let equal = |sign: u8| (bytes.below(sign + 1) & !bytes.below(sign)) << at;
        signs.quotes |= equal(b'"');
        signs.backslashes |= equal(b'\\');
        signs.opening |= equal(b'[') | equal(b'{');
        signs.closing |= equal(b']') | equal(b'}');
        signs.commas |= equal(b',');
    }
    signs
}

/// What a block must know of those before it.
#[derive(Default)]
struct State {
    /// All ones inside a string.
    string: u64,
    /// One, if the first unit is escaped.
    escaped: u64,
    depth: u64,
    commas: u64,
}

impl State {
    /// Where in this block the container ends, if it does.
    #[inline(always)]
    fn follow(&mut self, signs: Signs) -> Option<usize> {
        let quotes = signs.quotes & !self.escaped_in(signs.backslashes);
        let strings = running_xor(quotes) ^ self.string;
        self.string = ((strings as i64) >> 63) as u64;
        let (opening, closing) = (signs.opening & !strings, signs.closing & !strings);
        let closed = u64::from(closing.count_ones());
        if self.depth > closed {
            self.depth = self.depth + u64::from(opening.count_ones()) - closed;
            return None;
        }
        self.step(opening, closing, signs.commas & !strings)
    }

    /// Sign by sign.
    fn step(&mut self, opening: u64, closing: u64, commas: u64) -> Option<usize> {
        let mut left = opening | closing | commas;
        while left != 0 {
            let place = left.trailing_zeros();
            left &= left - 1;
            let is = |signs: u64| signs >> place & 1 == 1;
            if is(commas) {
                self.commas += u64::from(self.depth == 0);
            } else if is(opening) {
                self.depth += 1;
            } else if self.depth == 0 {
                return Some(place as usize);
            } else {
                self.depth -= 1;
            }
        }
        None
    }

    /// Every other of a run of backslashes escapes what is behind it: where adding the
    /// run's start to the run carries out at an odd distance.
    #[inline(always)]
    fn escaped_in(&mut self, backslashes: u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        if backslashes == 0 {
            return std::mem::take(&mut self.escaped);
        }
        let backslashes = backslashes & !self.escaped;
        let behind = backslashes << 1 | self.escaped;
        let odd_starts = backslashes & !EVEN & !behind;
        let (runs, carried) = odd_starts.overflowing_add(backslashes);
        self.escaped = u64::from(carried);
        (EVEN ^ (runs << 1)) & behind
    }
}

/// Each bit is the exclusive or of those up to it.
#[inline(always)]
fn running_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}
