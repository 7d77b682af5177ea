//! Limiting a tool's output: places and pieces of Python's strings.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use regex::{Regex, RegexBuilder};
use turnfit_core::cut::{self, Cut, Toward};
use turnfit_core::escapes;
use turnfit_core::measure::Measure;
use turnfit_core::profile::Rates;
use turnfit_core::rows::{Rows, rows};
use turnfit_core::trim_json::{self, Omission, Terms};
use turnfit_core::units::Units;

use crate::pricing::Weights;
use crate::text::Text;

/// How much, whether of tokens or of characters, and by which weights tokens are priced.
#[derive(FromPyObject)]
pub(crate) struct Limit(u64, bool, Option<Py<Weights>>);

impl Limit {
    fn measure(&self) -> Measure {
        match &self.2 {
            _ if !self.1 => Measure::Characters,
            None => Measure::Tokens(Rates::SCRIPT),
            Some(weights) => Measure::Weighed(weights.get().shared()),
        }
    }

    fn budget(&self) -> u64 {
        self.measure().budget(self.0)
    }

    /// What head and tail may take, if something else is put between them.
    fn parts(&self, reserved: &str, head_share: f64) -> (u64, u64) {
        let room = self.budget().saturating_sub(self.measure().price_str(reserved));
        let head = (room as f64 * head_share) as u64;
        (head.min(room), room - head.min(room))
    }
}

pub(crate) fn fits(text: &Bound<'_, PyString>, limit: &Limit) -> PyResult<bool> {
    let text = Text::of(text)?.units();
    Ok(limit.measure().fits(text, limit.budget()))
}

pub(crate) fn cut_text(
    text: &Bound<'_, PyString>,
    start: usize,
    limit: &Limit,
    reserved: &str,
    head_share: f64,
) -> PyResult<(usize, usize)> {
    let body = from(Text::of(text)?.units(), start);
    let (head, tail) = limit.parts(reserved, head_share);
    let found = cut::cut(body, &limit.measure(), head, tail);
    Ok((start + found.head, start + found.tail))
}

pub(crate) fn cut_rows(
    text: &Bound<'_, PyString>,
    start: usize,
    limit: &Limit,
    reserved: &str,
    head_share: f64,
    quoted: bool,
) -> PyResult<(usize, usize, usize, usize, usize)> {
    let py = text.py();
    let body = from(Text::of(text)?.units(), start);
    let (head, tail) = limit.parts(reserved, head_share);
    let measure = limit.measure();
    let kept = py.detach(|| {
        let Cut { head, tail } = cut::within(body, &measure, head, tail);
        rows(body, quoted, head, tail)
    });
    let Rows { head, tail, head_rows, tail_rows, total } = kept;
    Ok((start + head, start + tail, head_rows, tail_rows, total))
}

pub(crate) fn safe_place(text: &Bound<'_, PyString>, place: usize, forward: bool) -> PyResult<usize> {
    let toward = if forward { Toward::End } else { Toward::Start };
    Ok(cut::safe(Text::of(text)?.units(), place, toward))
}

pub(crate) type Trimmed = (String, usize, usize, String, Vec<(String, &'static str, u64, u64)>);

pub(crate) fn trim(
    text: &Bound<'_, PyString>,
    limit: &Limit,
    hint: &str,
    head_share: f64,
) -> PyResult<Option<Trimmed>> {
    let py = text.py();
    let text = Text::of(text)?.units();
    let measure = limit.measure();
    let terms = Terms { measure: &measure, budget: limit.budget(), hint, head_share };
    let trimmed = py.detach(|| trim_json::trim(text, &terms));
    let row = |it: Omission| (it.path, it.of.name(), it.shown, it.total);
    Ok(trimmed
        .map(|it| (it.text, it.kept, it.replaced, it.hint, it.omissions.into_iter().map(row).collect())))
}

pub(crate) fn is_json(text: &Bound<'_, PyString>) -> PyResult<bool> {
    let py = text.py();
    let text = Text::of(text)?.units();
    Ok(py.detach(|| trim_json::is_json(text)))
}

pub(crate) fn strip_escapes(text: &Bound<'_, PyString>) -> PyResult<String> {
    Ok(escapes::without_sequences(Text::of(text)?.units()))
}

fn from(text: Units<'_>, start: usize) -> Units<'_> {
    text.slice(start.min(text.len())..text.len())
}

/// Lines where a pattern is found: their numbers from 1, starts and ends, in code points.
pub(crate) fn find_lines(
    text: &Bound<'_, PyString>,
    pattern: &str,
    offset: usize,
    most: usize,
) -> PyResult<Vec<(usize, usize, usize)>> {
    let pattern = RegexBuilder::new(pattern)
        .size_limit(PATTERN_SIZE)
        .build()
        .map_err(|error| PyValueError::new_err(format!("pattern: {error}")))?;
    let py = text.py();
    let text = Text::of(text)?.units();
    Ok(py.detach(|| Lines { text, at: 0, number: 0 }.matching(&pattern, offset, most)))
}

/// Bytes that a compiled pattern may take.
const PATTERN_SIZE: usize = 1 << 20;

struct Lines<'a> {
    text: Units<'a>,
    at: usize,
    number: usize,
}

impl Lines<'_> {
    fn matching(mut self, pattern: &Regex, offset: usize, most: usize) -> Vec<(usize, usize, usize)> {
        let (mut found, mut line) = (Vec::new(), String::new());
        while self.at < self.text.len() && found.len() < most {
            let start = self.at;
            let end = self.text.find(b'\n', start..self.text.len()).unwrap_or(self.text.len());
            self.number += 1;
            self.at = end + 1;
            // A line that begins before the offset was looked at before.
            if start < offset {
                continue;
            }
            line.clear();
            self.text.slice(start..end).push_to(&mut line);
            if pattern.is_match(&line) {
                found.push((self.number, start, end));
            }
        }
        found
    }
}
