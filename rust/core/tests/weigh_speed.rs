//! How fast every level weighs, beside what the machine can read.
//!
//! ```sh
//! cargo test --release -p turnfit-core --test weigh_speed -- --ignored --nocapture --test-threads=1
//! ```
//!
//! The least of many short rounds: those are seldom disturbed on a shared machine. A
//! plain sum of as many bytes is measured by turns with them.

use std::hint::black_box;
use std::time::Instant;

use turnfit_core::scan::weigh::{Weigher, Weights};
use turnfit_core::scan::{self, Level};

const SIZE: usize = 256 << 10;
const ROUNDS: usize = 100;

const TEXTS: [(&str, &str); 9] = [
    (
        "English",
        "The parser keeps one token of lookahead and never backtracks. Every request is logged with \
         its latency and the size of its body.\nWe moved the retry loop out of the client, since two \
         callers had their own: that is 14 % less. ",
    ),
    (
        "code",
        "def read(path: Path) -> bytes:\n    return path.read_bytes()\n\nfor (const [key, value] of \
         Object.entries(head)) {\n        out.push(`${key}: ${value}`);\n}\nSELECT id, name FROM users \
         WHERE deleted_at IS NULL LIMIT 50;\n",
    ),
    (
        "log",
        "2026-03-01T12:45:07.123Z INFO  [worker-17] GET /api/v2/users/93f1a2c0 200 14ms 0x7ffe21 \
         --------\n",
    ),
    (
        "German",
        "Die Änderung wäre größer als nötig; über die Prüfung hinaus müssen wir für jede Zeile \
         „Gründe“ nennen, sonst hört es nie auf. ",
    ),
    (
        "Russian",
        "Разборщик хранит один символ наперёд и никогда не возвращается. Каждый запрос записывается \
         вместе с задержкой — и размером тела. ",
    ),
    (
        "Chinese",
        "解析器只向前看一个符号，从不回溯。每个请求都会连同延迟和正文大小一起记录下来。重试循环已经从\
         客户端移出，因为两个调用方各有自己的一份（编号 42）。\n",
    ),
    ("Korean", "에이전트는 파일을 읽고, 고치고, 다시 시험을 돌린다. 세 번째 시험은 실패한다.\n"),
    ("Hindi", "पार्सर केवल एक चिह्न आगे देखता है और कभी पीछे नहीं लौटता। हर अनुरोध दर्ज होता है। "),
    ("emoji", "🎉🚀 shipped! 👩‍💻👨‍👩‍👧‍👦 🔥🔥🔥 🇺🇦🇯🇵🇧🇷 ✅ 🟢 done 🤔…👀 ❤️‍🔥👍🏽\n"),
];

/// Code with comments in other scripts.
const MIXED: &str = "def read(path: Path) -> bytes:\n    return path.read_bytes()\n\n\
    for (const [key, value] of Object.entries(head)) {\n  out.push(`${key}: ${value}`);\n}\n\
    \x20   # Порядок важен: сначала закрываем поток, затем удаляем файл.\n\
    impl Drop for Guard {\n    fn drop(&mut self) {\n        self.lock.release();\n    }\n}\n\
    \x20   // 这里不能用缓存，见 issue #214\n\
    log.warning(\"retry %d of %d after %.1f s\", attempt, limit, delay)\n\
    SELECT id, name FROM users WHERE deleted_at IS NULL ORDER BY id LIMIT 50;\n\
    raise ValueError(f\"größe must be positive, not {size!r}\")\n";

/// The pieces of a text in an order that can't be learnt by heart.
fn shuffled(text: &str, ends: &[char], length: usize) -> String {
    let pieces: Vec<_> = text.split_inclusive(ends).collect();
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        pieces[(state >> 33) as usize % pieces.len()]
    };
    std::iter::from_fn(|| Some(next())).flat_map(str::chars).take(length).collect()
}

fn weights() -> Weights {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 19) as u16
    };
    // Multiples of a step, as levels look them up.
    let weights: Vec<u16> =
        (0..Weights::LENGTH).map(|_| next() / 2 / Weights::STEP * Weights::STEP).collect();
    Weights::new(&weights).expect("as many as there are")
}

#[test]
#[ignore = "prints figures; takes a minute in release, far longer without"]
fn texts_in_cache() {
    let weights = weights();
    let words: Vec<u64> = (0..SIZE as u64 / 8).collect();
    println!("GB/s of UTF-8, by route; last: a plain sum");
    let texts = TEXTS.map(|(name, text)| (name, shuffled(text, &[' ', '，', '。'], SIZE / 2)));
    for (name, text) in texts.into_iter().chain([("mixed", shuffled(MIXED, &['\n'], 4 * SIZE))]) {
        for level in scan::levels().rev() {
            print!("{name:>8} {:>10}", format!("{level:?}"));
            for (route, work) in routes(&text, level, &weights) {
                print!(" {route} {:>6.2}", rate(text.len(), &*work));
            }
            println!(" sum {:>6.2}", rate(SIZE, &|| black_box(&words).iter().sum()));
        }
    }
}

type Work<'a> = Box<dyn Fn() -> u64 + 'a>;

fn routes<'a>(text: &'a str, level: Level, weights: &'a Weights) -> Vec<(&'static str, Work<'a>)> {
    let points: Vec<u32> = text.chars().map(u32::from).collect();
    let last = points.iter().copied().max().unwrap_or_default();
    let mut routes: Vec<(&'static str, Work<'a>)> =
        vec![("utf8", Box::new(move || weighed(level, weights, |to| to.utf8(text.as_bytes()))))];
    if last < 0x100 {
        let units: Vec<u8> = points.iter().map(|&point| point as u8).collect();
        routes.push(("str1", Box::new(move || weighed(level, weights, |to| to.latin1(&units)))));
    } else if last < 0x1_0000 {
        let units: Vec<u16> = points.iter().map(|&point| point as u16).collect();
        routes.push(("str2", Box::new(move || weighed(level, weights, |to| to.ucs2(&units)))));
    } else {
        routes.push(("str4", Box::new(move || weighed(level, weights, |to| to.ucs4(&points)))));
    }
    routes
}

fn weighed(level: Level, weights: &Weights, fill: impl Fn(&mut Weigher<'_>)) -> u64 {
    let mut weigher = Weigher::at(level, weights);
    fill(&mut weigher);
    weigher.weight()
}

fn rate(bytes: usize, work: &dyn Fn() -> u64) -> f64 {
    bytes as f64 / seconds(ROUNDS, 1, work) / 1e9
}

fn seconds(rounds: usize, passes: usize, work: &dyn Fn() -> u64) -> f64 {
    let round = || {
        let start = Instant::now();
        for _ in 0..passes {
            black_box(work());
        }
        start.elapsed().as_secs_f64() / passes as f64
    };
    (0..rounds).map(|_| round()).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "prints figures; takes a minute in release, far longer without"]
fn short_texts() {
    let weights = weights();
    println!("nanoseconds a text, by characters");
    for (name, text) in [TEXTS[0], TEXTS[4], TEXTS[5]] {
        for length in [1, 7, 20, 40, 64, 65, 100, 200, 400, 1000] {
            let text: String = text.chars().cycle().take(length).collect();
            for level in scan::levels().rev().take(3) {
                print!("{name:>8} {length:>4} {:>10}", format!("{level:?}"));
                for (route, work) in routes(&text, level, &weights) {
                    print!(" {route} {:>7.1}", 1e9 * seconds(ROUNDS, 1000, &*work));
                }
            }
            println!();
        }
    }
}
