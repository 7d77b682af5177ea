//! What AVX-512 with VBMI and VBMI2 does of the weighing: look-ups of 128
//! weights at once, characters put side by side, and weights gathered.
//!
//! Safety: see [`super`].

use std::arch::x86_64::*;

use super::super::kernel::{BLOCK, Bytes};
use super::super::weigh::stripe::{Classes, HIGH, Mask, WORDS};
use super::super::weigh::{Filled, Table, Weigh, Weights, encodings};
use super::avx512vbmi::U8;
use crate::features::Class;

impl Weigh for U8 {
    type Mask = Words;

    #[inline(always)]
    fn classes(characters: &[u8], at: usize, lanes: u64) -> Classes {
        let (here, before) = (U8::load(&characters[at..]), U8::load(&characters[at - 1..]));
        let high = here.high() & lanes;
        let kinds = look_up_half(here, !high, &KINDS);
        // SAFETY: `kernels` has looked.
        let of = |kind: u8| unsafe { _mm512_mask_test_epi8_mask(lanes, kinds, _mm512_set1_epi8(kind as i8)) };
        Classes {
            lower: of(LOWER),
            upper: of(UPPER),
            digit: of(DIGIT),
            blank: of(BLANK),
            newline: of(BREAK),
            sign: of(SIGN),
            high,
            same: here.equal(before) & lanes,
        }
    }

    #[inline(always)]
    fn sum(
        characters: &[u8],
        at: usize,
        [ascii, first, last]: [u64; 3],
        weights: &Weights,
        sums: &mut Words,
    ) {
        let (here, before) = (U8::load(&characters[at..]), U8::load(&characters[at - 1..]));
        let all = look_up(here, ascii, &weights.ascii);
        let first = look_up(here, first, &weights.first);
        let last = look_up(before, last, &weights.last);
        // SAFETY: `kernels` has looked.
        sums.0 = unsafe { _mm512_add_epi64(_mm512_add_epi64(sums.0, all), _mm512_add_epi64(first, last)) };
    }

    #[inline(always)]
    fn ucs2(weights: &Weights, units: &[u16], room: &mut [u8]) -> Filled {
        let length = units.len().min(room.len());
        let whole = length / LANES * LANES;
        let mut sum = 0;
        for (units, room) in units[..whole].chunks_exact(LANES).zip(room.chunks_exact_mut(LANES)) {
            // SAFETY: both are as long as a register; `kernels` has looked.
            let units = unsafe { _mm512_loadu_si512(units.as_ptr().cast()) };
            sum += narrow(weights, units, room);
        }
        let rest = encodings::ucs2(weights, &units[whole..length], &mut room[whole..]);
        Filled { read: length, written: length, sum: sum + rest.sum }
    }

    #[inline(always)]
    fn utf8(weights: &Weights, bytes: &[u8], room: &mut [u8]) -> Filled {
        let mut filled = Filled::default();
        while let Some(window) = bytes[filled.read..].first_chunk()
            && let Some(room) = room[filled.written..].first_chunk_mut()
        {
            filled = block(weights, window, room, filled);
        }
        // Less than a block is left of the text, or of the room.
        while filled.read < bytes.len() && filled.written < room.len() {
            filled = encodings::character(weights, &bytes[filled.read..], room, filled);
        }
        filled
    }
}

/// UCS-2 units in a register.
const LANES: usize = 32;

/// A block, and the bytes that a character may have behind it.
type Window = [u8; BLOCK + 3];

/// The entries of some lanes, all of which are below 128, added up by eights.
#[inline(always)]
fn look_up(here: U8, lanes: u64, table: &Table) -> __m512i {
    let (low, high) = (look_up_half(here, lanes, &table.low), look_up_half(here, lanes, &table.high));
    // SAFETY: `kernels` has looked.
    unsafe {
        let zero = _mm512_setzero_si512();
        let (low, high) = (_mm512_sad_epu8(low, zero), _mm512_sad_epu8(high, zero));
        _mm512_add_epi64(low, _mm512_slli_epi64::<8>(high))
    }
}

/// The entries of some lanes, all of which are below 128; 0 for the others.
#[inline(always)]
fn look_up_half(here: U8, lanes: u64, table: &[u8; 128]) -> __m512i {
    // SAFETY: a table is as long as what is read; `kernels` has looked.
    unsafe {
        let (low, high) = (table.as_ptr(), table[64..].as_ptr());
        let (low, high) = (_mm512_loadu_si512(low.cast()), _mm512_loadu_si512(high.cast()));
        _mm512_maskz_permutex2var_epi8(lanes, low, here.0, high)
    }
}

const LOWER: u8 = 1;
const UPPER: u8 = 1 << 1;
const DIGIT: u8 = 1 << 2;
const BLANK: u8 = 1 << 3;
const BREAK: u8 = 1 << 4;
const SIGN: u8 = 1 << 5;

