//! From counts and weights to tokens.

use crate::scan::weigh::Weights;
use crate::script::ScriptCounts;

/// The rule of thumb: 4 ASCII characters a token, 1 Chinese, Japanese or Korean
/// one, 2 of any other script; in exact integers, so that every processor gives
/// the same.
///
/// ```
/// use turnfit_core::{profile::Rates, scan};
///
/// assert_eq!(Rates::SCRIPT.tokens(scan::utf8("тест".as_bytes())), 2);
/// assert_eq!(Rates::SCRIPT.tokens(scan::utf8(b"tests")), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    ascii: u64,
    cjk: u64,
    other: u64,
    denominator: u64,
}

impl Rates {
    /// The rates of the `script` profile.
    pub const SCRIPT: Rates = Rates { ascii: 1, cjk: 4, other: 2, denominator: 4 };

    /// What a text with these counts costs, in tokens, rounded up.
    #[must_use]
    pub fn tokens(&self, counts: ScriptCounts) -> u64 {
        self.weigh(counts).div_ceil(self.denominator)
    }

    /// What a text with these counts costs, in tokens, not rounded: exact, since
    /// the denominator is a power of two.
    #[must_use]
    pub fn exact_tokens(&self, counts: ScriptCounts) -> f64 {
        self.weigh(counts) as f64 / self.denominator as f64
    }

    fn weigh(&self, counts: ScriptCounts) -> u64 {
        self.ascii * counts.ascii + self.cjk * counts.cjk + self.other * counts.other
    }
}

/// A weight in tokens, rounded up.
///
/// ```
/// use turnfit_core::{profile::tokens_of_weight, scan::weigh::Weights};
/// assert_eq!(tokens_of_weight(Weights::UNIT + 1), 2);
/// ```
#[must_use]
pub fn tokens_of_weight(weight: u64) -> u64 {
    weight.div_ceil(Weights::UNIT)
}
