//! Which call a result answers.
//!
//! A result answers the newest call before it that bears its id. Ids repeat and
//! restart in real histories, so "newest" means: of the newest message (or response,
//! where its calls are messages of their own) that has such calls. Where several calls of that message bear it, results answer them in
//! order, and when all are answered, the last once more. A result without an id
//! goes by its tool's name, and without a name by position alone. One that finds no
//! call may answer what the newest reference stands for.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// An id or a name, as a hash so wide that equal keys mean equal texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub [u64; 2]);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0[0]);
    }
}

/// By what a result finds its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// By the call's id.
    Id(Key),
    /// By the tool's name.
    Name(Key),
    /// By position alone.
    None,
}

/// A map by keys, which are hashes already.
pub type KeyMap<T> = HashMap<Key, T, BuildHasherDefault<KeyHasher>>;

/// Finds the call that a result answers, in constant time.
#[derive(Default)]
pub(crate) struct Pairing {
    by_id: KeyMap<Chain>,
    by_name: KeyMap<Chain>,
    by_position: Option<Chain>,
    calls: Vec<Call>,
    reference: Option<u32>,
}

/// By what calls are chained.
#[derive(Clone, Copy)]
enum By {
    Id,
    Name,
    Position,
}

/// No call follows in a chain.
const END: u32 = u32::MAX;

struct Call {
    message: u32,
    /// The next of each chain that it is in.
    next: [u32; 3],
    answered: bool,
}

/// Calls of one message that share a key, in order.
#[derive(Clone, Copy)]
struct Chain {
    /// No call before this one is unanswered.
    open: u32,
    last: u32,
}

impl Pairing {
    pub(crate) fn reserve(&mut self, calls: usize) {
        self.by_id.reserve(calls);
        self.calls.reserve(calls);
    }

    pub(crate) fn add_call(&mut self, message: u32, id: Option<Key>, name: Option<Key>) {
        let number = self.add(message, false);
        let calls = &mut self.calls;
        if let Some(id) = id {
            add_to(&mut self.by_id, id, |newest| chained(calls, newest, number, By::Id));
        }
        if let Some(name) = name {
            add_to(&mut self.by_name, name, |newest| chained(calls, newest, number, By::Name));
        }
        self.by_position = Some(chained(calls, self.by_position, number, By::Position));
    }

    /// Adds what may stand for a call, and takes a call's number.
    pub(crate) fn add_reference(&mut self, message: u32) {
        self.reference = Some(self.add(message, true));
    }

    fn add(&mut self, message: u32, answered: bool) -> u32 {
        self.calls.push(Call { message, next: [END; 3], answered });
        (self.calls.len() - 1) as u32
    }

    /// The number of the call that a result with this label answers.
    pub(crate) fn answer(&mut self, label: Label) -> Option<u32> {
        let (chain, by) = match label {
            Label::Id(key) => (self.by_id.get_mut(&key), By::Id),
            Label::Name(key) => (self.by_name.get_mut(&key), By::Name),
            Label::None => (self.by_position.as_mut(), By::Position),
        };
        let number = chain.map(|chain| chain.first_open(&self.calls, by)).or(self.reference)?;
        self.calls[number as usize].answered = true;
        Some(number)
    }
}

fn add_to(chains: &mut KeyMap<Chain>, key: Key, chained: impl FnOnce(Option<Chain>) -> Chain) {
    match chains.entry(key) {
        Entry::Vacant(entry) => drop(entry.insert(chained(None))),
        Entry::Occupied(mut entry) => {
            let newest = *entry.get();
            entry.insert(chained(Some(newest)));
        }
    }
}

/// The newest chain with one more call, or a chain of its own for a call of a newer message.
fn chained(calls: &mut [Call], newest: Option<Chain>, number: u32, by: By) -> Chain {
    let message = calls[number as usize].message;
    match newest {
        Some(chain) if calls[chain.last as usize].message == message => {
            calls[chain.last as usize].next[by as usize] = number;
            Chain { last: number, ..chain }
        }
        _ => Chain { open: number, last: number },
    }
}

impl Chain {
    /// The first unanswered call, or the last.
    fn first_open(&mut self, calls: &[Call], by: By) -> u32 {
        loop {
            let call = &calls[self.open as usize];
            match call.next[by as usize] {
                next if call.answered && next != END => self.open = next,
                _ => return self.open,
            }
        }
    }
}

/// Takes a key's first half for its hash.
#[derive(Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }

    fn write_u64(&mut self, half: u64) {
        self.0 = half;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> Key {
        Key([number, 0])
    }

    fn id(number: u64) -> Option<Key> {
        Some(key(number))
    }

    #[test]
    fn equal_ids_in_one_message_pair_in_order_and_the_last_takes_the_rest() {
        let mut pairing = Pairing::default();
        (0..3).for_each(|_| pairing.add_call(7, id(1), None));
        let answered: Vec<_> = (0..4).map(|_| pairing.answer(Label::Id(key(1)))).collect();
        assert_eq!(answered, [Some(0), Some(1), Some(2), Some(2)]);
    }

    #[test]
    fn a_repeated_id_belongs_to_the_newest_message() {
        let mut pairing = Pairing::default();
        pairing.add_call(1, id(1), None);
        pairing.add_call(3, id(1), None);
        assert_eq!(pairing.answer(Label::Id(key(1))), Some(1));
        assert_eq!(pairing.answer(Label::Id(key(2))), None);
    }

    #[test]
    fn without_ids_the_name_decides_and_then_the_position() {
        let mut pairing = Pairing::default();
        pairing.add_call(1, id(1), id(10));
        pairing.add_call(1, id(2), id(20));
        pairing.add_call(1, id(3), id(10));
        assert_eq!(pairing.answer(Label::Name(key(10))), Some(0));
        assert_eq!(pairing.answer(Label::None), Some(1));
        assert_eq!(pairing.answer(Label::Name(key(10))), Some(2));
    }
}
