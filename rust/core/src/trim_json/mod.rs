//! Cuts JSON by elements, so that what is left is JSON.
//!
//! `index` reads a document once and keeps where the values stand that may be shown;
//! what lies beyond any limit is only counted. `write` then shares the limit out from
//! the root down and copies what stays, byte for byte: order, spacing and the spelling
//! of numbers are the document's own. Neither recurses, so that depth costs nothing.
//!
//! What was left out is told where it was, under the key [`KEY`]:
//!
//! - an array ends with `{"_omitted":{"shown":2,"total":900,"next":2}}`;
//! - an object ends with a member `"_omitted"` of the same kind;
//! - a string says so in its middle;
//! - a value without room for any of this is `{"_omitted":{"chars":12000}}`.

mod index;
mod share;
mod write;

use crate::measure::Measure;
use crate::units::Units;

/// The key under which omissions are told.
pub const KEY: &str = "_omitted";

/// What was left out at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// Where, as a JSON Pointer (RFC 6901).
    pub path: String,
    /// Of what the figures speak.
    pub of: What,
    /// How many were shown.
    pub shown: u64,
    /// How many there are.
    pub total: u64,
}

/// What an omission counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Elements of an array.
    Elements,
    /// Members of an object.
    Members,
    /// Characters of a string, or of a value that was left out whole.
    Characters,
}

impl What {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            What::Elements => "elements",
            What::Members => "members",
            What::Characters => "characters",
        }
    }
}

/// What is left of a document.
#[derive(Clone, Debug)]
pub struct Trimmed {
    /// The JSON.
    pub text: String,
    /// Characters of the document that stand in it.
    pub kept: usize,
    /// Lone surrogates in it that became U+FFFD.
    pub replaced: usize,
    /// What the first marker says besides, as it stands there.
    pub hint: String,
    /// Where something was left out: the first places, in the document's order.
    pub omissions: Vec<Omission>,
}

/// How a document is trimmed.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// What the limit measures.
    pub measure: &'a Measure,
    /// The limit, in steps of the measure.
    pub budget: u64,
    /// What the first marker says besides: a JSON string's content, already escaped.
    /// `{offset}` becomes the place where what was left out there begins.
    pub hint: &'a str,
    /// The share of a cut string that its head gets; the tail gets the rest.
    pub head_share: f64,
}

/// Trims a document that is over its limit; `None` if it isn't JSON, as far as it was
/// read, or if the limit has no room for the smallest marker.
///
/// ```
/// use turnfit_core::measure::Measure;
/// use turnfit_core::trim_json::{trim, Terms};
/// use turnfit_core::units::Units;
///
/// let text = Units::Ascii(br#"{"rows":[1.50,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22],"ok":true}"#);
/// let terms = Terms { measure: &Measure::Characters, budget: 74, hint: "", head_share: 0.5 };
/// let trimmed = trim(text, &terms).unwrap();
/// let wanted = r#"{"rows":[1.50,2,{"_omitted":{"shown":2,"total":22,"next":2}}],"ok":true}"#;
/// assert_eq!(trimmed.text, wanted);
/// assert_eq!((trimmed.omissions[0].path.as_str(), trimmed.omissions[0].total), ("/rows", 22));
/// ```
#[must_use]
pub fn trim(text: Units<'_>, terms: &Terms<'_>) -> Option<Trimmed> {
    let nodes = index::read(text, terms.measure.most_characters(terms.budget))?;
    write::Writer::new(text, &nodes, terms).write()
}

const LOOKED_AT: usize = 1 << 16;

/// Whether a text is JSON from its start to its end; of long containers what is behind
/// their first part is looked at only for where they end.
///
/// ```
/// use turnfit_core::trim_json::is_json;
/// use turnfit_core::units::Units;
///
/// assert!(is_json(Units::Ascii(b" [1, 2.5e3, NaN] ")));
/// assert!(!is_json(Units::Ascii(b"[1, 2,]")));
/// ```
#[must_use]
pub fn is_json(text: Units<'_>) -> bool {
    index::read(text, LOOKED_AT).is_some()
}
