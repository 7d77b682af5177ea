//! What kinds weigh one behind the other, and the ends of words.

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
        let characters = load(characters, at + block * BLOCK - 1);
        let ends = ends(before, before_it, here);
        // What isn't ASCII has the lower bits of no letter.
        let letters = _mm512_min_epu8(characters, _mm512_set1_epi8(LEAD as i8));
        sums.add::<3>(look_up(select(0x1F, letters, ends), !0, &tables.ends));
    }
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
