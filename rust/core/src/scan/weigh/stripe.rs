//! What a stripe of characters costs, from masks of their classes.
//!
//! A stripe is [`STRIPE`] characters as one byte each: ASCII as it is, anything
//! else as [`HIGH`]. Each class is then seven `u64`, behind an eighth of the
//! characters before them, so that nothing is lost between stripes; and where
//! runs begin, how long they are and what follows what are shifts and
//! intersections of such masks, all eight words at a time.

use super::super::kernel::{BLOCK, Bytes};
use super::weights::{PairTable, Table, Weights};
use super::{Buffer, Filled, STRIPE_AT, Weigh};
use crate::features::{Class, Shape};

/// Words of a mask, of which the first is of the characters before.
pub(in super::super) const WORDS: usize = 8;

/// Characters in a stripe.
pub(in super::super) const STRIPE: usize = (WORDS - 1) * BLOCK;

/// What stands for a character that is not ASCII.
pub(in super::super) const HIGH: u8 = 0x80;

/// A bit for each character of a stripe, and for the 64 before it. What is shifted
/// in before these is lost: no shape looks back so far.
#[derive(Clone, Copy, Default)]
struct Mask([u64; WORDS]);

impl Mask {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Those of the mask that are not in the other.
    #[inline(always)]
    fn less(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// The characters that stand so far behind those of the mask.
    #[inline(always)]
    fn then<const BY: u32>(self) -> Self {
        Self(std::array::from_fn(|word| {
            let before = if word == 0 { 0 } else { self.0[word - 1] };
            self.0[word] << BY | before >> (64 - BY)
        }))
    }

    /// The last of `BY` more that are all in the mask, if it is of so many already.
    #[inline(always)]
    fn run<const BY: u32>(self) -> Self {
        self.and(self.then::<BY>())
    }

    /// How many characters, but for those before the stripe.
    #[inline(always)]
    fn count(self) -> u64 {
        self.0[1..].iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// The classes of 64 characters.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Classes {
    pub(in super::super) lower: u64,
    pub(in super::super) upper: u64,
    pub(in super::super) digit: u64,
    pub(in super::super) blank: u64,
    pub(in super::super) newline: u64,
    pub(in super::super) sign: u64,
    pub(in super::super) high: u64,
    /// Equal to the character before.
    pub(in super::super) same: u64,
}

/// The classes of the 64 characters at `at` that are in `lanes`; the others have none.
#[inline(always)]
pub(in super::super) fn classes_by_registers<V: Bytes>(characters: &[u8], at: usize, lanes: u64) -> Classes {
    let mut classes = Classes::default();
    for lane in (0..BLOCK).step_by(V::LANES) {
        let here = V::load(&characters[at + lane..]);
        let before = V::load(&characters[at + lane - 1..]);
        let within = |first: u8, end: u8| here.below(end) & !here.below(first);
        let is = |byte: u8| within(byte, byte + 1);
        classes.lower |= within(b'a', b'z' + 1) << lane;
        classes.upper |= within(b'A', b'Z' + 1) << lane;
        classes.digit |= within(b'0', b'9' + 1) << lane;
        classes.blank |= (is(b' ') | is(b'\t')) << lane;
        classes.newline |= (is(b'\n') | is(b'\r')) << lane;
        classes.high |= here.high() << lane;
        classes.same |= here.equal(before) << lane;
    }
    classes.sign =
        !(classes.lower | classes.upper | classes.digit | classes.blank | classes.newline | classes.high);
    classes.among(lanes)
}

/// The same without registers.
pub(in super::super) fn classes_one_by_one(characters: &[u8], at: usize, lanes: u64) -> Classes {
    let mut classes = Classes::default();
    for lane in 0..BLOCK {
        let (before, here) = (characters[at + lane - 1], characters[at + lane]);
        let set = match Class::of(here.into()) {
            Class::Lower => &mut classes.lower,
            Class::Upper => &mut classes.upper,
            Class::Digit => &mut classes.digit,
            Class::Blank => &mut classes.blank,
            Class::Break => &mut classes.newline,
            Class::Sign => &mut classes.sign,
            Class::High => &mut classes.high,
        };
        *set |= 1 << lane;
        classes.same |= u64::from(here == before) << lane;
    }
    classes.among(lanes)
}

impl Classes {
    #[inline(always)]
    fn among(self, lanes: u64) -> Self {
        Self {
            lower: self.lower & lanes,
            upper: self.upper & lanes,
            digit: self.digit & lanes,
            blank: self.blank & lanes,
            newline: self.newline & lanes,
            sign: self.sign & lanes,
            high: self.high & lanes,
            same: self.same & lanes,
        }
    }
}

/// The masks of a stripe.
#[derive(Clone, Copy, Default)]
struct Stripe {
    lower: Mask,
    upper: Mask,
    digit: Mask,
    blank: Mask,
    newline: Mask,
    sign: Mask,
    high: Mask,
    same: Mask,
}

impl Stripe {
    #[inline(always)]
    fn put(&mut self, word: usize, classes: Classes) {
        self.lower.0[word] = classes.lower;
        self.upper.0[word] = classes.upper;
        self.digit.0[word] = classes.digit;
        self.blank.0[word] = classes.blank;
        self.newline.0[word] = classes.newline;
        self.sign.0[word] = classes.sign;
        self.high.0[word] = classes.high;
        self.same.0[word] = classes.same;
    }

    #[inline(always)]
    fn last(&self) -> Classes {
        let word = WORDS - 1;
        Classes {
            lower: self.lower.0[word],
            upper: self.upper.0[word],
            digit: self.digit.0[word],
            blank: self.blank.0[word],
            newline: self.newline.0[word],
            sign: self.sign.0[word],
            high: self.high.0[word],
            same: self.same.0[word],
        }
    }
}

/// Adds up the weights of shapes.
struct Scale<'a> {
    weights: &'a Weights,
    sum: u64,
}

impl Scale<'_> {
    #[inline(always)]
    fn add(&mut self, shape: Shape, mask: Mask) {
        self.sum += mask.count() * u64::from(self.weights.shapes[shape as usize]);
    }
}

