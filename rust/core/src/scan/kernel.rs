//! The shared loops, over whatever vectors a level has.
//!
//! # UTF-8
//!
//! The code points of UTF-8 bytes are the bytes less those that continue a
//! sequence. What continues a sequence can be told from a byte and the three
//! before it, whether or not the text is valid:
//!
//! - a *second* byte, where its lead byte permits it;
//! - a *third* byte: a continuation byte after the second of a sequence of
//!   three or four;
//! - a *fourth*: a continuation byte after the third of a sequence of four.
//!
//! Any other byte begins something: a code point, or a maximal invalid
//! sequence, which counts as one. So there is no error to find and nothing to
//! fall back on: random bytes cost what prose costs.
//!
//! The loop takes 64 bytes at a time, since that makes each of the sets above
//! one `u64`, whatever the width of the vectors. "The byte before" is then a
//! shift by one, with one bit carried from block to block ([`Delay`]), and the
//! rest of UTF-8 is the few lines of [`Carry::follow`].
//!
//! Classes come from the first two bytes of a sequence ([`tables`]), counted
//! where the sequence ends. Of the few pairs that leave it open, such as
//! F0 9F (emoji, but U+1F200 to U+1F2FF are CJK), the code point is decoded.
//!
//! Nothing counts the ASCII, of which a block filled up with zeros has too much:
//! the loops count what is not ASCII.

use super::arch::prefetch;
use super::tables;
use crate::script::{Script, ScriptCounts, classify};

/// Bytes in a block, and bits in a mask.
pub(super) const BLOCK: usize = 64;

/// Bytes by which the loops ask for memory in advance. A processor that runs
/// ahead of them by some hundred instructions is only a few cache lines ahead.
pub(super) const AHEAD: usize = 2048;

/// Bytes of a text, at most [`BLOCK`] of them, each beside the one before it.
pub(super) trait Block<V> {
    fn len(&self) -> usize;

    /// A register of bytes from `at` on, behind that of the bytes before each.
    fn pair(&self, at: usize) -> (V, V);
}

/// A whole block within a text, behind the byte that precedes it.
pub(super) type Window = [u8; BLOCK + 1];

impl<V: Bytes> Block<V> for Window {
    #[inline(always)]
    fn len(&self) -> usize {
        BLOCK
    }

    #[inline(always)]
    fn pair(&self, at: usize) -> (V, V) {
        (V::load(&self[at..]), V::load(&self[at + 1..]))
    }
}

/// The start of a text, which nothing precedes.
struct Head<'a>(&'a [u8]);

impl<V: Bytes> Block<V> for Head<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn pair(&self, at: usize) -> (V, V) {
        let here = load_from::<V>(self.0, at);
        let before = match at {
            0 => here.behind_zero(),
            _ => load_from(&self.0[..self.0.len() - 1], at - 1),
        };
        (before, here)
    }
}

/// A register of the bytes from `at` on, filled up with zeros.
#[inline(always)]
pub(super) fn load_from<V: Bytes>(bytes: &[u8], at: usize) -> V {
    match bytes.len() - at >= V::LANES {
        true => V::load(&bytes[at..]),
        false => V::load_end(bytes, at),
    }
}

/// The last bytes from `at` on, fewer than 16 but at least one, as a number
/// whose lowest byte is the first of them: for registers without masks.
#[inline(always)]
pub(super) fn end_of(bytes: &[u8], at: usize) -> u128 {
    match bytes.last_chunk() {
        // What lies before them is read as well, since one load is sooner done than some.
        Some(last) => u128::from_le_bytes(*last) >> (8 * (at + 16 - bytes.len())),
        None => few(&bytes[at..]),
    }
}

#[inline(always)]
fn few(bytes: &[u8]) -> u128 {
    let number =
        |low: u64, high: u64, width: usize| u128::from(low) | u128::from(high) << (8 * (bytes.len() - width));
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return number(u64::from_le_bytes(*first), u64::from_le_bytes(*last), 8);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return number(u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into(), 4);
    }
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

/// A register of bytes. A mask has the bit of the lane `i` at `1 << i`.
pub(super) trait Bytes: Copy {
    /// Bytes in a register; divides [`BLOCK`].
    const LANES: usize;

    /// The first [`Self::LANES`] bytes.
    fn load(bytes: &[u8]) -> Self;

    /// The bytes from `at` on, fewer than [`Self::LANES`] but at least one, and
    /// zeros behind them.
    fn load_end(bytes: &[u8], at: usize) -> Self;

    /// All but the last, each one lane further, and a zero in the first.
    fn behind_zero(self) -> Self;

    fn or(self, other: Self) -> Self;

    /// Lanes that are not ASCII.
    fn high(self) -> u64;

    /// Lanes less than `bound`, both as signed numbers: ASCII is above all else.
    fn below(self, bound: u8) -> u64;

    /// Lanes that are equal.
    fn equal(self, other: Self) -> u64;

    /// What the bytes of a block are: [`masks_by_lookup`], for registers that
    /// can.
    fn masks(block: &impl Block<Self>) -> Masks;

