//! Characters of each encoding as lead bytes beside second bytes.
//!
//! UTF-8 has them already; they only have to be put side by side. What other
//! encodings have is made into the same: the lead byte is the upper bits of a
//! character's index, and the second byte has the lower six.

use std::arch::x86_64::*;

use super::super::super::kernel::{AHEAD, BLOCK};
use super::super::super::weigh::encodings::decode;
use super::super::super::weigh::{Filled, Room, Weights};
use super::super::prefetch;
use super::{load, store};
use crate::features::index;

/// What the upper bits of an index are added to.
const LEAD: u8 = 0xC0;

/// The lanes of so many units.
fn lanes(units: usize) -> u64 {
    if units < BLOCK { !(!0 << units) } else { !0 }
}

impl Room<'_> {
    /// How many characters can still be put by blocks.
    fn blocks(&self, written: usize) -> usize {
        (self.characters.len() - written) / BLOCK * BLOCK
    }

    /// Puts a block.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn put(&mut self, at: usize, characters: __m512i, seconds: __m512i) {
        store(self.characters, at, characters);
        store(self.seconds, at, seconds);
    }

    /// Puts one character.
    fn put_one(&mut self, at: usize, code_point: u32) {
        let index = index(code_point);
        let high = code_point >= 0x80;
        self.characters[at] = if high { LEAD + (index >> 6) as u8 } else { code_point as u8 };
        self.seconds[at] = index as u8;
    }
}

/// All of a text that there is room for, by a way to put a block of so many units.
macro_rules! by_blocks {
    ($units:ident, $room:ident, $put:ident) => {{
        let length = $units.len().min($room.blocks(0));
        for at in (0..length).step_by(BLOCK) {
            ask_ahead($units, at);
            let here = &$units[at..length];
            $put(&here[..here.len().min(BLOCK)], &mut $room, at);
        }
        Filled { read: length, written: length, sum: 0 }
    }};
}

/// Asks for the memory of a block further on.
#[inline(always)]
pub(super) fn ask_ahead<T>(units: &[T], at: usize) {
    let line = BLOCK / size_of::<T>();
    for ahead in (AHEAD / size_of::<T>()..).step_by(line).take(size_of::<T>()) {
        prefetch(units, at + ahead);
    }
}

