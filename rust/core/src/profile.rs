//! From counts to tokens.

use crate::script::ScriptCounts;

/// The weights by which text is priced: tokens per character and class, as
/// fractions over one denominator, so that every processor gives the same integers.
///
/// ```
/// use turnfit_core::{profile::Profile, scan};
///
/// assert_eq!(Profile::SCRIPT.tokens(scan::utf8("тест".as_bytes())), 2);
/// assert_eq!(Profile::SCRIPT.tokens(scan::utf8(b"tests")), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    ascii: u64,
    cjk: u64,
    other: u64,
    denominator: u64,
}

impl Profile {
    /// The rule of thumb: 4 ASCII characters a token, 1 Chinese, Japanese or
    /// Korean one, 2 of any other script.
    pub const SCRIPT: Profile = Profile { ascii: 1, cjk: 4, other: 2, denominator: 4 };

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
