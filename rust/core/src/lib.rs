//! Scanning text and walking histories, without Python.
//!
//! The way through the crate is the way that data takes:
//!
//! - [`script`] says to which class a code point belongs;
//! - [`scan`] counts the classes of a text in one pass;
//! - [`profile`] turns the counts into tokens;
//! - [`ledger`] adds up the tokens of a history and pairs calls with results;
//! - [`walk`] plans the request that fits into a budget.

pub mod ledger;
pub mod profile;
pub mod scan;
pub mod script;
pub mod walk;
