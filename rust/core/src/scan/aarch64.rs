//! The vectors of AArch64: 16 bytes, NEON.
//!
//! # Safety
//!
//! An intrinsic must not run on a machine that lacks its instruction. The
//! register types are private to this module, and nothing uses them but its
//! entry points, which are private as well: the only way to them is
//! [`kernels`], which looks first. That is what the safety notes mean by
//! "`kernels` has looked".
#![allow(unsafe_code)]

use std::arch::aarch64::*;

use super::container::{self, Rest};
use super::kernel::{self, Block, Bytes, Lookup, Masks};
use super::strings::{self, Units};
use super::weigh::stripe::{Classes, classes_by_registers};
use super::weigh::{self, Buffer, Weigh, Weights};
use super::{Kernels, Level, ScriptCounts};

/// The entry points of a level, if it is one of this architecture's and the
/// machine has it.
pub(super) fn kernels(level: Level) -> Option<Kernels> {
    let kernels = Kernels {
        // SAFETY: handed out only if the machine has NEON.
        utf8: |bytes| unsafe { utf8(bytes) },
        // SAFETY: likewise.
        utf8_rows: |bytes, ends, counts| unsafe { utf8_rows(bytes, ends, counts) },
        // SAFETY: likewise.
        latin1: |units| unsafe { latin1(units) },
        // SAFETY: likewise.
        ucs2: |units| unsafe { ucs2(units) },
        // SAFETY: likewise.
        ucs4: |units| unsafe { ucs4(units) },
        weigh: weigh::Weighing {
            // SAFETY: likewise.
            stripe: |weights, buffer, length| unsafe { stripe(weights, buffer, length) },
            ascii: weigh::stripe::not_where_it_lies,
            utf8: weigh::encodings::utf8,
            latin1: weigh::encodings::latin1,
            ucs2: weigh::encodings::ucs2,
            ucs4: weigh::encodings::ucs4,
        },
        // SAFETY: likewise.
        container_latin1: |units| unsafe { container_latin1(units) },
        // SAFETY: likewise.
        container_ucs2: |units| unsafe { container_ucs2(units) },
        // SAFETY: likewise.
        container_ucs4: |units| unsafe { container_ucs4(units) },
    };
    let detected = level == Level::Neon && std::arch::is_aarch64_feature_detected!("neon");
    detected.then_some(kernels)
}

/// Leaves it to the processor: the intrinsic is not stable.
#[inline(always)]
pub(super) fn prefetch<T>(_: &[T], _: usize) {}

#[target_feature(enable = "neon")]
fn stripe(weights: &Weights, buffer: &mut Buffer, length: usize) -> u64 {
    weigh::stripe::stripe::<U8>(weights, buffer, length)
}

#[target_feature(enable = "neon")]
fn utf8(bytes: &[u8]) -> ScriptCounts {
    kernel::utf8::<U8>(bytes)
}

#[target_feature(enable = "neon")]
fn utf8_rows(bytes: &[u8], ends: &[usize], counts: &mut [ScriptCounts]) {
    kernel::utf8_rows::<U8>(bytes, ends, counts);
}

#[target_feature(enable = "neon")]
fn latin1(units: &[u8]) -> ScriptCounts {
    strings::latin1::<U8>(units)
}

#[target_feature(enable = "neon")]
fn ucs2(units: &[u16]) -> ScriptCounts {
    strings::units::<U16>(units)
}

#[target_feature(enable = "neon")]
fn ucs4(units: &[u32]) -> ScriptCounts {
    strings::units::<U32>(units)
}

#[target_feature(enable = "neon")]
fn container_latin1(units: &[u8]) -> Option<Rest> {
    container::rest::<U8, u8>(units)
}

#[target_feature(enable = "neon")]
fn container_ucs2(units: &[u16]) -> Option<Rest> {
    container::rest::<U8, u16>(units)
}

#[target_feature(enable = "neon")]
fn container_ucs4(units: &[u32]) -> Option<Rest> {
    container::rest::<U8, u32>(units)
}

#[derive(Clone, Copy)]
struct U8(uint8x16_t);

impl U8 {
    /// One bit for each lane of all ones. NEON has no such instruction: each
    /// lane keeps the bit of its place, and each half is summed.
    #[inline(always)]
    fn mask(self) -> u64 {
        const PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
        // SAFETY: the places are as long as what is read; `kernels` has looked.
        let [low, high] = unsafe {
            let bits = vandq_u8(self.0, vld1q_u8(PLACES.as_ptr()));
            [vaddv_u8(vget_low_u8(bits)), vaddv_u8(vget_high_u8(bits))]
        };
        u64::from(low) | u64::from(high) << 8
    }
}

