//! The vectors of x86-64, and which of them the machine has.
//!
//! # Safety
//!
//! An intrinsic must not run on a machine that lacks its instruction. Each
//! level's register types are private to its module, and nothing uses them but
//! its entry points, which are private as well: the only way to them is the
//! module's `kernels`, which looks first. That is what the safety notes mean by
//! "`kernels` has looked".
#![allow(unsafe_code)]

mod avx2;
mod avx512;
mod avx512vbmi;
mod sse2;
mod weigh512;

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
use std::ptr;

use super::{Kernels, Level};

/// The entry points of a level, if it is one of this architecture's and the
/// machine has it.
pub(super) fn kernels(level: Level) -> Option<Kernels> {
    match level {
        Level::Sse2 => sse2::kernels(),
        Level::Avx2 => avx2::kernels(),
        Level::Avx512 => avx512::kernels(),
        Level::Avx512Vbmi => avx512vbmi::kernels(),
        Level::Scalar | Level::Neon => None,
    }
}

/// Asks for the cache line in which an item is, if there is one.
#[inline(always)]
pub(super) fn prefetch<T>(items: &[T], index: usize) {
    if let Some(item) = items.get(index) {
        // SAFETY: it is there, and every x86-64 has the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ptr::from_ref(item).cast()) }
    }
}

/// Defines `kernels`: compiles the shared loops with the level's features.
///
/// The loops are `#[inline(always)]`, down to the intrinsics, so that all of
/// each becomes one function with the features of its entry point.
macro_rules! entry_points {
    ($features:literal, $($detected:tt),+) => {
        /// The entry points of this level, if the machine has it.
        pub(super) fn kernels() -> Option<Kernels> {
            let kernels = Kernels {
                // SAFETY: handed out only if the machine has the features.
                utf8: |bytes| unsafe { utf8(bytes) },
                // SAFETY: likewise.
                utf8_rows: |bytes, ends, counts| unsafe { utf8_rows(bytes, ends, counts) },
                // SAFETY: likewise.
                latin1: |units| unsafe { latin1(units) },
                // SAFETY: likewise.
                ucs2: |units| unsafe { ucs2(units) },
                // SAFETY: likewise.
                ucs4: |units| unsafe { ucs4(units) },
                weigh: $crate::scan::weigh::Weighing {
                    // SAFETY: likewise.
                    stripe: |weights, buffer, length| unsafe { stripe(weights, buffer, length) },
                    // SAFETY: likewise.
                    ascii: |weights, bytes, at| unsafe { weigh_ascii(weights, bytes, at) },
                    // SAFETY: likewise.
                    utf8: |weights, bytes, room| unsafe { weigh_utf8(weights, bytes, room) },
                    // SAFETY: likewise.
                    latin1: |weights, units, room| unsafe { weigh_latin1(weights, units, room) },
                    // SAFETY: likewise.
                    ucs2: |weights, units, room| unsafe { weigh_ucs2(weights, units, room) },
                    // SAFETY: likewise.
                    ucs4: |weights, units, room| unsafe { weigh_ucs4(weights, units, room) },
                },
                // SAFETY: likewise.
                container_latin1: |units| unsafe { container_latin1(units) },
                // SAFETY: likewise.
                container_ucs2: |units| unsafe { container_ucs2(units) },
                // SAFETY: likewise.
                container_ucs4: |units| unsafe { container_ucs4(units) },
            };
            let detected = $(is_x86_feature_detected!($detected))&&+;
            detected.then_some(kernels)
        }

        #[target_feature(enable = $features)]
        fn utf8(bytes: &[u8]) -> ScriptCounts {
            kernel::utf8::<U8>(bytes)
        }

        #[target_feature(enable = $features)]
        fn utf8_rows(bytes: &[u8], ends: &[usize], counts: &mut [ScriptCounts]) {
            kernel::utf8_rows::<U8>(bytes, ends, counts);
        }

        #[target_feature(enable = $features)]
        fn latin1(units: &[u8]) -> ScriptCounts {
            strings::latin1::<U8>(units)
        }

        #[target_feature(enable = $features)]
        fn ucs2(units: &[u16]) -> ScriptCounts {
            strings::units::<U16>(units)
        }

        #[target_feature(enable = $features)]
        fn ucs4(units: &[u32]) -> ScriptCounts {
            strings::units::<U32>(units)
        }

        #[target_feature(enable = $features)]
        fn container_latin1(units: &[u8]) -> Option<Rest> {
            container::rest::<U8, u8>(units)
        }

        #[target_feature(enable = $features)]
        fn container_ucs2(units: &[u16]) -> Option<Rest> {
            container::rest::<U8, u16>(units)
        }

        #[target_feature(enable = $features)]
        fn container_ucs4(units: &[u32]) -> Option<Rest> {
            container::rest::<U8, u32>(units)
        }
    };
}
use entry_points;

/// Defines the weighing's entry points of a level that has none of its own.
macro_rules! weighing {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        fn stripe(weights: &Weights, buffer: &mut Buffer, length: usize) -> u64 {
            weigh::stripe::stripe::<U8>(weights, buffer, length)
        }

        #[target_feature(enable = $features)]
        fn weigh_ascii(weights: &Weights, bytes: &[u8], at: usize) -> Filled {
            weigh::stripe::not_where_it_lies(weights, bytes, at)
        }

        #[target_feature(enable = $features)]
        fn weigh_utf8(weights: &Weights, bytes: &[u8], room: Room<'_>) -> Filled {
            weigh::encodings::utf8(weights, bytes, room)
        }

        #[target_feature(enable = $features)]
        fn weigh_latin1(weights: &Weights, units: &[u8], room: Room<'_>) -> Filled {
            weigh::encodings::latin1(weights, units, room)
        }

        #[target_feature(enable = $features)]
        fn weigh_ucs2(weights: &Weights, units: &[u16], room: Room<'_>) -> Filled {
            weigh::encodings::ucs2(weights, units, room)
        }

        #[target_feature(enable = $features)]
        fn weigh_ucs4(weights: &Weights, units: &[u32], room: Room<'_>) -> Filled {
            weigh::encodings::ucs4(weights, units, room)
        }
    };
}
use weighing;
