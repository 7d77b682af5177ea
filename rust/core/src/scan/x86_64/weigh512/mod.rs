//! The weighing with AVX-512 that looks up bytes: nothing is counted, and what a
//! character weighs is looked up, 64 at a time.
//!
//! A stripe is lead bytes beside second bytes, since these two tell a character's
//! index whatever its length. It is gone through three times:
//!
//! - `characters` looks up their kinds, and what they weigh by themselves;
//! - `shapes` has the kinds as masks, for the lengths of runs and words;
//! - `pairs` looks up what a kind weighs behind another, a small letter behind another,
//!   and the letters that are the first or the last of a word.
//!
//! Safety: see [`super`]. All functions have the features of the level, so that
//! only what goes through a pointer is unsafe. No closure goes through a function
//! that hasn't them, such as `map`: it might stay a call.

mod characters;
mod fill;
mod pairs;
mod shapes;

use std::arch::x86_64::*;

use super::super::kernel::BLOCK;
use super::super::weigh::stripe::{STRIPE, WORDS};
use super::super::weigh::tables::{Halves, NOTHING, Tables};
use super::super::weigh::{Buffer, Filled, STRIPE_AT, Weights};

pub(super) use fill::{weigh_latin1, weigh_ucs2, weigh_ucs4, weigh_utf8};

/// What a stripe's characters are: see [`KINDS`](super::super::weigh::tables::KINDS).
/// Those of the block before it come first.
#[repr(align(64))]
struct Kinds([u8; WORDS * BLOCK]);

/// What the first `length` characters of the stripe in the buffer cost.
#[target_feature(enable = "avx512bw,avx512vbmi,avx512vbmi2,avx512vnni,avx512bitalg,gfni,popcnt")]
pub(super) fn stripe(weights: &Weights, buffer: &mut Buffer, length: usize) -> u64 {
    // Other weights don't come here.
    let Some(tables) = &weights.tables else { return 0 };
    let blocks = if length == STRIPE { STRIPE / BLOCK } else { ended(buffer, length) };
    blocks_at(tables, &buffer.characters, &buffer.seconds, STRIPE_AT, blocks)
}

/// What so many blocks cost that begin at `at`, behind a block and one byte more.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi,avx512vbmi2,avx512vnni,avx512bitalg,gfni,popcnt")]
fn blocks_at(tables: &Tables, characters: &[u8], seconds: &[u8], at: usize, blocks: usize) -> u64 {
    let mut sums = Sums::none();
    let mut kinds = Kinds([0; _]);
    characters::add(tables, characters, seconds, at, blocks, &mut kinds, &mut sums);
    shapes::add(tables, &shapes::Planes::of(&kinds), &mut sums);
    pairs::add(tables, characters, at, blocks, &kinds, &mut sums);
    sums.total()
}

/// Weighs stripes of a text where they lie, as long as they are ASCII: those from `at` on.
/// What is stored in the buffer would have to be waited for.
#[target_feature(enable = "avx512bw,avx512vbmi,avx512vbmi2,avx512vnni,avx512bitalg,gfni,popcnt")]
pub(super) fn weigh_ascii(weights: &Weights, bytes: &[u8], at: usize) -> Filled {
    let mut filled = Filled::default();
    let Some(tables) = &weights.tables else { return filled };
    if at <= BLOCK || !is_ascii(&bytes[at - BLOCK - 1..at]) {
        return filled;
    }
    while let Some(stripe) = bytes[at + filled.read..].first_chunk::<STRIPE>()
        && is_ascii(stripe)
    {
        for block in (0..STRIPE).step_by(BLOCK) {
            fill::ask_ahead(bytes, at + filled.read + block);
        }
        filled.sum += blocks_at(tables, bytes, &[], at + filled.read, STRIPE / BLOCK);
        filled.read += STRIPE;
    }
    filled
}

