//! Lengths of runs and words, and repetitions, from masks of kinds.
//!
//! A mask has a bit for each character of a stripe and of the block before it, the
//! last character's being the lowest of a word: that is how bits come out of their
//! transposition.

use std::arch::x86_64::*;

use super::super::super::kernel::BLOCK;
use super::super::super::weigh::tables::Tables;
use super::{Kinds, Sums, load, select};
use crate::features::Shape;

/// The lower four bits of kinds, each as a mask: the three of the class, and whether the
/// character is the same as the one before.
#[derive(Clone, Copy)]
pub(super) struct Planes([Mask; 4]);

impl Planes {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vbmi,gfni")]
    pub(super) fn of(kinds: &Kinds) -> Self {
        let two = [two_blocks(kinds, 0), two_blocks(kinds, 2), two_blocks(kinds, 4), two_blocks(kinds, 6)];
        let lower = |a, b| _mm512_shuffle_i64x2::<0x44>(a, b);
        let upper = |a, b| _mm512_shuffle_i64x2::<0xEE>(a, b);
        let even = |a, b| Mask(_mm512_shuffle_i64x2::<0x88>(a, b));
        let odd = |a, b| Mask(_mm512_shuffle_i64x2::<0xDD>(a, b));
        let (first, second) = (lower(two[0], two[1]), lower(two[2], two[3]));
        let (third, fourth) = (upper(two[0], two[1]), upper(two[2], two[3]));
        Self([even(first, second), odd(first, second), even(third, fourth), odd(third, fourth)])
    }

    /// Characters of some classes, given as a set of their numbers.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn any_of<const NUMBERS: i32>(&self) -> Mask {
        let [zeroth, first, second, _] = &self.0;
        Mask(_mm512_ternarylogic_epi64::<NUMBERS>(second.0, first.0, zeroth.0))
    }
}

/// The four bits of two blocks' kinds: each quarter of the register has one, a word a block.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi,gfni")]
fn two_blocks(kinds: &Kinds, word: usize) -> __m512i {
    const QUARTERS: [u8; BLOCK] = {
        let mut from = [0; BLOCK];
        let mut to = 0;
        while to < BLOCK {
            let (bit, block, eighth) = (to / 16, to / 8 % 2, 7 - to % 8);
            from[to] = (8 * eighth + 4 * block + bit) as u8;
            to += 1;
        }
        from
    };
    let second = _mm512_slli_epi16::<4>(load(&kinds.0, (word + 1) * BLOCK));
    let bits = select(0x0F, load(&kinds.0, word * BLOCK), second);
    let transposed =
        _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(0x8040_2010_0804_0201_u64 as i64), bits);
    _mm512_permutexvar_epi8(load(&QUARTERS, 0), transposed)
}

#[derive(Clone, Copy)]
struct Mask(__m512i);

impl Mask {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn and(self, other: Self) -> Self {
        Self(_mm512_and_si512(self.0, other.0))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn or(self, other: Self) -> Self {
        Self(_mm512_or_si512(self.0, other.0))
    }

    /// Those of the mask that are not in the other.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn less(self, other: Self) -> Self {
        Self(_mm512_andnot_si512(other.0, self.0))
    }

    /// Those that are in just one of them.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn unlike(self, other: Self) -> Self {
        Self(_mm512_xor_si512(self.0, other.0))
    }

    /// The characters that stand so far behind those of the mask.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2")]
    fn then<const BY: i32>(self) -> Self {
        let before = _mm512_alignr_epi64::<7>(self.0, _mm512_setzero_si512());
        Self(_mm512_shrdi_epi64::<BY>(self.0, before))
    }

    /// Whether any of the stripe is in the mask.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn any(self) -> bool {
        _mm512_mask_test_epi64_mask(!1, self.0, self.0) != 0
    }
}

/// Adds up the weights of shapes.
struct Scale<'a> {
    tables: &'a Tables,
    sums: &'a mut Sums,
}

impl Scale<'_> {
    /// Adds a weight for each character of the mask but those before the stripe.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512bitalg,avx512vnni")]
    fn add(&mut self, shape: Shape, mask: Mask) {
        let weights = _mm512_set1_epi32(self.tables.shapes[shape as usize]);
        self.sums.add_products(shape as usize, _mm512_popcnt_epi16(mask.0), weights);
    }
}

/// Adds the shapes that pairs don't tell.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi2,avx512bitalg,avx512vnni")]
pub(super) fn add(tables: &Tables, planes: &Planes, sums: &mut Sums) {
    let mut scale = Scale { tables, sums };
    let letter = planes.any_of::<{ 1 << 2 | 1 << 3 }>();
    let sign = planes.any_of::<{ 1 << 6 }>();
    let high = planes.any_of::<{ 1 << 7 }>();
    let [_, _, _, same] = planes.0;
    let runs = Runs::of(planes, letter);
    letters(&mut scale, letter, planes.any_of::<{ 1 << 3 }>(), same, &runs);
    digits(&mut scale, planes.any_of::<{ 1 << 1 }>(), &runs);
    signs(&mut scale, sign, sign.and(same), &runs);
    blanks(&mut scale, planes.any_of::<{ 1 << 4 }>(), &runs);
    scale.add(Shape::Breaks3, planes.any_of::<{ 1 << 5 }>().less(runs.under3));
    highs(&mut scale, high, &runs);
    words(&mut scale, letter.or(high), planes.any_of::<0b111_0010>());
}

