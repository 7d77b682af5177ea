//! Reads a document once: where the values stand that may be shown, and how many there
//! are of the others.

use std::ops::Range;

use crate::scan::{self, Rest};
use crate::units::Units;

/// Values nested deeper are shown whole or not at all.
const DEEPEST: usize = 512;

/// What kind of value a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Array,
    Object,
    String,
    /// A number, or a name such as `true`.
    Plain,
}

/// A value of the document, in the order in which values begin.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Of a member: its name with the quotes.
    pub(super) name: Range<usize>,
    /// The container's node; its own for the root.
    pub(super) parent: usize,
    /// Its number within the container.
    pub(super) number: u64,
    /// Elements or members that it has.
    pub(super) count: u64,
    /// Of these, how many have nodes: always the first ones.
    pub(super) known: u64,
    /// Behind the nodes within it.
    pub(super) next: usize,
}

/// The nodes of a document; `None` if it isn't JSON.
///
/// A container's values have nodes until they take `most` characters, since no more
/// could be shown; the rest of it is only counted, and not looked at closely.
pub(super) fn read(text: Units<'_>, most: usize) -> Option<Vec<Node>> {
    match text {
        Units::Ascii(units) | Units::Latin1(units) => Reader::new(units, most).read(),
        Units::Ucs2(units) => Reader::new(units, most).read(),
        Units::Ucs4(units) => Reader::new(units, most).read(),
    }
}

/// A code point; those beyond one byte are all alike to JSON.
trait Unit: Copy {
    fn byte(self) -> u8;

    fn rest_of_container(units: &[Self]) -> Option<Rest>;
}

impl Unit for u8 {
    #[inline(always)]
    fn byte(self) -> u8 {
        self
    }

    fn rest_of_container(units: &[Self]) -> Option<Rest> {
        scan::container_latin1(units)
    }
}

impl Unit for u16 {
    #[inline(always)]
    fn byte(self) -> u8 {
        self.min(0xFF) as u8
    }

    fn rest_of_container(units: &[Self]) -> Option<Rest> {
        scan::container_ucs2(units)
    }
}

impl Unit for u32 {
    #[inline(always)]
    fn byte(self) -> u8 {
        self.min(0xFF) as u8
    }

    fn rest_of_container(units: &[Self]) -> Option<Rest> {
        scan::container_ucs4(units)
    }
}

struct Reader<'a, T> {
    units: &'a [T],
    at: usize,
    nodes: Vec<Node>,
    open: Vec<usize>,
    most: usize,
}

impl<'a, T: Unit> Reader<'a, T> {
    fn new(units: &'a [T], most: usize) -> Self {
        Reader { units, at: 0, nodes: Vec::new(), open: Vec::new(), most }
    }

    fn read(mut self) -> Option<Vec<Node>> {
        self.space();
        self.value(0..0, 0)?;
        while let Some(&container) = self.open.last() {
            self.step(container)?;
        }
        self.space();
        (self.at == self.units.len()).then_some(self.nodes)
    }

