//! Whether two groups differ in how many of each have a property.

/// Probabilities whose logarithms are nearer to each other are equal.
const TIE: f64 = 1e-7;

/// The probability of a table that is no more probable than this one, were both rows alike, with
/// the sums of rows and columns as they are (Fisher's exact test, two-sided; Fisher, *Statistical
/// Methods for Research Workers*, 5th edition, 1934, §21.02).
///
/// Shape: a row for each group, with how many have the property and how many have not. It is 1
/// where a group has no members, and where all of both have the property, or none. Cost: O(the
/// smallest sum).
pub fn fisher_p([[a, b], [c, d]]: [[u64; 2]; 2]) -> f64 {
    let (row, column) = (a + b, a + c);
    let (least, most) = (a.saturating_sub(d), row.min(column));
    // Logarithms, up to a constant: probabilities of large tables are below what a number holds.
    let mut log = 0.0;
    let mut logs = vec![log];
    for at in least..most {
        let more = (row - at) as f64 * (column - at) as f64;
        let less = (at + 1) as f64 * (d + at + 1 - a) as f64;
        log += (more / less).ln();
        logs.push(log);
    }
    let observed = logs[(a - least) as usize];
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum_to = |limit: f64| -> f64 {
        let within = logs.iter().filter(|log| **log <= limit);
        within.map(|log| (log - highest).exp()).sum()
    };
    sum_to(observed + TIE) / sum_to(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(table: [[u64; 2]; 2], expected: f64) {
        let p = fisher_p(table);
        assert!((p / expected - 1.0).abs() < 1e-12, "{table:?}: {p}, not {expected}");
    }

    /// Each is a count of tables by hand: of C(8, 4), C(30, 12) and C(16, 9).
    #[test]
    fn known_tables_have_their_probabilities() {
        // A lady tastes tea (Fisher 1935, chapter 2).
        assert_near([[3, 1], [1, 3]], 34.0 / 70.0);
        assert_near([[4, 0], [0, 4]], 2.0 / 70.0);
        // Convictions of like-sex twins of criminals (Fisher 1934, §21.02), as in R's manual:
        // p-value = 0.0005367.
        assert_near([[2, 15], [10, 3]], 46_423.0 / 86_493_225.0);
        // The example of scipy.stats.fisher_exact: 0.0349…
        assert_near([[8, 2], [1, 5]], 400.0 / 11_440.0);
    }

    #[test]
    fn rows_and_columns_may_be_exchanged() {
        let [first, second] = [[1, 9], [7, 4]];
        let p = fisher_p([first, second]);
        let turned = [[second, first], [[9, 1], [4, 7]], [[1, 7], [9, 4]]];
        for table in turned {
            assert_near(table, p);
        }
    }

    #[test]
    fn what_cannot_differ_does_not() {
        let tables = [
            [[0, 0], [0, 0]],
            [[0, 0], [3, 4]],
            [[0, 9], [0, 2]],
            [[9, 0], [2, 0]],
            [[500, 500], [500, 500]],
        ];
        for table in tables {
            assert_near(table, 1.0);
        }
    }

    #[test]
    fn large_tables_have_one_too() {
        let p = fisher_p([[0, 400], [400, 0]]);
        assert!(p > 0.0 && p < 1e-200, "{p}");
        let p = fisher_p([[0, 50_000], [50_000, 0]]);
        assert!((0.0..1e-300).contains(&p), "{p}");
    }
}