/// Characters that are not so far in a run, of whatever kind it is.
struct Runs {
    under3: Mask,
    under4: Mask,
    under5: Mask,
    under7: Mask,
    under9: Mask,
    under13: Mask,
    under17: Mask,
}

impl Runs {
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2")]
    fn of(planes: &Planes, letter: Mask) -> Self {
        let [zeroth, first, second, _] = planes.0;
        // Of letters only the lowest bit differs.
        let begins = zeroth.unlike(zeroth.then::<1>()).less(letter);
        let begins = begins.or(first.unlike(first.then::<1>())).or(second.unlike(second.then::<1>()));
        let under3 = begins.or(begins.then::<1>());
        let under5 = under3.or(under3.then::<2>());
        let under9 = under5.or(under5.then::<4>());
        Self {
            under3,
            under4: under3.or(begins.then::<2>()),
            under5,
            under7: under5.or(under3.then::<4>()),
            under9,
            under13: under9.or(under5.then::<8>()),
            under17: under9.or(under9.then::<8>()),
        }
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi2,avx512bitalg,avx512vnni")]
fn letters(scale: &mut Scale<'_>, letter: Mask, upper: Mask, same: Mask, runs: &Runs) {
    scale.add(Shape::Letters3, letter.less(runs.under3));
    scale.add(Shape::Letters4, letter.less(runs.under4));
    scale.add(Shape::Letters5, letter.less(runs.under5));
    scale.add(Shape::Letters7, letter.less(runs.under7));
    scale.add(Shape::Letters9, letter.less(runs.under9));
    scale.add(Shape::Letters13, letter.less(runs.under13));
    scale.add(Shape::Letters17, letter.less(runs.under17));
    scale.add(Shape::Doubled, letter.and(same));
    let uppers2 = upper.and(upper.then::<1>());
    scale.add(Shape::Uppers4, uppers2.and(uppers2.then::<2>()));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512bitalg,avx512vnni")]
fn digits(scale: &mut Scale<'_>, digit: Mask, runs: &Runs) {
    let digits3 = digit.less(runs.under3);
    if digits3.any() {
        scale.add(Shape::Digits3, digits3);
        scale.add(Shape::Digits4, digit.less(runs.under4));
        scale.add(Shape::Digits7, digit.less(runs.under7));
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi2,avx512bitalg,avx512vnni")]
fn signs(scale: &mut Scale<'_>, sign: Mask, repeats1: Mask, runs: &Runs) {
    scale.add(Shape::Signs3, sign.less(runs.under3));
    scale.add(Shape::Signs5, sign.less(runs.under5));
    scale.add(Shape::Repeats1, repeats1);
    let repeats2 = repeats1.and(repeats1.then::<1>());
    if repeats2.any() {
        scale.add(Shape::Repeats3, repeats2.and(repeats1.then::<2>()));
        let repeats4 = repeats2.and(repeats2.then::<2>());
        scale.add(Shape::Repeats8, repeats4.and(repeats4.then::<4>()));
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512bitalg,avx512vnni")]
fn blanks(scale: &mut Scale<'_>, blank: Mask, runs: &Runs) {
    let blanks3 = blank.less(runs.under3);
    if blanks3.any() {
        scale.add(Shape::Blanks3, blanks3);
        scale.add(Shape::Blanks5, blank.less(runs.under5));
        scale.add(Shape::Blanks9, blank.less(runs.under9));
        scale.add(Shape::Blanks17, blank.less(runs.under17));
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512bitalg,avx512vnni")]
fn highs(scale: &mut Scale<'_>, high: Mask, runs: &Runs) {
    let highs3 = high.less(runs.under3);
    if highs3.any() {
        scale.add(Shape::Highs3, highs3);
        scale.add(Shape::Highs5, high.less(runs.under5));
        scale.add(Shape::Highs7, high.less(runs.under7));
        scale.add(Shape::Highs9, high.less(runs.under9));
        scale.add(Shape::Highs13, high.less(runs.under13));
    }
}

/// Where short words have ended.
#[inline]
#[target_feature(enable = "avx512bw,avx512vbmi2,avx512bitalg,avx512vnni")]
fn words(scale: &mut Scale<'_>, word: Mask, other: Mask) {
    let ended = other.and(word.then::<1>());
    let [word2, word3, word4] = [word.then::<2>(), word.then::<3>(), word.then::<4>()];
    scale.add(Shape::Word1, ended.less(word2));
    scale.add(Shape::Word2, ended.and(word2).less(word3));
    scale.add(Shape::Word3, ended.and(word2).and(word3).less(word4));
}
