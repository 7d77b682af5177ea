//! Cutting UTF-8 into blocks that can be counted apart.

/// Bytes that a sequence can have before its last one.
const LONGEST_START: usize = 3;

/// Where bytes can be cut at or shortly before a place, so that both sides count
/// apart what they count together.
///
/// A byte that leads a sequence is never part of what stands before it, valid or
/// not; and no sequence that was led earlier than three bytes before the place can
/// reach over it.
///
/// ```
/// use turnfit_core::scan;
///
/// let text = "да".as_bytes();
/// assert_eq!(scan::cut_before(text, 3), 2);
/// assert_eq!(scan::cut_before(b"plain", 3), 3);
/// ```
#[must_use]
pub fn cut_before(bytes: &[u8], place: usize) -> usize {
    let place = place.min(bytes.len());
    let first = place.saturating_sub(LONGEST_START);
    (first..place).rev().find(|&at| bytes[at] >= 0xC0).unwrap_or(place)
}
