//! Tables by which a vector classifies two neighbouring bytes at once.
//!
//! A byte shuffle looks up 16 or more nibbles in a table of 16 bytes. Two
//! neighbouring bytes are four nibbles; four look-ups, ANDed, leave in every
//! lane the set of those *classes* to which the pair belongs, one bit each,
//! where a class is a product: these high nibbles of the first byte, times
//! those low nibbles, times those of the second byte. Lemire and Keiser
//! ("Validating UTF-8 in less than one instruction per byte") found that eight
//! such products tell every permitted pair of UTF-8 bytes. Seven more tell the
//! pairs whose code points are all CJK, and the eighth those of which only
//! some are; these are computed here from [`CJK_RANGES`], so that a change of
//! the ranges is a change of the tables, or an error of compilation.

use crate::script::CJK_RANGES;

/// Look-up tables: the first byte's high and low nibble, then the second's.
pub(super) type Tables = [[u8; 16]; 4];

/// The classes of the pairs of a lead byte and a second byte that UTF-8 permits.
pub(super) const PAIRS: Tables = tables(&[
    Class::new(0xC, 0b1111_1111_1111_1100, 0b1111),
    Class::new(0xD, 0b1111_1111_1111_1111, 0b1111),
    // Below E0 A0: shorter sequences exist.
    Class::new(0xE, 0b0000_0000_0000_0001, 0b1100),
    Class::new(0xE, 0b1101_1111_1111_1110, 0b1111),
    // From ED A0: surrogates.
    Class::new(0xE, 0b0010_0000_0000_0000, 0b0011),
    // Below F0 90: shorter sequences exist.
    Class::new(0xF, 0b0000_0000_0000_0001, 0b1110),
    Class::new(0xF, 0b0000_0000_0000_1110, 0b1111),
    // From F4 90: past U+10FFFF.
    Class::new(0xF, 0b0000_0000_0001_0000, 0b0001),
]);

/// The classes of the pairs that begin CJK code points. Any bit but [`MIXED`]:
/// every code point that begins so is CJK. [`MIXED`] alone: some may be.
pub(super) const CJK: Tables = tables(&cjk_classes());

/// The classes of the pairs of a second and a third byte, after a lead byte
/// with which the second is [`MIXED`], with which code points may be CJK.
pub(super) const THIRDS: Tables = tables(&third_classes());

/// The bit of [`CJK`] that settles nothing.
pub(super) const MIXED: u8 = 0x80;

/// Look-up tables of bytes by their lower six bits: a lead byte's, a second's.
#[cfg(target_arch = "x86_64")]
pub(super) type ByteTables = [[u8; 64]; 2];

/// [`PAIRS`], for a lead byte and a byte that continues.
#[cfg(target_arch = "x86_64")]
pub(super) const PAIRS_BY_BYTE: ByteTables = by_byte(&PAIRS);

/// [`CJK`] likewise.
#[cfg(target_arch = "x86_64")]
pub(super) const CJK_BY_BYTE: ByteTables = {
    let mut tables = by_byte(&CJK);
    // The mixed class, coarse as it is, takes in Devanagari.
    tables[0][0xE0 & 63] &= !MIXED;
    tables
};

#[cfg(target_arch = "x86_64")]
const fn by_byte(tables: &Tables) -> ByteTables {
    let mut by_byte = [[0; 64]; 2];
    let mut i = 0;
    while i < 64 {
        let (lead, second) = (0xC0 | i, 0x80 | i);
        by_byte[0][i] = tables[0][lead >> 4] & tables[1][lead & 15];
        by_byte[1][i] = tables[2][second >> 4] & tables[3][second & 15];
        i += 1;
    }
    by_byte
}

/// First and last of the lead bytes after which everything is CJK.
#[cfg(target_arch = "x86_64")]
pub(super) const CJK_LEADS: (u8, u8) = (0xE3, 0xE9);

#[cfg(target_arch = "x86_64")]
const _: () = {
    let mut lead = CJK_LEADS.0;
    while lead <= CJK_LEADS.1 {
        let mut second = 0x80;
        while second < 0xC0 {
            assert!(matches!(share(lead, second), Share::All));
            second += 1;
        }
        lead += 1;
    }
};

/// A product of sets of nibbles, each set as the bits of an integer.
#[derive(Clone, Copy)]
struct Class {
    lead_highs: u16,
    lead_lows: u16,
    second_highs: u16,
    second_lows: u16,
}

impl Class {
    const EMPTY: Self = Self { lead_highs: 0, lead_lows: 0, second_highs: 0, second_lows: 0 };

    /// `quarters`: which of 80–8F, 90–9F, A0–AF, B0–BF the second byte may be in.
    const fn new(lead_high: u8, lead_lows: u16, quarters: u16) -> Self {
        Self { lead_highs: 1 << lead_high, lead_lows, second_highs: quarters << 8, second_lows: 0xFFFF }
    }

    const fn add_lead(&mut self, lead: u8) {
        self.lead_highs |= 1 << (lead >> 4);
        self.lead_lows |= 1 << (lead & 15);
    }

    const fn differs_in_leads_only(&self, other: &Self) -> bool {
        self.lead_highs == other.lead_highs
            && self.second_highs == other.second_highs
            && self.second_lows == other.second_lows
    }
}

