//! Cuts of any text against what the whole text says of its clusters and sequences.

use proptest::prelude::*;
use turnfit_core::cut::{Cut, Toward, cut, safe};
use turnfit_core::measure::Measure;
use turnfit_core::profile::Rates;
use turnfit_core::units::Units;
use unicode_segmentation::UnicodeSegmentation;

const PARTS: [&str; 22] = [
    "a", "\n", "\r", " ", "\u{301}", "\u{200D}", "\u{FE0F}", "👨", "👩", "🇺", "🇦", "क", "\u{94D}", "ष", "ि",
    "ᄒ", "ᅡ", "ᆫ", "한", "世", "\u{600}", "я",
];

fn texts() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop::sample::select(&PARTS[..]), 0..80)
        .prop_map(|parts| parts.concat().chars().map(u32::from).collect())
}

/// Where clusters of the whole text part, in code points.
fn boundaries(units: &[u32]) -> Vec<usize> {
    let text: String = units.iter().filter_map(|&unit| char::from_u32(unit)).collect();
    let mut ends = vec![0];
    for cluster in text.graphemes(true) {
        ends.push(ends[ends.len() - 1] + cluster.chars().count());
    }
    ends
}

proptest! {
    #[test]
    fn the_nearest_boundary_is_that_of_the_whole_text(units in texts(), place in 0usize..200) {
        let text = Units::Ucs4(&units);
        let place = place.min(units.len());
        let all = boundaries(&units);
        let before = all.iter().copied().filter(|&end| end <= place).max().unwrap_or(0);
        let after = all.iter().copied().filter(|&end| end >= place).min().unwrap_or(units.len());
        prop_assert_eq!(safe(text, place, Toward::Start), before);
        prop_assert_eq!(safe(text, place, Toward::End), after);
    }

    #[test]
    fn head_and_tail_are_within_their_budgets(units in texts(), head in 0u64..40, tail in 0u64..40) {
        let text = Units::Ucs4(&units);
        for measure in [Measure::Characters, Measure::Tokens(Rates::SCRIPT)] {
            let (head, tail) = (measure.budget(head), measure.budget(tail));
            let Cut { head: end, tail: start } = cut(text, &measure, head, tail);
            prop_assert!(end <= start && start <= units.len());
            prop_assert!(measure.price(text.slice(0..end)) <= head);
            prop_assert!(measure.price(text.slice(start..units.len())) <= tail);
        }
    }

    #[test]
    fn as_many_units_as_a_budget_holds(units in texts(), budget in 0u64..9000, times in 1usize..200) {
        let units = units.repeat(times);
        let text = Units::Ucs4(&units);
        let measure = Measure::Tokens(Rates::SCRIPT);
        let budget = measure.budget(budget);
        let taken = measure.from_start(text, budget);
        prop_assert!(measure.price(text.slice(0..taken)) <= budget);
        prop_assert!(taken == units.len() || measure.price(text.slice(0..taken + 1)) > budget);
        let left = units.len() - measure.from_end(text, budget);
        prop_assert!(measure.price(text.slice(left..units.len())) <= budget);
        prop_assert!(left == 0 || measure.price(text.slice(left - 1..units.len())) > budget);
    }
}

#[test]
fn halves_of_a_pair_are_one_character_in_every_width() {
    let pairs: Vec<u16> = "🇺🇦🇺🇦".encode_utf16().collect();
    let wide: Vec<u32> = pairs.iter().copied().map(u32::from).collect();
    for text in [Units::Ucs2(&pairs), Units::Ucs4(&wide)] {
        for place in 0..=pairs.len() {
            assert_eq!(safe(text, place, Toward::Start), place / 4 * 4);
            assert_eq!(safe(text, place, Toward::End), place.div_ceil(4) * 4);
        }
    }
}

#[test]
fn a_sequence_for_a_terminal_is_never_entered() {
    for sequence in
        ["\x1B[38;2;255;0;0m", "\x1B]8;;https://a.b/c\x1B\\", "\x1B]0;title\x07", "\x1B(B", "\u{9B}1m"]
    {
        let text: Vec<u32> = format!("ab{sequence}{sequence}cd").chars().map(u32::from).collect();
        let length = sequence.chars().count();
        for place in 0..=text.len() {
            for toward in [Toward::Start, Toward::End] {
                let found = safe(Units::Ucs4(&text), place, toward);
                let inside = found.checked_sub(2).is_some_and(|at| at < 2 * length && at % length != 0);
                assert!(!inside, "{sequence:?} at {found}");
            }
        }
    }
}
