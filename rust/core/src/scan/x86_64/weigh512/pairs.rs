//! What kinds weigh one behind the other, and letters; and the ends of words.

use std::arch::x86_64::*;

use super::super::super::kernel::BLOCK;
use super::super::super::weigh::tables::{LEAD, OTHER, Tables, WORD};
use super::{Kinds, Sums, load, look_up, look_up_short, select};

/// Adds the pairs of so many blocks, and the ends of words up to their last character
/// but one, behind which nothing is known.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi,avx512vnni")]
pub(super) fn add(
    tables: &Tables,
    characters: &[u8],
    at: usize,
    blocks: usize,
    kinds: &Kinds,
    sums: &mut Sums,
) {
    for block in 0..blocks {
        let behind = (block + 1) * BLOCK;
        let here = load(&kinds.0, behind);
        let (before, before_it) = (load(&kinds.0, behind - 1), load(&kinds.0, behind - 2));
        sums.add::<2>(look_up_short(select(7, here, _mm512_slli_epi16::<3>(before)), &tables.pairs));
        let [letters, characters] =
            [load(characters, at + block * BLOCK), load(characters, at + block * BLOCK - 1)];
        let behind_small = small(characters);
        if behind_small != 0 {
            sums.add_steps(letter_pairs(tables, [characters, letters], behind_small));
        }
        let ends = ends(before, before_it, here);
        // What isn't ASCII has the lower bits of no letter.
        let letters = _mm512_min_epu8(characters, _mm512_set1_epi8(LEAD as i8));
        sums.add::<3>(look_up(select(0x1F, letters, ends), !0, &tables.ends));
    }
}

/// Which are small letters.
#[inline]
#[target_feature(enable = "avx512bw")]
fn small(characters: __m512i) -> u64 {
    let from_a = _mm512_sub_epi8(characters, _mm512_set1_epi8(b'a' as i8));
    _mm512_cmplt_epu8_mask(from_a, _mm512_set1_epi8(26))
}

/// The weights of small letters in some lanes, by the ones before them, in steps; 0 for the
/// other lanes, and where there is none.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn letter_pairs(tables: &Tables, [before, here]: [__m512i; 2], lanes: u64) -> __m512i {
    // What is no small letter becomes a number that none has.
    let from_a = _mm512_sub_epi8(here, _mm512_set1_epi8((b'a' - 1) as i8));
    let letters = _mm512_maskz_min_epu8(lanes, from_a, _mm512_set1_epi8(0x1F));
    // Of the one before, bits 0 and 1 are in the index, bit 2 is above it.
    let indices = select(0x1F, letters, _mm512_slli_epi16::<5>(before));
    let bit2 = _mm512_movepi8_mask(indices);
    let bit3 = _mm512_movepi8_mask(_mm512_slli_epi16::<4>(before));
    let [none, second, third, both] = &tables.letter_pairs;
    let without = _mm512_mask_blend_epi8(bit2, steps(indices, none), steps(indices, second));
    let with = _mm512_mask_blend_epi8(bit2, steps(indices, third), steps(indices, both));
    _mm512_mask_blend_epi8(bit3, without, with)
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn steps(indices: __m512i, table: &[u8; 128]) -> __m512i {
    _mm512_permutex2var_epi8(load(table, 0), indices, load(table, BLOCK))
}

/// Where a letter is the first of a word, and where the last, as the bits by which
/// their weights are found. Others have neither.
#[inline]
#[target_feature(enable = "avx512bw")]
fn ends(here: __m512i, before: __m512i, behind: __m512i) -> __m512i {
    // In `WORD`: the character before is of no word. In `OTHER`: nor is the one behind.
    let sides = _mm512_ternarylogic_epi32::<0x3A>(_mm512_set1_epi8(WORD as i8), before, behind);
    // And in both: this one is of a word.
    _mm512_ternarylogic_epi32::<0x60>(sides, here, _mm512_set1_epi8(OTHER as i8))
}
