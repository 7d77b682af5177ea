//! Every level weighs a text as its features do, in every encoding and in pieces.

use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;
use turnfit_core::features::{Features, INDICES, LETTER_PAIRS, LETTERS, SHAPES};
use turnfit_core::scan;
use turnfit_core::scan::weigh::{Weigher, Weights};

/// Weights that tell every count from every other.
fn weights() -> &'static Weights {
    static WEIGHTS: OnceLock<Weights> = OnceLock::new();
    WEIGHTS.get_or_init(|| made(&with_steps(numbers_below(1 << 14))))
}

/// Where the weights of letter pairs stand among all.
const AT_LETTER_PAIRS: usize = SHAPES.len() + 2 * LETTERS;

/// The numbers, but for letter pairs' weights as steps, so that a level can look them up.
fn with_steps(mut numbers: Vec<u16>) -> Vec<u16> {
    for number in &mut numbers[AT_LETTER_PAIRS..][..LETTER_PAIRS] {
        *number = *number % 256 * Weights::STEP;
    }
    numbers
}

fn made(numbers: &[u16]) -> Weights {
    Weights::new(numbers).expect("as many as there are")
}

/// The same, too wide for a level that looks them up.
fn wide_weights() -> &'static Weights {
    static WEIGHTS: OnceLock<Weights> = OnceLock::new();
    WEIGHTS.get_or_init(|| made(&numbers_below(1 << 16)))
}

fn numbers_below(bound: u32) -> Vec<u16> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 16) % bound) as u16
    };
    (0..Weights::LENGTH).map(|_| next()).collect()
}

/// The largest of which a level can look up the sums.
fn largest_weights() -> Weights {
    made(&with_steps(vec![i16::MAX as u16; Weights::LENGTH]))
}

/// One weight alone.
fn only(at: usize) -> Weights {
    let mut weights = vec![0; Weights::LENGTH];
    weights[at] = Weights::STEP;
    made(&weights)
}

fn decoded(bytes: &[u8]) -> Vec<u32> {
    String::from_utf8_lossy(bytes).chars().map(u32::from).collect()
}

fn assert_utf8(bytes: &[u8], weights: &Weights) {
    let expected = weights.of_features(&Features::of(decoded(bytes)));
    for level in scan::levels() {
        let mut weigher = Weigher::at(level, weights);
        weigher.utf8(bytes);
        assert_eq!(weigher.weight(), expected, "{level:?} {:?}", String::from_utf8_lossy(bytes));
    }
}

fn assert_units(code_points: &[u32], weights: &Weights) {
    let expected = weights.of_features(&Features::of(code_points.iter().copied()));
    for level in scan::levels() {
        let fill = |fill: &dyn Fn(&mut Weigher<'_>)| {
            let mut weigher = Weigher::at(level, weights);
            fill(&mut weigher);
            assert_eq!(weigher.weight(), expected, "{level:?} {code_points:?}");
        };
        fill(&|weigher| weigher.ucs4(code_points));
        if let Ok(units) = code_points.iter().map(|&unit| u16::try_from(unit)).collect::<Result<Vec<_>, _>>()
        {
            fill(&|weigher| weigher.ucs2(&units));
            let (head, tail) = units.split_at(units.len() / 3);
            fill(&|weigher| {
                weigher.ucs2(head);
                weigher.ucs2(tail);
            });
        }
        if let Ok(units) = code_points.iter().map(|&unit| u8::try_from(unit)).collect::<Result<Vec<_>, _>>() {
            fill(&|weigher| weigher.latin1(&units));
        }
    }
}

const SAMPLES: [&str; 11] = [
    "The agent reads a file, then 1234567 more of them: see CONTRIBUTING.md\n\n\n",
    "    if (x == 0xDEADBEEF) {\nlong = 1;\n#\n\t\treturn parseHTTPRequest(aB3dE9fG2h, x=7);  // --------\n",
    "Агент читает файл. ",
    "एजेंट फ़ाइल पढ़ता है। ",
    "代理读取文件，然后测试。",
    "에이전트는 파일을 읽는다. ",
    "élève à l'école, naïveté; Übergrößenträger",
    "🙂👩‍👩‍👧 a 🎉🎉 \u{10FFFF}\u{1D400}",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa========================>>>>>                    \r\n\r\n",
    "Aé 1é\né.é\n2.B 3\n4C \n5é6 é\nD7 8\n",
    "ﷺ\u{7FF}\u{800}\u{FFFD}\u{FFFF}",
];

#[test]
fn every_length_of_every_sample() {
    for sample in SAMPLES {
        let text = sample.repeat(1400 / sample.len() + 1);
        for length in (0..300).chain(500..530).chain(1010..1100) {
            let bytes = &text.as_bytes()[..length.min(text.len())];
            assert_utf8(bytes, weights());
            assert_units(&decoded(bytes), weights());
        }
    }
}

#[test]
fn every_alignment() {
    let text = SAMPLES.concat();
    for start in 0..=64 {
        assert_utf8(&text.as_bytes()[start..], weights());
        assert_units(&decoded(&text.as_bytes()[start..]), weights());
    }
}

