//! What a calibrated profile weighs of a text.
//!
//! A token is a piece of a word, a number, a run of signs or of blanks, so what
//! a text costs follows from which characters it has and from how they stand
//! beside each other. Both are counts of one pass, and neither falls when a text
//! grows: with weights that are not negative, a longer text is never cheaper.
//!
//! - **Characters** by themselves up to U+07FF (Latin, Greek, Cyrillic, Hebrew,
//!   Arabic, ...), by blocks of 64 above, by blocks of 4,096 beyond U+FFFF:
//!   [`index`].
//! - **Shape**: where runs begin, how long they are, what follows what:
//!   [`SHAPES`]. "letter run 4" counts the letters that are at least the fourth
//!   of their run, so that the weights of several such make any convex or
//!   concave price of a length. Which characters form runs: [`Class`].
//! - **First and last letters** of words, which tell languages of one alphabet
//!   apart. A last letter counts when the character behind it has come.
//! - **Letter pairs**: small letters behind each other. Vocabularies have what is
//!   frequent whole, so an unusual pair tells that a word is cut there:
//!   [`letter_pair`].
//!
//! [`Features`] are counted one character after the other: the oracle of the
//! pass that weighs them without counting ([`scan::weigh`](crate::scan::weigh)),
//! and what a profile is fitted to.

/// What a character is to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// a to z.
    Lower,
    /// A to Z.
    Upper,
    /// 0 to 9.
    Digit,
    /// Space and tab.
    Blank,
    /// Line feed and carriage return.
    Break,
    /// Any other ASCII character.
    Sign,
    /// Anything that is not ASCII.
    High,
}

impl Class {
    /// The class of a character.
    #[must_use]
    pub const fn of(code_point: u32) -> Self {
        const BEYOND: u32 = 0x80;
        match code_point {
            BEYOND.. => Self::High,
            _ => match code_point as u8 {
                b'a'..=b'z' => Self::Lower,
                b'A'..=b'Z' => Self::Upper,
                b'0'..=b'9' => Self::Digit,
                b' ' | b'\t' => Self::Blank,
                b'\n' | b'\r' => Self::Break,
                _ => Self::Sign,
            },
        }
    }

    fn is_letter(self) -> bool {
        matches!(self, Self::Lower | Self::Upper)
    }

    fn is_word(self) -> bool {
        self.is_letter() || self == Self::High
    }
}

macro_rules! shapes {
    ($($shape:ident $name:literal)+) => {
        /// A count of how characters stand beside each other; see [`SHAPES`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "their names say it")]
        pub enum Shape { $($shape),+ }

        /// The names of the shapes, in the order of [`Shape`].
        pub const SHAPES: [&str; [$($name),+].len()] = [$($name),+];
    };
}

