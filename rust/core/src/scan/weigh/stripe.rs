//! What a stripe of characters costs, from masks of their classes.
//!
//! A stripe is [`STRIPE`] characters as one byte each: ASCII as it is, anything
//! else as [`HIGH`]. Each class is then eight `u64`, and where runs begin, how
//! long they are and what follows what are shifts and intersections of such,
//! eight at a time: the compiler makes a few vector instructions of each. A
//! mask knows the word before its first, so that nothing is lost between
//! stripes.

use super::super::kernel::{BLOCK, Bytes};
use super::weights::Weights;
use super::{Buffer, Weigh};
use crate::features::{Class, Shape};
use std::ops::{BitAnd, BitOr, Not};

/// Words of a mask.
const WORDS: usize = 8;

/// Characters in a stripe.
pub(in super::super) const STRIPE: usize = WORDS * BLOCK;

/// What stands for a character that is not ASCII.
pub(in super::super) const HIGH: u8 = 0x80;

/// A bit for each character of a stripe, and for the 64 before it.
#[derive(Clone, Copy, Default)]
struct Mask {
    before: u64,
    here: [u64; WORDS],
}

impl Mask {
    #[inline(always)]
    fn zip(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        let mut here = [0; WORDS];
        for (at, word) in here.iter_mut().enumerate() {
            *word = with(self.here[at], other.here[at]);
        }
        Self { before: with(self.before, other.before), here }
    }

    /// The characters that stand `by` behind those of the mask.
    #[inline(always)]
    fn then(self, by: u32) -> Self {
        let mut previous = [self.before; WORDS];
        previous[1..].copy_from_slice(&self.here[..WORDS - 1]);
        let mut here = [0; WORDS];
        for (at, word) in here.iter_mut().enumerate() {
            *word = self.here[at] << by | previous[at] >> (64 - by);
        }
        Self { before: self.before << by, here }
    }

    /// The last of `by + 1` that are all in the mask, if those of `by` are given.
    #[inline(always)]
    fn run(self, by: u32) -> Self {
        self & self.then(by)
    }
}

impl BitAnd for Mask {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
}

impl BitOr for Mask {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

impl Not for Mask {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self.zip(self, |a, _| !a)
    }
}

/// The classes of 64 characters.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Classes {
    lower: u64,
    upper: u64,
    digit: u64,
    blank: u64,
    newline: u64,
    sign: u64,
    high: u64,
    /// Equal to the character before.
    same: u64,
}

/// The classes of the 64 characters at `at`.
#[inline(always)]
pub(in super::super) fn classes_by_registers<V: Bytes>(characters: &[u8], at: usize) -> Classes {
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
    classes.sign = !(classes.lower | classes.upper | classes.digit | classes.blank | classes.newline | classes.high);
    classes
}

/// The same without registers.
pub(in super::super) fn classes_one_by_one(characters: &[u8], at: usize) -> Classes {
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
    classes
}

impl Classes {
    #[inline(always)]
    fn cut(self, length: usize) -> Self {
        let kept = if length < 64 { !(!0 << length) } else { !0 };
        Self {
            lower: self.lower & kept,
            upper: self.upper & kept,
            digit: self.digit & kept,
            blank: self.blank & kept,
            newline: self.newline & kept,
            sign: self.sign & kept,
            high: self.high & kept,
            same: self.same & kept,
        }
    }
}

/// The masks of a stripe behind the last classes of the one before.
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
    fn new(before: &Classes, here: &[Classes; WORDS]) -> Self {
        let mask = |class: fn(&Classes) -> u64| Mask { before: class(before), here: here.each_ref().map(class) };
        Self {
            lower: mask(|classes| classes.lower),
            upper: mask(|classes| classes.upper),
            digit: mask(|classes| classes.digit),
            blank: mask(|classes| classes.blank),
            newline: mask(|classes| classes.newline),
            sign: mask(|classes| classes.sign),
            high: mask(|classes| classes.high),
            same: mask(|classes| classes.same),
        }
    }
}