#[test]
fn every_shape_alone() {
    let text = SAMPLES.concat().repeat(3);
    for (shape, name) in SHAPES.iter().enumerate() {
        assert!(Features::of(decoded(text.as_bytes())).shapes[shape] > 0, "{name}");
        assert_utf8(text.as_bytes(), &only(shape));
    }
}

#[test]
fn every_letter_behind_every_other() {
    let letters = || (b'a'..=b'z').chain(*b"AQZ `{9.\xC3");
    let pairs = letters().flat_map(|before| letters().flat_map(move |here| [before, here, b'-']));
    let text: Vec<u8> = pairs.collect();
    for start in 0..64 {
        assert_utf8(&text[start..], weights());
    }
    let features = Features::of(decoded(&text));
    for (pair, count) in features.letter_pairs.into_iter().enumerate() {
        assert!(count > 0, "{pair}");
        assert_utf8(&text, &only(AT_LETTER_PAIRS + pair));
    }
}

#[test]
fn the_edges_of_every_range() {
    for at in 0..INDICES as u32 {
        let code_point = if at < 0x800 {
            at
        } else if at < 0xC00 {
            (at - 0x800) << 6
        } else {
            (at - 0xC00) << 12
        };
        let edges = [code_point, code_point + 1, code_point.saturating_sub(1)];
        assert_units(&edges.repeat(30), weights());
        let text: String = edges.iter().filter_map(|&edge| char::from_u32(edge)).collect();
        assert_utf8(text.repeat(30).as_bytes(), weights());
    }
}

#[test]
fn a_longer_text_is_never_cheaper() {
    let text = SAMPLES.concat();
    let mut last = 0;
    for (end, _) in text.char_indices() {
        let mut weigher = Weigher::new(weights());
        weigher.utf8(&text.as_bytes()[..end]);
        let weight = weigher.weight();
        assert!(weight >= last);
        last = weight;
    }
}

fn mixtures() -> impl Strategy<Value = Vec<u8>> {
    let ragged = prop_oneof![
        6 => proptest::sample::select(SAMPLES.to_vec()).prop_map(|sample| sample.as_bytes().to_vec()),
        2 => vec(any::<u8>(), 0..9),
        2 => any::<char>().prop_map(|character| character.to_string().into_bytes()),
        1 => (any::<u8>(), 0..80usize).prop_map(|(byte, length)| vec![byte; length]),
    ];
    vec((ragged, 0..90usize), 0..30)
        .prop_map(|parts| parts.into_iter().flat_map(|(part, kept)| part.into_iter().take(kept)).collect())
}

#[test]
fn wide_weights_and_the_largest() {
    for sample in SAMPLES {
        for weights in [wide_weights(), &largest_weights()] {
            for length in (0..sample.len()).chain([sample.len() * 900]) {
                let bytes: Vec<u8> = sample.bytes().cycle().take(length).collect();
                assert_utf8(&bytes, weights);
                assert_units(&decoded(&bytes), weights);
            }
        }
    }
}

#[test]
fn stripes_of_ascii_between_others() {
    // Those that are weighed where they lie begin and end anywhere.
    let ascii = SAMPLES[1].repeat(30);
    for length in (400..460).chain(850..1000).chain([1300, 1400, 2500]) {
        for between in ["", "é", "好好", "x🙂"] {
            let text = [between, &ascii[..length], between, &ascii[length / 2..length], between].concat();
            assert_utf8(text.as_bytes(), weights());
            let latin1: Vec<u32> = text.chars().map(|character| u32::from(character).min(0xE9)).collect();
            assert_units(&latin1, weights());
        }
    }
}

#[test]
fn a_weight_can_be_asked_for_on_the_way() {
    for level in scan::levels() {
        let mut weigher = Weigher::at(level, weights());
        let mut text = String::new();
        for piece in SAMPLES.iter().cycle().take(60) {
            weigher.utf8(piece.as_bytes());
            text.push_str(piece);
            let whole = weights().of_features(&Features::of(text.chars().map(u32::from)));
            assert_eq!(weigher.weight(), whole, "{level:?} {text}");
        }
    }
}

#[test]
fn what_is_cut_or_damaged_at_every_place() {
    for sample in SAMPLES {
        let text = sample.repeat(300 / sample.len() + 1).into_bytes();
        for at in 0..text.len().min(160) {
            for byte in [0x00, 0x80, 0xBF, 0xC1, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xF5, 0xFF] {
                let mut damaged = text.clone();
                damaged[at] = byte;
                assert_utf8(&damaged, weights());
            }
            assert_utf8(&text[..at], weights());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes(bytes in mixtures()) {
        assert_utf8(&bytes, weights());
        assert_utf8(&bytes, wide_weights());
    }

    #[test]
    fn any_code_points(bytes in mixtures(), odd in vec(0..0x12_0000u32, 0..4)) {
        let mut code_points = decoded(&bytes);
        code_points.extend(odd);
        assert_units(&code_points, weights());
    }

    #[test]
    fn texts_in_pieces(pieces in vec(proptest::sample::select(SAMPLES.to_vec()), 0..60)) {
        let whole = weights().of_features(&Features::of(pieces.concat().chars().map(u32::from)));
        for level in scan::levels() {
            let mut weigher = Weigher::at(level, weights());
            for piece in &pieces {
                weigher.utf8(piece.as_bytes());
            }
            prop_assert_eq!(weigher.weight(), whole);
        }
    }
}
