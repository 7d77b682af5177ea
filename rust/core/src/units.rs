//! A text in whatever width it is kept, one unit a code point.

use std::ops::Range;

use crate::scan;
use crate::scan::weigh::Weigher;
use crate::script::ScriptCounts;

/// A text whose units are code points, as Python keeps its strings (PEP 393).
///
/// Surrogates are legal in such a text. A high one and a low one behind it are read as
/// the one character that they stand for, a lone one as U+FFFD.
///
/// ```
/// use turnfit_core::units::Units;
///
/// let pair = Units::Ucs2(&[0x61, 0xD83D, 0xDE42]);
/// assert_eq!(pair.char_at(1), ('🙂', 3));
/// assert_eq!(pair.char_before(3), ('🙂', 1));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Units<'a> {
    /// Every unit is below 128.
    Ascii(&'a [u8]),
    /// One byte a code point.
    Latin1(&'a [u8]),
    /// Two bytes a code point.
    Ucs2(&'a [u16]),
    /// Four bytes a code point.
    Ucs4(&'a [u32]),
}

impl<'a> Units<'a> {
    /// The number of units.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Units::Ascii(units) | Units::Latin1(units) => units.len(),
            Units::Ucs2(units) => units.len(),
            Units::Ucs4(units) => units.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of the text.
    ///
    /// # Panics
    ///
    /// If the range ends beyond the text.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Units<'a> {
        match self {
            Units::Ascii(units) => Units::Ascii(&units[range]),
            Units::Latin1(units) => Units::Latin1(&units[range]),
            Units::Ucs2(units) => Units::Ucs2(&units[range]),
            Units::Ucs4(units) => Units::Ucs4(&units[range]),
        }
    }

    /// The unit at a place.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn at(&self, place: usize) -> u32 {
        match self {
            Units::Ascii(units) | Units::Latin1(units) => units[place].into(),
            Units::Ucs2(units) => units[place].into(),
            Units::Ucs4(units) => units[place],
        }
    }

    /// How many units of each script class there are.
    #[must_use]
    pub fn counts(&self) -> ScriptCounts {
        match self {
            Units::Ascii(units) => ScriptCounts { ascii: units.len() as u64, ..ScriptCounts::default() },
            Units::Latin1(units) => scan::latin1(units),
            Units::Ucs2(units) => scan::ucs2(units),
            Units::Ucs4(units) => scan::ucs4(units),
        }
    }

    /// Lets a weigher go on with the text.
    pub fn weigh(&self, weigher: &mut Weigher<'_>) {
        match self {
            Units::Ascii(units) | Units::Latin1(units) => weigher.latin1(units),
            Units::Ucs2(units) => weigher.ucs2(units),
            Units::Ucs4(units) => weigher.ucs4(units),
        }
    }

    /// The character that begins at a place, and where the next one begins.
    #[must_use]
    pub fn char_at(&self, place: usize) -> (char, usize) {
        let unit = self.at(place);
        if is_high(unit) && place + 1 < self.len() && is_low(self.at(place + 1)) {
            return (joined(unit, self.at(place + 1)), place + 2);
        }
        (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), place + 1)
    }

    /// The character that ends at a place, and where it begins.
    #[must_use]
    pub fn char_before(&self, place: usize) -> (char, usize) {
        let unit = self.at(place - 1);
        if is_low(unit) && place > 1 && is_high(self.at(place - 2)) {
            return (joined(self.at(place - 2), unit), place - 2);
        }
        (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), place - 1)
    }

    /// Whether a place is between the halves of a surrogate pair.
    #[must_use]
    pub fn parts_a_pair(&self, place: usize) -> bool {
        0 < place && place < self.len() && is_high(self.at(place - 1)) && is_low(self.at(place))
    }

    /// The last place of a unit within a range.
    #[must_use]
    pub fn rfind(&self, unit: u8, range: Range<usize>) -> Option<usize> {
        let start = range.start;
        let found = match self.slice(range) {
            Units::Ascii(units) | Units::Latin1(units) => units.iter().rposition(|&it| it == unit),
            Units::Ucs2(units) => units.iter().rposition(|&it| it == unit.into()),
            Units::Ucs4(units) => units.iter().rposition(|&it| it == unit.into()),
        };
        found.map(|place| start + place)
    }

    /// The first place of a unit within a range.
    #[must_use]
    pub fn find(&self, unit: u8, range: Range<usize>) -> Option<usize> {
        let start = range.start;
        let found = match self.slice(range) {
            Units::Ascii(units) | Units::Latin1(units) => units.iter().position(|&it| it == unit),
            Units::Ucs2(units) => units.iter().position(|&it| it == unit.into()),
            Units::Ucs4(units) => units.iter().position(|&it| it == unit.into()),
        };
        found.map(|place| start + place)
    }

    /// Appends the text to a string. A lone surrogate becomes U+FFFD; gives how many did.
    pub fn push_to(&self, out: &mut String) -> usize {
        if let Units::Ascii(units) = self {
            out.extend(units.iter().map(|&unit| char::from(unit)));
            return 0;
        }
        let (mut place, mut replaced) = (0, 0);
        while place < self.len() {
            let (character, next) = self.char_at(place);
            replaced += usize::from(is_surrogate(self.at(place)) && next == place + 1);
            out.push(character);
            place = next;
        }
        replaced
    }
}

fn is_surrogate(unit: u32) -> bool {
    is_high(unit) || is_low(unit)
}

fn is_high(unit: u32) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u32) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

fn joined(high: u32, low: u32) -> char {
    let code_point = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER)
}
