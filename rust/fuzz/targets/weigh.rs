//! Every level weighs what the scalar one weighs, in one piece or in two; more text is
//! never cheaper.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use turnfit_core::scan::weigh::{Weigher, Weights};
use turnfit_core::scan::{self, Level};

static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    let weights: Vec<u16> = (0..Weights::LENGTH).map(|at| (at * 7919 % 8191) as u16).collect();
    Weights::new(&weights).expect("as many as there are")
});

fuzz_target!(|input: (usize, &[u8])| {
    let (place, bytes) = input;
    let narrow: Vec<u16> = bytes.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
    let wide: Vec<u32> = narrow.iter().map(|&unit| u32::from(unit) * 33).collect();
    for level in scan::levels() {
        let told = |weigh: &dyn Fn(&mut Weigher<'_>)| [level, Level::Scalar].map(|at| weighed(at, weigh));
        for [here, scalar] in [
            told(&|to| to.utf8(bytes)),
            told(&|to| to.latin1(bytes)),
            told(&|to| to.ucs2(&narrow)),
            told(&|to| to.ucs4(&wide)),
        ] {
            assert_eq!(here, scalar, "{level:?}");
        }
        let (first, second) = bytes.split_at(place % (bytes.len() + 1));
        let whole = weighed(level, &|to| to.latin1(bytes));
        let in_two = |to: &mut Weigher<'_>| [first, second].into_iter().for_each(|part| to.latin1(part));
        assert_eq!(weighed(level, &in_two), whole, "{level:?}");
        assert!(weighed(level, &|to| to.latin1(first)) <= whole, "{level:?}");
    }
});

fn weighed(level: Level, weigh: &dyn Fn(&mut Weigher<'_>)) -> u64 {
    let mut weigher = Weigher::at(level, &WEIGHTS);
    weigh(&mut weigher);
    weigher.weight()
}
