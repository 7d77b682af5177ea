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
    by_id: Chains,
    by_name: Chains,
    by_position: Chains,
    /// Per call: its message, and whether it is answered.
    calls: Vec<(u32, bool)>,
    reference: Option<u32>,
}

/// Every call has this key among the chains by position.
const ANY: Key = Key([0; 2]);

impl Pairing {
    pub(crate) fn reserve(&mut self, calls: usize) {
        self.by_id.newest.reserve(calls);
        self.calls.reserve(calls);
        for chains in [&mut self.by_id, &mut self.by_name, &mut self.by_position] {
            chains.links.reserve(calls);
        }
    }

    pub(crate) fn add_call(&mut self, message: u32, id: Option<Key>, name: Option<Key>) {
        self.calls.push((message, false));
        let chains = [(&mut self.by_id, id), (&mut self.by_name, name), (&mut self.by_position, Some(ANY))];
        for (chains, key) in chains {
            chains.add(key, &self.calls);
        }
    }

    /// Adds what may stand for a call, and takes a call's number.
    pub(crate) fn add_reference(&mut self, message: u32) {
        self.reference = Some(self.calls.len() as u32);
        self.calls.push((message, true));
        for chains in [&mut self.by_id, &mut self.by_name, &mut self.by_position] {
            chains.links.push(None);
        }
    }

    /// The number of the call that a result with this label answers.
    pub(crate) fn answer(&mut self, label: Label) -> Option<u32> {
        let (chains, key) = match label {
            Label::Id(key) => (&mut self.by_id, key),
            Label::Name(key) => (&mut self.by_name, key),
            Label::None => (&mut self.by_position, ANY),
        };
        let number = chains.next(key, &self.calls).or(self.reference)?;
        self.calls[number as usize].1 = true;
        Some(number)
    }
}

/// Calls of one message that share a key, chained in order.
#[derive(Default)]
struct Chains {
    newest: KeyMap<Chain>,
    /// Per call the next of its chain.
    links: Vec<Option<u32>>,
}

#[derive(Clone, Copy)]
struct Chain {
    /// No call before this one is unanswered.
    open: u32,
    last: u32,
}

impl Chains {
    /// Adds the newest of the calls under its key, if it has one.
    fn add(&mut self, key: Option<Key>, calls: &[(u32, bool)]) {
        self.links.push(None);
        let number = (calls.len() - 1) as u32;
        let Some(key) = key else { return };
        let alone = Chain { open: number, last: number };
        match self.newest.entry(key) {
            Entry::Vacant(entry) => drop(entry.insert(alone)),
            Entry::Occupied(mut entry) => {
                let chain = entry.get_mut();
                if calls[chain.last as usize].0 == calls[number as usize].0 {
                    self.links[chain.last as usize] = Some(number);
                    chain.last = number;
                } else {
                    *chain = alone;
                }
            }
        }
    }

    /// The first unanswered call of the newest chain, or its last.
    fn next(&mut self, key: Key, calls: &[(u32, bool)]) -> Option<u32> {
        let chain = self.newest.get_mut(&key)?;
        while calls[chain.open as usize].1 {
            let Some(next) = self.links[chain.open as usize] else { break };
            chain.open = next;
        }
        Some(chain.open)
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
