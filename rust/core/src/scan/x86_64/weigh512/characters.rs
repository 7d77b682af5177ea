//! What characters are, and what they weigh by themselves.

use std::arch::x86_64::*;

use super::super::super::kernel::BLOCK;
use super::super::super::weigh::tables::{KINDS, LEAD, Tables};
use super::{Kinds, Sums, load, look_up, select, store};

/// Adds what the characters of so many blocks weigh by themselves; puts down their
/// kinds, and those of the block before.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi,avx512vnni")]
pub(super) fn add(
    tables: &Tables,
    characters: &[u8],
    seconds: &[u8],
    at: usize,
    blocks: usize,
    kinds: &mut Kinds,
    sums: &mut Sums,
) {
    store(&mut kinds.0, 0, kinds_of(characters, at - BLOCK));
    for block in 0..blocks {
        let at = at + block * BLOCK;
        store(&mut kinds.0, (block + 1) * BLOCK, kinds_of(characters, at));
        let here = load(characters, at);
        match _mm512_movepi8_mask(here) {
            0 => sums.add::<0>(look_up(here, !0, &tables.ascii)),
            high => {
                if high != !0 {
                    sums.add::<0>(look_up(here, !high, &tables.ascii));
                }
                add_high(tables, characters, seconds, at, sums);
            }
        }
    }
}

/// The bit of a kind that says that the character is the same as the one before it.
pub(super) const SAME: u8 = 1 << 3;

#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi")]
fn kinds_of(characters: &[u8], at: usize) -> __m512i {
    let (here, before) = (load(characters, at), load(characters, at - 1));
    let (low, high) = (load(&KINDS, 0), load(&KINDS, BLOCK));
    let kinds = _mm512_permutex2var_epi8(low, here, high);
    let same = _mm512_cmpeq_epi8_mask(here, before);
    let marked = _mm512_mask_add_epi8(kinds, same, kinds, _mm512_set1_epi8(SAME as i8));
    _mm512_mask_min_epu8(marked, _mm512_movepi8_mask(here), here, _mm512_set1_epi8(LEAD as i8))
}

/// Adds what isn't ASCII of a block, window by window. Few texts have many.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi,avx512vnni")]
fn add_high(tables: &Tables, leads: &[u8], seconds: &[u8], at: usize, sums: &mut Sums) {
    let lead = load(leads, at);
    let indices = select(0x3F, load(seconds, at), _mm512_slli_epi16::<6>(lead));
    let windows = _mm512_or_si512(lead, _mm512_set1_epi8(1));
    let mut left = _mm512_cmpge_epu8_mask(lead, _mm512_set1_epi8(0xC0_u8 as i8));
    if _mm512_mask_cmplt_epu8_mask(
        left,
        _mm512_sub_epi8(lead, _mm512_set1_epi8(0xE4_u8 as i8)),
        _mm512_set1_epi8(6),
    ) != 0
    {
        // Where there is one ideograph there are others, of all three windows.
        for lead in [0xE2, 0xE4, 0xE6, 0xE8, 0xEE] {
            left &= !add_window(tables, [indices, windows], lead, left, sums);
        }
    }
    while left != 0 {
        let first = leads[at + left.trailing_zeros() as usize];
        left &= !add_window(tables, [indices, windows], first, left, sums);
    }
}

/// Adds those of some lanes that are in the window of a lead byte; gives which these are.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi,avx512vnni")]
fn add_window(
    tables: &Tables,
    [indices, windows]: [__m512i; 2],
    lead: u8,
    lanes: u64,
    sums: &mut Sums,
) -> u64 {
    let lanes = _mm512_mask_cmpeq_epi8_mask(lanes, windows, _mm512_set1_epi8((lead | 1) as i8));
    sums.add::<1>(look_up(indices, lanes, &tables.windows[usize::from(lead >> 1 & 0x1F)]));
    lanes
}
