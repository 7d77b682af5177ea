//! The shared loops over strings, whose units are code points.
//!
//! A block is compared with the ranges one after the other, and a block with
//! nothing from the first range on not at all. As in [`kernel`](super::kernel),
//! what is counted is what is not ASCII, of which what fills a register up has
//! none.

use super::arch::prefetch;
use super::kernel::{AHEAD, Bytes, load_from};
use super::scalar;
use crate::script::{CJK_RANGES, ScriptCounts};

/// Bytes of Latin-1 in a block, and bits in a mask.
const BLOCK: usize = 64;

/// Counts Latin-1 text.
#[inline(always)]
pub(super) fn latin1<V: Bytes>(units: &[u8]) -> ScriptCounts {
    let (blocks, _) = units.as_chunks::<BLOCK>();
    let mut high = 0;
    for (i, block) in blocks.iter().enumerate() {
        prefetch(units, i * BLOCK + AHEAD);
        high += high_bytes::<V>(block);
    }
    for at in (blocks.len() * BLOCK..units.len()).step_by(V::LANES) {
        high += u64::from(load_from::<V>(units, at).high().count_ones());
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
    type Unit: Copy + Into<u32>;
    /// Lanes that satisfy a comparison.
    type Mask: Copy;
    /// Units in a register.
    const LANES: usize;
    /// Units that a text must have for [`Self::load_end`].
    const LEAST: usize;
    /// The greatest number that a unit can be.
    const LAST: u32;

    /// The first [`Self::LANES`] units.
    fn load(units: &[Self::Unit]) -> Self;

    /// A register with the units from `at` on, fewer than [`Self::LANES`] but at
    /// least one, and the lanes that have them.
    fn load_end(units: &[Self::Unit], at: usize) -> (Self, Self::Mask);

    fn or(self, other: Self) -> Self;

    /// Every lane.
    fn all() -> Self::Mask;

    /// Those of some lanes that are not from `first` to `last`.
    fn outside(self, lanes: Self::Mask, first: u32, last: u32) -> Self::Mask;

    /// The number of lanes.
    fn count(mask: Self::Mask) -> u64;
}

/// The last so many bytes of a register, all ones: the lanes of an end that was
/// loaded with what lies before it.
#[inline(always)]
pub(super) fn last_lanes<const REGISTER: usize>(bytes: usize) -> &'static [u8; REGISTER] {
    const MOST: usize = 32;
    const SLIDING: [u8; 2 * MOST] = {
        let mut sliding = [0; 2 * MOST];
        let mut at = MOST;
        while at < 2 * MOST {
            sliding[at] = 0xFF;
            at += 1;
        }
        sliding
    };
    const { assert!(REGISTER <= MOST) }
    static LANES: [u8; 2 * MOST] = SLIDING;
    LANES[MOST - REGISTER + bytes..].first_chunk().unwrap_or(&[0; REGISTER])
}

/// Registers in a block of units.
const REGISTERS: usize = 4;

/// Counts UCS-2 or UCS-4 text.
#[inline(always)]
pub(super) fn units<V: Units>(units: &[V::Unit]) -> ScriptCounts {
    if units.len() < V::LEAST {
        return scalar::code_points(units.iter().map(|&unit| unit.into()));
    }
    let block_units = REGISTERS * V::LANES;
    let blocks = units.chunks_exact(block_units);
    let rest = units.len() - blocks.remainder().len();
    let (mut high, mut cjk) = (0, 0);
    for (i, block) in blocks.enumerate() {
        for register in 0..REGISTERS {
            let ahead = AHEAD / size_of::<V::Unit>() + register * V::LANES;
            prefetch(units, i * block_units + ahead);
        }
        let (block_high, block_cjk) = block_of_units::<V>(block);
        high += block_high;
        cjk += block_cjk;
    }
    for at in (rest..units.len()).step_by(V::LANES) {
        let (register_high, register_cjk) = register_of_units::<V>(units, at);
        high += register_high;
        cjk += register_cjk;
    }
    counts(units.len(), high, cjk)
}

/// Likewise [`block_of_units`], of a register at most.
#[inline(always)]
fn register_of_units<V: Units>(units: &[V::Unit], at: usize) -> (u64, u64) {
    let (register, lanes) = match units.len() - at >= V::LANES {
        true => (V::load(&units[at..]), V::all()),
        false => V::load_end(units, at),
    };
    let high = V::count(register.outside(lanes, 0, 0x7F));
    let wide = register.outside(lanes, 0, CJK_RANGES[0].0 - 1);
    let wide_count = V::count(wide);
    match wide_count {
        0 => (high, 0),
        _ => (high, wide_count - V::count(not_cjk(register, wide))),
    }
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