/// Whether bytes are ASCII that are at least a block.
#[inline]
#[target_feature(enable = "avx512bw")]
fn is_ascii(bytes: &[u8]) -> bool {
    let mut any = load(bytes, bytes.len() - BLOCK);
    for at in (0..bytes.len() - BLOCK).step_by(BLOCK) {
        any = _mm512_or_si512(any, load(bytes, at));
    }
    _mm512_movepi8_mask(any) == 0
}

/// Puts nothing behind a text's last characters; gives the blocks in which they and it are.
fn ended(buffer: &mut Buffer, length: usize) -> usize {
    buffer.characters[STRIPE_AT + length..][..BLOCK].fill(NOTHING);
    length / BLOCK + 1
}

/// Sums of 32 bits, so many that no stripe makes them overflow. An instruction that adds
/// to a sum waits for the one before it: so there are several.
struct Sums {
    /// Of lower and of upper bytes of weights.
    halves: [[__m512i; 2]; 4],
    shapes: [__m512i; 4],
    /// Of letter pairs, in steps.
    steps: __m512i,
}

impl Sums {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn none() -> Self {
        let zero = _mm512_setzero_si512();
        Self { halves: [[zero; 2]; 4], shapes: [zero; 4], steps: zero }
    }

    /// Adds bytes of weights to one of the sums.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vnni")]
    fn add<const TO: usize>(&mut self, [low, high]: [__m512i; 2]) {
        let ones = _mm512_set1_epi8(1);
        let [lows, highs] = self.halves[TO];
        self.halves[TO] = [_mm512_dpbusd_epi32(lows, low, ones), _mm512_dpbusd_epi32(highs, high, ones)];
    }

    /// Adds steps.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vnni")]
    fn add_steps(&mut self, steps: __m512i) {
        self.steps = _mm512_dpbusd_epi32(self.steps, steps, _mm512_set1_epi8(1));
    }

    /// Adds numbers of 16 bits, each times the weight in its place, but for those of the
    /// first word.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vnni")]
    fn add_products(&mut self, to: usize, counts: __m512i, weights: __m512i) {
        let to = &mut self.shapes[to % 4];
        *to = _mm512_mask_dpwssds_epi32(*to, !0b11, counts, weights);
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn total(&self) -> u64 {
        let [[a, e], [b, f], [c, g], [d, h]] = self.halves;
        let characters = _mm512_add_epi32(added([a, b, c, d]), _mm512_slli_epi32::<8>(added([e, f, g, h])));
        let steps = _mm512_slli_epi32::<{ Weights::STEP.ilog2() }>(self.steps);
        _mm512_reduce_add_epi32(added([characters, added(self.shapes), steps, _mm512_setzero_si512()])) as u32
            as u64
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn added([a, b, c, d]: [__m512i; 4]) -> __m512i {
    _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d))
}

/// A block, or a table.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8], at: usize) -> __m512i {
    let bytes = &bytes[at..at + BLOCK];
    // SAFETY: there are as many bytes as are read.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(bytes: &mut [u8], at: usize, register: __m512i) {
    let bytes = &mut bytes[at..at + BLOCK];
    // SAFETY: there are as many bytes as are written.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), register) }
}

/// The entries of some lanes' lower seven bits, by halves; 0 for the other lanes.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn look_up(indices: __m512i, lanes: u64, table: &Halves<128>) -> [__m512i; 2] {
    let [low, high] = &table.0;
    [
        _mm512_maskz_permutex2var_epi8(lanes, load(low, 0), indices, load(low, BLOCK)),
        _mm512_maskz_permutex2var_epi8(lanes, load(high, 0), indices, load(high, BLOCK)),
    ]
}

/// The entries of the lower six bits, by halves.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn look_up_short(indices: __m512i, table: &Halves<64>) -> [__m512i; 2] {
    let [low, high] = &table.0;
    [_mm512_permutexvar_epi8(indices, load(low, 0)), _mm512_permutexvar_epi8(indices, load(high, 0))]
}

/// The bits of `set` where the mask has any, those of `unset` elsewhere.
#[inline]
#[target_feature(enable = "avx512f")]
fn select(mask: u8, set: __m512i, unset: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<0xCA>(_mm512_set1_epi8(mask as i8), set, unset)
}
