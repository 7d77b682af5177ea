//! What a provider adds to the texts of a message.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::pricing::Pricing;

/// What a provider adds to a message and to its calls and results, in tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frames {
    pub(crate) message: u64,
    pub(crate) call: u64,
    pub(crate) result: u64,
    /// Whether the model is shown the ids of calls and results.
    pub(crate) ids: bool,
    /// Thousandths of a token for a character of an encrypted payload; None where it is
    /// priced as text.
    sealed: Option<u64>,
}

impl Frames {
    /// OpenAI's published rule
    /// (<https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken>).
    pub(crate) const SCRIPT: Frames = Frames { message: 3, call: 0, result: 0, ids: true, sealed: None };

    /// What so many characters of an encrypted payload cost.
    pub(crate) fn sealed(&self, characters: u64) -> Option<u64> {
        self.sealed.map(|rate| (characters * rate).div_ceil(1000))
    }
}

/// By what texts are priced, what a provider adds, and what media cost.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Tariff {
    pub(crate) pricing: Pricing,
    /// The frames as Python has them: those of requests and tools are added there.
    #[pyo3(get)]
    frames: Py<PyAny>,
}

#[pymethods]
impl Tariff {
    /// From weights, a callable or None; a `turnfit.tokens.frames.Frames`; and a callable
    /// from a medium, and the dict that holds it or None, to tokens.
    #[new]
    #[pyo3(signature = (texts, frames, media = None))]
    fn new(
        texts: Option<&Bound<'_, PyAny>>,
        frames: &Bound<'_, PyAny>,
        media: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let pricing = Pricing::of(texts)?.framed(read(frames)?, media);
        Ok(Tariff { pricing, frames: frames.clone().unbind() })
    }
}

fn read(frames: &Bound<'_, PyAny>) -> PyResult<Frames> {
    let sealed: Option<f64> = frames.getattr("sealed")?.extract()?;
    if sealed.is_some_and(|rate| !(0.0..=100.0).contains(&rate)) {
        return Err(PyValueError::new_err("sealed must be from 0 to 100 tokens a character"));
    }
    Ok(Frames {
        message: frames.getattr("message")?.extract()?,
        call: frames.getattr("call")?.extract()?,
        result: frames.getattr("result")?.extract()?,
        ids: frames.getattr("ids")?.extract()?,
        sealed: sealed.map(|rate| (rate * 1000.0).round() as u64),
    })
}