/// What the first `length` characters of the stripe in the buffer cost but for
/// those that are not ASCII by themselves.
#[inline(always)]
pub(in super::super) fn stripe<V: Weigh>(weights: &Weights, buffer: &mut Buffer, length: usize) -> u64 {
    let mut classes = Stripe::default();
    classes.put(0, buffer.before);
    let blocks = length.div_ceil(BLOCK);
    for block in 0..blocks {
        let left = length - block * BLOCK;
        let lanes = if left < BLOCK { !(!0 << left) } else { !0 };
        classes.put(block + 1, V::classes(&buffer.characters, STRIPE_AT + block * BLOCK, lanes));
    }
    let mut scale = Scale { weights, sum: 0 };
    let masks = shapes(&classes, &mut scale);
    for block in 0..blocks {
        let lanes = masks.map(|mask| mask.0[block + 1]);
        scale.sum += characters(weights, &buffer.characters, STRIPE_AT + block * BLOCK, lanes);
    }
    if length == STRIPE {
        buffer.before = classes.last();
    }
    scale.sum
}

/// All goes through the buffer.
pub(in super::super) fn not_where_it_lies(_: &Weights, _: &[u8], _: usize) -> Filled {
    Filled::default()
}

/// What the 64 characters at `at` weigh by themselves: all that are ASCII, first
/// letters, and, each one before those told, last letters; and small letters behind others.
#[inline(always)]
fn characters(weights: &Weights, characters: &[u8], at: usize, lanes: [u64; 4]) -> u64 {
    let [ascii, first, last, pairs] = lanes;
    let (here, before) = (&characters[at..at + BLOCK], &characters[at - 1..at - 1 + BLOCK]);
    by_entry(here, ascii, &weights.ascii)
        + by_entry(here, first, &weights.first)
        + by_entry(before, last, &weights.last)
        + by_pair(before, here, pairs, &weights.letter_pairs)
}

