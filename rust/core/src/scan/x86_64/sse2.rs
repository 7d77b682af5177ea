//! 16 bytes, SSE2: what every x86-64 has.
//!
//! Safety: see [`super`].

use std::arch::x86_64::*;

use super::super::container::{self, Rest};
use super::super::kernel::{self, Block, Bytes, Masks};
use super::super::strings::{self, Units};
use super::super::weigh::stripe::{Classes, classes_by_registers};
use super::super::weigh::{self, Buffer, Filled, Room, Weigh, Weights};
use super::super::{Kernels, ScriptCounts, tables};

super::entry_points!("sse2", "sse2");

super::weighing!("sse2");

/// The number's bytes, the lowest first.
#[inline(always)]
pub(super) fn register(number: u128) -> __m128i {
    // SAFETY: every x86-64 has SSE2.
    unsafe { _mm_set_epi64x((number >> 64) as i64, number as i64) }
}

#[derive(Clone, Copy)]
struct U8(__m128i);

impl U8 {
    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm_cmpeq_epi8(self.0, _mm_set1_epi8(byte as i8)) }).high()
    }
}

impl Bytes for U8 {
    const LANES: usize = 16;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        let bytes = &bytes[..Self::LANES];
        // SAFETY: `bytes` is as long as what is read; `kernels` has looked.
        Self(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_end(bytes: &[u8], at: usize) -> Self {
        Self(register(kernel::end_of(bytes, at)))
    }

    #[inline(always)]
    fn behind_zero(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm_slli_si128::<1>(self.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm_or_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn high(self) -> u64 {
        // SAFETY: `kernels` has looked.
        u64::from(unsafe { _mm_movemask_epi8(self.0) } as u32)
    }

    #[inline(always)]
    fn below(self, bound: u8) -> u64 {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm_cmpgt_epi8(_mm_set1_epi8(bound as i8), self.0) }).high()
    }

    #[inline(always)]
    fn equal(self, other: Self) -> u64 {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm_cmpeq_epi8(self.0, other.0) }).high()
    }

    #[inline(always)]
    fn masks(block: &impl Block<Self>) -> Masks {
        let mut masks = Masks::default();
        for at in (0..block.len()).step_by(Self::LANES) {
            let (before, here) = block.pair(at);
            masks.put(masks_by_comparison(before, here), at);
        }
        masks
    }

    #[inline(always)]
    fn thirds(_block: &impl Block<Self>) -> u64 {
        !0
    }
}

/// Without look-ups, more lead bytes than need be leave the class open.
#[inline(always)]
fn masks_by_comparison(before: U8, here: U8) -> Masks {
    let continuing = here.below(0xC0);
    let leads = before.below(0xF5) & !before.below(0xC2);
    let (from_90, from_a0) = (!here.below(0x90), !here.below(0xA0));
    let forbidden = before.equal(0xE0) & !from_a0
        | before.equal(0xED) & from_a0
        | before.equal(0xF0) & !from_90
        | before.equal(0xF4) & from_90;
    let second = continuing & leads & !forbidden;
    let (first, last) = tables::CJK_LEADS;
    let cjk = second & !before.below(first) & before.below(last + 1);
    Masks {
        high: here.high(),
        continuing,
        second,
        long: second & !before.below(0xE0),
        wide: second & !before.below(0xF0),
        cjk,
        mixed: second & !before.below(0xE1) & !cjk,
    }
}

/// Lanes compare as signed numbers: all are moved down by half their range.
impl Weigh for U8 {
    #[inline(always)]
    fn classes(characters: &[u8], at: usize, lanes: u64) -> Classes {
        classes_by_registers::<Self>(characters, at, lanes)
    }
}

#[derive(Clone, Copy)]
struct U16(__m128i);

impl Units for U16 {
    type Unit = u16;
    type Mask = __m128i;
    const LANES: usize = 8;
    const LEAST: usize = Self::LANES;
    const LAST: u32 = u16::MAX as u32;

    #[inline(always)]
    fn load(units: &[u16]) -> Self {
        let units = &units[..Self::LANES];
        // SAFETY: `units` is as long as what is read; `kernels` has looked.
        Self(unsafe { _mm_loadu_si128(units.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_end(units: &[u16], at: usize) -> (Self, __m128i) {
        let mask = strings::last_lanes::<16>((units.len() - at) * size_of::<u16>());
        // SAFETY: a mask is as long as what is read; `kernels` has looked.
        let lanes = unsafe { _mm_loadu_si128(mask.as_ptr().cast()) };
        (Self::load(&units[units.len() - Self::LANES..]), lanes)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm_or_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn all() -> __m128i {
        // SAFETY: `kernels` has looked.
        unsafe { _mm_set1_epi8(-1) }
    }

    #[inline(always)]
    fn outside(self, lanes: __m128i, first: u32, last: u32) -> __m128i {
        let least = u16::MAX / 2 + 1;
        let down = least.wrapping_sub(first as u16);
        let end = least.wrapping_add((last - first + 1) as u16);
        // SAFETY: `kernels` has looked.
        unsafe {
            let moved = _mm_add_epi16(self.0, _mm_set1_epi16(down as i16));
            let within = _mm_cmpgt_epi16(_mm_set1_epi16(end as i16), moved);
            _mm_andnot_si128(within, lanes)
        }
    }

    #[inline(always)]
    fn count(mask: __m128i) -> u64 {
        u64::from(U8(mask).high().count_ones()) / 2
    }
}

/// Lanes compare as signed numbers: all are moved down by half their range.
#[derive(Clone, Copy)]
struct U32(__m128i);

impl Units for U32 {
    type Unit = u32;
    type Mask = __m128i;
    const LANES: usize = 4;
    const LEAST: usize = Self::LANES;
    const LAST: u32 = u32::MAX;

    #[inline(always)]
    fn load(units: &[u32]) -> Self {
        let units = &units[..Self::LANES];
        // SAFETY: `units` is as long as what is read; `kernels` has looked.
        Self(unsafe { _mm_loadu_si128(units.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_end(units: &[u32], at: usize) -> (Self, __m128i) {
        let mask = strings::last_lanes::<16>((units.len() - at) * size_of::<u32>());
        // SAFETY: a mask is as long as what is read; `kernels` has looked.
        let lanes = unsafe { _mm_loadu_si128(mask.as_ptr().cast()) };
        (Self::load(&units[units.len() - Self::LANES..]), lanes)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { _mm_or_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn all() -> __m128i {
        // SAFETY: `kernels` has looked.
        unsafe { _mm_set1_epi8(-1) }
    }

    #[inline(always)]
    fn outside(self, lanes: __m128i, first: u32, last: u32) -> __m128i {
        let least = u32::MAX / 2 + 1;
        let down = least.wrapping_sub(first);
        let end = least.wrapping_add(last - first + 1);
        // SAFETY: `kernels` has looked.
        unsafe {
            let moved = _mm_add_epi32(self.0, _mm_set1_epi32(down as i32));
            let within = _mm_cmpgt_epi32(_mm_set1_epi32(end as i32), moved);
            _mm_andnot_si128(within, lanes)
        }
    }

    #[inline(always)]
    fn count(mask: __m128i) -> u64 {
        u64::from(U8(mask).high().count_ones()) / 4
    }
}
