//! The shared loops over strings, whose units are code points.
//!
//! A block is compared with the ranges one after the other, and a block with
//! nothing from the first range on not at all. As in [`kernel`](super::kernel),
//! what is counted is what is not ASCII, of which padding has none.

use super::arch::prefetch;
use super::kernel::{AHEAD, Bytes};
use crate::script::{CJK_RANGES, ScriptCounts};

/// Bytes of Latin-1 in a block, and bits in a mask.
const BLOCK: usize = 64;

/// Counts Latin-1 text.
#[inline(always)]
pub(super) fn latin1<V: Bytes>(units: &[u8]) -> ScriptCounts {
    let (blocks, tail) = units.as_chunks::<BLOCK>();
    let mut padded = [0; BLOCK];
    padded[..tail.len()].copy_from_slice(tail);
    let mut high = high_bytes::<V>(&padded);
    for (i, block) in blocks.iter().enumerate() {
        prefetch(units, i * BLOCK + AHEAD);
        high += high_bytes::<V>(block);
    }
    counts(units.len(), high, 0)
}

#[inline(always)]
fn high_bytes<V: Bytes>(block: &[u8; BLOCK]) -> u64 {
    let mut high = 0;
    for at in (0..BLOCK).step_by(V::LANES) {
        high |= V::load(&block[at..]).high() << at;
    }
    u64::from(high.count_ones())
}

#[inline(always)]
fn counts(length: usize, high: u64, cjk: u64) -> ScriptCounts {
    ScriptCounts { ascii: length as u64 - high, cjk, other: high - cjk }
}

/// A register of code points.
pub(super) trait Units: Copy {
    type Unit: Copy + Default;
    /// Lanes that satisfy a comparison.
    type Mask: Copy;
    /// Units in a register.
    const LANES: usize;
    /// The greatest number that a unit can be.
    const LAST: u32;

    /// The first [`Self::LANES`] units.
    fn load(units: &[Self::Unit]) -> Self;

    fn or(self, other: Self) -> Self;

    /// Every lane.
    fn all() -> Self::Mask;

    /// Those of some lanes that are not from `first` to `last`.
    fn outside(self, lanes: Self::Mask, first: u32, last: u32) -> Self::Mask;

    /// The number of lanes.
    fn count(mask: Self::Mask) -> u64;
}

/// Registers in a block of units.
const REGISTERS: usize = 4;

/// Units in the largest block: four registers of 64 bytes.
const MOST_UNITS: usize = 128;

/// Counts UCS-2 or UCS-4 text.
#[inline(always)]
pub(super) fn units<V: Units>(units: &[V::Unit]) -> ScriptCounts {
    let block_units = REGISTERS * V::LANES;
    let (blocks, tail) = units.split_at(units.len() / block_units * block_units);
    let mut padded = [V::Unit::default(); MOST_UNITS];
    padded[..tail.len()].copy_from_slice(tail);
    let (mut high, mut cjk) = block_of_units::<V>(&padded);
    for (i, block) in blocks.chunks_exact(block_units).enumerate() {
        for register in 0..REGISTERS {
            let ahead = AHEAD / size_of::<V::Unit>() + register * V::LANES;
            prefetch(units, i * block_units + ahead);
        }
        let (block_high, block_cjk) = block_of_units::<V>(block);
        high += block_high;
        cjk += block_cjk;
    }
    counts(units.len(), high, cjk)
}

/// The units that are not ASCII, and of these the CJK ones.
#[inline(always)]
fn block_of_units<V: Units>(block: &[V::Unit]) -> (u64, u64) {
    let [a, b] = [V::load(block), V::load(&block[V::LANES..])];
    let [c, d] = [V::load(&block[2 * V::LANES..]), V::load(&block[3 * V::LANES..])];
    // The OR of numbers is no less than any of them.
    let greatest = a.or(b).or(c.or(d));
    let has_cjk = V::count(greatest.outside(V::all(), 0, CJK_RANGES[0].0 - 1)) != 0;
    let (mut high, mut cjk) = (0, 0);
    for register in [a, b, c, d] {
        let not_ascii = register.outside(V::all(), 0, 0x7F);
        high += V::count(not_ascii);
        if has_cjk {
            cjk += V::count(not_ascii) - V::count(not_cjk(register, not_ascii));
        }
    }
    (high, cjk)
}

/// Takes the ranges out one after the other, which AVX-512 does by comparisons
/// alone; to gather them would take an instruction more for each.
#[inline(always)]
fn not_cjk<V: Units>(register: V, mut lanes: V::Mask) -> V::Mask {
    for (first, last) in CJK_RANGES {
        if last <= V::LAST {
            lanes = register.outside(lanes, first, last);
        }
    }
    lanes
}