shapes! {
    LetterAfterBlank "letter after blank"
    LetterAfterBreak "letter after break"
    LetterAfterSign "letter after sign"
    LetterAfterDigit "letter after digit"
    LetterAfterHigh "letter after high"
    Letters2 "letter run 2"
    Letters3 "letter run 3"
    Letters4 "letter run 4"
    Letters5 "letter run 5"
    Letters7 "letter run 7"
    Letters9 "letter run 9"
    Letters13 "letter run 13"
    Letters17 "letter run 17"
    UpperAfterLower "upper after lower"
    LowerAfterUpper "lower after upper"
    UpperAfterBlank "upper after blank"
    UpperAfterBreak "upper after break"
    UpperAfterSign "upper after sign"
    UpperAfterDigit "upper after digit"
    UpperFirst "upper first in run"
    Uppers2 "upper run 2"
    Uppers4 "upper run 4"
    Doubled "letter doubled"
    DigitFirst "digit first in run"
    DigitAfterLetter "digit after letter"
    DigitAfterSign "digit after sign"
    DigitAfterBlank "digit after blank"
    DigitAfterBreak "digit after break"
    DigitAfterHigh "digit after high"
    Digits2 "digit run 2"
    Digits3 "digit run 3"
    Digits4 "digit run 4"
    Digits7 "digit run 7"
    SignFirst "sign first in run"
    SignAfterBlank "sign after blank"
    SignAfterBreak "sign after break"
    SignAfterLetter "sign after letter"
    SignAfterDigit "sign after digit"
    SignAfterHigh "sign after high"
    Signs2 "sign run 2"
    Signs3 "sign run 3"
    Signs5 "sign run 5"
    Repeats1 "sign repeated"
    Repeats3 "sign repeated 3"
    Repeats8 "sign repeated 8"
    BlankAfterBreak "blank after break"
    BlankAfterLetter "blank after letter"
    BlankAfterDigit "blank after digit"
    BlankAfterSign "blank after sign"
    BlankAfterHigh "blank after high"
    Blanks2 "blank run 2"
    Blanks3 "blank run 3"
    Blanks5 "blank run 5"
    Blanks9 "blank run 9"
    Blanks17 "blank run 17"
    BreakAfterSign "break after sign"
    BreakAfterLetter "break after letter"
    BreakAfterDigit "break after digit"
    BreakAfterBlank "break after blank"
    BreakAfterHigh "break after high"
    Breaks2 "break run 2"
    Breaks3 "break run 3"
    HighFirst "high first in run"
    HighAfterBlank "high after blank"
    HighAfterLetter "high after letter"
    HighAfterDigit "high after digit"
    HighAfterBreak "high after break"
    HighAfterSign "high after sign"
    Highs3 "high run 3"
    Highs5 "high run 5"
    Highs7 "high run 7"
    Highs9 "high run 9"
    Highs13 "high run 13"
    Word1 "word of 1"
    Word2 "word of 2"
    Word3 "word of 3"
}

/// How many letters have a weight as first, and as last, of a word.
pub const LETTERS: usize = 26;

/// How many kinds of letters are told apart before another.
pub const BEFORE: usize = 16;

/// How many pairs of letters have a weight.
pub const LETTER_PAIRS: usize = BEFORE * LETTERS;

/// Where the weight of a small letter behind another is found.
///
/// The one before is told by its lower four bits alone, so that a counts with q, b with r,
/// and so on to j with z: of most of these one is rare, or both sound alike. All 26 did no
/// better on texts left out of the fit.
///
/// ```
/// use turnfit_core::features::letter_pair;
/// assert_eq!(letter_pair(b'e'.into(), b'n'.into()), 5 * 26 + 13);
/// assert_eq!(letter_pair(b'u'.into(), b'n'.into()), 5 * 26 + 13);
/// ```
#[inline]
#[must_use]
pub fn letter_pair(before: u32, here: u32) -> usize {
    (before as usize & (BEFORE - 1)) * LETTERS + letter(here)
}

/// How many characters or blocks of them have a weight of their own.
pub const INDICES: usize = 0xC00 + 0x110;

/// Where a character's weight is found: by itself up to U+07FF, then by blocks.
/// A number past U+10FFFF is taken as U+FFFD.
///
/// ```
/// use turnfit_core::features::index;
/// assert_eq!(index('я' as u32), 0x44F);
/// assert_eq!(index('好' as u32), index('女' as u32));
/// ```
#[inline]
#[must_use]
pub fn index(code_point: u32) -> usize {
    let index = match code_point {
        0..0x800 => code_point,
        0x800..0x1_0000 => 0x800 + (code_point >> 6),
        0x1_0000..0x11_0000 => 0xC00 + (code_point >> 12),
        _ => 0x800 + (0xFFFD >> 6),
    };
    index as usize
}

/// The counts of a text.
///
/// ```
/// use turnfit_core::features::{Features, Shape};
/// let features = Features::of("two words".chars().map(u32::from));
/// assert_eq!(features.shape(Shape::LetterAfterBlank), 1);
/// assert_eq!(features.characters[usize::from(b'o')], 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// By [`Shape`].
    pub shapes: [u64; SHAPES.len()],
    /// First letters of words, a to z, of either case.
    pub first: [u64; LETTERS],
    /// Last letters of words.
    pub last: [u64; LETTERS],
    /// By [`letter_pair`].
    pub letter_pairs: [u64; LETTER_PAIRS],
    /// By [`index`].
    pub characters: Vec<u64>,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            shapes: [0; SHAPES.len()],
            first: [0; LETTERS],
            last: [0; LETTERS],
            letter_pairs: [0; LETTER_PAIRS],
            characters: vec![0; INDICES],
        }
    }
}

