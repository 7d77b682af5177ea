//! What is kept of a text costs no more than it may, and safe places are safe: to look
//! from one for another finds the same one.

#![no_main]

use libfuzzer_sys::fuzz_target;
use turnfit_core::cut::{Toward, cut, safe, within};
use turnfit_core::measure::Measure;
use turnfit_core::profile::Rates;
use turnfit_core::units::Units;

fuzz_target!(|input: (u16, u16, &str)| {
    let (head, tail, told) = input;
    let points: Vec<u32> = told.chars().map(u32::from).collect();
    let halves: Vec<u16> = told.encode_utf16().collect();
    for text in [Units::Ucs4(&points), Units::Ucs2(&halves)] {
        for measure in [Measure::Characters, Measure::Tokens(Rates::SCRIPT)] {
            check(text, &measure, u64::from(head), u64::from(tail));
        }
        let place = usize::from(head).min(text.len());
        for toward in [Toward::Start, Toward::End] {
            let found = safe(text, place, toward);
            assert_eq!(safe(text, found, toward), found);
            assert!(!text.parts_a_pair(found));
        }
    }
});

fn check(text: Units<'_>, measure: &Measure, head: u64, tail: u64) {
    let near = within(text, measure, head, tail);
    assert!(measure.price(text.slice(0..near.head)) <= head);
    assert!(near.tail == near.head || measure.price(text.slice(near.tail..text.len())) <= tail);
    let made = cut(text, measure, head, tail);
    assert!(made.head <= near.head && made.head <= made.tail);
    assert!(made.tail == made.head || measure.price(text.slice(made.tail..text.len())) <= tail);
}
