//! What it means for traced sums that there were more statements than rows.

use crate::format::{counted, us};
use dbtime_model::traced_totals::ReplacedStatements;

/// What stands for statements that have no row, and what rows may lack.
pub(crate) fn what_rows_lack(replaced: &ReplacedStatements) -> String {
    let ReplacedStatements { rows, most_calls, most_time } = replaced;
    format!(
        "(others) has what {} had that went to heavier statements, and what had none: of any one \
         statement {} and {} at the most, and no row lacks more",
        counted(*rows, "row"),
        counted(*most_calls, "call"),
        us(most_time.as_micros()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::Nanos;

    #[test]
    fn the_most_that_a_row_lacks_is_said_with_units() {
        let mut replaced =
            ReplacedStatements { rows: 4711, most_calls: 1, most_time: Nanos(250_000) };
        let text = what_rows_lack(&replaced);
        assert!(text.contains("4,711 rows") && text.contains(" 1 call and 250 µs "), "{text}");
        replaced.most_calls = 12_000;
        assert!(what_rows_lack(&replaced).contains(" 12,000 calls and "));
    }
}
