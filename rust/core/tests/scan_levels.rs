//! Every level that the machine has gives what the scalar oracle gives, and the
//! oracle what Rust's and CPython's own decoders give.

use proptest::collection::vec;
use proptest::prelude::*;
use turnfit_core::scan::{self, Level};
use turnfit_core::script::{CJK_RANGES, Script, ScriptCounts, classify};

/// Bytes, and the classes of `bytes.decode("utf-8", "replace")` in CPython 3.11:
/// ascii, cjk, other.
const CPYTHON: [(&[u8], u64, u64, u64); 60] = [
    (b"\x80", 0, 0, 1),
    (b"\xC0\x80", 0, 0, 2),
    (b"\xC1\xBF", 0, 0, 2),
    (b"\xC2", 0, 0, 1),
    (b"\xC2A", 1, 0, 1),
    (b"\xC3\xA9", 0, 0, 1),
    (b"\xE0\x80\x80", 0, 0, 3),
    (b"\xE0\x9F\xBF", 0, 0, 3),
    (b"\xE0\xA0", 0, 0, 1),
    (b"\xE0\xA0A", 1, 0, 1),
    (b"\xE0\xA0\x80", 0, 0, 1),
    (b"\xE2\x82", 0, 0, 1),
    (b"\xE2\x82A", 1, 0, 1),
    (b"\xE2(\xA1", 1, 0, 2),
    (b"\xE2\x82\xE2\x82\xAC", 0, 0, 2),
    (b"\xED\x9F\xBF", 0, 1, 0),
    (b"\xED\xA0\x80", 0, 0, 3),
    (b"\xED\xBF\xBF", 0, 0, 3),
    (b"\xED\x9F", 0, 0, 1),
    (b"\xEE\x80\x80", 0, 0, 1),
    (b"\xEF\xBF", 0, 0, 1),
    (b"\xF0\x80\x80\x80", 0, 0, 4),
    (b"\xF0\x8F\xBF\xBF", 0, 0, 4),
    (b"\xF0\x90\x80", 0, 0, 1),
    (b"\xF0\x90\x80A", 1, 0, 1),
    (b"\xF0\x9F\x99", 0, 0, 1),
    (b"\xF0\x9F\xF0\x9F\x99\x82", 0, 0, 2),
    (b"\xF0(\x8C\xBC", 1, 0, 3),
    (b"\xF0\x90(\xBC", 1, 0, 2),
    (b"\xF0(\x8C(", 2, 0, 2),
    (b"\xF4\x8F\xBF\xBF", 0, 0, 1),
    (b"\xF4\x90\x80\x80", 0, 0, 4),
    (b"\xF4\x8F\xBF", 0, 0, 1),
    (b"\xF4\x8F", 0, 0, 1),
    (b"\xF5\x80\x80\x80", 0, 0, 4),
    (b"\xF8\x88\x80\x80\x80", 0, 0, 5),
    (b"\xFC\x84\x80\x80\x80\x80", 0, 0, 6),
    (b"\xFE", 0, 0, 1),
    (b"\xFF\xFF", 0, 0, 2),
    (b"\x80\xBF\x80", 0, 0, 3),
    (b"\xF0\x9F\x99\x82\x80", 0, 0, 2),
    (b"\xE4\xB8\xAD\xB8\xAD", 0, 1, 2),
    (b"\xE4\xB8", 0, 0, 1),
    (b"\xE4\xB8\xE4\xB8\xAD", 0, 1, 1),
    (b"\xF0\xA0\x80", 0, 0, 1),
    (b"\xF0\xA0\x80\x80", 0, 1, 0),
    (b"\xF0\xA0\x80\xE4\xB8\xAD", 0, 1, 1),
    (b"\xF0\xA0\xE4\xB8\xAD", 0, 1, 1),
    (b"\xC3\xE4\xB8\xAD", 0, 1, 1),
    (b"\xF0\xF0\xF0\xA0\x80\x80", 0, 1, 2),
    (b"\xF1\x80\x80\x80\x80", 0, 0, 2),
    (b"\xF3\xBF\xBF\xBF", 0, 0, 1),
    (b"a\xE4b\xB8c\xAD", 3, 0, 3),
    (b"\xF0\x9F\x88", 0, 0, 1),
    (b"\xF0\x9F\x88\x80", 0, 1, 0),
    (b"\xF0\x9F\x87\xBF", 0, 0, 1),
    (b"\xEF\xBF\xAF", 0, 1, 0),
    (b"\xEF\xBF\xB0", 0, 0, 1),
    (b"\xEF\xB8\x8F", 0, 0, 1),
    (b"\xEF\xB8\x90", 0, 1, 0),
];

