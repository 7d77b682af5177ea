//! Scanning text and walking histories, without Python.
#![warn(missing_docs)]

pub mod script;
