//! What a terminal takes for commands, and what JSON takes for one character: sequences
//! that make no sense in part.

use std::ops::Range;

use crate::units::Units;

const ESC: u32 = 0x1B;
/// The C1 forms of `ESC [` and of `ESC P`, `ESC X`, `ESC ]`, `ESC ^`, `ESC _`.
const CSI: u32 = 0x9B;
const STRINGS: [u32; 5] = [0x90, 0x98, 0x9D, 0x9E, 0x9F];
const STRING_TERMINATOR: u32 = 0x9C;

/// A sequence that is longer than this is data, such as a picture, and may be cut.
const LONGEST: usize = 1 << 12;

/// The sequence for a terminal that a place is inside of.
///
/// Control sequences, control strings (titles, links) and two-character escapes of
/// ECMA-48; one that the text breaks off counts to the text's end.
///
/// ```
/// use turnfit_core::escapes::sequence_around;
/// use turnfit_core::units::Units;
///
/// let text = Units::Ascii(b"ab\x1B[38;2;255mred");
/// assert_eq!(sequence_around(text, 5), Some(2..13));
/// assert_eq!(sequence_around(text, 13), None);
/// ```
#[must_use]
pub fn sequence_around(text: Units<'_>, place: usize) -> Option<Range<usize>> {
    if place == 0 || place >= text.len() {
        return None;
    }
    let first = place.saturating_sub(LONGEST);
    let start = (first..place).rev().find(|&at| introduces(text.at(at)))?;
    // The escape of a string's terminator `ESC \` belongs to the string before it.
    let string =
        (first..start).rev().take_while(|_| text.at(start) == ESC).find(|&at| introduces(text.at(at)));
    let whole = |start: usize| start..sequence_end(text, start);
    let covers = |range: &Range<usize>| range.start < place && place < range.end;
    string.map(whole).filter(covers).or_else(|| Some(whole(start)).filter(covers))
}

fn introduces(unit: u32) -> bool {
    unit == ESC || unit == CSI || STRINGS.contains(&unit)
}

/// Where the sequence that begins at a place ends.
fn sequence_end(text: Units<'_>, start: usize) -> usize {
    let unit = text.at(start);
    if unit == CSI {
        return parameters_end(text, start + 1);
    }
    if unit != ESC {
        return string_end(text, start + 1);
    }
    match (start + 1 < text.len()).then(|| text.at(start + 1)) {
        None => start + 1,
        Some(0x5B) => parameters_end(text, start + 2),
        Some(0x50 | 0x58 | 0x5D..=0x5F) => string_end(text, start + 2),
        Some(0x20..=0x2F) => final_end(text, start + 2),
        Some(0x30..=0x7E) => start + 2,
        Some(_) => start + 1,
    }
}

/// Parameters, intermediates, and the final character.
fn parameters_end(text: Units<'_>, from: usize) -> usize {
    let last = text.len();
    let parameters = (from..last).find(|&at| !(0x30..=0x3F).contains(&text.at(at))).unwrap_or(last);
    final_end(text, parameters)
}

fn final_end(text: Units<'_>, from: usize) -> usize {
    let last = text.len();
    let place = (from..last).find(|&at| !(0x20..=0x2F).contains(&text.at(at))).unwrap_or(last);
    place + usize::from(place < last && (0x40..=0x7E).contains(&text.at(place)))
}

/// A control string ends with its terminator, or where no string can go on: at the
/// line's end, or where it grows beyond what a command would.
fn string_end(text: Units<'_>, from: usize) -> usize {
    let last = text.len().min(from + LONGEST);
    for place in from..last {
        match text.at(place) {
            0x07 | STRING_TERMINATOR => return place + 1,
            ESC if place + 1 < text.len() && text.at(place + 1) == 0x5C => return place + 2,
            ESC | 0x0A | 0x0D | 0x18 | 0x1A => return place,
            _ => {}
        }
    }
    last
}

/// A text without its sequences for a terminal; what is broken off goes too.
///
/// ```
/// use turnfit_core::escapes::without_sequences;
/// use turnfit_core::units::Units;
///
/// let text = Units::Ascii(b"\x1B[1mbold\x1B[0m, \x1B]8;;https://a.b\x1B\\link\x1B]8;;\x07\x1B[38;2");
/// assert_eq!(without_sequences(text), "bold, link");
/// ```
#[must_use]
pub fn without_sequences(text: Units<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut place = 0;
    while place < text.len() {
        if introduces(text.at(place)) {
            text.slice(from..place).push_to(&mut out);
            place = sequence_end(text, place).max(place + 1);
            from = place;
        } else {
            place += 1;
        }
    }
    text.slice(from..place).push_to(&mut out);
    out
}

/// The JSON escape (`\n`, `\u00E9`, or the two of a surrogate pair) that a place is
/// inside of.
///
/// ```
/// use turnfit_core::escapes::json_escape_around;
/// use turnfit_core::units::Units;
///
/// let text = Units::Ascii(br"a\ud83d\ude42b\\c");
/// assert_eq!(json_escape_around(text, 7), Some(1..13));
/// assert_eq!(json_escape_around(text, 15), Some(14..16));
/// assert_eq!(json_escape_around(text, 16), None);
/// ```
#[must_use]
pub fn json_escape_around(text: Units<'_>, place: usize) -> Option<Range<usize>> {
    let around = escape_covering(text, place);
    let (before, after) = match &around {
        Some(escape) => (escape.start, escape.end),
        None => (place, place),
    };
    let high = |at: usize| half(text, at, 0xD8);
    let low = |at: usize| half(text, at, 0xDC);
    if let Some(escape) = &around {
        if high(escape.start) && low(after) {
            return Some(escape.start..after + 6);
        }
        let start = before.checked_sub(6).filter(|&start| low(before) && high(start));
        return Some(start.unwrap_or(before)..after);
    }
    let start = place.checked_sub(6)?;
    (high(start) && low(place)).then(|| start..place + 6)
}

fn escape_covering(text: Units<'_>, place: usize) -> Option<Range<usize>> {
    if place >= text.len() {
        return None;
    }
    let found = (place.saturating_sub(5)..place).rev().find(|&at| text.at(at) == u32::from(b'\\'))?;
    let run = (0..=found).rev().take_while(|&at| text.at(at) == u32::from(b'\\')).count();
    // Behind a raw escape, which JSON can't have, it ends a control string.
    if run % 2 == 0 || (found >= run && text.at(found - run) == ESC) {
        return None;
    }
    let end = found + if text.at(found + 1) == u32::from(b'u') { 6 } else { 2 };
    (place < end.min(text.len())).then(|| found..end.min(text.len()))
}

/// Whether the escape of one half of a surrogate pair begins at a place, and a real one:
/// its backslash is not itself escaped.
fn half(text: Units<'_>, place: usize, first: u32) -> bool {
    if place + 6 > text.len() || text.at(place) != u32::from(b'\\') || text.at(place + 1) != u32::from(b'u') {
        return false;
    }
    let run = (0..=place).rev().take_while(|&at| text.at(at) == u32::from(b'\\')).count();
    let digit = |at: usize| char::from_u32(text.at(at)).and_then(|digit| digit.to_digit(16));
    let code = digit(place + 2).zip(digit(place + 3)).map(|(high, low)| high << 4 | low);
    run % 2 == 1 && code.is_some_and(|code| code & 0xFC == first)
}
