//! What an architecture without vectors of ours has: nothing.

use super::{Kernels, Level};

/// The entry points of a level: none.
pub(super) fn kernels(_: Level) -> Option<Kernels> {
    None
}

/// Leaves it to the processor.
pub(super) fn prefetch<T>(_: &[T], _: usize) {}
