//! One pass over a text: what it costs under the weights of a profile.
//!
//! Weights are additive, so nothing need be counted that is only weighed. A
//! text of any encoding goes through a small buffer, one byte a character
//! (`encodings`), and from there by stripes of 448 characters into masks
//! (`stripe`). Texts may come in pieces, as those of a JSON value do that is
//! never written: the price is that of the whole.
//!
//! The oracle is [`Features`](crate::features::Features).

pub(super) mod encodings;
pub(super) mod stripe;
pub(super) mod weights;

use super::kernel::BLOCK;
use super::{Level, active};
pub(super) use encodings::Filled;
use stripe::{Classes, Mask, STRIPE, WORDS};

pub(super) use weights::Table;
pub use weights::Weights;

/// What a level does in its own way.
pub(super) trait Weigh {
    /// Its masks of a stripe.
    type Mask: Mask;

    /// The classes of the 64 characters at `at` that are in `lanes`; the others have none.
    fn classes(characters: &[u8], at: usize, lanes: u64) -> Classes;

    /// Adds what the 64 characters at `at` weigh by themselves: all that are ASCII, first
    /// letters, and, each one before those told, last letters.
    #[inline(always)]
    fn sum(
        characters: &[u8],
        at: usize,
        [ascii, first, last]: [u64; 3],
        weights: &Weights,
        sums: &mut <Self::Mask as Mask>::Sums,
    ) {
        let sum = sum_by_entry(&characters[at..at + BLOCK], ascii, &weights.ascii)
            + sum_by_entry(&characters[at..at + BLOCK], first, &weights.first)
            + sum_by_entry(&characters[at - 1..at - 1 + BLOCK], last, &weights.last);
        Self::Mask::add_sum(sum, sums);
    }

    #[inline(always)]
    fn utf8(weights: &Weights, bytes: &[u8], room: &mut [u8]) -> Filled {
        encodings::utf8(weights, bytes, room)
    }

    #[inline(always)]
    fn ucs2(weights: &Weights, units: &[u16], room: &mut [u8]) -> Filled {
        encodings::ucs2(weights, units, room)
    }
}

/// The pass without vectors.
struct Scalar;

impl Weigh for Scalar {
    type Mask = [u64; WORDS];

    fn classes(characters: &[u8], at: usize, lanes: u64) -> Classes {
        stripe::classes_one_by_one(characters, at, lanes)
    }
}

pub(super) const SCALAR: Weighing = Weighing {
    stripe: stripe::stripe::<Scalar>,
    utf8: encodings::utf8,
    latin1: encodings::latin1,
    ucs2: encodings::ucs2,
    ucs4: encodings::ucs4,
};

#[inline(always)]
fn sum_by_entry(characters: &[u8], mut lanes: u64, table: &Table) -> u64 {
    if lanes == !0 {
        return characters.iter().map(|&byte| u64::from(table.whole[usize::from(byte)])).sum();
    }
    let mut sum = 0;
    while lanes != 0 {
        sum += u64::from(table.whole[usize::from(characters[lanes.trailing_zeros() as usize])]);
        lanes &= lanes - 1;
    }
    sum
}

/// Characters that wait to be weighed, behind the last block of those that were.
pub(super) struct Buffer {
    characters: [u8; BLOCK + STRIPE + BLOCK],
    /// The classes of that block.
    before: Classes,
}

/// The pass at one level.
#[derive(Clone, Copy)]
pub(super) struct Weighing {
    pub(super) stripe: fn(&Weights, &mut Buffer, usize) -> u64,
    pub(super) utf8: fn(&Weights, &[u8], &mut [u8]) -> Filled,
    pub(super) latin1: fn(&Weights, &[u8], &mut [u8]) -> Filled,
    pub(super) ucs2: fn(&Weights, &[u16], &mut [u8]) -> Filled,
    pub(super) ucs4: fn(&Weights, &[u32], &mut [u8]) -> Filled,
}

/// Weighs a text that comes in pieces.
///
/// ```
/// use turnfit_core::scan::weigh::{Weigher, Weights};
///
/// let weights = Weights::new(&[100; Weights::LENGTH]).unwrap();
/// let mut weigher = Weigher::new(&weights);
/// weigher.utf8(b"one ");
/// weigher.ucs2(&[0x0434, 0x0432, 0x0430]);
/// assert!(weigher.weight() > 0);
/// ```
pub struct Weigher<'a> {
    weights: &'a Weights,
    level: Weighing,
    buffer: Buffer,
    /// Characters in the buffer.
    waiting: usize,
    sum: u64,
}

impl<'a> Weigher<'a> {
    /// With no text yet.
    #[must_use]
    pub fn new(weights: &'a Weights) -> Self {
        Self::with(weights, active().1.weigh)
    }

    /// The same at this level, or at the scalar one if the machine doesn't have it.
    #[must_use]
    pub fn at(level: Level, weights: &'a Weights) -> Self {
        Self::with(weights, level.weighing())
    }

    fn with(weights: &'a Weights, level: Weighing) -> Self {
        // Nothing that is asked for repetition repeats what precedes the text.
        let buffer = Buffer { characters: [stripe::HIGH; _], before: Classes::default() };
        Self { weights, level, buffer, waiting: 0, sum: 0 }
    }

    /// Goes on with UTF-8 text, of which each maximal invalid sequence is U+FFFD.
    pub fn utf8(&mut self, bytes: &[u8]) {
        self.fill(bytes, self.level.utf8);
    }

    /// Goes on with Latin-1 text.
    pub fn latin1(&mut self, units: &[u8]) {
        self.fill(units, self.level.latin1);
    }

    /// Goes on with UCS-2 text.
    pub fn ucs2(&mut self, units: &[u16]) {
        self.fill(units, self.level.ucs2);
    }

    /// Goes on with UCS-4 text.
    pub fn ucs4(&mut self, units: &[u32]) {
        self.fill(units, self.level.ucs4);
    }

    /// What the text costs so far, in [`Weights::UNIT`]ths of a token.
    #[must_use]
    pub fn weight(mut self) -> u64 {
        self.sum + (self.level.stripe)(self.weights, &mut self.buffer, self.waiting)
    }

    #[inline(always)]
    fn fill<T>(&mut self, mut units: &[T], fill: fn(&Weights, &[T], &mut [u8]) -> Filled) {
        while !units.is_empty() {
            let room = &mut self.buffer.characters[BLOCK + self.waiting..];
            let Filled { read, written, sum } = fill(self.weights, units, room);
            units = &units[read..];
            self.waiting += written;
            self.sum += sum;
            if self.waiting >= STRIPE {
                self.weigh_stripe();
            }
        }
    }

    fn weigh_stripe(&mut self) {
        self.sum += (self.level.stripe)(self.weights, &mut self.buffer, STRIPE);
        self.buffer.characters.copy_within(STRIPE.., 0);
        self.waiting -= STRIPE;
    }
}
