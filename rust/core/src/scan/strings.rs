//! The shared loops over strings, whose units are code points.
//!
//! A block is compared with the ranges one after the other, and a block with
//! nothing from the first range on not at all. As in [`kernel`](super::kernel),
//! what is counted is what is not ASCII, of which padding has none.

use super::kernel::Bytes;
use crate::script::{CJK_RANGES, ScriptCounts};

/// Bytes of Latin-1 in a block, and bits in a mask.
const BLOCK: usize = 64;

/// Counts Latin-1 text.
#[inline(always)]
pub(super) fn latin1<V: Bytes>(units: &[u8]) -> ScriptCounts {
    let (blocks, tail) = units.as_chunks();
    let mut padded = [0; BLOCK];
    padded[..tail.len()].copy_from_slice(tail);
    let mut high = high_bytes::<V>(&padded);
    for block in blocks {
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

    /// Lanes from `first` to `last`.
    fn within(self, first: u32, last: u32) -> Self::Mask;

    fn either(one: Self::Mask, other: Self::Mask) -> Self::Mask;

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
    let blocks = units.chunks_exact(REGISTERS * V::LANES);
    let tail = blocks.remainder();
    let mut padded = [V::Unit::default(); MOST_UNITS];
    padded[..tail.len()].copy_from_slice(tail);
    let (mut high, mut cjk) = block_of_units::<V>(&padded);
    for block in blocks {
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
    let [c, d] = [2, 3].map(|i| i * V::LANES);
    let [c, d] = [V::load(&block[c..]), V::load(&block[d..])];
    // The OR of numbers is no less than any of them.
    let may_have_cjk = a.or(b).or(c.or(d)).within(CJK_RANGES[0].0, V::LAST);
    let has_cjk = V::count(may_have_cjk) != 0;
    let (mut high, mut cjk) = (0, 0);
    for register in [a, b, c, d] {
        high += V::count(register.within(0x80, V::LAST));
        if has_cjk {
            cjk += V::count(cjk_units(register));
        }
    }
    (high, cjk)
}

#[inline(always)]
fn cjk_units<V: Units>(register: V) -> V::Mask {
    let mut cjk = register.within(CJK_RANGES[0].0, CJK_RANGES[0].1);
    for (first, last) in CJK_RANGES {
        if last <= V::LAST {
            cjk = V::either(cjk, register.within(first, last));
        }
    }
    cjk
}
