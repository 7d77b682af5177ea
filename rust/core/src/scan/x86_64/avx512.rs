//! 64 bytes, AVX-512 F and BW: comparisons give masks.
//!
//! Safety: see [`super`].

use std::arch::x86_64::*;

use super::super::container::{self, Rest};
use super::super::kernel::{self, Block, Bytes, Lookup, Masks};
use super::super::strings::{self, Units};
use super::super::weigh::stripe::{Classes, classes_by_registers};
use super::super::weigh::{self, Buffer, Filled, Room, Weigh, Weights};
use super::super::{Kernels, ScriptCounts};

super::entry_points!(
    "avx512f,avx512bw,avx2,bmi1,bmi2,lzcnt,popcnt",
    "avx512f",
    "avx512bw",
    "avx2",
    "bmi1",
    "bmi2",
    "lzcnt",
    "popcnt"
);

super::weighing!("avx512f,avx512bw,avx2,bmi1,bmi2,lzcnt,popcnt");

/// With VBMI it looks up bytes: see [`avx512vbmi`](super::avx512vbmi).
#[derive(Clone, Copy)]
pub(super) struct U8<const VBMI: bool = false>(pub(super) __m512i);

impl<const VBMI: bool> Bytes for U8<VBMI> {
    const LANES: usize = 64;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        let bytes = &bytes[..Self::LANES];
        // SAFETY: `bytes` is as long as what is read; `kernels` has looked.
        Self(unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_end(bytes: &[u8], at: usize) -> Self {
        let bytes = &bytes[at..];
        let lanes = !(!0 << bytes.len());
        // SAFETY: only the lanes that `bytes` has are read; `kernels` has looked.
        Self(unsafe { _mm512_maskz_loadu_epi8(lanes, bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn behind_zero(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe {
            let quarter_further = _mm512_maskz_shuffle_i64x2::<0b10_01_00_00>(0b1111_1100, self.0, self.0);
            _mm512_alignr_epi8::<15>(self.0, quarter_further)
        })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_or_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn high(self) -> u64 {
        // SAFETY: `kernels` has looked.
        unsafe { _mm512_movepi8_mask(self.0) }
    }

    #[inline(always)]
    fn below(self, bound: u8) -> u64 {
        // SAFETY: `kernels` has looked.
        unsafe { _mm512_cmplt_epi8_mask(self.0, _mm512_set1_epi8(bound as i8)) }
    }

    #[inline(always)]
    fn equal(self, other: Self) -> u64 {
        // SAFETY: `kernels` has looked.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn masks(block: &impl Block<Self>) -> Masks {
        if !VBMI || block.len() == 0 {
            return kernel::masks_by_lookup(block);
        }
        let (before, here) = block.pair(0);
        U8::masks_by_byte(U8(before.0), U8(here.0))
    }

    #[inline(always)]
    fn thirds(block: &impl Block<Self>) -> u64 {
        kernel::thirds_by_lookup(block)
    }
}

impl Weigh for U8<false> {
    #[inline(always)]
    fn classes(characters: &[u8], at: usize, lanes: u64) -> Classes {
        classes_by_registers::<Self>(characters, at, lanes)
    }
}

impl<const VBMI: bool> Lookup for U8<VBMI> {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_and_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn low_nibbles(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_and_si512(self.0, _mm512_set1_epi8(0x0F)) })
    }

    #[inline(always)]
    fn high_nibbles(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_srli_epi16(self.0, 4) }).low_nibbles()
    }

    #[inline(always)]
    fn lookup(self, table: &[u8; 16]) -> Self {
        // SAFETY: a table is as long as what is read; `kernels` has looked.
        Self(unsafe {
            let table = _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
            _mm512_shuffle_epi8(table, self.0)
        })
    }

    #[inline(always)]
    fn any(self, bits: u8) -> u64 {
        // SAFETY: `kernels` has looked.
        unsafe { _mm512_test_epi8_mask(self.0, _mm512_set1_epi8(bits as i8)) }
    }
}

#[derive(Clone, Copy)]
pub(super) struct U16(__m512i);

impl Units for U16 {
    type Unit = u16;
    type Mask = __mmask32;
    const LANES: usize = 32;
    const LEAST: usize = 0;
    const LAST: u32 = u16::MAX as u32;

    #[inline(always)]
    fn load(units: &[u16]) -> Self {
        let units = &units[..Self::LANES];
        // SAFETY: `units` is as long as what is read; `kernels` has looked.
        Self(unsafe { _mm512_loadu_si512(units.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_end(units: &[u16], at: usize) -> (Self, __mmask32) {
        let units = &units[at..];
        let lanes = !(!0 << units.len());
        // SAFETY: only the lanes that `units` has are read; `kernels` has looked.
        (Self(unsafe { _mm512_maskz_loadu_epi16(lanes, units.as_ptr().cast()) }), lanes)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_or_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn all() -> __mmask32 {
        !0
    }

    #[inline(always)]
    fn outside(self, lanes: __mmask32, first: u32, last: u32) -> __mmask32 {
        let (first, size) = (first as i16, (last - first) as i16);
        // SAFETY: `kernels` has looked.
        unsafe {
            let moved = _mm512_sub_epi16(self.0, _mm512_set1_epi16(first));
            _mm512_mask_cmpgt_epu16_mask(lanes, moved, _mm512_set1_epi16(size))
        }
    }

    #[inline(always)]
    fn count(mask: __mmask32) -> u64 {
        u64::from(mask.count_ones())
    }
}

#[derive(Clone, Copy)]
pub(super) struct U32(__m512i);

impl Units for U32 {
    type Unit = u32;
    type Mask = __mmask16;
    const LANES: usize = 16;
    const LEAST: usize = 0;
    const LAST: u32 = u32::MAX;

    #[inline(always)]
    fn load(units: &[u32]) -> Self {
        let units = &units[..Self::LANES];
        // SAFETY: `units` is as long as what is read; `kernels` has looked.
        Self(unsafe { _mm512_loadu_si512(units.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_end(units: &[u32], at: usize) -> (Self, __mmask16) {
        let units = &units[at..];
        let lanes = !(!0 << units.len());
        // SAFETY: only the lanes that `units` has are read; `kernels` has looked.
        (Self(unsafe { _mm512_maskz_loadu_epi32(lanes, units.as_ptr().cast()) }), lanes)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm512_or_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn all() -> __mmask16 {
        !0
    }

    #[inline(always)]
    fn outside(self, lanes: __mmask16, first: u32, last: u32) -> __mmask16 {
        let (first, size) = (first as i32, (last - first) as i32);
        // SAFETY: `kernels` has looked.
        unsafe {
            let moved = _mm512_sub_epi32(self.0, _mm512_set1_epi32(first));
            _mm512_mask_cmpgt_epu32_mask(lanes, moved, _mm512_set1_epi32(size))
        }
    }

    #[inline(always)]
    fn count(mask: __mmask16) -> u64 {
        u64::from(mask.count_ones())
    }
}
