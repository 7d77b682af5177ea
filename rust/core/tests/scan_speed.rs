//! How fast every level scans, as a share of what the machine can read.
//!
//! ```sh
//! cargo test --release -p turnfit-core --test scan_speed -- --ignored --nocapture
//! ```
//!
//! Absolute times say little on a shared machine, so that each round measures
//! everything once, beside a plain sum of 64-bit words over the same number of
//! bytes, and the table gives medians of the rounds.

use std::hint::black_box;
use std::time::Instant;

use turnfit_core::scan::{self, Level};
use turnfit_core::script::ScriptCounts;

const OUT_OF_CACHE: usize = 64 << 20;
const IN_CACHE: usize = 256 << 10;
const ROUNDS: usize = 15;

const TEXTS: [(&str, &str); 10] = [
    ("ascii", "The agent reads a file, edits it, and runs the tests again.\n"),
    ("russian", "Агент читает файл, правит его и снова запускает проверки.\n"),
    ("greek+é", "Ο πράκτορας διαβάζει, naïve café déjà vu — l’œuvre.\n"),
    ("hindi", "एजेंट फ़ाइल पढ़ता है, उसे बदलता है और फिर से परीक्षण चलाता है।\n"),
    ("chinese", "代理读取文件，进行修改，然后再次运行测试。“上下文”不会溢出！\n"),
    ("korean", "에이전트는 파일을 읽고, 고치고, 다시 시험을 돌린다.\n"),
    ("emoji", "🙂🚀❤️👩‍💻🔥🎉✅🇩🇪👍🏽"),
    ("buttons", "🈯️🈲🉐🈺 ￥￦ ᅠ"),
    ("code", "    let x = f(a, b)?; // проверка: 确认 “ok” — naïve ✓\n    if x > 0 { return Ok(x); }\n"),
    ("mojibake", "caf\u{FFFD}\u{FFFD} \u{FFFD}x\u{FFFD}\n"),
];

#[test]
#[ignore = "prints figures; takes a minute in release, far longer without"]
fn share_of_the_read_limit_out_of_cache() {
    println!("UTF-8, {} MiB", OUT_OF_CACHE >> 20);
    report_utf8(OUT_OF_CACHE, 1);
}

#[test]
#[ignore = "prints figures; takes a minute in release, far longer without"]
fn share_of_the_read_limit_in_cache() {
    println!("UTF-8, {} KiB", IN_CACHE >> 10);
    report_utf8(IN_CACHE, 64);
}

#[test]
#[ignore = "prints figures; takes a minute in release, far longer without"]
fn wide_units_in_cache() {
    println!("UCS-2 and UCS-4, {} KiB", IN_CACHE >> 10);
    report_units(IN_CACHE, 64);
}

#[test]
#[ignore = "prints figures; takes a minute in release, far longer without"]
fn wide_units_out_of_cache() {
    println!("UCS-2 and UCS-4, {} MiB", OUT_OF_CACHE >> 20);
    report_units(OUT_OF_CACHE, 1);
}

#[test]
#[ignore = "prints figures; takes a minute in release, far longer without"]
fn short_texts() {
    println!("nanoseconds a text, by units");
    for (name, text) in [TEXTS[0], TEXTS[1], TEXTS[4], TEXTS[6]] {
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        let ucs2: Vec<u16> = points.iter().map(|&point| point as u16).collect();
        for length in [1, 7, 15, 16, 20, 31, 32, 50, 64, 65, 90, 128, 150, 200, 1000] {
            print!("{name:>9} {length:>5}");
            let (bytes, ucs2) = (repeat(text.as_bytes(), length), repeat(&ucs2, length));
            report_short("any", &|| scan::utf8(black_box(&bytes)), &|| scan::ucs2(black_box(&ucs2)));
            for level in scan::levels().skip(1) {
                let name = format!("{level:?}");
                report_short(&name, &|| level.utf8(black_box(&bytes)), &|| level.ucs2(black_box(&ucs2)));
            }
            println!();
        }
    }
}

fn report_short(level: &str, bytes: &dyn Fn() -> ScriptCounts, ucs2: &dyn Fn() -> ScriptCounts) {
    print!(" | {level} {:>5.1} B {:>5.1} UCS-2", nanoseconds(bytes), nanoseconds(ucs2));
}

/// The least of some rounds: short ones are seldom disturbed.
fn nanoseconds(scan: &dyn Fn() -> ScriptCounts) -> f64 {
    let round = || {
        let start = Instant::now();
        for _ in 0..20_000 {
            black_box(scan());
        }
        start.elapsed().as_secs_f64() * 1e9 / 20_000.0
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

fn report_units(size: usize, passes: usize) {
    let words = words(size);
    for (name, text) in TEXTS {
        let points: Vec<u32> = text.chars().map(u32::from).collect();
        let ucs2: Vec<u16> = points.iter().map(|&point| point as u16).collect();
        let ucs2 = repeat(&ucs2, size / 2);
        let ucs4 = repeat(&points, size / 4);
        for level in scan::levels() {
            let two: &dyn Fn() -> u64 = &|| level.ucs2(black_box(&ucs2)).cjk;
            let four: &dyn Fn() -> u64 = &|| level.ucs4(black_box(&ucs4)).cjk;
            report(name, level, "ucs2", size, passes, &words, two);
            report(name, level, "ucs4", size, passes, &words, four);
        }
    }
}

fn report_utf8(size: usize, passes: usize) {
    let words = words(size);
    let mut texts: Vec<(&str, Vec<u8>)> =
        TEXTS.iter().map(|&(name, text)| (name, repeat(text.as_bytes(), size))).collect();
    texts.push(("random", noise(size)));
    for (name, bytes) in &texts {
        for level in scan::levels() {
            let scan: &dyn Fn() -> u64 = &|| level.utf8(black_box(bytes)).cjk;
            report(name, level, "utf8", size, passes, &words, scan);
        }
    }
}

fn report(
    name: &str,
    level: Level,
    kind: &str,
    size: usize,
    passes: usize,
    words: &[u64],
    scan: &dyn Fn() -> u64,
) {
    let rounds = if level == Level::Scalar { 3 } else { ROUNDS };
    let mut shares = Vec::new();
    let mut rates = Vec::new();
    for _ in 0..rounds {
        let read = seconds(passes, &|| black_box(words).iter().sum());
        let scan = seconds(passes, scan);
        shares.push(read / scan);
        rates.push((size * passes) as f64 / scan / 1e9);
    }
    println!(
        "{kind} {name:>9} {:>7} {:>6.2} GB/s {:>5.2} of read",
        format!("{level:?}"),
        median(rates),
        median(shares)
    );
}

fn seconds(passes: usize, work: &dyn Fn() -> u64) -> f64 {
    let start = Instant::now();
    for _ in 0..passes {
        black_box(work());
    }
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn repeat<T: Clone>(unit: &[T], length: usize) -> Vec<T> {
    unit.iter().cloned().cycle().take(length).collect()
}

fn words(size: usize) -> Vec<u64> {
    noise(size).chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())).collect()
}

fn noise(size: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..size).map(|_| next()).collect()
}