const SAMPLES: [&str; 8] = [
    "The agent reads a file. ",
    "Агент читает файл. ",
    "एजेंट फ़ाइल पढ़ता है। ",
    "代理读取文件，然后测试。",
    "에이전트는 파일을 읽는다. ",
    "ｶﾀｶﾅ￥￦\u{FFFD}\u{FE10}\u{FE4F}\u{A960}",
    "🙂❤️🇩🇪👩‍💻🈯🈲𠀀𛀀𛅯\u{1AFF0}",
    "let x = “naïve” — 确认 ✓ ok\n",
];

#[test]
fn oracle_agrees_with_cpython_on_invalid_sequences() {
    for (bytes, ascii, cjk, other) in CPYTHON {
        let expected = ScriptCounts { ascii, cjk, other };
        assert_eq!(Level::Scalar.utf8(bytes), expected, "{bytes:02X?}");
    }
}

#[test]
fn levels_agree_on_invalid_sequences_wherever_they_stand() {
    for (bytes, ..) in CPYTHON {
        for before in 0..=130 {
            let text = ["中".repeat(before / 3).as_bytes(), &b"aa"[..before % 3], bytes].concat();
            assert_utf8_agrees(&text);
            assert_utf8_agrees(&[text.as_slice(), "б".repeat(70).as_bytes()].concat());
        }
    }
}

#[test]
fn levels_agree_on_sequences_that_ascii_interrupts() {
    let beginnings: [&[u8]; 5] = [b"\xC3", b"\xE4\xB8", b"\xF0\x9F\x88", b"\xF0\xA0\x80", b"\xEF\xBF"];
    for beginning in beginnings {
        for before in 60..=66 {
            for between in 0..=200 {
                let text = [&vec![b'a'; before], beginning, &vec![b'a'; between], b"\x80\x80\x80"].concat();
                assert_utf8_agrees(&text);
            }
        }
    }
}

#[test]
fn levels_agree_on_every_code_point_in_every_encoding() {
    for start in (0..0x11_0000).step_by(0x100) {
        let points: Vec<u32> = (start..start + 0x100).collect();
        let text: String = points.iter().copied().filter_map(char::from_u32).collect();
        assert_utf8_agrees(text.as_bytes());
        assert_eq!(Level::Scalar.utf8(text.as_bytes()), by_char(&text));
        assert_ucs4_agrees(&points);
        if start < 0x1_0000 {
            assert_ucs2_agrees(&points.iter().map(|&point| point as u16).collect::<Vec<_>>());
        }
    }
}

#[test]
fn levels_agree_at_the_edges_of_every_range_alone() {
    let edges =
        CJK_RANGES.into_iter().chain([(0, 0x7F), (0x80, 0x7FF), (0x800, 0xFFFF), (0x1_0000, 0x10_FFFF)]);
    for edge in edges.flat_map(|(first, last)| [first.saturating_sub(1), first, last, last + 1]) {
        for length in [1, 2, 21, 22, 63, 64, 65, 129] {
            assert_ucs4_agrees(&vec![edge; length]);
            if let Ok(unit) = u16::try_from(edge) {
                assert_ucs2_agrees(&vec![unit; length]);
            }
            if let Some(point) = char::from_u32(edge) {
                assert_utf8_agrees(point.to_string().repeat(length).as_bytes());
            }
        }
    }
}