#[inline(always)]
fn by_pair(before: &[u8], here: &[u8], mut lanes: u64, table: &PairTable) -> u64 {
    let mut sum = 0;
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize;
        sum += table.of(before[lane], here[lane]);
        lanes &= lanes - 1;
    }
    sum
}

#[inline(always)]
fn by_entry(characters: &[u8], mut lanes: u64, table: &Table) -> u64 {
    if lanes == !0 {
        return characters.iter().map(|&byte| table.of(byte)).sum();
    }
    let mut sum = 0;
    while lanes != 0 {
        sum += table.of(characters[lanes.trailing_zeros() as usize]);
        lanes &= lanes - 1;
    }
    sum
}

/// Weighs the shapes; gives what is ASCII, the first letters of words, what stands right
/// behind their last, and small letters behind others.
#[inline(always)]
fn shapes(stripe: &Stripe, scale: &mut Scale<'_>) -> [Mask; 4] {
    let Stripe { lower, upper, digit, blank, newline, sign, high, same } = *stripe;
    let letter = lower.or(upper);
    let word = letter.or(high);
    let other = digit.or(blank).or(newline).or(sign);
    let behind = |mask: Mask| mask.then::<1>();
    let (after_letter, after_digit, after_blank) = (behind(letter), behind(digit), behind(blank));
    let (after_break, after_sign, after_high) = (behind(newline), behind(sign), behind(high));
    let after_word = after_letter.or(after_high);
    let after_lower = behind(lower);

    scale.add(Shape::LetterAfterBlank, letter.and(after_blank));
    scale.add(Shape::LetterAfterBreak, letter.and(after_break));
    scale.add(Shape::LetterAfterSign, letter.and(after_sign));
    scale.add(Shape::LetterAfterDigit, letter.and(after_digit));
    scale.add(Shape::LetterAfterHigh, letter.and(after_high));
    let letters2 = letter.run::<1>();
    let letters3 = letter.and(behind(letters2));
    let letters4 = letters2.run::<2>();
    let letters8 = letters4.run::<4>();
    let letters16 = letters8.run::<8>();
    scale.add(Shape::Letters2, letters2);
    scale.add(Shape::Letters3, letters3);
    scale.add(Shape::Letters4, letters4);
    scale.add(Shape::Letters5, letter.and(behind(letters4)));
    scale.add(Shape::Letters7, letters4.and(letters3.then::<4>()));
    scale.add(Shape::Letters9, letter.and(behind(letters8)));
    scale.add(Shape::Letters13, letters8.and(letters4.then::<8>()).and(letter.then::<12>()));
    scale.add(Shape::Letters17, letter.and(behind(letters16)));
    scale.add(Shape::UpperAfterLower, upper.and(after_lower));
    scale.add(Shape::LowerAfterUpper, lower.and(behind(upper)));
    scale.add(Shape::UpperAfterBlank, upper.and(after_blank));
    scale.add(Shape::UpperAfterBreak, upper.and(after_break));
    scale.add(Shape::UpperAfterSign, upper.and(after_sign));
    scale.add(Shape::UpperAfterDigit, upper.and(after_digit));
    scale.add(Shape::UpperFirst, upper.less(after_letter));
    let uppers2 = upper.run::<1>();
    scale.add(Shape::Uppers2, uppers2);
    scale.add(Shape::Uppers4, uppers2.run::<2>());
    scale.add(Shape::Doubled, letter.and(same));

    scale.add(Shape::DigitFirst, digit.less(after_digit));
    scale.add(Shape::DigitAfterLetter, digit.and(after_letter));
    scale.add(Shape::DigitAfterSign, digit.and(after_sign));
    scale.add(Shape::DigitAfterBlank, digit.and(after_blank));
    scale.add(Shape::DigitAfterBreak, digit.and(after_break));
    scale.add(Shape::DigitAfterHigh, digit.and(after_high));
    let digits2 = digit.run::<1>();
    let digits3 = digit.and(behind(digits2));
    let digits4 = digits2.run::<2>();
    scale.add(Shape::Digits2, digits2);
    scale.add(Shape::Digits3, digits3);
    scale.add(Shape::Digits4, digits4);
    scale.add(Shape::Digits7, digits4.and(digits3.then::<4>()));

    scale.add(Shape::SignFirst, sign.less(after_sign));
    scale.add(Shape::SignAfterBlank, sign.and(after_blank));
    scale.add(Shape::SignAfterBreak, sign.and(after_break));
    scale.add(Shape::SignAfterLetter, sign.and(after_letter));
    scale.add(Shape::SignAfterDigit, sign.and(after_digit));
    scale.add(Shape::SignAfterHigh, sign.and(after_high));
    let signs2 = sign.run::<1>();
    scale.add(Shape::Signs2, signs2);
    scale.add(Shape::Signs3, sign.and(behind(signs2)));
    scale.add(Shape::Signs5, sign.and(behind(signs2.run::<2>())));
    let repeats1 = sign.and(same);
    let repeats2 = repeats1.run::<1>();
    scale.add(Shape::Repeats1, repeats1);
    scale.add(Shape::Repeats3, repeats1.and(behind(repeats2)));
    scale.add(Shape::Repeats8, repeats2.run::<2>().run::<4>());

    scale.add(Shape::BlankAfterBreak, blank.and(after_break));
    scale.add(Shape::BlankAfterLetter, blank.and(after_letter));
    scale.add(Shape::BlankAfterDigit, blank.and(after_digit));
    scale.add(Shape::BlankAfterSign, blank.and(after_sign));
    scale.add(Shape::BlankAfterHigh, blank.and(after_high));
    let blanks2 = blank.run::<1>();
    let blanks4 = blanks2.run::<2>();
    let blanks8 = blanks4.run::<4>();
    scale.add(Shape::Blanks2, blanks2);
    scale.add(Shape::Blanks3, blank.and(behind(blanks2)));
    scale.add(Shape::Blanks5, blank.and(behind(blanks4)));
    scale.add(Shape::Blanks9, blank.and(behind(blanks8)));
    scale.add(Shape::Blanks17, blank.and(behind(blanks8.run::<8>())));
    scale.add(Shape::BreakAfterSign, newline.and(after_sign));
    scale.add(Shape::BreakAfterLetter, newline.and(after_letter));
    scale.add(Shape::BreakAfterDigit, newline.and(after_digit));
    scale.add(Shape::BreakAfterBlank, newline.and(after_blank));
    scale.add(Shape::BreakAfterHigh, newline.and(after_high));
    let breaks2 = newline.run::<1>();
    scale.add(Shape::Breaks2, breaks2);
    scale.add(Shape::Breaks3, newline.and(behind(breaks2)));

    scale.add(Shape::HighFirst, high.less(after_high));
    scale.add(Shape::HighAfterBlank, high.and(after_blank));
    scale.add(Shape::HighAfterLetter, high.and(after_letter));
    scale.add(Shape::HighAfterDigit, high.and(after_digit));
    scale.add(Shape::HighAfterBreak, high.and(after_break));
    scale.add(Shape::HighAfterSign, high.and(after_sign));
    let highs2 = high.run::<1>();
    let highs3 = high.and(behind(highs2));
    let highs4 = highs2.run::<2>();
    let highs8 = highs4.run::<4>();
    scale.add(Shape::Highs3, highs3);
    scale.add(Shape::Highs5, high.and(behind(highs4)));
    scale.add(Shape::Highs7, highs4.and(highs3.then::<4>()));
    scale.add(Shape::Highs9, high.and(behind(highs8)));
    scale.add(Shape::Highs13, highs8.and(highs4.then::<8>()).and(high.then::<12>()));

    let ended = other.and(after_word);
    let [word2, word3, word4] = [word.then::<2>(), word.then::<3>(), word.then::<4>()];
    scale.add(Shape::Word1, ended.less(word2));
    scale.add(Shape::Word2, ended.and(word2).less(word3));
    scale.add(Shape::Word3, ended.and(word2).and(word3).less(word4));
    [letter.or(other), letter.less(after_word), other.and(after_letter), lower.and(after_lower)]
}
