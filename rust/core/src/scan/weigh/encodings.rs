//! Characters of each encoding as the bytes of a stripe, and what those that
//! are not ASCII weigh by themselves.
//!
//! These are the plain loops; a level may have better ones.

use super::stripe::HIGH;
use super::weights::Weights;
use crate::features::index;

/// How far a text went into the buffer.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(in super::super) struct Filled {
    /// Units of the text that were read.
    pub(in super::super) read: usize,
    /// Characters that were written.
    pub(in super::super) written: usize,
    /// What of them is not ASCII weighs.
    pub(in super::super) sum: u64,
}

/// Where characters are put.
pub(in super::super) struct Room<'a> {
    pub(in super::super) characters: &'a mut [u8],
    pub(in super::super) seconds: &'a mut [u8],
}

#[inline(always)]
pub(in super::super) fn latin1(weights: &Weights, units: &[u8], room: Room<'_>) -> Filled {
    let room = room.characters;
    let length = units.len().min(room.len());
    room[..length].copy_from_slice(&units[..length]);
    if units[..length].is_ascii() {
        return Filled { read: length, written: length, sum: 0 };
    }
    let sum = room[..length].iter_mut().map(|byte| {
        let weight = weights.characters[usize::from(*byte)];
        *byte = (*byte).min(HIGH);
        u64::from(weight)
    });
    Filled { read: length, written: length, sum: sum.sum() }
}

#[inline(always)]
pub(in super::super) fn ucs2(weights: &Weights, units: &[u16], Room { characters, .. }: Room<'_>) -> Filled {
    code_points(weights, units.iter().map(|&unit| u32::from(unit)), characters)
}

#[inline(always)]
pub(in super::super) fn ucs4(weights: &Weights, units: &[u32], Room { characters, .. }: Room<'_>) -> Filled {
    code_points(weights, units.iter().copied(), characters)
}

#[inline(always)]
fn code_points(weights: &Weights, units: impl Iterator<Item = u32>, room: &mut [u8]) -> Filled {
    let mut filled = Filled::default();
    for (unit, byte) in units.zip(room) {
        *byte = unit.min(HIGH.into()) as u8;
        filled.sum += u64::from(weights.characters[index(unit)]);
        filled.written += 1;
    }
    Filled { read: filled.written, ..filled }
}

/// UTF-8, of which each maximal invalid sequence is U+FFFD.
#[inline(always)]
pub(in super::super) fn utf8(weights: &Weights, bytes: &[u8], room: Room<'_>) -> Filled {
    let (mut filled, room) = (Filled::default(), room.characters);
    while filled.read < bytes.len() && filled.written < room.len() {
        filled = character(weights, &bytes[filled.read..], room, filled);
    }
    filled
}

/// Adds the character with which `bytes`, which aren't none, begin.
#[inline(always)]
fn character(weights: &Weights, bytes: &[u8], room: &mut [u8], filled: Filled) -> Filled {
    let (length, code_point) = decode(bytes);
    room[filled.written] = code_point.min(HIGH.into()) as u8;
    Filled {
        read: filled.read + length,
        written: filled.written + 1,
        sum: filled.sum + u64::from(weights.characters[index(code_point)]),
    }
}

/// The first character's length and code point.
#[inline(always)]
pub(in super::super) fn decode(bytes: &[u8]) -> (usize, u32) {
    let bits = |byte: u8| u32::from(byte & 0x3F);
    match *bytes {
        [a @ ..0x80, ..] => (1, a.into()),
        [a @ 0xC2..0xE0, b @ 0x80..0xC0, ..] => (2, bits(a & 0x1F) << 6 | bits(b)),
        [a @ 0xE0..0xF0, b, c @ 0x80..0xC0, ..] if follows(a, b) => {
            (3, bits(a & 0x0F) << 12 | bits(b) << 6 | bits(c))
        }
        [a @ 0xF0..0xF5, b, c @ 0x80..0xC0, d @ 0x80..0xC0, ..] if follows(a, b) => {
            (4, bits(a & 0x07) << 18 | bits(b) << 12 | bits(c) << 6 | bits(d))
        }
        _ => (invalid(bytes), 0xFFFD),
    }
}

/// Whether a second byte is permitted after its lead byte.
#[inline(always)]
fn follows(lead: u8, second: u8) -> bool {
    match lead {
        0xE0 => matches!(second, 0xA0..0xC0),
        0xED => matches!(second, 0x80..0xA0),
        0xF0 => matches!(second, 0x90..0xC0),
        0xF4 => matches!(second, 0x80..0x90),
        _ => matches!(second, 0x80..0xC0),
    }
}

/// The length of the maximal invalid sequence that begins here.
#[cold]
fn invalid(bytes: &[u8]) -> usize {
    match *bytes {
        [a @ 0xF0..0xF5, b, 0x80..0xC0, ..] if follows(a, b) => 3,
        [a @ 0xE0..0xF5, b, ..] if follows(a, b) => 2,
        _ => 1,
    }
}
