//! By what texts are priced: by script, by the weights of a profile, or by a
//! callable.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use turnfit_core::features::{Features, INDICES, LETTER_PAIRS, LETTERS, SHAPES};
use turnfit_core::profile::{Rates, tokens_of_weight};
use turnfit_core::scan::weigh::{self, Weigher};
use turnfit_core::script::ScriptCounts;

use crate::columns::By;
use crate::tariff::{Frames, Tariff};
use crate::text::{Text, of_text};
use crate::value::{DataUrls, MEDIUM, Paper, write};

/// By what texts are priced, and what a provider adds to them.
#[derive(Clone)]
pub(crate) struct Pricing {
    texts: Texts,
    pub(crate) frames: Frames,
    /// From a medium, and the dict that holds it, to tokens.
    media: Option<Arc<Py<PyAny>>>,
}

/// By what texts are priced.
#[derive(Clone)]
enum Texts {
    Script,
    Weights(Arc<weigh::Weights>),
    Callable(Arc<Py<PyAny>>),
    /// The prices are known already: what is read is what stands where.
    Known,
}

impl Pricing {
    pub(crate) const SCRIPT: Pricing = Pricing { texts: Texts::Script, frames: Frames::SCRIPT, media: None };

    pub(crate) const KNOWN: Pricing = Pricing { texts: Texts::Known, frames: Frames::SCRIPT, media: None };

    /// A tariff, weights, a callable, or nothing for the script's rates.
    pub(crate) fn of(pricing: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(pricing) = pricing.filter(|pricing| !pricing.is_none()) else { return Ok(Pricing::SCRIPT) };
        if let Ok(tariff) = pricing.cast::<Tariff>() {
            return Ok(tariff.get().pricing.clone());
        }
        if let Ok(weights) = pricing.cast::<Weights>() {
            let texts = Texts::Weights(weights.get().0.clone());
            return Ok(Pricing { texts, ..Pricing::SCRIPT });
        }
        if pricing.is_callable() {
            let texts = Texts::Callable(Arc::new(pricing.clone().unbind()));
            return Ok(Pricing { texts, ..Pricing::SCRIPT });
        }
        let kind = pricing.get_type().qualname()?;
        Err(PyTypeError::new_err(format!("pricing must be a Tariff, Weights or a callable, not {kind}")))
    }

    /// The same texts' prices with these frames and prices of media.
    pub(crate) fn framed(self, frames: Frames, media: Option<Py<PyAny>>) -> Self {
        Pricing { texts: self.texts, frames, media: media.map(Arc::new) }
    }

    /// Whatever a caller may name a profile by.
    pub(crate) fn named(profile: &Bound<'_, PyAny>) -> PyResult<Self> {
        if profile.is_none() || profile.is_instance_of::<Weights>() {
            return Pricing::of(Some(profile));
        }
        static PRICING_OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = profile.py();
        let pricing_of = PRICING_OF.import(py, "turnfit.tokens.profiles", "pricing_of")?;
        Pricing::of(Some(&pricing_of.call1((profile,))?))
    }