    fn peek(&self) -> Option<u8> {
        self.units.get(self.at).map(|unit| unit.byte())
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// One more value of a container, or its end.
    fn step(&mut self, container: usize) -> Option<()> {
        self.space();
        let object = self.nodes[container].kind == Kind::Object;
        if self.peek()? == if object { b'}' } else { b']' } {
            self.at += 1;
            self.close(container);
            return Some(());
        }
        let number = self.nodes[container].count;
        if number > 0 {
            self.expect(b',')?;
            self.space();
        }
        if self.is_full(container) {
            return self.count_rest(container);
        }
        let name = if object { self.name()? } else { 0..0 };
        self.nodes[container].count += 1;
        self.nodes[container].known += 1;
        self.value(name, number)
    }

    /// Whether no more of a container could be shown. Of an object, or of an array with
    /// few elements, small values may stand behind large ones, and be shown though these
    /// are not.
    fn is_full(&self, container: usize) -> bool {
        let node = &self.nodes[container];
        let taken = match node.kind {
            Kind::Object => node.known as usize * LEAST_MEMBER,
            _ if node.known < FEW_ELEMENTS => 0,
            _ => self.at - node.start,
        };
        taken > self.most
            || self.nodes.len() > NODES_BESIDES.saturating_add(self.most.saturating_mul(4))
            || self.open.len() > DEEPEST
    }

    fn name(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.string()?;
        let name = start..self.at;
        self.space();
        self.expect(b':')?;
        self.space();
        Some(name)
    }

    fn value(&mut self, name: Range<usize>, number: u64) -> Option<()> {
        let start = self.at;
        let (kind, opens) = match self.peek()? {
            b'{' => (Kind::Object, true),
            b'[' => (Kind::Array, true),
            b'"' => (Kind::String, false),
            _ => (Kind::Plain, false),
        };
        let node = self.nodes.len();
        let parent = self.open.last().copied().unwrap_or(node);
        let empty =
            Node { kind, start, end: start, name, parent, number, count: 0, known: 0, next: node + 1 };
        self.nodes.push(empty);
        if opens {
            self.at += 1;
            self.open.push(node);
            return Some(());
        }
        if kind == Kind::String {
            self.string()?;
        } else {
            self.plain()?;
        }
        self.nodes[node].end = self.at;
        Some(())
    }

    fn close(&mut self, container: usize) {
        self.open.pop();
        let next = self.nodes.len();
        let node = &mut self.nodes[container];
        node.end = self.at;
        node.next = next;
    }

    fn expect(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    fn string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            let rest = &self.units[self.at..];
            self.at += rest.iter().position(|unit| ENDS_A_RUN[usize::from(unit.byte())])?;
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 1;
        let kind = self.peek()?;
        self.at += 1;
        match kind {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => {
                let digits = self.units.get(self.at..self.at + 4)?;
                self.at += 4;
                digits.iter().all(|digit| digit.byte().is_ascii_hexdigit()).then_some(())
            }
            _ => None,
        }
    }

    /// A number or a name. Python writes NaN and infinities, and reads them.
    fn plain(&mut self) -> Option<()> {
        const NAMES: [&[u8]; 6] = [b"true", b"false", b"null", b"NaN", b"Infinity", b"-Infinity"];
        let rest = &self.units[self.at..];
        let starts = |name: &&&[u8]| {
            rest.len() >= name.len() && rest.iter().zip(**name).all(|(unit, &byte)| unit.byte() == byte)
        };
        if let Some(name) = NAMES.iter().find(starts) {
            self.at += name.len();
            return Some(());
        }
        self.number()
    }

    fn number(&mut self) -> Option<()> {
        self.skip(b"-");
        if !self.skip(b"0") {
            self.digits()?;
        }
        if self.skip(b".") {
            self.digits()?;
        }
        if self.skip(b"eE") {
            self.skip(b"+-");
            self.digits()?;
        }
        Some(())
    }

    fn skip(&mut self, any: &[u8]) -> bool {
        let found = self.peek().is_some_and(|byte| any.contains(&byte));
        self.at += usize::from(found);
        found
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Counts what is left of a container, from the beginning of a value on, and closes
    /// it.
    fn count_rest(&mut self, container: usize) -> Option<()> {
        let rest = T::rest_of_container(&self.units[self.at..])?;
        self.at += rest.length;
        let bracket = if self.nodes[container].kind == Kind::Object { b'}' } else { b']' };
        if self.units[self.at - 1].byte() != bracket {
            return None;
        }
        self.nodes[container].count += rest.commas + 1;
        self.close(container);
        Some(())
    }
}

/// Elements of an array that are known in any case.
const FEW_ELEMENTS: u64 = 16;

/// What a member takes at least: two quotes, a colon, a value, a comma.
const LEAST_MEMBER: usize = 5;

/// Nodes that a document may have beside four for each character that can be shown.
const NODES_BESIDES: usize = 1 << 14;

/// Whether a character ends a run of a string's plain characters.
const ENDS_A_RUN: [bool; 256] = {
    let mut ends = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        ends[byte] = true;
        byte += 1;
    }
    ends[b'"' as usize] = true;
    ends[b'\\' as usize] = true;
    ends
};
