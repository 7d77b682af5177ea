//! Scanning text and walking histories, without Python.
//!
//! The way through the crate is the way that data takes:
//!
//! - [`script`] says to which class a code point belongs;
//! - [`scan`] counts the classes of a text in one pass;
//! - [`profile`] turns the counts into tokens;
//! - [`facts`] is what matters of a message;
//! - [`pairing`] finds the call that a result answers;
//! - [`ledger`] adds up the tokens of a history, and knows where it may be cut;
//! - [`walk`] plans the request that fits into a budget.

pub mod facts;
pub mod features;
pub mod ledger;
pub mod pairing;
pub mod profile;
pub mod scan;
pub mod script;
pub mod walk;