/// The characters before the next, as far as it matters.
#[derive(Clone, Copy, Default)]
struct Before {
    code_point: Option<u32>,
    /// Of the same class; letters count as one.
    run: u64,
    uppers: u64,
    word: u64,
    repeats: u64,
}

impl Features {
    /// Counts a text.
    #[must_use]
    pub fn of(code_points: impl IntoIterator<Item = u32>) -> Self {
        let mut features = Self::default();
        let mut before = Before::default();
        for code_point in code_points {
            before = features.push(before, code_point);
        }
        features
    }

    /// The count of a shape.
    #[must_use]
    pub fn shape(&self, shape: Shape) -> u64 {
        self.shapes[shape as usize]
    }

    fn push(&mut self, before: Before, code_point: u32) -> Before {
        self.characters[index(code_point)] += 1;
        let here = Class::of(code_point);
        let previous = before.code_point.map(Class::of);
        let after = before.then(code_point, here, previous);
        if let Some(previous) = previous {
            self.pair(previous, here);
        }
        self.letters(before, code_point, here, previous);
        self.runs(after, here, previous);
        self.ended(before, here);
        after
    }

    fn add(&mut self, shape: Shape, happened: bool) {
        self.shapes[shape as usize] += u64::from(happened);
    }

    fn pair(&mut self, previous: Class, here: Class) {
        use Class::{Blank, Break, Digit, High, Lower, Sign, Upper};
        self.upper_after(previous, here);
        let shape = match (previous, here) {
            (Lower, Upper) => Shape::UpperAfterLower,
            (Upper, Lower) => Shape::LowerAfterUpper,
            (Blank, Lower | Upper) => Shape::LetterAfterBlank,
            (Break, Lower | Upper) => Shape::LetterAfterBreak,
            (Sign, Lower | Upper) => Shape::LetterAfterSign,
            (Digit, Lower | Upper) => Shape::LetterAfterDigit,
            (High, Lower | Upper) => Shape::LetterAfterHigh,
            (Lower | Upper, Digit) => Shape::DigitAfterLetter,
            (Sign, Digit) => Shape::DigitAfterSign,
            (Blank, Digit) => Shape::DigitAfterBlank,
            (Break, Digit) => Shape::DigitAfterBreak,
            (High, Digit) => Shape::DigitAfterHigh,
            (Blank, Sign) => Shape::SignAfterBlank,
            (Break, Sign) => Shape::SignAfterBreak,
            (Lower | Upper, Sign) => Shape::SignAfterLetter,
            (Digit, Sign) => Shape::SignAfterDigit,
            (High, Sign) => Shape::SignAfterHigh,
            (Break, Blank) => Shape::BlankAfterBreak,
            (Lower | Upper, Blank) => Shape::BlankAfterLetter,
            (Digit, Blank) => Shape::BlankAfterDigit,
            (Sign, Blank) => Shape::BlankAfterSign,
            (High, Blank) => Shape::BlankAfterHigh,
            (Sign, Break) => Shape::BreakAfterSign,
            (Lower | Upper, Break) => Shape::BreakAfterLetter,
            (Digit, Break) => Shape::BreakAfterDigit,
            (Blank, Break) => Shape::BreakAfterBlank,
            (High, Break) => Shape::BreakAfterHigh,
            (Blank, High) => Shape::HighAfterBlank,
            (Lower | Upper, High) => Shape::HighAfterLetter,
            (Digit, High) => Shape::HighAfterDigit,
            (Break, High) => Shape::HighAfterBreak,
            (Sign, High) => Shape::HighAfterSign,
            _ => return,
        };
        self.add(shape, true);
    }

