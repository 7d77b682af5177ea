//! The Python face of a plan.

use pyo3::prelude::*;
use turnfit_core::reasoning::{Seen, Stripped};
use turnfit_core::walk::{self, Step};

/// What a request keeps of its history.
#[pyclass(frozen, module = "turnfit._core")]
pub(crate) struct Plan {
    pub(crate) plan: walk::Plan,
    pub(crate) seen: Option<Seen>,
    pub(crate) stripped: Stripped,
}

#[pymethods]
impl Plan {
    /// How far the walk had to go: "whole", "results", "turns" or "rounds".
    #[getter]
    fn step(&self) -> &'static str {
        match self.plan.step {
            Step::Whole => "whole",
            Step::Results => "results",
            Step::Turns => "turns",
            Step::Rounds => "rounds",
        }
    }

    /// What the request's messages cost, in tokens.
    #[getter]
    fn tokens(&self) -> u64 {
        self.plan.tokens
    }

    /// How much reasoning is left out: thoughts, and what they cost in tokens.
    #[getter]
    fn stripped(&self) -> (u64, u64) {
        (self.stripped.thoughts, self.stripped.tokens)
    }

    /// How many messages the history had.
    #[getter]
    fn messages(&self) -> usize {
        self.plan.messages
    }

    /// The kept messages, as ranges of indices.
    #[getter]
    fn kept(&self) -> Vec<(usize, usize)> {
        self.plan.kept.iter().map(|range| (range.start, range.end)).collect()
    }

    /// The note that earlier messages were left out stands before the range of this number.
    #[getter]
    fn note_before(&self) -> Option<usize> {
        self.plan.note_before
    }

    /// Whether a later plan of the same history only goes on where this one ended.
    fn goes_on_in(&self, later: &Plan) -> bool {
        let (Some((last, head)), Some((later_last, later_head))) =
            (self.plan.kept.split_last(), later.plan.kept.split_last())
        else {
            return false;
        };
        later.plan.messages >= self.plan.messages
            && head == later_head
            && last.start == later_last.start
            && last.end == self.plan.messages
            && self.plan.note_before == later.plan.note_before
            && self.plan.cleared == later.plan.cleared
            && self.stripped == later.stripped
    }
}
