//! The weights of a profile, laid out for the pass.

use crate::features::{Features, INDICES, LETTERS, SHAPES};

/// The weights by which a text is priced, each in [`UNIT`](Self::UNIT)ths of a
/// token: integers, so that every machine and every order of adding gives the
/// same price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    pub(super) shapes: [u16; SHAPES.len()],
    pub(in super::super) first: Table,
    pub(in super::super) last: Table,
    pub(in super::super) ascii: Table,
    /// By [`index`](crate::features::index), and one more, so that two can be
    /// read at once; those of ASCII, which has its own table, are 0.
    pub(in super::super) characters: Box<[u16; INDICES + 1]>,
}

/// Weights of ASCII characters, whole and by halves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Table {
    pub(in super::super) whole: [u16; 256],
    pub(in super::super) low: [u8; 128],
    pub(in super::super) high: [u8; 128],
}

impl Table {
    fn new(weight: impl Fn(u8) -> u16) -> Self {
        let mut table = Self { whole: [0; 256], low: [0; 128], high: [0; 128] };
        for byte in 0..128 {
            let [low, high] = weight(byte).to_le_bytes();
            let at = usize::from(byte);
            (table.whole[at], table.low[at], table.high[at]) = (weight(byte), low, high);
        }
        table
    }

    fn of_letters(weights: &[u16; LETTERS]) -> Self {
        Self::new(|byte| match byte.to_ascii_lowercase() {
            letter @ b'a'..=b'z' => weights[usize::from(letter - b'a')],
            _ => 0,
        })
    }

    fn of_letter(&self, letter: usize) -> u64 {
        u64::from(self.whole[usize::from(b'a') + letter])
    }
}

impl Weights {
    /// What a token is in the unit of the weights.
    pub const UNIT: u64 = 1 << 12;

    /// How many weights there are: shapes, first letters, last letters, characters.
    pub const LENGTH: usize = SHAPES.len() + 2 * LETTERS + INDICES;

    /// The weights in this order, if they are as many as that.
    #[must_use]
    pub fn new(weights: &[u16]) -> Option<Self> {
        let (shapes, rest) = weights.split_first_chunk()?;
        let (first, rest) = rest.split_first_chunk()?;
        let (last, rest) = rest.split_first_chunk()?;
        let rest: &[u16; INDICES] = rest.try_into().ok()?;
        let mut characters = Box::new([0; INDICES + 1]);
        characters[128..INDICES].copy_from_slice(&rest[128..]);
        Some(Self {
            shapes: *shapes,
            first: Table::of_letters(first),
            last: Table::of_letters(last),
            ascii: Table::new(|byte| rest[usize::from(byte)]),
            characters,
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
        let characters = features.characters.iter().enumerate();
        let characters: u64 = characters.map(|(index, count)| count * self.of_index(index)).sum();
        shapes + letters(&features.first, &self.first) + letters(&features.last, &self.last) + characters
    }

    fn of_index(&self, index: usize) -> u64 {
        u64::from(if index < 128 { self.ascii.whole[index] } else { self.characters[index] })
    }
}