    fn upper_after(&mut self, previous: Class, here: Class) {
        let shape = match previous {
            Class::Blank => Shape::UpperAfterBlank,
            Class::Break => Shape::UpperAfterBreak,
            Class::Sign => Shape::UpperAfterSign,
            Class::Digit => Shape::UpperAfterDigit,
            _ => return,
        };
        self.add(shape, here == Class::Upper);
    }

    fn letters(&mut self, before: Before, code_point: u32, here: Class, previous: Option<Class>) {
        self.add(Shape::UpperFirst, here == Class::Upper && !previous.is_some_and(Class::is_letter));
        self.add(Shape::Doubled, here.is_letter() && before.code_point == Some(code_point));
        if here.is_letter() && !previous.is_some_and(Class::is_word) {
            self.first[letter(code_point)] += 1;
        }
        if let Some(last) = before.code_point
            && previous == Some(Class::Lower)
            && here == Class::Lower
        {
            self.letter_pairs[letter_pair(last, code_point)] += 1;
        }
        if let Some(last) = before.code_point
            && Class::of(last).is_letter()
            && !here.is_word()
        {
            self.last[letter(last)] += 1;
        }
    }

    fn runs(&mut self, after: Before, here: Class, previous: Option<Class>) {
        let first = previous != Some(here);
        let lengths: &[(Shape, u64)] = match here {
            Class::Lower | Class::Upper => &[
                (Shape::Letters2, 2),
                (Shape::Letters3, 3),
                (Shape::Letters4, 4),
                (Shape::Letters5, 5),
                (Shape::Letters7, 7),
                (Shape::Letters9, 9),
                (Shape::Letters13, 13),
                (Shape::Letters17, 17),
            ],
            Class::Digit => {
                self.add(Shape::DigitFirst, first);
                &[(Shape::Digits2, 2), (Shape::Digits3, 3), (Shape::Digits4, 4), (Shape::Digits7, 7)]
            }
            Class::Blank => &[
                (Shape::Blanks2, 2),
                (Shape::Blanks3, 3),
                (Shape::Blanks5, 5),
                (Shape::Blanks9, 9),
                (Shape::Blanks17, 17),
            ],
            Class::Break => &[(Shape::Breaks2, 2), (Shape::Breaks3, 3)],
            Class::Sign => {
                self.add(Shape::SignFirst, first);
                &[(Shape::Signs2, 2), (Shape::Signs3, 3), (Shape::Signs5, 5)]
            }
            Class::High => {
                self.add(Shape::HighFirst, first);
                &[
                    (Shape::Highs3, 3),
                    (Shape::Highs5, 5),
                    (Shape::Highs7, 7),
                    (Shape::Highs9, 9),
                    (Shape::Highs13, 13),
                ]
            }
        };
        for &(shape, length) in lengths {
            self.add(shape, after.run >= length);
        }
        self.add(Shape::Uppers2, after.uppers >= 2);
        self.add(Shape::Uppers4, after.uppers >= 4);
        self.add(Shape::Repeats1, after.repeats >= 1);
        self.add(Shape::Repeats3, after.repeats >= 3);
        self.add(Shape::Repeats8, after.repeats >= 8);
    }

    fn ended(&mut self, before: Before, here: Class) {
        let word = if here.is_word() { 0 } else { before.word };
        self.add(Shape::Word1, word == 1);
        self.add(Shape::Word2, word == 2);
        self.add(Shape::Word3, word == 3);
    }
}

impl Before {
    fn then(self, code_point: u32, here: Class, previous: Option<Class>) -> Self {
        let joins =
            previous.is_some_and(|previous| previous == here || previous.is_letter() && here.is_letter());
        let grows = |happens: bool, count: u64| if happens { count + 1 } else { 0 };
        Self {
            code_point: Some(code_point),
            run: if joins { self.run + 1 } else { 1 },
            uppers: grows(here == Class::Upper, self.uppers),
            word: grows(here.is_word(), self.word),
            repeats: grows(here == Class::Sign && self.code_point == Some(code_point), self.repeats),
        }
    }
}

fn letter(code_point: u32) -> usize {
    ((code_point | 0x20) - u32::from(b'a')) as usize
}