    /// Third bytes of an open sequence that do not settle it as not CJK:
    /// [`thirds_by_lookup`], for registers that can.
    fn thirds(block: &impl Block<Self>) -> u64;
}

/// Registers that can look up nibbles.
pub(super) trait Lookup: Bytes {
    fn and(self, other: Self) -> Self;

    fn low_nibbles(self) -> Self;

    fn high_nibbles(self) -> Self;

    /// The entry of each lane, all of which are below 16.
    fn lookup(self, table: &[u8; 16]) -> Self;

    /// Lanes that have any of these bits.
    fn any(self, bits: u8) -> u64;
}

/// What the bytes of a block are, one bit each.
#[derive(Clone, Copy, Default)]
pub(super) struct Masks {
    /// Not ASCII.
    pub(super) high: u64,
    /// Continuation bytes, wherever they stand.
    pub(super) continuing: u64,
    /// Second bytes of a sequence, permitted after the first.
    pub(super) second: u64,
    /// Of these: in a sequence of three or four.
    pub(super) long: u64,
    /// Of these: in a sequence of four.
    pub(super) wide: u64,
    /// Second bytes that make the code point CJK.
    pub(super) cjk: u64,
    /// Second bytes after which the code point may be CJK or not.
    pub(super) mixed: u64,
}

impl Masks {
    /// Sets the bits of a part of the block that begins at `at`.
    #[inline(always)]
    pub(super) fn put(&mut self, part: Self, at: usize) {
        self.high |= part.high << at;
        self.continuing |= part.continuing << at;
        self.second |= part.second << at;
        self.long |= part.long << at;
        self.wide |= part.wide << at;
        self.cjk |= part.cjk << at;
        self.mixed |= part.mixed << at;
    }

    /// The masks without those of the first bytes.
    #[inline(always)]
    fn skip(self, bytes: usize) -> Self {
        Self {
            high: self.high >> bytes,
            continuing: self.continuing >> bytes,
            second: self.second >> bytes,
            long: self.long >> bytes,
            wide: self.wide >> bytes,
            cjk: self.cjk >> bytes,
            mixed: self.mixed >> bytes,
        }
    }
}

/// The masks of a block by looking up nibbles.
#[inline(always)]
pub(super) fn masks_by_lookup<V: Lookup>(block: &impl Block<V>) -> Masks {
    let mut masks = Masks::default();
    for at in (0..block.len()).step_by(V::LANES) {
        let (before, here) = block.pair(at);
        masks.put(lookup_masks(before, here), at);
    }
    masks
}

#[inline(always)]
fn lookup_masks<V: Lookup>(before: V, here: V) -> Masks {
    let [lead_high, lead_low] = [before.high_nibbles(), before.low_nibbles()];
    let [second_high, second_low] = [here.high_nibbles(), here.low_nibbles()];
    let pair = (lead_high.lookup(&tables::PAIRS[0]))
        .and(lead_low.lookup(&tables::PAIRS[1]))
        .and(second_high.lookup(&tables::PAIRS[2]));
    let kind = (lead_high.lookup(&tables::CJK[0]))
        .and(lead_low.lookup(&tables::CJK[1]))
        .and(second_high.lookup(&tables::CJK[2]))
        .and(second_low.lookup(&tables::CJK[3]));
    let second = pair.any(0xFF);
    let cjk = kind.any(!tables::MIXED);
    // The mixed class, coarse as it is, takes in Devanagari.
    let mixed = kind.high() & !cjk & !before.below(0xE1);
    Masks {
        high: here.high(),
        continuing: here.below(0xC0),
        second,
        long: second & !before.below(0xE0),
        wide: second & !before.below(0xF0),
        cjk,
        mixed,
    }
}

/// The bytes that, third in an open sequence, leave it open or make it CJK.
#[inline(always)]
pub(super) fn thirds_by_lookup<V: Lookup>(block: &impl Block<V>) -> u64 {
    let mut thirds = 0;
    for at in (0..block.len()).step_by(V::LANES) {
        let (before, here) = block.pair(at);
        let kind = (before.high_nibbles().lookup(&tables::THIRDS[0]))
            .and(before.low_nibbles().lookup(&tables::THIRDS[1]))
            .and(here.high_nibbles().lookup(&tables::THIRDS[2]))
            .and(here.low_nibbles().lookup(&tables::THIRDS[3]));
        thirds |= kind.any(0xFF) << at;
    }
    thirds
}

/// Counts UTF-8 text.
#[inline(always)]
pub(super) fn utf8<V: Bytes>(bytes: &[u8]) -> ScriptCounts {
    let mut tally = Tally::new(bytes);
    tally.add::<V>(&Head(&bytes[..bytes.len().min(BLOCK)]), 0, 0);
    let mut at = BLOCK;
    while let Some(window) = bytes.get(at - 1..at + BLOCK) {
        prefetch(bytes, at + AHEAD);
        if let Some(window) = window.first_chunk() {
            tally.add::<V>(window, at, 0);
        }
        at += BLOCK;
    }
    if let Some(window) = bytes.last_chunk()
        && at < bytes.len()
    {
        tally.add::<V>(window, at, at + BLOCK - bytes.len());
    }
    tally.counts()
}