#[target_feature(enable = "avx512bw,avx512vbmi")]
pub(in super::super) fn weigh_latin1(_: &Weights, units: &[u8], mut room: Room<'_>) -> Filled {
    by_blocks!(units, room, put_latin1)
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn put_latin1(units: &[u8], room: &mut Room<'_>, at: usize) {
    let here = load_some(units);
    let high = _mm512_movepi8_mask(here);
    if high == 0 {
        store(room.characters, at, here);
        return;
    }
    let upper = _mm512_and_si512(_mm512_srli_epi16::<6>(here), _mm512_set1_epi8(3));
    let leads = _mm512_mask_add_epi8(here, high, upper, _mm512_set1_epi8(LEAD as i8));
    room.put(at, leads, here);
}

/// At most a block; zeros behind it.
#[inline]
#[target_feature(enable = "avx512bw")]
fn load_some(bytes: &[u8]) -> __m512i {
    match bytes.len() {
        BLOCK.. => load(bytes, 0),
        // SAFETY: only the lanes that `bytes` has are read.
        length => unsafe { _mm512_maskz_loadu_epi8(lanes(length), bytes.as_ptr().cast()) },
    }
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn load_from(bytes: &[u8], at: usize) -> __m512i {
    load_some(bytes.get(at..).unwrap_or_default())
}

#[target_feature(enable = "avx512bw,avx512vbmi")]
pub(in super::super) fn weigh_ucs2(_: &Weights, units: &[u16], mut room: Room<'_>) -> Filled {
    by_blocks!(units, room, put_ucs2)
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn put_ucs2(units: &[u16], room: &mut Room<'_>, at: usize) {
    let (lower, upper) = units.split_at(units.len().min(32));
    let (lower, upper) = (load_some_u16(lower), load_some_u16(upper));
    let any = _mm512_or_si512(lower, upper);
    if _mm512_test_epi16_mask(any, _mm512_set1_epi16(!0x7F)) == 0 {
        store(room.characters, at, packed(lower, upper));
        return;
    }
    put_indices(room, at, indices_of_ucs2(lower), indices_of_ucs2(upper));
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn load_some_u16(units: &[u16]) -> __m512i {
    // SAFETY: only the lanes that `units` has are read.
    unsafe { _mm512_maskz_loadu_epi16(lanes(units.len()) as u32, units.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn indices_of_ucs2(units: __m512i) -> __m512i {
    let far = _mm512_cmpge_epu16_mask(units, _mm512_set1_epi16(0x800));
    _mm512_mask_add_epi16(units, far, _mm512_srli_epi16::<6>(units), _mm512_set1_epi16(0x800))
}

/// Puts a block by the indices of its characters.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn put_indices(room: &mut Room<'_>, at: usize, lower: __m512i, upper: __m512i) {
    room.put(at, packed(leads(lower), leads(upper)), packed(lower, upper));
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn leads(indices: __m512i) -> __m512i {
    let high = _mm512_cmpge_epu16_mask(indices, _mm512_set1_epi16(0x80));
    _mm512_mask_add_epi16(indices, high, _mm512_srli_epi16::<6>(indices), _mm512_set1_epi16(LEAD.into()))
}

/// The lower bytes of numbers of 16 bits.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn packed(lower: __m512i, upper: __m512i) -> __m512i {
    const LOWER: [u8; BLOCK] = {
        let mut from = [0; BLOCK];
        let mut to = 0;
        while to < BLOCK {
            from[to] = 2 * to as u8;
            to += 1;
        }
        from
    };
    _mm512_permutex2var_epi8(lower, load(&LOWER, 0), upper)
}

#[target_feature(enable = "avx512bw,avx512vbmi")]
pub(in super::super) fn weigh_ucs4(_: &Weights, units: &[u32], mut room: Room<'_>) -> Filled {
    by_blocks!(units, room, put_ucs4)
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn put_ucs4(units: &[u32], room: &mut Room<'_>, at: usize) {
    let (lower, upper) = units.split_at(units.len().min(32));
    put_indices(room, at, indices_of_ucs4(lower), indices_of_ucs4(upper));
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn indices_of_ucs4(units: &[u32]) -> __m512i {
    let (lower, upper) = units.split_at(units.len().min(16));
    let (lower, upper) = (index16(lower), index16(upper));
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(lower), upper)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn index16(units: &[u32]) -> __m256i {
    // SAFETY: only the lanes that `units` has are read.
    let units = unsafe { _mm512_maskz_loadu_epi32(lanes(units.len()) as u16, units.as_ptr().cast()) };
    let at_least = |bound: i32| _mm512_cmpge_epu32_mask(units, _mm512_set1_epi32(bound));
    let (far, farther) = (at_least(0x800), at_least(0x1_0000));
    let indices = _mm512_mask_add_epi32(units, far, _mm512_srli_epi32::<6>(units), _mm512_set1_epi32(0x800));
    let twelfths = _mm512_add_epi32(_mm512_srli_epi32::<12>(units), _mm512_set1_epi32(0xC00));
    let indices = _mm512_mask_mov_epi32(indices, farther, twelfths);
    let none = _mm512_set1_epi32(index(u32::MAX) as i32);
    _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(indices, at_least(0x11_0000), none))
}

#[target_feature(enable = "avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
pub(in super::super) fn weigh_utf8(_: &Weights, bytes: &[u8], mut room: Room<'_>) -> Filled {
    let mut filled = Filled::default();
    while filled.read < bytes.len() && room.blocks(filled.written) > 0 {
        filled = put_valid(bytes, &mut room, filled);
        if filled.read < bytes.len() && room.blocks(filled.written) > 0 {
            filled = put_decoded(bytes, &mut room, filled);
        }
    }
    filled
}

/// Puts at most a block of characters, one after the other.
#[cold]
fn put_decoded(bytes: &[u8], room: &mut Room<'_>, mut filled: Filled) -> Filled {
    let end = bytes.len().min(filled.read + BLOCK);
    while filled.read < end {
        let (length, code_point) = decode(&bytes[filled.read..]);
        room.put_one(filled.written, code_point);
        filled = Filled { read: filled.read + length, written: filled.written + 1, sum: 0 };
    }
    filled
}

/// Puts what is valid, by blocks.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn put_valid(bytes: &[u8], room: &mut Room<'_>, mut filled: Filled) -> Filled {
    // Bytes of the block that belong to a character before it.
    let mut owed = 0;
    while filled.read < bytes.len() && room.blocks(filled.written) > 0 {
        ask_ahead(bytes, filled.read);
        let block = Block::of(&bytes[filled.read..]);
        if block.high == 0 && owed == 0 {
            store(room.characters, filled.written, block.here);
            let length = BLOCK.min(bytes.len() - filled.read);
            filled = Filled { read: filled.read + length, written: filled.written + length, sum: 0 };
            continue;
        }
        let sequences = Sequences::of(&block);
        if !sequences.valid(&block, owed) {
            break;
        }
        let starts = block.lanes & !sequences.continuing;
        room.put(
            filled.written,
            _mm512_maskz_compress_epi8(starts, block.here),
            _mm512_maskz_compress_epi8(starts, block.second),
        );
        owed = sequences.owed();
        filled.read += BLOCK;
        filled.written += starts.count_ones() as usize;
    }
    filled.read = bytes.len().min(filled.read + owed.count_ones() as usize);
    filled
}

/// A block of bytes beside those that follow each.
struct Block {
    here: __m512i,
    second: __m512i,
    fourth: __m512i,
    high: u64,
    /// Bytes that there are.
    lanes: u64,
}

impl Block {
    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn of(bytes: &[u8]) -> Self {
        let (here, second, fourth) = match bytes.len() {
            67.. => (load(bytes, 0), load(bytes, 1), load(bytes, 3)),
            _ => (load_from(bytes, 0), load_from(bytes, 1), load_from(bytes, 3)),
        };
        Self { here, second, fourth, high: _mm512_movepi8_mask(here), lanes: lanes(bytes.len()) }
    }
}

/// Lead bytes and continuation bytes of a block.
struct Sequences {
    leads: u64,
    /// Of these: those of three bytes or four.
    long: u64,
    /// Of these: those of four.
    wide: u64,
    continuing: u64,
}

impl Sequences {
    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn of(block: &Block) -> Self {
        let continuing = is_continuing(block.here);
        Self {
            leads: block.high & !continuing,
            long: _mm512_cmpge_epu8_mask(block.here, _mm512_set1_epi8(0xE0_u8 as i8)),
            wide: _mm512_cmpge_epu8_mask(block.here, _mm512_set1_epi8(0xF0_u8 as i8)),
            continuing,
        }
    }

    /// Whether the block's bytes are well-formed, and the ends of its characters behind it.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vbmi")]
    fn valid(&self, block: &Block, owed: u64) -> bool {
        let expected = owed | self.leads << 1 | self.long << 2 | self.wide << 3;
        let missing = self.owed() & !(is_continuing(block.fourth) >> 61);
        let spread = _mm512_sub_epi8(block.second, _mm512_permutexvar_epi8(block.here, load(&SECONDS[0], 0)));
        let permitted = _mm512_permutexvar_epi8(block.here, load(&SECONDS[1], 0));
        let wrong = _mm512_mask_cmpge_epu8_mask(self.leads, spread, permitted);
        expected ^ self.continuing | missing | wrong == 0
    }

    /// Bytes of the next block that belong to characters of this one.
    #[inline]
    fn owed(&self) -> u64 {
        self.leads >> 63 | self.long >> 62 | self.wide >> 61
    }
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn is_continuing(bytes: __m512i) -> u64 {
    _mm512_cmplt_epi8_mask(bytes, _mm512_set1_epi8(LEAD as i8))
}

/// Second bytes that are permitted, by the lower six bits of the lead byte: the first of
/// them, and how many there are.
const SECONDS: [[u8; BLOCK]; 2] = {
    let mut seconds = [[0; BLOCK]; 2];
    let mut lead = 0xC2_u8;
    while lead < 0xF5 {
        let (first, many) = match lead {
            0xE0 => (0xA0, 0x20),
            0xED => (0x80, 0x20),
            0xF0 => (0x90, 0x30),
            0xF4 => (0x80, 0x10),
            _ => (0x80, 0x40),
        };
        seconds[0][lead as usize & 0x3F] = first;
        seconds[1][lead as usize & 0x3F] = many;
        lead += 1;
    }
    seconds
};