#[test]
fn levels_agree_at_every_length_and_alignment() {
    for sample in SAMPLES {
        let text: Vec<u8> = sample.bytes().cycle().take(300 + 64 + 64).collect();
        let start = text.as_ptr().align_offset(64).min(64);
        for alignment in 0..64 {
            for length in 0..=300 {
                assert_utf8_agrees(&text[start + alignment..][..length]);
            }
        }
    }
}

#[test]
fn levels_agree_on_strings_at_every_length_and_offset() {
    for sample in SAMPLES {
        let ucs4: Vec<u32> = sample.chars().map(u32::from).cycle().take(340).collect();
        let ucs2: Vec<u16> = ucs4.iter().map(|&point| point as u16).collect();
        let latin1: Vec<u8> = ucs4.iter().map(|&point| point as u8).collect();
        for offset in 0..40 {
            for length in 0..=300 {
                assert_latin1_agrees(&latin1[offset..][..length]);
                assert_ucs2_agrees(&ucs2[offset..][..length]);
                assert_ucs4_agrees(&ucs4[offset..][..length]);
            }
        }
    }
}

#[test]
fn levels_agree_on_every_pair_of_bytes() {
    for pair in 0..=u16::MAX {
        let [lead, second] = pair.to_be_bytes();
        let mut text = [0x80; 9];
        (text[1], text[2]) = (lead, second);
        assert_utf8_agrees(&text);
        text[4] = b'a';
        assert_utf8_agrees(&text);
    }
}

#[test]
fn environment_chooses_the_level() {
    for level in scan::levels() {
        assert_eq!(level_of_process(&format!("{level:?}").to_lowercase()), format!("{level:?}"));
    }
    let best = scan::levels().next_back().unwrap_or(Level::Scalar);
    assert_eq!(level_of_process("abacus"), format!("{best:?}"));
}

/// Runs [`prints_the_level`] in a process of its own.
fn level_of_process(wanted: &str) -> String {
    let program = std::env::current_exe().expect("a test knows its program");
    let output = std::process::Command::new(program)
        .args(["--exact", "prints_the_level", "--ignored", "--nocapture"])
        .env("TURNFIT_SIMD", wanted)
        .output()
        .expect("a test can run its program");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let level = output.split("level: ").nth(1).and_then(|rest| rest.lines().next());
    level.unwrap_or_default().to_owned()
}

#[test]
#[ignore = "run by environment_chooses_the_level"]
fn prints_the_level() {
    println!("level: {:?}", scan::level());
}