/// The class of each ASCII character.
const KINDS: [u8; 128] = {
    let mut kinds = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte as usize] = match Class::of(byte) {
            Class::Lower => LOWER,
            Class::Upper => UPPER,
            Class::Digit => DIGIT,
            Class::Blank => BLANK,
            Class::Break => BREAK,
            Class::Sign | Class::High => SIGN,
        };
        byte += 1;
    }
    kinds
};

/// The masks of a stripe in one register.
#[derive(Clone, Copy)]
pub(super) struct Words(__m512i);

impl Mask for Words {
    type Sums = Words;

    #[inline(always)]
    fn new(words: [u64; WORDS]) -> Self {
        // SAFETY: there are as many words as are read; `kernels` has looked.
        Self(unsafe { _mm512_loadu_si512(words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn words(self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        // SAFETY: there are as many words as are written; `kernels` has looked.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.0) };
        words
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_and_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_or_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn less(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_andnot_si512(other.0, self.0) })
    }

    #[inline(always)]
    fn then<const BY: u32>(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe {
            let before = _mm512_alignr_epi64::<7>(self.0, _mm512_setzero_si512());
            _mm512_shldv_epi64(self.0, before, _mm512_set1_epi64(i64::from(BY)))
        })
    }

    #[inline(always)]
    fn nothing() -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_setzero_si512() })
    }

    #[inline(always)]
    fn add(self, weight: u16, sums: &mut Self) {
        // SAFETY: `kernels` has looked.
        unsafe {
            let counts = _mm512_maskz_popcnt_epi64(!1, self.0);
            let weighed = _mm512_mul_epu32(counts, _mm512_set1_epi64(weight.into()));
            sums.0 = _mm512_add_epi64(sums.0, weighed);
        }
    }

    #[inline(always)]
    fn add_sum(sum: u64, sums: &mut Self) {
        // SAFETY: `kernels` has looked.
        sums.0 = unsafe { _mm512_add_epi64(sums.0, _mm512_maskz_set1_epi64(1, sum as i64)) };
    }

    #[inline(always)]
    fn total(sums: &Self) -> u64 {
        // SAFETY: `kernels` has looked.
        unsafe { _mm512_reduce_add_epi64(sums.0) as u64 }
    }
}

/// Writes UCS-2 units as characters of a stripe; gives what those beyond ASCII weigh.
#[inline(always)]
fn narrow(weights: &Weights, units: __m512i, room: &mut [u8]) -> u64 {
    let room = &mut room[..LANES];
    // SAFETY: `room` is as long as what is written; `kernels` has looked.
    unsafe {
        let bytes = _mm512_cvtepi16_epi8(_mm512_min_epu16(units, _mm512_set1_epi16(HIGH.into())));
        _mm256_storeu_si256(room.as_mut_ptr().cast(), bytes);
        if _mm512_cmpge_epu16_mask(units, _mm512_set1_epi16(HIGH.into())) == 0 {
            return 0;
        }
        let blocks = _mm512_add_epi16(_mm512_srli_epi16::<6>(units), _mm512_set1_epi16(0x800));
        let far = _mm512_cmpge_epu16_mask(units, _mm512_set1_epi16(0x800));
        gather(weights, _mm512_mask_mov_epi16(units, far, blocks))
    }
}

/// The sum of the weights at 32 indices.
#[inline(always)]
fn gather(weights: &Weights, indices: __m512i) -> u64 {
    // SAFETY: `kernels` has looked.
    let (low, high) = unsafe {
        (
            _mm512_cvtepu16_epi32(_mm512_castsi512_si256(indices)),
            _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(indices)),
        )
    };
    // SAFETY: likewise.
    unsafe {
        _mm512_reduce_add_epi32(_mm512_add_epi32(gather16(weights, low), gather16(weights, high))) as u64
    }
}

#[inline(always)]
fn gather16(weights: &Weights, indices: __m512i) -> __m512i {
    // SAFETY: every index that this module makes is below `INDICES`, and there is one
    // weight more, since two are read at once; `kernels` has looked.
    unsafe {
        let two = _mm512_i32gather_epi32::<2>(indices, weights.characters.as_ptr().cast());
        _mm512_and_si512(two, _mm512_set1_epi32(0xFFFF))
    }
}

/// Adds the characters that begin in the block.
#[inline(always)]
fn block(weights: &Weights, window: &Window, room: &mut [u8; BLOCK], filled: Filled) -> Filled {
    let here = U8::load(window);
    if here.high() == 0 {
        room.copy_from_slice(&window[..BLOCK]);
        return Filled { read: filled.read + BLOCK, written: filled.written + BLOCK, ..filled };
    }
    let leads = Leads::of(here);
    let second = U8::load(&window[1..]);
    let taken = leads.taken();
    match leads.valid(here, second, taken) {
        true => valid_block(weights, leads, here, second, taken, room, filled),
        false => decoded_block(weights, window, room, filled),
    }
}

/// Lead bytes by the length of what they lead, and continuation bytes.
#[derive(Clone, Copy)]
struct Leads {
    continuing: u64,
    two: u64,
    three: u64,
    four: u64,
}

