//! Storage and comparison of embedding vectors.
//!
//! Each component is stored as one byte, because the angle between two vectors hardly depends on higher
//! precision, and additionally as its sign bit. Comparing sign bits is fast enough for a hundred thousand
//! vectors; the nearest by sign bits are then compared by their bytes.

/// Number of bytes of the sign bits of a vector.
#[must_use]
pub fn sign_bytes(dimensions: usize) -> usize {
    dimensions.div_ceil(8)
}

/// Quantises a vector to one byte per component, scaled so that the largest uses the full range.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "from -127 to 127")]
pub fn quantised(vector: &[f32]) -> Vec<u8> {
    let largest = vector
        .iter()
        .fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let scale = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    vector
        .iter()
        .map(|number| ((number * scale).round() as i8).cast_unsigned())
        .collect()
}

/// The sign bits of a vector: set for positive components.
#[must_use]
pub fn signs(vector: &[f32]) -> Vec<u8> {
    let byte = |numbers: &[f32]| {
        let bits = numbers.iter().enumerate();
        bits.fold(0, |byte, (bit, number)| byte | (u8::from(*number > 0.0) << bit))
    };
    vector.chunks(8).map(byte).collect()
}

/// The Hamming distance of two sign vectors of equal length.
#[must_use]
pub fn distance(one: &[u8], other: &[u8]) -> u32 {
    let (mut ones, mut others) = (one.chunks_exact(8), other.chunks_exact(8));
    let wide: u32 = ones
        .by_ref()
        .zip(others.by_ref())
        .map(|(one, other)| (word(one) ^ word(other)).count_ones())
        .sum();
    let rest = ones.remainder().iter().zip(others.remainder());
    wide + rest.map(|(one, other)| (one ^ other).count_ones()).sum::<u32>()
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The cosine similarity of a vector and a quantised one, from -1 to 1; 0 if one of them is zero.
#[must_use]
pub fn similarity(query: &[f32], kept: &[u8]) -> f32 {
    let (mut product, mut of_query, mut of_kept) = (0.0_f32, 0.0_f32, 0.0_f32);
    for (number, byte) in query.iter().zip(kept) {
        let kept = f32::from(byte.cast_signed());
        product += number * kept;
        of_query += number * number;
        of_kept += kept * kept;
    }
    let length = (of_query * of_kept).sqrt();
    if length > 0.0 { product / length } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cosine(one: &[f32], other: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
    }

    #[test]
    fn signs_that_differ_are_counted() {
        let vector: Vec<f32> = (0..100)
            .map(|number| if number % 3 == 0 { 1.0 } else { -1.0 })
            .collect();
        let opposite: Vec<f32> = vector.iter().map(|number| -number).collect();
        assert_eq!(signs(&vector).len(), sign_bytes(100));
        assert_eq!(distance(&signs(&vector), &signs(&vector)), 0);
        assert_eq!(distance(&signs(&vector), &signs(&opposite)), 100);
    }

    #[test]
    fn nothing_is_like_nothing() {
        assert!(similarity(&[0.0, 0.0], &quantised(&[0.0, 0.0])).abs() < f32::EPSILON);
    }

    proptest! {
        #[test]
        fn a_byte_a_number_is_enough_for_the_angle(
            one in prop::collection::vec(-1.0_f32..1.0, 64),
            other in prop::collection::vec(-1.0_f32..1.0, 64),
        ) {
            prop_assert!((similarity(&one, &quantised(&other)) - cosine(&one, &other)).abs() < 0.02);
        }
    }
}