/// Adds up the weights of shapes.
struct Scale<'a> {
    weights: &'a Weights,
    sums: [u64; WORDS],
}

impl Scale<'_> {
    #[inline(always)]
    fn add(&mut self, shape: Shape, mask: Mask) {
        let weight = u64::from(self.weights.shapes[shape as usize]);
        for (sum, word) in self.sums.iter_mut().zip(mask.here) {
            *sum += u64::from(word.count_ones()) * weight;
        }
    }
}

/// What the first `length` characters of the stripe in the buffer cost but for
/// those that are not ASCII by themselves.
#[inline(always)]
pub(in super::super) fn stripe<V: Weigh>(weights: &Weights, buffer: &mut Buffer, length: usize) -> u64 {
    let mut here = [Classes::default(); WORDS];
    for (word, classes_here) in here.iter_mut().enumerate().take(length.div_ceil(BLOCK)) {
        let at = word * BLOCK;
        *classes_here = V::classes(&buffer.characters, BLOCK + at).cut(length - at);
    }
    let stripe = Stripe::new(&buffer.before, &here);
    let mut scale = Scale { weights, sums: [0; WORDS] };
    let (first, last) = shapes(&stripe, &mut scale);
    let letters = letters::<V>(weights, buffer, &here, &first.here, &last.here);
    buffer.before = here[WORDS - 1];
    scale.sums.iter().sum::<u64>() + letters
}

/// Weighs ASCII characters by themselves, and the first and last letters of words.
#[inline(always)]
fn letters<V: Weigh>(
    weights: &Weights,
    buffer: &Buffer,
    here: &[Classes; WORDS],
    first: &[u64; WORDS],
    last: &[u64; WORDS],
) -> u64 {
    let mut sum = 0;
    for (word, classes) in here.iter().enumerate() {
        let at = BLOCK + word * BLOCK;
        let ascii = classes.lower | classes.upper | classes.digit | classes.blank | classes.newline | classes.sign;
        if ascii != 0 {
            sum += V::sum(&buffer.characters, at, ascii, &weights.ascii);
            sum += V::sum(&buffer.characters, at, first[word], &weights.first);
            sum += V::sum(&buffer.characters, at - 1, last[word], &weights.last);
        }
    }
    sum
}