impl Bytes for U8 {
    const LANES: usize = 16;

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        let bytes = &bytes[..Self::LANES];
        // SAFETY: `bytes` is as long as what is read; `kernels` has looked.
        Self(unsafe { vld1q_u8(bytes.as_ptr()) })
    }

    #[inline(always)]
    fn load_end(bytes: &[u8], at: usize) -> Self {
        Self::load(&kernel::end_of(bytes, at).to_le_bytes())
    }

    #[inline(always)]
    fn behind_zero(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { vextq_u8::<15>(vdupq_n_u8(0), self.0) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { vorrq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn high(self) -> u64 {
        self.any(0x80)
    }

    #[inline(always)]
    fn below(self, bound: u8) -> u64 {
        // SAFETY: `kernels` has looked.
        Self(unsafe { vcltq_s8(vreinterpretq_s8_u8(self.0), vdupq_n_s8(bound as i8)) }).mask()
    }

    #[inline(always)]
    fn equal(self, other: Self) -> u64 {
        // SAFETY: `kernels` has looked.
        Self(unsafe { vceqq_u8(self.0, other.0) }).mask()
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
        Self(unsafe { vandq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn low_nibbles(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { vandq_u8(self.0, vdupq_n_u8(0x0F)) })
    }

    #[inline(always)]
    fn high_nibbles(self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { vshrq_n_u8::<4>(self.0) })
    }

    #[inline(always)]
    fn lookup(self, table: &[u8; 16]) -> Self {
        // SAFETY: a table is as long as what is read; `kernels` has looked.
        Self(unsafe { vqtbl1q_u8(vld1q_u8(table.as_ptr()), self.0) })
    }

    #[inline(always)]
    fn any(self, bits: u8) -> u64 {
        // SAFETY: `kernels` has looked.
        Self(unsafe { vtstq_u8(self.0, vdupq_n_u8(bits)) }).mask()
    }
}

#[derive(Clone, Copy)]
struct U16(uint16x8_t);

impl Units for U16 {
    type Unit = u16;
    type Mask = uint16x8_t;
    const LANES: usize = 8;
    const LEAST: usize = Self::LANES;
    const LAST: u32 = u16::MAX as u32;

    #[inline(always)]
    fn load(units: &[u16]) -> Self {
        let units = &units[..Self::LANES];
        // SAFETY: `units` is as long as what is read; `kernels` has looked.
        Self(unsafe { vld1q_u16(units.as_ptr()) })
    }

    #[inline(always)]
    fn load_end(units: &[u16], at: usize) -> (Self, uint16x8_t) {
        let mask = strings::last_lanes::<16>((units.len() - at) * size_of::<u16>());
        // SAFETY: a mask is as long as what is read; `kernels` has looked.
        let lanes = unsafe { vld1q_u16(mask.as_ptr().cast()) };
        (Self::load(&units[units.len() - Self::LANES..]), lanes)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { vorrq_u16(self.0, other.0) })
    }

    #[inline(always)]
    fn all() -> uint16x8_t {
        // SAFETY: `kernels` has looked.
        unsafe { vdupq_n_u16(u16::MAX) }
    }

    #[inline(always)]
    fn outside(self, lanes: uint16x8_t, first: u32, last: u32) -> uint16x8_t {
        let (first, size) = (first as u16, (last - first) as u16);
        // SAFETY: `kernels` has looked.
        unsafe {
            let moved = vsubq_u16(self.0, vdupq_n_u16(first));
            vbicq_u16(lanes, vcleq_u16(moved, vdupq_n_u16(size)))
        }
    }

    #[inline(always)]
    fn count(mask: uint16x8_t) -> u64 {
        // SAFETY: `kernels` has looked.
        u64::from(unsafe { vaddvq_u16(vshrq_n_u16::<15>(mask)) })
    }
}

#[derive(Clone, Copy)]
struct U32(uint32x4_t);

impl Units for U32 {
    type Unit = u32;
    type Mask = uint32x4_t;
    const LANES: usize = 4;
    const LEAST: usize = Self::LANES;
    const LAST: u32 = u32::MAX;

    #[inline(always)]
    fn load(units: &[u32]) -> Self {
        let units = &units[..Self::LANES];
        // SAFETY: `units` is as long as what is read; `kernels` has looked.
        Self(unsafe { vld1q_u32(units.as_ptr()) })
    }

    #[inline(always)]
    fn load_end(units: &[u32], at: usize) -> (Self, uint32x4_t) {
        let mask = strings::last_lanes::<16>((units.len() - at) * size_of::<u32>());
        // SAFETY: a mask is as long as what is read; `kernels` has looked.
        let lanes = unsafe { vld1q_u32(mask.as_ptr().cast()) };
        (Self::load(&units[units.len() - Self::LANES..]), lanes)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: `kernels` has looked.
        Self(unsafe { vorrq_u32(self.0, other.0) })
    }

    #[inline(always)]
    fn all() -> uint32x4_t {
        // SAFETY: `kernels` has looked.
        unsafe { vdupq_n_u32(u32::MAX) }
    }

    #[inline(always)]
    fn outside(self, lanes: uint32x4_t, first: u32, last: u32) -> uint32x4_t {
        let size = last - first;
        // SAFETY: `kernels` has looked.
        unsafe {
            let moved = vsubq_u32(self.0, vdupq_n_u32(first));
            vbicq_u32(lanes, vcleq_u32(moved, vdupq_n_u32(size)))
        }
    }

    #[inline(always)]
    fn count(mask: uint32x4_t) -> u64 {
        // SAFETY: `kernels` has looked.
        u64::from(unsafe { vaddvq_u32(vshrq_n_u32::<31>(mask)) })
    }
}
