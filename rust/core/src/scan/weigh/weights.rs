//! The weights of a profile, laid out for the pass.

use super::tables::Tables;
use crate::features::{BEFORE, Features, INDICES, LETTER_PAIRS, LETTERS, SHAPES};

/// The weights by which a text is priced, each in [`UNIT`](Self::UNIT)ths of a
/// token: integers, so that every machine and every order of adding gives the
/// same price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    pub(super) shapes: [u16; SHAPES.len()],
    pub(super) first: Table,
    pub(super) last: Table,
    pub(super) letter_pairs: Box<PairTable>,
    pub(super) ascii: Table,
    /// By [`index`](crate::features::index); those of ASCII, which has its own table,
    /// are 0.
    pub(super) characters: Box<[u16; INDICES]>,
    /// The same for registers that look up, if it is narrow enough for them.
    pub(in super::super) tables: Option<Box<Tables>>,
}

/// Weights of ASCII characters; none of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table([u16; 256]);

impl Table {
    fn new(weight: impl Fn(u8) -> u16) -> Self {
        Self(std::array::from_fn(|at| if at < 128 { weight(at as u8) } else { 0 }))
    }

    fn of_letters(weights: &[u16; LETTERS]) -> Self {
        Self::new(|byte| match byte.to_ascii_lowercase() {
            letter @ b'a'..=b'z' => weights[usize::from(letter - b'a')],
            _ => 0,
        })
    }

    fn of_letter(&self, letter: usize) -> u64 {
        self.of(b'a' + letter as u8)
    }

    #[inline(always)]
    pub(super) fn of(&self, byte: u8) -> u64 {
        u64::from(self.0[usize::from(byte)])
    }
}

/// Weights of small letters behind each other, by five bits of a letter and four of the one
/// before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PairTable([u16; BEFORE * 32]);

impl PairTable {
    fn new(weights: &[u16; LETTER_PAIRS]) -> Self {
        Self(std::array::from_fn(|at| match (at % 32).wrapping_sub(1) {
            letter @ ..LETTERS => weights[at / 32 * LETTERS + letter],
            _ => 0,
        }))
    }

    #[inline(always)]
    pub(super) fn of(&self, before: u8, here: u8) -> u64 {
        u64::from(self.at(usize::from(before & 0xF) << 5 | usize::from(here & 0x1F)))
    }

    pub(super) fn at(&self, at: usize) -> u16 {
        self.0[at]
    }
}

impl Weights {
    /// What a token is in the unit of the weights.
    pub const UNIT: u64 = 1 << 12;

    /// Weights of letter pairs that are multiples of this, and at most [`u8::MAX`] times it,
    /// can be looked up.
    pub const STEP: u16 = 32;

    /// How many weights there are: shapes, first letters, last letters, letter pairs,
    /// characters.
    pub const LENGTH: usize = SHAPES.len() + 2 * LETTERS + LETTER_PAIRS + INDICES;

    /// The weights in this order, if they are as many as that.
    #[must_use]
    pub fn new(weights: &[u16]) -> Option<Self> {
        let (shapes, rest) = weights.split_first_chunk()?;
        let (first, rest) = rest.split_first_chunk()?;
        let (last, rest) = rest.split_first_chunk()?;
        let (pairs, rest) = rest.split_first_chunk()?;
        let rest: &[u16; INDICES] = rest.try_into().ok()?;
        let mut characters = Box::new(*rest);
        characters[..128].fill(0);
        let letter_pairs = Box::new(PairTable::new(pairs));
        Some(Self {
            shapes: *shapes,
            first: Table::of_letters(first),
            last: Table::of_letters(last),
            ascii: Table::new(|byte| rest[usize::from(byte)]),
            characters,
            tables: Tables::new(shapes, [first, last], &letter_pairs, rest).map(Box::new),
            letter_pairs,
        })
    }

    /// What a text with these features costs, in [`UNIT`](Self::UNIT)ths of a token.
    #[must_use]
    pub fn of_features(&self, features: &Features) -> u64 {
        let shapes = features.shapes.iter().zip(self.shapes);
        let shapes: u64 = shapes.map(|(count, weight)| count * u64::from(weight)).sum();
        let letters = |counts: &[u64; LETTERS], table: &Table| -> u64 {
            counts.iter().enumerate().map(|(letter, count)| count * table.of_letter(letter)).sum()
        };
        let pairs = features.letter_pairs.iter().enumerate();
        let pairs: u64 = pairs.map(|(at, count)| count * self.of_letter_pair(at)).sum();
        let characters = features.characters.iter().enumerate();
        let characters: u64 = characters.map(|(index, count)| count * self.of_index(index)).sum();
        shapes
            + letters(&features.first, &self.first)
            + letters(&features.last, &self.last)
            + pairs
            + characters
    }

    fn of_letter_pair(&self, at: usize) -> u64 {
        self.letter_pairs.of((at / LETTERS) as u8, (at % LETTERS + 1) as u8)
    }

    fn of_index(&self, index: usize) -> u64 {
        u64::from(if index < 128 { self.ascii.0[index] } else { self.characters[index] })
    }
}
