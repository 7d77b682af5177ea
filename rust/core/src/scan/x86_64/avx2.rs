//! 32 bytes, AVX2.
//!
//! Safety: see [`super`].

use std::arch::x86_64::*;

use super::super::container::{self, Rest};
use super::super::kernel::{self, Block, Bytes, Lookup, Masks};
use super::super::strings::{self, Units};
use super::super::weigh::stripe::{Classes, classes_by_registers};
use super::super::weigh::{self, Buffer, Filled, Room, Weigh, Weights};
use super::super::{Kernels, ScriptCounts};
use super::sse2;

super::entry_points!("avx2,bmi1,bmi2,lzcnt,popcnt", "avx2", "bmi1", "bmi2", "lzcnt", "popcnt");

super::weighing!("avx2,bmi1,bmi2,lzcnt,popcnt");

#[derive(Clone, Copy)]
struct U8(__m256i);

impl Bytes for U8 {
    const LANES: usize = 32;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        let bytes = &bytes[..Self::LANES];
        // SAFETY: `bytes` is as long as what is read; `kernels` has looked.
        Self(unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_end(bytes: &[u8], at: usize) -> Self {
        let (low, high) = match bytes[at..].first_chunk() {
            None => (kernel::end_of(bytes, at), 0),
            Some(low) if bytes.len() == at + 16 => (u128::from_le_bytes(*low), 0),
            Some(low) => (u128::from_le_bytes(*low), kernel::end_of(bytes, at + 16)),
        };
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm256_set_m128i(sse2::register(high), sse2::register(low)) })
    }

    #[inline(always)]
    fn behind_zero(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe {
            let half_further = _mm256_permute2x128_si256::<0x08>(self.0, self.0);
            _mm256_alignr_epi8::<15>(self.0, half_further)
        })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn high(self) -> u64 {
        // SAFETY: `kernels` has looked.
        u64::from(unsafe { _mm256_movemask_epi8(self.0) } as u32)
    }

    #[inline(always)]
    fn below(self, bound: u8) -> u64 {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm256_cmpgt_epi8(_mm256_set1_epi8(bound as i8), self.0) }).high()
    }

    #[inline(always)]
    fn equal(self, other: Self) -> u64 {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm256_cmpeq_epi8(self.0, other.0) }).high()
    }

    #[inline(always)]
    fn masks(block: &impl Block<Self>) -> Masks {
        kernel::masks_by_lookup(block)
    }

    #[inline(always)]
    fn thirds(block: &impl Block<Self>) -> u64 {
        kernel::thirds_by_lookup(block)
    }
}

impl Weigh for U8 {
    #[inline(always)]
    fn classes(characters: &[u8], at: usize, lanes: u64) -> Classes {
        classes_by_registers::<Self>(characters, at, lanes)
    }
}

impl Lookup for U8 {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn low_nibbles(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm256_and_si256(self.0, _mm256_set1_epi8(0x0F)) })
    }

    #[inline(always)]
    fn high_nibbles(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm256_srli_epi16(self.0, 4) }).low_nibbles()
    }

    #[inline(always)]
    fn lookup(self, table: &[u8; 16]) -> Self {
        // SAFETY: a table is as long as what is read; `kernels` has looked.
        Self(unsafe {
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
            _mm256_shuffle_epi8(table, self.0)
        })
    }

    #[inline(always)]
    fn any(self, bits: u8) -> u64 {
        // SAFETY: `kernels` has looked.
        let none = unsafe {
            let found = _mm256_and_si256(self.0, _mm256_set1_epi8(bits as i8));
            Self(_mm256_cmpeq_epi8(found, _mm256_setzero_si256()))
        };
        none.high() ^ 0xFFFF_FFFF
    }
}

/// Lanes compare as signed numbers: all are moved down by half their range.
#[derive(Clone, Copy)]
struct U16(__m256i);

impl Units for U16 {
    type Unit = u16;
    type Mask = __m256i;
    const LANES: usize = 16;
    const LEAST: usize = Self::LANES;
    const LAST: u32 = u16::MAX as u32;

    #[inline(always)]
    fn load(units: &[u16]) -> Self {
        let units = &units[..Self::LANES];
        // SAFETY: `units` is as long as what is read; `kernels` has looked.
        Self(unsafe { _mm256_loadu_si256(units.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_end(units: &[u16], at: usize) -> (Self, __m256i) {
        let mask = strings::last_lanes::<32>((units.len() - at) * size_of::<u16>());
        // SAFETY: a mask is as long as what is read; `kernels` has looked.
        let lanes = unsafe { _mm256_loadu_si256(mask.as_ptr().cast()) };
        (Self::load(&units[units.len() - Self::LANES..]), lanes)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn all() -> __m256i {
        // SAFETY: `kernels` has looked.
        unsafe { _mm256_set1_epi8(-1) }
    }

    #[inline(always)]
    fn outside(self, lanes: __m256i, first: u32, last: u32) -> __m256i {
        let least = u16::MAX / 2 + 1;
        let down = least.wrapping_sub(first as u16);
        let end = least.wrapping_add((last - first + 1) as u16);
        // SAFETY: `kernels` has looked.
        unsafe {
            let moved = _mm256_add_epi16(self.0, _mm256_set1_epi16(down as i16));
            let within = _mm256_cmpgt_epi16(_mm256_set1_epi16(end as i16), moved);
            _mm256_andnot_si256(within, lanes)
        }
    }

    #[inline(always)]
    fn count(mask: __m256i) -> u64 {
        u64::from(U8(mask).high().count_ones()) / 2
    }
}

/// Lanes compare as signed numbers: all are moved down by half their range.
#[derive(Clone, Copy)]
struct U32(__m256i);

impl Units for U32 {
    type Unit = u32;
    type Mask = __m256i;
    const LANES: usize = 8;
    const LEAST: usize = Self::LANES;
    const LAST: u32 = u32::MAX;

    #[inline(always)]
    fn load(units: &[u32]) -> Self {
        let units = &units[..Self::LANES];
        // SAFETY: `units` is as long as what is read; `kernels` has looked.
        Self(unsafe { _mm256_loadu_si256(units.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_end(units: &[u32], at: usize) -> (Self, __m256i) {
        let mask = strings::last_lanes::<32>((units.len() - at) * size_of::<u32>());
        // SAFETY: a mask is as long as what is read; `kernels` has looked.
        let lanes = unsafe { _mm256_loadu_si256(mask.as_ptr().cast()) };
        (Self::load(&units[units.len() - Self::LANES..]), lanes)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn all() -> __m256i {
        // SAFETY: `kernels` has looked.
        unsafe { _mm256_set1_epi8(-1) }
    }

    #[inline(always)]
    fn outside(self, lanes: __m256i, first: u32, last: u32) -> __m256i {
        let least = u32::MAX / 2 + 1;
        let down = least.wrapping_sub(first);
        let end = least.wrapping_add(last - first + 1);
        // SAFETY: `kernels` has looked.
        unsafe {
            let moved = _mm256_add_epi32(self.0, _mm256_set1_epi32(down as i32));
            let within = _mm256_cmpgt_epi32(_mm256_set1_epi32(end as i32), moved);
            _mm256_andnot_si256(within, lanes)
        }
    }

    #[inline(always)]
    fn count(mask: __m256i) -> u64 {
        u64::from(U8(mask).high().count_ones()) / 4
    }
}
