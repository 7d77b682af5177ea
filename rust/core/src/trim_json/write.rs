//! Shares the limit out from the root down and copies what stays.

use std::fmt::Write;
use std::ops::Range;

use super::index::{Kind, Node};
use super::share::{self, Shares, Wants};
use super::{Omission, Terms, Trimmed, What};
use crate::cut::{Cut, cut};
use crate::units::Units;

/// So many omissions are told apart.
const TOLD: usize = 32;

/// So many of an object's members, or of an array's elements, are cut for all to stay.
const CUT_MEMBERS: usize = 8;
const CUT_ELEMENTS: usize = 2;

/// What is still to be written, the last first.
enum Act {
    Copy(Range<usize>),
    Value(usize, u64),
    /// The marker of a container of which so many values were shown, and its bracket.
    End(usize, u64),
}

pub(super) struct Writer<'a> {
    text: Units<'a>,
    nodes: &'a [Node],
    terms: &'a Terms<'a>,
    out: String,
    acts: Vec<Act>,
    kept: usize,
    replaced: usize,
    /// Of the first marker; what it said, once it stands.
    hint: Option<String>,
    omissions: Vec<Omission>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(text: Units<'a>, nodes: &'a [Node], terms: &'a Terms<'a>) -> Self {
        let (out, acts, omissions) = (String::new(), Vec::new(), Vec::new());
        Writer { text, nodes, terms, out, acts, kept: 0, replaced: 0, hint: None, omissions }
    }

    pub(super) fn write(mut self) -> Option<Trimmed> {
        let widest = hint_at(self.terms.hint, self.text.len());
        let room = self.terms.budget.checked_sub(self.price_of(&member_of(&widest)))?;
        if self.price_to(&self.nodes[0], room) > room && room < self.price_of(&stub(self.text.len())) {
            return None;
        }
        self.acts.push(Act::Value(0, room));
        while let Some(act) = self.acts.pop() {
            match act {
                Act::Copy(range) => self.copy(range),
                Act::Value(node, room) => self.value(node, room),
                Act::End(node, shown) => self.end(node, shown),
            }
        }
        let hint = self.hint.unwrap_or_default();
        Some(Trimmed {
            text: self.out,
            kept: self.kept,
            replaced: self.replaced,
            hint,
            omissions: self.omissions,
        })
    }

    fn copy(&mut self, range: Range<usize>) {
        self.kept += range.len();
        self.replaced += self.text.slice(range).push_to(&mut self.out);
    }

    /// The hint, with the place filled in; nothing but for the first marker.
    fn hint(&mut self, place: usize) -> String {
        if self.hint.is_some() {
            return String::new();
        }
        let hint = hint_at(self.terms.hint, place);
        self.hint = Some(hint.clone());
        hint
    }

    fn price_of(&self, written: &str) -> u64 {
        self.terms.measure.price_str(written)
    }

    fn price(&self, range: Range<usize>) -> u64 {
        self.terms.measure.price(self.text.slice(range))
    }

    /// A value's price, or one step more than the room.
    fn price_to(&self, node: &Node, room: u64) -> u64 {
        let text = self.text.slice(node.start..node.end);
        match self.terms.measure.fits(text, room) {
            true => self.terms.measure.price(text),
            false => room + 1,
        }
    }

    fn value(&mut self, number: usize, room: u64) {
        let node = &self.nodes[number];
        if self.price_to(node, room) <= room {
            return self.copy(node.start..node.end);
        }
        let written = match node.kind {
            Kind::String => self.string(number, room),
            Kind::Array | Kind::Object => self.container(number, room),
            Kind::Plain => false,
        };
        if !written {
            self.stub(number);
        }
    }

    /// In place of a whole value.
    fn stub(&mut self, number: usize) {
        let length = self.nodes[number].end - self.nodes[number].start;
        let hint = self.hint(0);
        self.out.push_str(&stub_with(length, &member_of(&hint)));
        self.tell(number, What::Characters, 0, length as u64);
    }

    fn string(&mut self, number: usize, room: u64) -> bool {
        let node = &self.nodes[number];
        let inner = node.start + 1..node.end - 1;
        let total = inner.len();
        let frame = self.price_of("\"\"") + self.price_of(&string_marker(total, total, ""));
        let Some(left) = room.checked_sub(frame) else { return false };
        let content = self.text.slice(inner.clone());
        let head = (left as f64 * self.terms.head_share) as u64;
        let Cut { head, tail } = cut(content, self.terms.measure, head, left - head);
        if head == 0 && tail == total {
            return false;
        }
        let hint = self.hint(head);
        self.out.push('"');
        self.copy(inner.start..inner.start + head);
        self.out.push_str(&string_marker(tail - head, total, &hint));
        self.copy(inner.start + tail..inner.end);
        self.out.push('"');
        self.tell(number, What::Characters, (total - (tail - head)) as u64, total as u64);
        true
    }

    /// Puts what stays of a container on the list; false if its marker has no room.
    fn container(&mut self, number: usize, room: u64) -> bool {
        let node = &self.nodes[number];
        let Some(inside) = room.checked_sub(self.price_of("[]")) else { return false };
        let values = self.values(number);
        let wants = self.wants(node, &values, inside);
        let most_cut = if node.kind == Kind::Object { CUT_MEMBERS } else { CUT_ELEMENTS };
        let end = self.price(self.last_end(&values, node)..node.end - 1);
        let whole = inside.checked_sub(end).filter(|_| wants.len() as u64 == node.count);
        if let Some(shares) = whole.and_then(|room| share::all(&wants, room, most_cut)) {
            self.plan(number, &values, &shares, true);
            return true;
        }
        let marker = self.price_of(&container_marker(node, node.count, true, ""));
        let Some(room) = inside.checked_sub(marker) else { return false };
        // Where no marker is needed after all, its room may not do for the spaces at the end.
        self.plan(number, &values, &share::first(&wants, room), end <= marker);
        true
    }

    fn values(&self, number: usize) -> Vec<usize> {
        let mut next = number + 1;
        let mut values = Vec::new();
        for _ in 0..self.nodes[number].known {
            values.push(next);
            next = self.nodes[next].next;
        }
        values
    }

    fn wants(&self, node: &Node, values: &[usize], inside: u64) -> Vec<Wants> {
        let mut before = node.start + 1;
        let mut left = inside;
        let mut wants = Vec::with_capacity(values.len());
        for &value in values {
            let value = &self.nodes[value];
            let whole = self.price_to(value, inside);
            let least = self.price_of(&stub(value.end - value.start)).min(whole);
            let gap = self.price(before..value.start);
            wants.push(Wants { before: gap, whole, least });
            before = value.end;
            left = left.saturating_sub(gap + least);
            if left == 0 {
                break;
            }
        }
        wants
    }

    fn last_end(&self, values: &[usize], node: &Node) -> usize {
        values.last().map_or(node.start + 1, |&value| self.nodes[value].end)
    }

    fn plan(&mut self, number: usize, values: &[usize], shares: &Shares, spaces: bool) {
        let node = &self.nodes[number];
        let shown = shares.0.len();
        self.copy(node.start..node.start + 1);
        let first = self.acts.len();
        let mut before = node.start + 1;
        for (&value, &share) in values.iter().zip(&shares.0) {
            self.acts.push(Act::Copy(before..self.nodes[value].start));
            self.acts.push(Act::Value(value, share));
            before = self.nodes[value].end;
        }
        self.acts.push(match shown as u64 == node.count {
            true => Act::Copy(if spaces { before } else { node.end - 1 }..node.end),
            false => Act::End(number, shown as u64),
        });
        self.acts[first..].reverse();
    }

    fn end(&mut self, number: usize, shown: u64) {
        let hint = self.hint(shown as usize);
        let node = &self.nodes[number];
        self.out.push_str(&container_marker(node, shown, shown > 0, &member_of(&hint)));
        self.copy(node.end - 1..node.end);
        let what = if node.kind == Kind::Object { What::Members } else { What::Elements };
        self.tell(number, what, shown, node.count);
    }

    fn tell(&mut self, number: usize, of: What, shown: u64, total: u64) {
        if self.omissions.len() < TOLD {
            self.omissions.push(Omission { path: self.pointer(number), of, shown, total });
        }
    }

    fn pointer(&self, number: usize) -> String {
        let mut steps = Vec::new();
        let mut at = number;
        while self.nodes[at].parent != at {
            steps.push(at);
            at = self.nodes[at].parent;
        }
        let mut path = String::new();
        for &step in steps.iter().rev() {
            path.push('/');
            self.push_step(&mut path, &self.nodes[step]);
        }
        path
    }

    /// A member's name as it is written, or an element's number.
    fn push_step(&self, path: &mut String, node: &Node) {
        if node.name.is_empty() {
            let _ = write!(path, "{}", node.number);
            return;
        }
        let mut name = String::new();
        self.text.slice(node.name.start + 1..node.name.end - 1).push_to(&mut name);
        path.push_str(&name.replace('~', "~0").replace('/', "~1"));
    }
}

/// Where what was left out begins: an element, a member, or a character of a string.
fn hint_at(hint: &str, place: usize) -> String {
    hint.replace("{offset}", &place.to_string())
}

fn member_of(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!(",\"hint\":\"{hint}\"") }
}

fn stub(length: usize) -> String {
    stub_with(length, "")
}

fn stub_with(length: usize, hint: &str) -> String {
    format!("{{\"_omitted\":{{\"chars\":{length}{hint}}}}}")
}

fn container_marker(node: &Node, shown: u64, comma: bool, hint: &str) -> String {
    let comma = if comma { "," } else { "" };
    let total = node.count;
    let told = format!("\"_omitted\":{{\"shown\":{shown},\"total\":{total},\"next\":{shown}{hint}}}");
    if node.kind == Kind::Object { format!("{comma}{told}") } else { format!("{comma}{{{told}}}") }
}

/// Within a string; the hint costs no more here than its JSON member would.
fn string_marker(omitted: usize, total: usize, hint: &str) -> String {
    let gap = if hint.is_empty() { "" } else { " " };
    format!("[turnfit: {omitted} of {total} characters left out here.{gap}{hint}]")
}
