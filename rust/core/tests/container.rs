//! Every vector level finds the end of a container where the plain loop does.

use proptest::prelude::*;
use turnfit_core::scan::{self, Level};

const PIECES: [&str; 16] = [
    "[",
    "]",
    "{",
    "}",
    ",",
    "\"",
    "\\",
    "\\\\",
    "\\\"",
    " ",
    "word",
    "я",
    "世",
    "🙂",
    "\u{5B00}",
    "a long run of words without a sign ",
];

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..200).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn the_same_at_every_level_and_in_every_width(text in texts(), opening in 0usize..40) {
        let text = format!("{}{text}", "[".repeat(opening));
        let latin: Vec<u8> = text.chars().map(|c| u32::from(c).min(0xFF) as u8).collect();
        let narrow: Vec<u16> = text.encode_utf16().collect();
        let wide: Vec<u32> = text.chars().map(u32::from).collect();
        for level in scan::levels() {
            prop_assert_eq!(level.container_latin1(&latin), Level::Scalar.container_latin1(&latin));
            prop_assert_eq!(level.container_ucs2(&narrow), Level::Scalar.container_ucs2(&narrow));
            prop_assert_eq!(level.container_ucs4(&wide), Level::Scalar.container_ucs4(&wide));
        }
    }
}

#[test]
fn runs_of_backslashes_escape_by_their_parity_across_blocks() {
    for run in 0..140 {
        for before in 0..70 {
            let text = format!("{}\"{}\"]\"]", "x".repeat(before), "\\".repeat(run));
            let wanted = Level::Scalar.container_latin1(text.as_bytes());
            for level in scan::levels() {
                assert_eq!(level.container_latin1(text.as_bytes()), wanted, "{run} behind {before}");
            }
        }
    }
}
