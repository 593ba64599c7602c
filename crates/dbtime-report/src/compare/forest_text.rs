//! Changes with their intervals as lines of text.

use crate::format::fit;

/// Columns of a name, and of the drawing.
const NAME: usize = 26;
const DRAWING: usize = 69;

/// Lines such as `lazy   :  |  :      [---o---]`: no change is `|`, the margin ends at both `:`,
/// and the last line has the scale. Changes with the ends of their intervals, in percent. Shape:
/// at most 98 columns.
pub(super) fn forest_lines(rows: &[(String, [f64; 3])], margin_pct: f64) -> Vec<String> {
    let ends = rows.iter().flat_map(|(_, change)| *change).chain([1.5 * margin_pct]);
    let reach = ends.map(f64::abs).fold(0.0, f64::max);
    if rows.is_empty() || !reach.is_finite() || reach <= 0.0 {
        return Vec::new();
    }
    let middle = DRAWING / 2;
    let at = |pct: f64| (middle as f64 + pct / reach * middle as f64).round() as usize;
    let line = |(name, change): &(String, [f64; 3])| {
        let mut drawing = vec![' '; DRAWING];
        let [change, low, high] = change.map(at);
        // The ends of an interval that is no number are anywhere.
        let high = high.max(low);
        drawing[at(-margin_pct)] = ':';
        drawing[at(margin_pct)] = ':';
        drawing[middle] = '|';
        drawing[low..=high].iter_mut().for_each(|sign| *sign = '-');
        (drawing[low], drawing[high]) = ('[', ']');
        drawing[change] = 'o';
        let drawing: String = drawing.into_iter().collect();
        format!("{:<NAME$} {}", fit(name, NAME), drawing.trim_end())
    };
    let scale = format!("{:<middle$}0", format!("−{reach:.1} %"));
    let end = format!("+{reach:.1} %");
    let scale = format!("{:NAME$} {scale}{end:>width$}", "", width = DRAWING - middle - 1);
    rows.iter().map(line).chain([scale]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_stands_where_it_is() {
        let rows = [("again".to_owned(), [0.0, -0.5, 0.5]), ("lazy".to_owned(), [8.0, 6.0, 10.0])];
        let lines = forest_lines(&rows, 1.0);
        assert_eq!(lines.len(), 3);
        let place = |line: &str, sign: char| line.chars().position(|it| it == sign);
        let zero = NAME + 1 + DRAWING / 2;
        assert_eq!(lines[2].chars().nth(zero), Some('0'), "{lines:#?}");
        assert_eq!(place(&lines[0], 'o'), Some(zero), "{lines:#?}");
        assert_eq!(place(&lines[1], '|'), Some(zero));
        assert_eq!(place(&lines[1], ']'), Some(zero + DRAWING / 2));
        assert!(lines[2].ends_with("+10.0 %") && lines[2].contains("−10.0 %"));
        assert!(lines.iter().all(|line| line.chars().count() <= 98), "{lines:#?}");
    }

    #[test]
    fn without_a_change_there_is_nothing_to_draw() {
        assert!(forest_lines(&[], 1.0).is_empty());
        assert!(forest_lines(&[("x".to_owned(), [f64::NAN; 3])], f64::INFINITY).is_empty());
        let point = forest_lines(&[("x".to_owned(), [0.0; 3])], 0.0);
        assert!(point.is_empty(), "{point:?}");
    }
}
