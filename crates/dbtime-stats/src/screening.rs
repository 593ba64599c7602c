//! Designs that tell which of many factors matter, with few configurations.

/// The first rows of Plackett and Burman's designs (The Design of Optimum Multifactorial
/// Experiments, Biometrika 33, 1946): `+` is the second level of a factor.
const FIRST_ROWS: [&str; 6] = [
    "++-",
    "+++-+--",
    "++-+++---+-",
    "++++-+-++--+---",
    "++--++++-+-+----++-",
    "+++++-+-++--++--+-+----",
];

/// The most factors of a screening design.
pub const MOST_SCREENED: usize = 23;

/// The configurations that screen so many factors of two levels each: rows of whether a factor has
/// its second level, the first row with none. Of any two factors all four combinations of levels
/// are in equally many rows, so that the effect of each is that over both levels of each other; an
/// interaction of two factors is in the effects of the others.
///
/// Shape: a multiple of four rows, more than factors. `None`: fewer than two factors, or more than
/// [`MOST_SCREENED`].
pub fn screening_design(factors: usize) -> Option<Vec<Vec<bool>>> {
    let first = FIRST_ROWS.iter().find(|row| (2..=row.len()).contains(&factors))?;
    let signs: Vec<bool> = first.bytes().map(|sign| sign == b'+').collect();
    let shifted = |shift: usize| {
        (0..factors).map(|at| signs[(at + signs.len() - shift) % signs.len()]).collect()
    };
    let rows = (0..signs.len()).map(shifted);
    Some(std::iter::once(vec![false; factors]).chain(rows).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_factors_have_all_combinations_equally_often() {
        for factors in 2..=MOST_SCREENED {
            let rows = screening_design(factors).expect("a design");
            assert!(rows.len() > factors && rows.len().is_multiple_of(4), "{factors}");
            assert!(rows[0].iter().all(|is_second| !is_second));
            for a in 0..factors {
                for b in 0..a {
                    for levels in [[false, false], [false, true], [true, false], [true, true]] {
                        let found = rows.iter().filter(|row| [row[a], row[b]] == levels).count();
                        assert_eq!(4 * found, rows.len(), "{factors} factors: {a} and {b}");
                    }
                }
            }
        }
        assert_eq!(screening_design(1), None);
        assert_eq!(screening_design(MOST_SCREENED + 1), None);
    }
}
