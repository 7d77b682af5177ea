//! Weights and kinds of characters for registers that look up a byte among 64
//! or 128.
//!
//! Most shapes say what a character is and what the one before it is, and no
//! more: so a pair of kinds has one weight, and one look-up adds all of them.
//! What is left are lengths of runs and words, and repetitions: see [`ALONE`].

use std::array::from_fn;

use super::stripe::HIGH;
use super::weights::{PairTable, Weights};
use crate::features::{Class, Features, INDICES, LETTERS, SHAPES, Shape};

/// Weights by halves: first the lower bytes, then the upper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Halves<const N: usize>(pub(in super::super) [[u8; N]; 2]);

impl<const N: usize> Halves<N> {
    fn of(weight: impl Fn(usize) -> u16) -> Self {
        Self([0, 1].map(|half| from_fn(|at| weight(at).to_le_bytes()[half])))
    }
}

/// A profile's weights for look-ups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Tables {
    pub(in super::super) ascii: Halves<128>,
    /// By the kind of a character, and eight times that of the one before it.
    pub(in super::super) pairs: Halves<64>,
    /// Of letters by their lower five bits: whether they are the first of a word is
    /// bit 5, whether the last bit 6.
    pub(in super::super) ends: Halves<128>,
    /// Of small letters behind each other, in [`Weights::STEP`]s: by the lower five bits of a
    /// letter and two of the one before it, in the table that the next two bits of this tell.
    pub(in super::super) letter_pairs: [[u8; 128]; 4],
    /// Of what isn't ASCII, by the upper bits of its index and then by seven lower.
    pub(in super::super) windows: [Halves<128>; WINDOWS],
    /// Of shapes, in both halves of a number, as an instruction wants them that adds two
    /// products.
    pub(in super::super) shapes: [i32; SHAPES.len()],
}

/// Parts of all indices, 128 each.
pub(in super::super) const WINDOWS: usize = INDICES.div_ceil(128);

/// The shapes that a pair of kinds doesn't tell.
const ALONE: [Shape; 30] = {
    use Shape::*;
    [
        Letters3, Letters4, Letters5, Letters7, Letters9, Letters13, Letters17, Uppers4, Doubled, Digits3,
        Digits4, Digits7, Signs3, Signs5, Repeats1, Repeats3, Repeats8, Blanks3, Blanks5, Blanks9, Blanks17,
        Breaks3, Highs3, Highs5, Highs7, Highs9, Highs13, Word1, Word2, Word3,
    ]
};

impl Tables {
    /// None, if a sum is too wide: that of two shapes, or of a letter's two ends, or a
    /// shape's that is signed; or a letter pair's weight for a byte.
    pub(super) fn new(
        shapes: &[u16; SHAPES.len()],
        [first, last]: [&[u16; LETTERS]; 2],
        letter_pairs: &PairTable,
        characters: &[u16; INDICES],
    ) -> Option<Self> {
        let pairs = narrow(from_fn(|at| pair(shapes, at >> 3, at & 7)))?;
        let ends = narrow(from_fn(|at| end(first, at, 5) + end(last, at, 6)))?;
        let letter_pairs = in_steps(letter_pairs)?;
        let alone = |shape: Shape| i16::try_from(shapes[shape as usize]).ok();
        ALONE.into_iter().map(alone).collect::<Option<Vec<_>>>()?;
        let index = |window: usize, at: usize| characters.get(window * 128 + at).copied().unwrap_or(0);
        Some(Self {
            ascii: Halves::of(|at| characters[at]),
            pairs,
            ends,
            letter_pairs,
            windows: from_fn(|window| Halves::of(|at| index(window, at))),
            shapes: shapes.map(|weight| (u32::from(weight) << 16 | u32::from(weight)) as i32),
        })
    }
}

/// The weights, if none is wider than 16 bits.
fn narrow<const N: usize>(weights: [u32; N]) -> Option<Halves<N>> {
    let fit = weights.iter().all(|&weight| weight <= u16::MAX.into());
    fit.then(|| Halves::of(|at| weights[at] as u16))
}

/// The weights of letter pairs in steps, if all are.
fn in_steps(weights: &PairTable) -> Option<[[u8; 128]; 4]> {
    let mut steps = [[0; 128]; 4];
    for (at, step) in steps.as_flattened_mut().iter_mut().enumerate() {
        let weight = weights.at(at);
        *step = u8::try_from(weight / Weights::STEP).ok()?;
        if !weight.is_multiple_of(Weights::STEP) {
            return None;
        }
    }
    Some(steps)
}

/// What the shapes weigh that tell no more than two kinds, asked of the oracle.
fn pair(shapes: &[u16; SHAPES.len()], before: usize, here: usize) -> u32 {
    // Different ones, which repeat nothing.
    const EXAMPLES: [&[u32]; 8] = [
        &[],
        &['1' as u32, '2' as u32],
        &['a' as u32, 'b' as u32],
        &['C' as u32, 'D' as u32],
        &[' ' as u32, '\t' as u32],
        &['\n' as u32, '\r' as u32],
        &['.' as u32, ',' as u32],
        &['é' as u32, 'я' as u32],
    ];
    let Some(&here) = EXAMPLES[here].last() else { return 0 };
    let first = EXAMPLES[before].first().copied();
    let both = Features::of(first.into_iter().chain([here]));
    let alone = Features::of(first);
    let told = |shape: usize| !ALONE.iter().any(|&alone| alone as usize == shape);
    let told = (0..SHAPES.len()).filter(|&shape| told(shape));
    told.map(|shape| (both.shapes[shape] - alone.shapes[shape]) as u32 * u32::from(shapes[shape])).sum()
}

/// The weight of the letter with these lower five bits, if this bit is set as well.
fn end(weights: &[u16; LETTERS], at: usize, bit: usize) -> u32 {
    match ((at & 0x1F).wrapping_sub(1), at >> bit & 1) {
        (letter @ ..LETTERS, 1) => weights[letter].into(),
        _ => 0,
    }
}

/// What stands for no character, before a text and behind it.
pub(in super::super) const NOTHING: u8 = HIGH;

/// What lead bytes are made to be, so that their lower bits tell their kind.
pub(in super::super) const LEAD: u8 = 0xBF;

/// The bit of [`KINDS`] that says that a character belongs to a word.
pub(in super::super) const WORD: u8 = 1 << 5;

/// The bit that says that it doesn't. [`NOTHING`] has neither.
pub(in super::super) const OTHER: u8 = 1 << 6;

/// The kind of each ASCII character: in its lower three bits the number of its class,
/// among which none is that of [`NOTHING`], all are that of [`LEAD`], and of two letters
/// only the lowest may differ.
pub(in super::super) const KINDS: [u8; 128] = {
    let mut kinds = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte as usize] = match Class::of(byte) {
            Class::Digit => OTHER | 1,
            Class::Lower => WORD | 2,
            Class::Upper => WORD | 3,
            Class::Blank => OTHER | 4,
            Class::Break => OTHER | 5,
            Class::Sign => OTHER | 6,
            Class::High => LEAD,
        };
        byte += 1;
    }
    kinds
};
