//! JSON that is trimmed is JSON within its limit; what is no JSON is not made into any.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use turnfit_core::measure::Measure;
use turnfit_core::profile::Rates;
use turnfit_core::trim_json::{Terms, is_json, trim};
use turnfit_core::units::Units;

fuzz_target!(|input: (u16, u8, &str)| {
    let (budget, share, told) = input;
    let points: Vec<u32> = told.chars().map(u32::from).collect();
    let text = Units::Ucs4(&points);
    // Both directions where numbers beyond doubles, NaN and lone escapes are no matter.
    if serde_json::from_str::<Value>(told).is_ok() {
        assert!(is_json(text));
    }
    for measure in [Measure::Characters, Measure::Tokens(Rates::SCRIPT)] {
        let budget = u64::from(budget);
        let head_share = f64::from(share) / 255.0;
        let terms = Terms { measure: &measure, budget, hint: "next {offset}", head_share };
        let Some(trimmed) = trim(text, &terms) else { continue };
        let points: Vec<u32> = trimmed.text.chars().map(u32::from).collect();
        assert!(is_json(Units::Ucs4(&points)), "{}", trimmed.text);
        let cost = measure.price_str(&trimmed.text);
        assert!(
            measure.fits(text, budget) || cost <= budget,
            "{cost} of {budget}: {:?} of {told:?}",
            trimmed.text
        );
    }
});
