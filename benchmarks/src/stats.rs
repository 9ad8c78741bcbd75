//! Medians and percentiles.

/// The middle value, or the mean of the two middle ones; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The median of the ratios of what was measured in the same rounds: a machine that gets slower or faster from round to
/// round moves both sides of each. `None` when there are none, or one side has more rounds than the other.
pub(crate) fn median_ratio<T>(rounds: &[T], base: &[T], figure: impl Fn(&T) -> f64) -> Option<f64> {
    if rounds.len() != base.len() {
        return None;
    }
    let ratios = rounds.iter().zip(base).map(|(one, base)| figure(one) / figure(base));
    median(&ratios.collect::<Vec<_>>())
}

/// The nearest-rank percentile: the smallest value that at least `percent` of all values do not exceed.
/// `None` without values.
pub(crate) fn percentile(values: &[f64], percent: usize) -> Option<f64> {
    let rank = (values.len() * percent).div_ceil(100).max(1);
    sorted(values).get(rank - 1).copied()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_even_and_no_values() {
        assert_eq!(median(&[5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn ratios_are_taken_within_rounds() {
        let ratio = |rounds: &[f64], base: &[f64]| median_ratio(rounds, base, |figure| *figure);
        // Twice as slow in the second round and in the third, and of the other one only in the third.
        assert_eq!(ratio(&[10.0, 20.0, 20.0], &[5.0, 5.0, 10.0]), Some(2.0));
        assert_eq!(ratio(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(ratio(&[], &[]), None);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentile(&hundred, 50), Some(50.0));
        assert_eq!(percentile(&hundred, 99), Some(99.0));
        assert_eq!(percentile(&hundred, 100), Some(100.0));
        assert_eq!(percentile(&[1.0, 2.0, 3.0], 50), Some(2.0));
        assert_eq!(percentile(&[1.0, 2.0, 3.0], 99), Some(3.0));
        assert_eq!(percentile(&[4.0], 1), Some(4.0));
        assert_eq!(percentile(&[], 50), None);
    }
}