impl Leads {
    #[inline(always)]
    fn of(here: U8) -> Self {
        let high = here.high();
        let continuing = here.below(0xC0);
        let below_three = here.below(0xE0);
        let below_four = here.below(0xF0);
        Self {
            continuing,
            two: high & below_three & !continuing,
            three: high & below_four & !below_three,
            four: high & !below_four,
        }
    }

    /// Bytes of the block whose characters end in it.
    #[inline(always)]
    fn taken(&self) -> usize {
        let unended = self.two >> 63 << 63 | self.three >> 62 << 62 | self.four >> 61 << 61;
        BLOCK.min(unended.trailing_zeros() as usize)
    }

    /// Whether these bytes are well-formed.
    #[inline(always)]
    fn valid(&self, here: U8, second: U8, taken: usize) -> bool {
        let long = self.three | self.four;
        let expected = (self.two | long) << 1 | long << 2 | self.four << 3;
        let wrong = expected ^ self.continuing;
        let lead = |byte: u8| here.equal(U8::all(byte));
        let odd = lead(0xC0) | lead(0xC1) | !here.below(0xF5) & here.high();
        // Where a second byte is less free than others: E0, ED, F0, F4.
        let narrow = lead(0xE0) & second.below(0xA0)
            | lead(0xED) & !second.below(0xA0)
            | lead(0xF0) & second.below(0x90)
            | lead(0xF4) & !second.below(0x90);
        // The byte behind those taken may be a continuation that is missed.
        (wrong | odd | narrow) & (!0 >> (BLOCK - 1).saturating_sub(taken)) == 0
    }
}

impl U8 {
    #[inline(always)]
    fn all(byte: u8) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_set1_epi8(byte as i8) })
    }

    /// These lanes side by side, and zeros behind them.
    #[inline(always)]
    fn side_by_side(self, lanes: u64) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_maskz_compress_epi8(lanes, self.0) })
    }

    /// The first or the second 32 as numbers of 16 bits.
    #[inline(always)]
    fn half<const SECOND: bool>(self) -> __m512i {
        // SAFETY: `kernels` has looked.
        unsafe {
            _mm512_cvtepu8_epi16(match SECOND {
                false => _mm512_castsi512_si256(self.0),
                true => _mm512_extracti64x4_epi64::<1>(self.0),
            })
        }
    }
}

#[inline(always)]
fn valid_block(
    weights: &Weights,
    leads: Leads,
    here: U8,
    second: U8,
    taken: usize,
    room: &mut [u8; BLOCK],
    filled: Filled,
) -> Filled {
    let starts = !leads.continuing & (!0 >> (BLOCK - taken));
    let (lead, second) = (here.side_by_side(starts), second.side_by_side(starts));
    // SAFETY: `room` is as long as what is written; `kernels` has looked.
    unsafe {
        let characters = _mm512_min_epu8(lead.0, _mm512_set1_epi8(HIGH as i8));
        _mm512_storeu_si512(room.as_mut_ptr().cast(), characters);
    }
    let written = starts.count_ones() as usize;
    let mut sum = gather(weights, indices(lead.half::<false>(), second.half::<false>()));
    if written > LANES {
        sum += gather(weights, indices(lead.half::<true>(), second.half::<true>()));
    }
    Filled { read: filled.read + taken, written: filled.written + written, sum: filled.sum + sum }
}

/// The indices of characters by their first two bytes.
#[inline(always)]
fn indices(lead: __m512i, second: __m512i) -> __m512i {
    // A lead byte's own mark, shifted along with its bits, is taken off again with
    // the start of the indices of its length.
    const TWO: i16 = -(0xC0 << 6);
    const THREE: i16 = 0x800 - (0xE0 << 6);
    const FOUR: i16 = 0xC00 - (0xF0 << 6);
    // SAFETY: `kernels` has looked.
    unsafe {
        let at_least = |byte: i16| _mm512_cmpge_epu16_mask(lead, _mm512_set1_epi16(byte));
        let bits = _mm512_and_si512(second, _mm512_set1_epi16(0x3F));
        let bits = _mm512_or_si512(_mm512_slli_epi16::<6>(lead), bits);
        let marks = _mm512_mask_mov_epi16(_mm512_set1_epi16(TWO), at_least(0xE0), _mm512_set1_epi16(THREE));
        let marks = _mm512_mask_mov_epi16(marks, at_least(0xF0), _mm512_set1_epi16(FOUR));
        _mm512_mask_add_epi16(lead, at_least(0xC0), bits, marks)
    }
}

/// The same for bytes that need not be well-formed, one character after the other.
#[cold]
fn decoded_block(weights: &Weights, window: &Window, room: &mut [u8; BLOCK], filled: Filled) -> Filled {
    let mut block = Filled::default();
    while block.read < BLOCK {
        block = encodings::character(weights, &window[block.read..], room, block);
    }
    Filled {
        read: filled.read + block.read,
        written: filled.written + block.written,
        sum: filled.sum + block.sum,
    }
}