    /// Whether both price alike.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let texts = match (&self.texts, &other.texts) {
            (Texts::Script, Texts::Script) | (Texts::Known, Texts::Known) => true,
            (Texts::Weights(ours), Texts::Weights(theirs)) => Arc::ptr_eq(ours, theirs),
            (Texts::Callable(ours), Texts::Callable(theirs)) => ours.is(theirs.as_ref()),
            _ => false,
        };
        let media = match (&self.media, &other.media) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            _ => false,
        };
        texts && media && self.frames == other.frames
    }

    /// The tokens of a string.
    pub(crate) fn text(&self, string: &Bound<'_, PyString>) -> PyResult<u64> {
        match &self.texts {
            Texts::Script => Ok(Rates::SCRIPT.tokens(Text::of(string)?.counts(string.py()))),
            _ => self.any_text(string),
        }
    }

    /// Whether a value is a string that is priced without running other code, here or in
    /// another thread.
    #[inline]
    pub(crate) fn is_quick(&self, value: &Bound<'_, PyAny>) -> bool {
        let is_quick = |string| Text::of(string).is_ok_and(|text| text.is_quick());
        !matches!(self.texts, Texts::Callable(_)) && value.cast_exact::<PyString>().is_ok_and(is_quick)
    }

    /// The tokens of whatever may be called a text.
    pub(crate) fn any_text(&self, text: &Bound<'_, PyAny>) -> PyResult<u64> {
        match &self.texts {
            Texts::Script => of_text(text, |row| Rates::SCRIPT.tokens(row.scan())),
            Texts::Weights(weights) => of_text(text, |row| {
                let mut weigher = Weigher::new(weights);
                row.weigh(&mut weigher);
                tokens_of_weight(weigher.weight())
            }),
            Texts::Callable(callable) => match text.cast::<PyString>() {
                Ok(string) => called(callable, string),
                Err(_) => called(callable, &decoded(text)?),
            },
            Texts::Known => Ok(0),
        }
    }

    /// The tokens of a value as compact JSON, media included.
    pub(crate) fn json(&self, value: &Bound<'_, PyAny>, data_urls: DataUrls) -> PyResult<u64> {
        let (media, tokens) = match &self.texts {
            Texts::Script => {
                let mut counted = ScriptCounts::default();
                let media = write(value, data_urls, &mut counted)?;
                (media, Rates::SCRIPT.tokens(counted))
            }
            Texts::Weights(weights) => {
                let mut weigher = Weigher::new(weights);
                let media = write(value, data_urls, &mut weigher)?;
                (media, tokens_of_weight(weigher.weight()))
            }
            Texts::Callable(callable) => {
                let mut written = String::new();
                let media = write(value, data_urls, &mut written)?;
                (media, called(callable, &PyString::new(value.py(), &written))?)
            }
            Texts::Known => Default::default(),
        };
        media.iter().try_fold(tokens, |tokens, medium| Ok(tokens + self.medium(medium, None)?))
    }

    /// The tokens of a picture, a sound or a file, as a message has it; its detail may
    /// stand in the dict that holds it.
    pub(crate) fn medium(
        &self,
        medium: &Bound<'_, PyAny>,
        holder: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<u64> {
        let Some(media) = &self.media else { return Ok(MEDIUM) };
        let tokens = media.bind(medium.py()).call1((medium, holder))?;
        tokens.extract().map_err(|_| not_tokens("the price of a medium", &tokens))
    }

    /// The tokens of an encrypted payload, of which the provider counts what is in it.
    pub(crate) fn sealed(&self, string: &Bound<'_, PyString>) -> PyResult<u64> {
        match self.frames.sealed(Text::of(string)?.len() as u64) {
            Some(tokens) => Ok(tokens),
            None => self.text(string),
        }
    }
}

fn decoded<'py>(bytes: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let text = of_text(bytes, |row| row.code_points())?;
    let text: String = text.into_iter().map(character).collect();
    Ok(PyString::new(bytes.py(), &text))
}

/// A surrogate is none.
fn character(code_point: u32) -> char {
    char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The tokens of one text, at most: sums of so many don't overflow.
const MOST: u64 = 1 << 40;

fn called(callable: &Py<PyAny>, text: &Bound<'_, PyString>) -> PyResult<u64> {
    let counted = callable.bind(text.py()).call1((text,))?;
    let tokens = counted.extract().ok().filter(|&tokens| tokens <= MOST);
    tokens.ok_or_else(|| not_tokens("the profile's callable", &counted))
}

fn not_tokens(what: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let told = given.repr().map_or_else(|_| "something else".to_owned(), |told| told.to_string());
    PyValueError::new_err(format!("{what} must give a number of tokens, not {told}"))
}

/// Counted.
impl Paper for ScriptCounts {
    fn ascii(&mut self, text: &[u8]) {
        self.ascii += text.len() as u64;
    }

    fn string(&mut self, py: Python<'_>, text: &Text<'_>) {
        *self += text.counts(py);
        self.ascii += text.escapes();
    }
}

/// Weighed.
impl Paper for Weigher<'_> {
    fn ascii(&mut self, text: &[u8]) {
        self.latin1(text);
    }

    fn string(&mut self, _: Python<'_>, text: &Text<'_>) {
        text.between_escapes(|part, escaped| {
            part.weigh(self);
            if let Some(code_point) = escaped {
                self.latin1(escape_of(code_point).as_bytes());
            }
        });
    }
}

