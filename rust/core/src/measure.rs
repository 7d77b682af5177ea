//! What a part of a text costs, in fixed point: whatever sets a limit.

use std::sync::Arc;

use crate::profile::Rates;
use crate::scan::weigh::{Weigher, Weights};
use crate::script::ScriptCounts;
use crate::units::Units;

/// Steps of a token where it is priced by rates.
const STEPS: u64 = 256;

/// Units priced at once while a limit is looked for.
const BLOCK: usize = 4096;

/// What is measured of a text: its characters, or its tokens under a profile.
///
/// Prices add up over parts and never fall when a text grows, which is all that
/// finding a limit needs: another way to price is another variant here.
///
/// ```
/// use turnfit_core::measure::Measure;
/// use turnfit_core::profile::Rates;
/// use turnfit_core::units::Units;
///
/// let tokens = Measure::Tokens(Rates::SCRIPT);
/// let text = Units::Ascii(b"what costs five tokens");
/// assert_eq!(tokens.from_start(text, tokens.budget(2)), 8);
/// assert_eq!(tokens.from_end(text, tokens.budget(2)), 8);
/// ```
#[derive(Clone, Debug)]
pub enum Measure {
    /// A step is a character.
    Characters,
    /// A step is a 256th of a token.
    Tokens(Rates),
    /// A step is the unit of the weights.
    Weighed(Arc<Weights>),
}

impl Measure {
    /// A limit in steps.
    #[must_use]
    pub fn budget(&self, limit: u64) -> u64 {
        match self {
            Measure::Characters => limit,
            Measure::Tokens(_) => limit.saturating_mul(STEPS),
            Measure::Weighed(_) => limit.saturating_mul(Weights::UNIT),
        }
    }

    /// What a text costs, in steps.
    #[must_use]
    pub fn price(&self, text: Units<'_>) -> u64 {
        match self {
            Measure::Characters => text.len() as u64,
            Measure::Tokens(rates) => (rates.exact_tokens(text.counts()) * STEPS as f64).ceil() as u64,
            Measure::Weighed(weights) => weighed(weights, |weigher| text.weigh(weigher)),
        }
    }

    /// What a text in UTF-8 costs, in steps.
    #[must_use]
    pub fn price_str(&self, text: &str) -> u64 {
        match self {
            Measure::Characters => text.chars().count() as u64,
            Measure::Tokens(rates) => {
                let counts = crate::scan::utf8(text.as_bytes());
                (rates.exact_tokens(counts) * STEPS as f64).ceil() as u64
            }
            Measure::Weighed(weights) => weighed(weights, |weigher| weigher.utf8(text.as_bytes())),
        }
    }

    /// More characters than these no budget holds.
    #[must_use]
    pub fn most_characters(&self, budget: u64) -> usize {
        let characters = match self {
            Measure::Characters => budget,
            Measure::Tokens(rates) => budget.saturating_mul(MANY) / cheapest(rates).max(1),
            // A run of blanks may cost next to nothing.
            Measure::Weighed(_) => u64::MAX,
        };
        usize::try_from(characters).unwrap_or(usize::MAX)
    }

    /// Whether a text costs no more than a budget; it is read no further than that.
    #[must_use]
    pub fn fits(&self, text: Units<'_>, budget: u64) -> bool {
        self.from_start(text, budget) == text.len()
    }

    /// How many units from the start cost no more than a budget.
    #[must_use]
    pub fn from_start(&self, text: Units<'_>, budget: u64) -> usize {
        let part = |from: usize, length: usize| text.slice(from..from + length);
        self.within(text.len(), budget, part)
    }

    /// How many units from the end cost no more than a budget.
    #[must_use]
    pub fn from_end(&self, text: Units<'_>, budget: u64) -> usize {
        let end = text.len();
        let part = |from: usize, length: usize| text.slice(end - from - length..end - from);
        self.within(end, budget, part)
    }

    /// Adds block to block until the budget is passed, and then looks within the last.
    /// `part` gives the units from so far on, of such a length, seen from either end.
    fn within<'a>(&self, length: usize, budget: u64, part: impl Fn(usize, usize) -> Units<'a>) -> usize {
        let (mut done, mut left) = (0, budget);
        while done < length {
            let block = BLOCK.min(length - done);
            let price = self.price(part(done, block));
            if price > left {
                return done + self.within_block(block, left, |taken| part(done, taken));
            }
            left -= price;
            done += block;
        }
        length
    }

    fn within_block<'a>(&self, block: usize, left: u64, part: impl Fn(usize) -> Units<'a>) -> usize {
        let (mut fits, mut over) = (0, block);
        while over - fits > 1 {
            let middle = usize::midpoint(fits, over);
            if self.price(part(middle)) <= left {
                fits = middle;
            } else {
                over = middle;
            }
        }
        fits
    }
}

fn weighed(weights: &Weights, weigh: impl FnOnce(&mut Weigher<'_>)) -> u64 {
    let mut weigher = Weigher::new(weights);
    weigh(&mut weigher);
    weigher.weight()
}

const MANY: u64 = 1 << 10;

/// What many characters of the cheapest class cost, in steps.
fn cheapest(rates: &Rates) -> u64 {
    let none = ScriptCounts::default();
    let classes = [
        ScriptCounts { ascii: MANY, ..none },
        ScriptCounts { cjk: MANY, ..none },
        ScriptCounts { other: MANY, ..none },
    ];
    classes.map(|counts| rates.tokens(counts) * STEPS).into_iter().min().unwrap_or(STEPS)
}
