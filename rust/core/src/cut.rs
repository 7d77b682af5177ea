//! Safe places to cut a text, and the two that leave as much of it as a limit allows.

use unicode_segmentation::UnicodeSegmentation;

use crate::escapes;
use crate::measure::Measure;
use crate::units::Units;

/// Which way a place gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toward {
    /// To the text's start: for what ends there.
    Start,
    /// To the text's end: for what begins there.
    End,
}

/// A line is kept whole where that costs at most this share of a part.
const LINE_SHARE: usize = 8;

/// What of a text is kept: the units before `head` and those from `tail` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Where the head ends.
    pub head: usize,
    /// Where the tail begins; no earlier than the head ends.
    pub tail: usize,
}

/// Where a text is cut so that head and tail cost no more than their budgets, in steps
/// of the measure. Only what is kept is read, and a little around the two places.
///
/// ```
/// use turnfit_core::cut::{cut, Cut};
/// use turnfit_core::measure::Measure;
/// use turnfit_core::units::Units;
///
/// let text = Units::Ascii(b"first line\nsecond line\nthird line\nlast line\n");
/// assert_eq!(cut(text, &Measure::Characters, 11, 10), Cut { head: 11, tail: 34 });
/// ```
#[must_use]
pub fn cut(text: Units<'_>, measure: &Measure, head: u64, tail: u64) -> Cut {
    let Cut { head, tail } = within(text, measure, head, tail);
    let head = whole_line_before(text, safe(text, head, Toward::Start));
    let tail = whole_line_after(text, safe(text, tail, Toward::End));
    Cut { head, tail: tail.max(head) }
}

/// As [`cut`], at the very unit, whatever is parted there.
#[must_use]
pub fn within(text: Units<'_>, measure: &Measure, head: u64, tail: u64) -> Cut {
    let head = measure.from_start(text, head);
    let tail = text.len() - measure.from_end(text, tail);
    Cut { head, tail: tail.max(head) }
}

fn whole_line_before(text: Units<'_>, place: usize) -> usize {
    if place == 0 || place == text.len() || text.at(place - 1) == NEWLINE {
        return place;
    }
    let first = place - place / LINE_SHARE;
    text.rfind(b'\n', first..place).map_or(place, |newline| safe(text, newline + 1, Toward::Start))
}

fn whole_line_after(text: Units<'_>, place: usize) -> usize {
    if place == 0 || place == text.len() || text.at(place - 1) == NEWLINE {
        return place;
    }
    let last = place + (text.len() - place) / LINE_SHARE;
    text.find(b'\n', place..last).map_or(place, |newline| safe(text, newline + 1, Toward::End))
}

const NEWLINE: u32 = b'\n' as u32;

/// The nearest place that way where a text may be cut: not inside a character, a
/// grapheme cluster (UAX #29), a surrogate pair, its two escapes in JSON, or a sequence
/// for a terminal.
///
/// ```
/// use turnfit_core::cut::{safe, Toward};
/// use turnfit_core::units::Units;
///
/// let text = Units::Ucs2(&[0x65, 0x301, 0x323, 0x78]);
/// assert_eq!(safe(text, 2, Toward::Start), 0);
/// assert_eq!(safe(text, 2, Toward::End), 3);
/// ```
#[must_use]
pub fn safe(text: Units<'_>, place: usize, toward: Toward) -> usize {
    let mut place = place.min(text.len());
    loop {
        let moved = outside(text, cluster_boundary(text, place, toward), toward);
        if moved == place || moved == 0 || moved == text.len() {
            return moved;
        }
        place = moved;
    }
}

/// Out of a sequence, if the place is inside one.
fn outside(text: Units<'_>, place: usize, toward: Toward) -> usize {
    let around = escapes::sequence_around(text, place).or_else(|| escapes::json_escape_around(text, place));
    match (around, toward) {
        (None, _) => place,
        (Some(sequence), Toward::Start) => sequence.start,
        (Some(sequence), Toward::End) => sequence.end,
    }
}

fn cluster_boundary(text: Units<'_>, place: usize, toward: Toward) -> usize {
    if place == 0 || place == text.len() || is_certain(text, place) {
        return place;
    }
    let start = certain_before(text, place);
    match toward {
        Toward::Start => last_boundary(text, start, place),
        Toward::End => first_boundary(text, start, place),
    }
}

/// Whether clusters part here, whatever comes before: the two characters do so by
/// themselves, and the first is none that only lengthens what it follows (as a joiner
/// does, behind which the context decides).
fn is_certain(text: Units<'_>, place: usize) -> bool {
    if text.parts_a_pair(place) {
        return false;
    }
    let (before, _) = text.char_before(place);
    let (after, _) = text.char_at(place);
    if before.is_ascii() && after.is_ascii() {
        return (before, after) != ('\r', '\n');
    }
    clusters(['a', before]) == 2 && clusters([before, after]) == 2
}

fn clusters(characters: [char; 2]) -> usize {
    let mut buffer = [0; 8];
    let first = characters[0].encode_utf8(&mut buffer).len();
    let length = first + characters[1].encode_utf8(&mut buffer[first..]).len();
    str::from_utf8(&buffer[..length]).map_or(0, |pair| pair.graphemes(true).count())
}

fn certain_before(text: Units<'_>, place: usize) -> usize {
    let mut start = place;
    while start > 0 {
        start = text.char_before(start).1;
        if start == 0 || is_certain(text, start) {
            return start;
        }
    }
    0
}

fn last_boundary(text: Units<'_>, start: usize, place: usize) -> usize {
    boundaries(text, start, place).take_while(|&boundary| boundary <= place).last().unwrap_or(start)
}

fn first_boundary(text: Units<'_>, start: usize, place: usize) -> usize {
    boundaries(text, start, place).find(|&boundary| boundary >= place).unwrap_or(text.len())
}

/// The places between clusters from a certain one on, up to the first beyond a place.
fn boundaries(text: Units<'_>, start: usize, place: usize) -> impl Iterator<Item = usize> {
    let mut window = String::new();
    let mut ends = vec![start];
    let mut at = start;
    // Up to the first certain place behind, so that the last cluster is whole.
    while at < text.len() && (at <= place || !is_certain(text, at)) {
        let (character, next) = text.char_at(at);
        window.push(character);
        ends.push(next);
        at = next;
    }
    let lengths: Vec<usize> = window.graphemes(true).map(|cluster| cluster.chars().count()).collect();
    let mut passed = 0;
    std::iter::once(start).chain(lengths.into_iter().map(move |length| {
        passed += length;
        ends[passed]
    }))
}
