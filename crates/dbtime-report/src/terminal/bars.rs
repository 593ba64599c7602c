//! Horizontal bars of block characters, an eighth of a column fine.

/// A bar `share` (in `0.0..=1.0`) of `columns` long.
///
/// Anything above zero leaves a mark, so that a small part is not taken for none.
pub(super) fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    // NaN is not above zero either.
    if share.is_nan() || share <= 0.0 {
        return String::new();
    }
    let eighths = ((share.min(1.0) * columns as f64 * 8.0).round() as usize).max(1);
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_an_eighth_fine_and_never_too_long() {
        let shown = [0.0, 1e-9, 0.5, 1.0, 7.0, f64::NAN, -1.0].map(|share| bar(share, 5));
        assert_eq!(shown, ["", "▏", "██▌", "█████", "█████", "", ""]);
    }
}
