//! 64 bytes, AVX-512 with VBMI, which looks up six bits at once: one look-up for
//! each byte of a pair and each table, where nibbles take two.
//!
//! Safety: see [`super`].

use std::arch::x86_64::*;

use super::super::container::{self, Rest};
use super::super::kernel::{self, Bytes, Lookup, Masks};
use super::super::{Kernels, ScriptCounts, strings, tables};
use super::avx512::{U16, U32};
use super::weigh512::{stripe, weigh_ascii, weigh_latin1, weigh_ucs2, weigh_ucs4, weigh_utf8};

super::entry_points!(
    "avx512f,avx512bw,avx512vbmi,avx512vbmi2,avx512bitalg,avx512vnni,gfni,avx2,bmi1,bmi2,lzcnt,popcnt",
    "avx512f",
    "avx512bw",
    "avx512vbmi",
    "avx512vbmi2",
    "avx512bitalg",
    "avx512vnni",
    "gfni",
    "avx2",
    "bmi1",
    "bmi2",
    "lzcnt",
    "popcnt"
);

pub(super) type U8 = super::avx512::U8<true>;

impl U8 {
    /// The entry of each lane's lower six bits.
    #[inline(always)]
    fn look_up_byte(self, table: &[u8; 64]) -> Self {
        // SAFETY: a table is as long as what is read; `kernels` has looked.
        Self(unsafe { _mm512_permutexvar_epi8(self.0, _mm512_loadu_si512(table.as_ptr().cast())) })
    }

    /// Those of some lanes that have any of these bits.
    #[inline(always)]
    fn any_of(self, lanes: u64, bits: u8) -> u64 {
        // SAFETY: `kernels` has looked.
        unsafe { _mm512_mask_test_epi8_mask(lanes, self.0, _mm512_set1_epi8(bits as i8)) }
    }

    /// Those of some lanes that are at least `bound`, as unsigned numbers.
    #[inline(always)]
    fn from(self, lanes: u64, bound: u8) -> u64 {
        // SAFETY: `kernels` has looked.
        unsafe { _mm512_mask_cmpge_epu8_mask(lanes, self.0, _mm512_set1_epi8(bound as i8)) }
    }

    #[inline(always)]
    pub(super) fn masks_by_byte(before: Self, here: Self) -> Masks {
        let [pair_leads, pair_seconds] = &tables::PAIRS_BY_BYTE;
        let [cjk_leads, cjk_seconds] = &tables::CJK_BY_BYTE;
        let pair = before.look_up_byte(pair_leads).and(here.look_up_byte(pair_seconds));
        let kind = before.look_up_byte(cjk_leads).and(here.look_up_byte(cjk_seconds));
        let continuing = here.below(0xC0);
        let second = pair.any_of(before.from(continuing, 0xC0), 0xFF);
        let cjk = kind.any_of(second, !tables::MIXED);
        Masks {
            high: here.high(),
            continuing,
            second,
            long: before.from(second, 0xE0),
            wide: before.from(second, 0xF0),
            cjk,
            mixed: kind.any_of(second, tables::MIXED) & !cjk,
        }
    }
}
