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
//! - [`walk`] plans the request that fits into a budget;
//! - [`reasoning`] knows what reasoning a request makes stale.
//!
//! Beside it stands what limits a tool's output before it becomes a message:
//!
//! - [`units`] is a text in whatever width it is kept;
//! - [`measure`] prices its parts;
//! - [`cut`] finds where it may be cut, [`rows`] where rows end;
//! - [`escapes`] knows what a terminal takes for commands;
//! - [`trim_json`] cuts JSON so that JSON is left.

pub mod cut;
pub mod escapes;
pub mod facts;
pub mod features;
pub mod ledger;
pub mod maybe;
pub mod measure;
pub mod pairing;
pub mod profile;
pub mod reasoning;
pub mod rows;
pub mod scan;
pub mod script;
pub mod trim_json;
pub mod units;
pub mod walk;