/// Counts texts that lie one behind the other, each from one of `ends` to the
/// next.
#[inline(always)]
pub(super) fn utf8_rows<V: Bytes>(bytes: &[u8], ends: &[usize], counts: &mut [ScriptCounts]) {
    for (row, counts) in ends.windows(2).zip(counts) {
        for line in (row[0]..row[1]).step_by(BLOCK) {
            prefetch(bytes, line + AHEAD);
        }
        *counts = utf8::<V>(&bytes[row[0]..row[1]]);
    }
}

struct Tally<'a> {
    bytes: &'a [u8],
    /// Bytes that are not ASCII.
    high: u64,
    /// Bytes that continue a sequence.
    continued: u64,
    cjk: u64,
    carry: Carry,
}

impl<'a> Tally<'a> {
    #[inline(always)]
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, high: 0, continued: 0, cjk: 0, carry: Carry::default() }
    }

    /// Adds a block at `at`, of which the first `skip` bytes are counted
    /// already.
    #[inline(always)]
    fn add<V: Bytes>(&mut self, block: &impl Block<V>, at: usize, skip: usize) {
        if is_ascii(block) {
            self.carry = Carry::default();
            return;
        }
        let masks = V::masks(block).skip(skip);
        let after = self.carry.follow(masks);
        self.high += ones(masks.high);
        self.continued += ones(masks.second | after.third | after.fourth);
        self.cjk += ones(after.cjk);
        if after.open != 0 {
            let open = after.open & V::thirds(block) >> skip;
            self.cjk += decode(self.bytes, at, open);
        }
    }

    #[inline(always)]
    fn counts(&self) -> ScriptCounts {
        let length = self.bytes.len() as u64;
        ScriptCounts {
            ascii: length - self.high,
            cjk: self.cjk,
            other: self.high - self.continued - self.cjk,
        }
    }
}

/// What the bytes after the second of a sequence are, one bit each.
struct After {
    third: u64,
    fourth: u64,
    /// Last bytes of a sequence that the second made CJK.
    cjk: u64,
    /// Third bytes of a sequence that the second left open.
    open: u64,
}

/// Masks of the block before, each named as in [`Masks`] and [`After`].
#[derive(Default)]
struct Carry {
    long: Delay,
    wide: Delay,
    wide_third: Delay,
    cjk: Delay,
    cjk_third: Delay,
    mixed: Delay,
}

impl Carry {
    #[inline(always)]
    fn follow(&mut self, block: Masks) -> After {
        let third = block.continuing & self.long.after(block.long);
        let wide_third = third & self.wide.after(block.wide);
        let fourth = block.continuing & self.wide_third.after(wide_third);
        let cjk_third = self.cjk.after(block.cjk);
        let cjk_fourth = self.cjk_third.after(cjk_third);
        After {
            third,
            fourth,
            cjk: third & !wide_third & cjk_third | fourth & cjk_fourth,
            open: third & self.mixed.after(block.mixed),
        }
    }
}

/// A mask of the block before.
#[derive(Clone, Copy, Default)]
struct Delay(u64);

impl Delay {
    /// The bytes that follow those of `mask`.
    #[inline(always)]
    fn after(&mut self, mask: u64) -> u64 {
        let after = mask << 1 | self.0 >> 63;
        self.0 = mask;
        after
    }
}

#[inline(always)]
fn ones(mask: u64) -> u64 {
    u64::from(mask.count_ones())
}

#[inline(always)]
fn is_ascii<V: Bytes>(block: &impl Block<V>) -> bool {
    let mut all: Option<V> = None;
    for at in (0..block.len()).step_by(V::LANES) {
        let (_, here) = block.pair(at);
        all = Some(all.map_or(here, |all| all.or(here)));
    }
    all.is_none_or(|all| all.high() == 0)
}

/// How many of the sequences whose third bytes are at `at` plus the bits of
/// `thirds` are CJK.
#[inline(always)]
fn decode(bytes: &[u8], at: usize, mut thirds: u64) -> u64 {
    let mut cjk = 0;
    while thirds != 0 {
        let third = at + thirds.trailing_zeros() as usize;
        cjk += u64::from(starts_with_cjk(&bytes[third - 2..]));
        thirds &= thirds - 1;
    }
    cjk
}

/// Whether bytes that begin with three of a sequence begin with a CJK one.
#[inline(always)]
fn starts_with_cjk(bytes: &[u8]) -> bool {
    let bits = |byte: u8| u32::from(byte & 0x3F);
    let code_point = match *bytes {
        [lead @ ..0xF0, b, c, ..] => bits(lead & 0x0F) << 12 | bits(b) << 6 | bits(c),
        [lead, b, c, d @ 0x80..0xC0, ..] => bits(lead & 0x07) << 18 | bits(b) << 12 | bits(c) << 6 | bits(d),
        _ => return false,
    };
    matches!(classify(code_point), Script::Cjk)
}