const fn tables(classes: &[Class; 8]) -> Tables {
    let mut tables = [[0; 16]; 4];
    let mut i = 0;
    while i < 8 * 16 {
        let (class, nibble) = (i / 16, i % 16);
        let Class { lead_highs, lead_lows, second_highs, second_lows } = classes[class];
        tables[0][nibble] |= ((lead_highs >> nibble & 1) as u8) << class;
        tables[1][nibble] |= ((lead_lows >> nibble & 1) as u8) << class;
        tables[2][nibble] |= ((second_highs >> nibble & 1) as u8) << class;
        tables[3][nibble] |= ((second_lows >> nibble & 1) as u8) << class;
        i += 1;
    }
    tables
}

const fn cjk_classes() -> [Class; 8] {
    let mut classes = [Class::EMPTY; 8];
    let mut lead = 0xE0;
    while lead <= 0xF4 {
        add_mixed(&mut classes[7], lead);
        let mut high = 8;
        while high < 12 {
            add_whole(&mut classes, lead, high);
            high += 1;
        }
        lead += 1;
    }
    classes
}

/// Products are coarser than what is mixed, which costs a second look but no
/// error: the lane is then decided by decoding it.
const fn add_mixed(mixed: &mut Class, lead: u8) {
    let mut second = 0x80;
    while second < 0xC0 {
        if matches!(share(lead, second), Share::Some) {
            mixed.add_lead(lead);
            mixed.second_highs |= 1 << (second >> 4);
            mixed.second_lows |= 1 << (second & 15);
        }
        second += 1;
    }
}

/// Adds the lead to the class of its second bytes, in which the quarters with
/// equal low nibbles go together.
const fn add_whole(classes: &mut [Class; 8], lead: u8, high: u8) {
    let lows = whole_lows(lead, high);
    let mut class = Class { second_lows: lows, ..Class::EMPTY };
    class.add_lead(lead);
    let mut other = 8;
    while other < 12 {
        if whole_lows(lead, other) == lows {
            class.second_highs |= 1 << other;
        }
        other += 1;
    }
    let first_of_its_kind = class.second_highs.trailing_zeros() == high as u32;
    if lows != 0 && first_of_its_kind {
        merge(classes, class, lead);
    }
}

const fn merge(classes: &mut [Class; 8], class: Class, lead: u8) {
    let mut i = 0;
    while classes[i].second_lows != 0 && !classes[i].differs_in_leads_only(&class) {
        i += 1;
        assert!(i < 7, "CJK_RANGES need more classes than a byte has bits");
    }
    classes[i] = Class { lead_lows: classes[i].lead_lows, ..class };
    classes[i].add_lead(lead);
}

const fn whole_lows(lead: u8, high: u8) -> u16 {
    let mut lows = 0;
    let mut low = 0;
    while low < 16 {
        if matches!(share(lead, high << 4 | low), Share::All) {
            lows |= 1 << low;
        }
        low += 1;
    }
    lows
}

/// One class for each second byte, and in it the least product that has all
/// its third bytes.
const fn third_classes() -> [Class; 8] {
    let mut classes = [Class::EMPTY; 8];
    let mut used = 0;
    let mut second = 0x80;
    while second < 0xC0 {
        let class = thirds_after(second);
        if class.second_lows != 0 {
            classes[used] = class;
            used += 1;
        }
        second += 1;
    }
    classes
}

const fn thirds_after(second: u8) -> Class {
    let mut class = Class::EMPTY;
    class.add_lead(second);
    let mut lead = 0xE0;
    while lead <= 0xF4 {
        if matches!(share(lead, second), Share::Some) {
            add_thirds(&mut class, lead, second);
        }
        lead += 1;
    }
    class
}

const fn add_thirds(class: &mut Class, lead: u8, second: u8) {
    let mut third = 0x80;
    while third < 0xC0 {
        if may_be_cjk(lead as u32, second as u32, third as u32) {
            class.second_highs |= 1 << (third >> 4);
            class.second_lows |= 1 << (third & 15);
        }
        third += 1;
    }
}

const fn may_be_cjk(lead: u32, second: u32, third: u32) -> bool {
    let middle = (second & 0x3F) << 6 | third & 0x3F;
    if lead < 0xF0 {
        let point = (lead & 0x0F) << 12 | middle;
        cjk_among(point, point + 1) > 0
    } else {
        let first = (lead & 0x07) << 18 | middle << 6;
        cjk_among(first, first + 64) > 0
    }
}

enum Share {
    None,
    Some,
    All,
}

/// How many of the code points that begin with these two bytes are CJK.
const fn share(lead: u8, second: u8) -> Share {
    match (lead, second) {
        // Too long a sequence for its code points.
        (0xF0, ..0x90) => return Share::None,
        // Nor does any begin so, but this puts ED into its neighbours' class.
        (0xED, 0xA0..) => return Share::All,
        _ => {}
    }
    let (first, size) = if lead < 0xF0 {
        ((lead as u32 & 0x0F) << 12 | (second as u32 & 0x3F) << 6, 1 << 6)
    } else {
        ((lead as u32 & 0x07) << 18 | (second as u32 & 0x3F) << 12, 1 << 12)
    };
    match cjk_among(first, first + size) {
        0 => Share::None,
        all if all == size => Share::All,
        _ => Share::Some,
    }
}

const fn cjk_among(start: u32, end: u32) -> u32 {
    let mut sum = 0;
    let mut i = 0;
    while i < CJK_RANGES.len() {
        let (first, last) = CJK_RANGES[i];
        let low = if first > start { first } else { start };
        let high = if last + 1 < end { last + 1 } else { end };
        sum += high.saturating_sub(low);
        i += 1;
    }
    sum
}