proptest! {
    #[test]
    fn levels_agree_on_mixed_scripts(text in mixed_text()) {
        assert_utf8_agrees(text.as_bytes());
        prop_assert_eq!(Level::Scalar.utf8(text.as_bytes()), by_char(&text));
    }

    #[test]
    fn levels_agree_on_any_bytes(bytes in vec(any::<u8>(), 0..600)) {
        assert_utf8_agrees(&bytes);
        assert_latin1_agrees(&bytes);
    }

    #[test]
    fn levels_agree_on_bytes_that_begin_or_continue_sequences(
        bytes in vec(0x80_u8..=0xFF, 0..600),
    ) {
        assert_utf8_agrees(&bytes);
    }

    #[test]
    fn levels_agree_on_text_with_errors_in_it(
        text in mixed_text(),
        errors in vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut bytes = text.into_bytes();
        for (place, byte) in errors {
            if !bytes.is_empty() {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
        }
        assert_utf8_agrees(&bytes);
    }

    #[test]
    fn rows_count_as_each_alone(rows in vec(row(), 0..90), before in row(), after in row()) {
        let mut ends = vec![before.len()];
        let mut bytes = before;
        for row in &rows {
            bytes.extend(row);
            ends.push(bytes.len());
        }
        bytes.extend(after);
        let expected: Vec<_> = rows.iter().map(|row| Level::Scalar.utf8(row)).collect();
        for level in scan::levels() {
            let mut counts = vec![ScriptCounts::default(); rows.len()];
            level.utf8_rows(&bytes, &ends, &mut counts);
            prop_assert_eq!(&counts, &expected, "{:?} {:02X?}", level, rows);
        }
        let mut counts = vec![ScriptCounts::default(); rows.len()];
        scan::utf8_rows(&bytes, &ends, &mut counts);
        prop_assert_eq!(counts, expected);
        prop_assert_eq!(scan::is_ascii(&bytes, ends[0]..bytes.len()), bytes[ends[0]..].is_ascii());
    }

    #[test]
    fn levels_agree_on_any_units(units in vec(any::<u16>(), 0..600), points in vec(0_u32..0x11_0000, 0..300)) {
        assert_ucs2_agrees(&units);
        assert_ucs4_agrees(&points);
    }

    #[test]
    fn encodings_of_one_text_agree(text in mixed_text()) {
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        prop_assert_eq!(scan::utf8(text.as_bytes()), scan::ucs4(&points));
        if let Ok(units) = points.iter().map(|&point| u16::try_from(point)).collect::<Result<Vec<_>, _>>() {
            prop_assert_eq!(scan::utf8(text.as_bytes()), scan::ucs2(&units));
        }
    }
}

/// Text, or what may begin or go on with a sequence from another row.
fn row() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => "[ -~]{0,90}".prop_map(String::into_bytes),
        2 => mixed_text().prop_map(String::into_bytes),
        2 => vec(0x80_u8..=0xFF, 0..6),
        1 => prop::sample::select(CPYTHON.to_vec()).prop_map(|(bytes, ..)| bytes.to_vec()),
        1 => prop::sample::select(SAMPLES.to_vec()).prop_map(|text| text.repeat(12).into_bytes()),
    ]
}

fn mixed_text() -> impl Strategy<Value = String> {
    let edge = prop::sample::select(CJK_RANGES.to_vec())
        .prop_flat_map(|(first, last)| prop::sample::select(vec![first - 1, first, last, last + 1]))
        .prop_map(|point| char::from_u32(point).unwrap_or('?').to_string());
    let part = prop_oneof![
        3 => prop::sample::select(SAMPLES.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => edge,
        1 => "[ -~]{0,90}",
    ];
    vec(part, 0..25).prop_map(|parts| parts.concat())
}

fn by_char(text: &str) -> ScriptCounts {
    let mut counts = ScriptCounts::default();
    for point in text.chars() {
        match classify(point.into()) {
            Script::Ascii => counts.ascii += 1,
            Script::Cjk => counts.cjk += 1,
            Script::Other => counts.other += 1,
        }
    }
    counts
}

fn assert_utf8_agrees(bytes: &[u8]) {
    let expected = by_char(&String::from_utf8_lossy(bytes));
    assert_eq!(scan::utf8(bytes), expected, "{bytes:02X?}");
    for level in scan::levels() {
        assert_eq!(level.utf8(bytes), expected, "{level:?} {bytes:02X?}");
    }
}

fn assert_latin1_agrees(units: &[u8]) {
    let expected = Level::Scalar.latin1(units);
    for level in scan::levels() {
        assert_eq!(level.latin1(units), expected, "{level:?} {units:02X?}");
    }
}

fn assert_ucs2_agrees(units: &[u16]) {
    let expected = Level::Scalar.ucs2(units);
    for level in scan::levels() {
        assert_eq!(level.ucs2(units), expected, "{level:?} {units:04X?}");
    }
}

fn assert_ucs4_agrees(units: &[u32]) {
    let expected = Level::Scalar.ucs4(units);
    for level in scan::levels() {
        assert_eq!(level.ucs4(units), expected, "{level:?} {units:04X?}");
    }
}
