//! One pass over a text: what it costs under the weights of a profile.
//!
//! Weights are additive, so nothing need be counted that is only weighed. A
//! text of any encoding goes through a small buffer, one byte a character
//! (`encodings`), and from there by stripes of 448 characters into masks
//! (`stripe`). Texts may come in pieces, as those of a JSON value do that is
//! never written: the price is that of the whole.
//!
//! AVX-512 that looks up bytes has a way of its own, by `tables`, for weights
//! that are narrow enough. All profiles' are.
//!
//! The oracle is [`Features`](crate::features::Features).

#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX-512 looks up bytes"))]

pub(super) mod encodings;
pub(super) mod stripe;
pub(super) mod tables;
pub(super) mod weights;

use super::kernel::BLOCK;
use super::{Level, active};
pub(super) use encodings::{Filled, Room};
use stripe::{Classes, STRIPE};

pub use weights::Weights;

/// What a level does in its own way.
pub(super) trait Weigh {
    /// The classes of the 64 characters at `at` that are in `lanes`; the others have none.
    fn classes(characters: &[u8], at: usize, lanes: u64) -> Classes;
}

/// The pass without vectors.
struct Scalar;

impl Weigh for Scalar {
    fn classes(characters: &[u8], at: usize, lanes: u64) -> Classes {
        stripe::classes_one_by_one(characters, at, lanes)
    }
}

pub(super) const SCALAR: Weighing = Weighing {
    stripe: stripe::stripe::<Scalar>,
    ascii: stripe::not_where_it_lies,
    utf8: encodings::utf8,
    latin1: encodings::latin1,
    ucs2: encodings::ucs2,
    ucs4: encodings::ucs4,
};

/// Characters that wait to be weighed, behind the last block of those that were.
#[repr(align(64))]
pub(super) struct Buffer {
    pub(super) characters: [u8; STRIPE_AT + STRIPE + BLOCK],
    /// Second bytes of their UTF-8, where a level asks for them.
    pub(super) seconds: [u8; STRIPE_AT + STRIPE + BLOCK],
    /// The classes of that block, at a level that doesn't find them again.
    before: Classes,
}

/// Where a stripe begins: behind the block before it and one that is never looked at.
pub(super) const STRIPE_AT: usize = 2 * BLOCK;

impl Buffer {
    fn room(&mut self, waiting: usize) -> Room<'_> {
        let start = STRIPE_AT + waiting;
        Room { characters: &mut self.characters[start..], seconds: &mut self.seconds[start..] }
    }

    /// Makes room behind a stripe that was weighed.
    fn advance(&mut self) {
        self.characters.copy_within(STRIPE_AT - BLOCK + STRIPE.., STRIPE_AT - BLOCK);
        self.seconds.copy_within(STRIPE_AT + STRIPE.., STRIPE_AT);
    }
}

/// The pass at one level.
#[derive(Clone, Copy)]
pub(super) struct Weighing {
    pub(super) stripe: fn(&Weights, &mut Buffer, usize) -> u64,
    /// Weighs from some place on where the text lies, or doesn't.
    pub(super) ascii: fn(&Weights, &[u8], usize) -> Filled,
    pub(super) utf8: fn(&Weights, &[u8], Room<'_>) -> Filled,
    pub(super) latin1: fn(&Weights, &[u8], Room<'_>) -> Filled,
    pub(super) ucs2: fn(&Weights, &[u16], Room<'_>) -> Filled,
    pub(super) ucs4: fn(&Weights, &[u32], Room<'_>) -> Filled,
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
    #[inline]
    #[must_use]
    pub fn new(weights: &'a Weights) -> Self {
        match weights.tables {
            Some(_) => Self::with(weights, active().1.weigh),
            None => Self::at(active().0, weights),
        }
    }

    /// The same at this level, or at the scalar one if the machine doesn't have it.
    #[must_use]
    pub fn at(level: Level, weights: &'a Weights) -> Self {
        let wide = level == Level::Avx512Vbmi && weights.tables.is_none();
        Self::with(weights, if wide { Level::Avx512 } else { level }.weighing())
    }

    #[inline]
    fn with(weights: &'a Weights, level: Weighing) -> Self {
        // Nothing that is asked for repetition repeats what precedes the text.
        let buffer = Buffer { characters: [stripe::HIGH; _], seconds: [0; _], before: Classes::default() };
        Self { weights, level, buffer, waiting: 0, sum: 0 }
    }

    /// Goes on with UTF-8 text, of which each maximal invalid sequence is U+FFFD.
    pub fn utf8(&mut self, bytes: &[u8]) {
        self.bytes(bytes, self.level.utf8);
    }

    /// Goes on with Latin-1 text.
    pub fn latin1(&mut self, units: &[u8]) {
        self.bytes(units, self.level.latin1);
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
    pub fn weight(&mut self) -> u64 {
        self.sum + (self.level.stripe)(self.weights, &mut self.buffer, self.waiting)
    }

    #[inline(always)]
    fn fill<T>(&mut self, mut units: &[T], fill: fn(&Weights, &[T], Room<'_>) -> Filled) {
        while !units.is_empty() {
            units = &units[self.fill_stripe(units, fill)..];
        }
    }

    /// The same for bytes, which need not go through the buffer where they are ASCII.
    fn bytes(&mut self, bytes: &[u8], fill: fn(&Weights, &[u8], Room<'_>) -> Filled) {
        let mut read = 0;
        while read < bytes.len() {
            read += self.fill_stripe(&bytes[read..], fill);
            if bytes.len() - read >= STRIPE {
                read += self.ascii(bytes, read);
            }
        }
    }

    /// Weighs what it can of a text where it lies; gives how much that is.
    fn ascii(&mut self, bytes: &[u8], read: usize) -> usize {
        // What waits is read once more.
        let start = read.saturating_sub(self.waiting);
        let weighed = (self.level.ascii)(self.weights, bytes, start);
        if weighed.read == 0 {
            return 0;
        }
        let end = start + weighed.read;
        self.buffer.characters[..STRIPE_AT].copy_from_slice(&bytes[end - STRIPE_AT..end]);
        (self.waiting, self.sum) = (0, self.sum + weighed.sum);
        end - read
    }

    /// Fills the buffer, and weighs it if it is full; gives how far it has read.
    #[inline(always)]
    fn fill_stripe<T>(&mut self, units: &[T], fill: fn(&Weights, &[T], Room<'_>) -> Filled) -> usize {
        let Filled { read, written, sum } = fill(self.weights, units, self.buffer.room(self.waiting));
        self.waiting += written;
        self.sum += sum;
        if self.waiting >= STRIPE {
            self.weigh_stripe();
        }
        read
    }

    fn weigh_stripe(&mut self) {
        self.sum += (self.level.stripe)(self.weights, &mut self.buffer, STRIPE);
        self.buffer.advance();
        self.waiting -= STRIPE;
    }
}