/// Weighs the shapes; gives the first letters of words, and what stands right
/// behind their last.
#[inline(always)]
fn shapes(stripe: &Stripe, scale: &mut Scale<'_>) -> (Mask, Mask) {
    let Stripe { lower, upper, digit, blank, newline, sign, high, same } = *stripe;
    let letter = lower | upper;
    let word = letter | high;
    let other = digit | blank | newline | sign;
    let behind = |mask: Mask| mask.then(1);
    let (after_letter, after_digit, after_blank) = (behind(letter), behind(digit), behind(blank));
    let (after_break, after_sign, after_high) = (behind(newline), behind(sign), behind(high));
    let after_word = after_letter | after_high;

    scale.add(Shape::LetterAfterBlank, letter & after_blank);
    scale.add(Shape::LetterAfterBreak, letter & after_break);
    scale.add(Shape::LetterAfterSign, letter & after_sign);
    scale.add(Shape::LetterAfterDigit, letter & after_digit);
    scale.add(Shape::LetterAfterHigh, letter & after_high);
    let letters2 = letter.run(1);
    let letters3 = letter & behind(letters2);
    let letters4 = letters2.run(2);
    let letters8 = letters4.run(4);
    let letters16 = letters8.run(8);
    scale.add(Shape::Letters2, letters2);
    scale.add(Shape::Letters3, letters3);
    scale.add(Shape::Letters4, letters4);
    scale.add(Shape::Letters5, letter & behind(letters4));
    scale.add(Shape::Letters7, letters4 & letters3.then(4));
    scale.add(Shape::Letters9, letter & behind(letters8));
    scale.add(Shape::Letters13, letters8 & letters4.then(8) & letter.then(12));
    scale.add(Shape::Letters17, letter & behind(letters16));
    scale.add(Shape::UpperAfterLower, upper & behind(lower));
    scale.add(Shape::LowerAfterUpper, lower & behind(upper));
    scale.add(Shape::UpperFirst, upper & !after_letter);
    let uppers2 = upper.run(1);
    scale.add(Shape::Uppers2, uppers2);
    scale.add(Shape::Uppers4, uppers2.run(2));
    scale.add(Shape::Doubled, letter & same);

    scale.add(Shape::DigitFirst, digit & !after_digit);
    scale.add(Shape::DigitAfterLetter, digit & after_letter);
    scale.add(Shape::DigitAfterSign, digit & after_sign);
    let digits2 = digit.run(1);
    let digits3 = digit & behind(digits2);
    let digits4 = digits2.run(2);
    scale.add(Shape::Digits2, digits2);
    scale.add(Shape::Digits3, digits3);
    scale.add(Shape::Digits4, digits4);
    scale.add(Shape::Digits7, digits4 & digits3.then(4));

    scale.add(Shape::SignFirst, sign & !after_sign);
    scale.add(Shape::SignAfterBlank, sign & after_blank);
    scale.add(Shape::SignAfterBreak, sign & after_break);
    scale.add(Shape::SignAfterLetter, sign & after_letter);
    scale.add(Shape::SignAfterDigit, sign & after_digit);
    let signs2 = sign.run(1);
    scale.add(Shape::Signs2, signs2);
    scale.add(Shape::Signs3, sign & behind(signs2));
    scale.add(Shape::Signs5, sign & behind(signs2.run(2)));
    let repeats1 = sign & same;
    let repeats2 = repeats1.run(1);
    scale.add(Shape::Repeats1, repeats1);
    scale.add(Shape::Repeats3, repeats1 & behind(repeats2));
    scale.add(Shape::Repeats8, repeats2.run(2).run(4));

    scale.add(Shape::BlankAfterBreak, blank & after_break);
    let blanks2 = blank.run(1);
    let blanks4 = blanks2.run(2);
    let blanks8 = blanks4.run(4);
    scale.add(Shape::Blanks2, blanks2);
    scale.add(Shape::Blanks3, blank & behind(blanks2));
    scale.add(Shape::Blanks5, blank & behind(blanks4));
    scale.add(Shape::Blanks9, blank & behind(blanks8));
    scale.add(Shape::Blanks17, blank & behind(blanks8.run(8)));
    scale.add(Shape::BreakAfterSign, newline & after_sign);
    let breaks2 = newline.run(1);
    scale.add(Shape::Breaks2, breaks2);
    scale.add(Shape::Breaks3, newline & behind(breaks2));

    scale.add(Shape::HighFirst, high & !after_high);
    scale.add(Shape::HighAfterBlank, high & after_blank);
    scale.add(Shape::HighAfterLetter, high & after_letter);
    let highs2 = high.run(1);
    let highs3 = high & behind(highs2);
    let highs4 = highs2.run(2);
    let highs8 = highs4.run(4);
    scale.add(Shape::Highs3, highs3);
    scale.add(Shape::Highs5, high & behind(highs4));
    scale.add(Shape::Highs7, highs4 & highs3.then(4));
    scale.add(Shape::Highs9, high & behind(highs8));
    scale.add(Shape::Highs13, highs8 & highs4.then(8) & high.then(12));

    let ended = other & after_word;
    let [word2, word3, word4] = [word.then(2), word.then(3), word.then(4)];
    scale.add(Shape::Word1, ended & !word2);
    scale.add(Shape::Word2, ended & word2 & !word3);
    scale.add(Shape::Word3, ended & word2 & word3 & !word4);
    (letter & !after_word, other & after_letter)
}