/// Written.
impl Paper for String {
    fn ascii(&mut self, text: &[u8]) {
        self.extend(text.iter().map(|&byte| char::from(byte)));
    }

    fn string(&mut self, _: Python<'_>, text: &Text<'_>) {
        text.between_escapes(|part, escaped| {
            self.extend(part.code_points().into_iter().map(character));
            if let Some(code_point) = escaped {
                self.push_str(&escape_of(code_point));
            }
        });
    }
}

/// A character as JSON escapes it.
fn escape_of(code_point: u32) -> String {
    match character(code_point) {
        '\u{8}' => r"\b".to_owned(),
        '\t' => r"\t".to_owned(),
        '\n' => r"\n".to_owned(),
        '\u{C}' => r"\f".to_owned(),
        '\r' => r"\r".to_owned(),
        escaped @ ('"' | '\\') => format!("\\{escaped}"),
        _ => format!("\\u{code_point:04x}"),
    }
}

/// The weights of a profile, as the pass has them.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Weights(Arc<weigh::Weights>);

#[pymethods]
impl Weights {
    /// How many there are of each kind: shapes, letters (first and last each), letter pairs,
    /// characters.
    #[classattr]
    const SIZES: (usize, usize, usize, usize) = (SHAPES.len(), LETTERS, LETTER_PAIRS, INDICES);

    /// Weights of letter pairs are multiples of this, and at most 255 times it, to be as fast
    /// as they can.
    #[classattr]
    const STEP: u16 = weigh::Weights::STEP;

    /// What a token is in the unit of the weights.
    #[classattr]
    const UNIT: u64 = weigh::Weights::UNIT;

    /// The names of the shapes.
    #[classattr]
    fn shapes() -> Vec<&'static str> {
        SHAPES.to_vec()
    }

    #[new]
    #[allow(clippy::needless_pass_by_value)]
    fn new(weights: Vec<u16>) -> PyResult<Self> {
        let made = weigh::Weights::new(&weights).ok_or_else(|| {
            PyValueError::new_err(format!(
                "there must be {} weights, not {}",
                weigh::Weights::LENGTH,
                weights.len()
            ))
        })?;
        Ok(Weights(Arc::new(made)))
    }

    /// What a text weighs, in units.
    fn weigh(&self, text: &Bound<'_, PyAny>) -> PyResult<u64> {
        of_text(text, |row| {
            let mut weigher = Weigher::new(&self.0);
            row.weigh(&mut weigher);
            weigher.weight()
        })
    }
}

impl Weights {
    pub(crate) fn by(weights: Option<&Self>) -> By<'_> {
        weights.map_or(By::Script, |weights| By::Weights(&weights.0))
    }

    pub(crate) fn shared(&self) -> Arc<weigh::Weights> {
        self.0.clone()
    }
}

/// What a profile weighs of a text: indices of counts and the counts, without zeros.
pub(crate) fn features(text: &Bound<'_, PyAny>) -> PyResult<(Vec<u32>, Vec<u64>)> {
    let features = of_text(text, |row| Features::of(row.code_points()))?;
    let counts = features.shapes.iter().chain(&features.first).chain(&features.last);
    let counts = counts.chain(&features.letter_pairs);
    let counts = (0..).zip(counts.chain(&features.characters).copied());
    Ok(counts.filter(|(_, count)| *count > 0).unzip())
}
