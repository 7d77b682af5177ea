//! How a container's room is shared out among its values.

/// A value as sharing sees it; all in steps of the measure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wants {
    /// What stands before it: comma, spaces, name.
    pub(super) before: u64,
    /// The whole value, or more than there is room for.
    pub(super) whole: u64,
    /// The least that can stand for it.
    pub(super) least: u64,
}

/// What each value gets; those behind get nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shares(pub(super) Vec<u64>);

/// All values, where only a few of them must be cut for it: the small stay whole, the
/// large get equal parts.
pub(super) fn all(values: &[Wants], room: u64, most_cut: usize) -> Option<Shares> {
    let before: u64 = values.iter().map(|value| value.before).sum();
    let room = room.checked_sub(before)?;
    let part = equal_part(values, room)?;
    let cut = values.iter().filter(|value| value.whole > part);
    let fit = cut.clone().count() <= most_cut && cut.clone().all(|value| value.least <= part);
    fit.then(|| Shares(values.iter().map(|value| value.whole.min(part)).collect()))
}

/// The greatest part that every value may have, if the smaller ones leave what they
/// don't need to the others.
fn equal_part(values: &[Wants], room: u64) -> Option<u64> {
    let mut sizes: Vec<u64> = values.iter().map(|value| value.whole).collect();
    sizes.sort_unstable();
    let mut left = room;
    let mut others = sizes.len() as u64;
    for size in sizes {
        let part = left / others;
        if size > part {
            return Some(part);
        }
        left -= size;
        others -= 1;
    }
    Some(u64::MAX)
}

/// The first values, whole; and the next one cut, if much of the room is left for it.
pub(super) fn first(values: &[Wants], room: u64) -> Shares {
    let mut left = room;
    let mut shares = Vec::new();
    for value in values {
        if value.before + value.whole > left {
            let part = left.saturating_sub(value.before);
            if left >= room / 4 && part >= value.least && part > 0 {
                shares.push(part);
            }
            break;
        }
        left -= value.before + value.whole;
        shares.push(value.whole);
    }
    Shares(shares)
}
