//! A number that may be missing, in four bytes: a ledger holds millions of them.

use std::fmt;
use std::num::NonZeroU32;

/// A number below `u32::MAX`, or none. An `Option<u32>` takes eight bytes, this takes four.
///
/// ```
/// use turnfit_core::maybe::Maybe;
///
/// assert_eq!(Maybe::from(Some(7)).get(), Some(7));
/// assert_eq!(Maybe::default().get(), None);
/// assert_eq!(size_of::<Maybe>(), 4);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Maybe(Option<NonZeroU32>);

impl Maybe {
    /// The number, if there is one.
    #[inline]
    #[must_use]
    pub fn get(self) -> Option<u32> {
        self.0.map(|above| above.get() - 1)
    }
}

impl From<Option<u32>> for Maybe {
    #[inline]
    fn from(number: Option<u32>) -> Self {
        Maybe(number.and_then(|number| NonZeroU32::new(number.wrapping_add(1))))
    }
}

impl fmt::Debug for Maybe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
