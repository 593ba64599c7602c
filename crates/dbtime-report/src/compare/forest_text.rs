//! Changes with their intervals as lines of text.

use crate::charts::{MOST_FALL_PCT, forest_reach};
use crate::format::{fit, width};

/// Columns of a name, and of the drawing.
const NAME: usize = 26;
const DRAWING: usize = 69;

/// Lines such as `lazy   :  |  :      [---o---]`: no change is `|`, the margin ends at both `:`,
/// `>` is in the place of `]` where an interval goes on, and the last line has the scale. Changes
/// with the ends of their intervals, in percent. Shape: at most 98 columns.
pub(super) fn forest_lines(rows: &[(String, [f64; 3])], margin_pct: f64) -> Vec<String> {
    let most = forest_reach(rows.iter().map(|(_, change)| *change), margin_pct);
    if rows.is_empty() || !most.is_finite() || most <= 0.0 {
        return Vec::new();
    }
    let least = -most.min(MOST_FALL_PCT);
    let last = (DRAWING - 1) as f64;
    let share = |pct: f64| pct / (most - least);
    let at = |pct: f64| {
        let column = last * share(-least) + last * share(pct);
        column.round().clamp(0.0, last) as usize
    };
    let zero = at(0.0);
    let line = |(name, change): &(String, [f64; 3])| {
        let mut drawing = vec![' '; DRAWING];
        let goes_on = change[2] > most;
        let [change, low, high] = change.map(at);
        // The ends of an interval that is no number are anywhere.
        let high = high.max(low);
        drawing[at(-margin_pct)] = ':';
        drawing[at(margin_pct)] = ':';
        drawing[zero] = '|';
        drawing[low..=high].iter_mut().for_each(|sign| *sign = '-');
        (drawing[low], drawing[high]) = ('[', if goes_on { '>' } else { ']' });
        drawing[change] = 'o';
        let drawing: String = drawing.into_iter().collect();
        format!("{:<NAME$} {}", fit(name, NAME), drawing.trim_end())
    };
    rows.iter().map(line).chain([scale_line([least, most], zero)]).collect()
}

/// The ends of the scale, and no change at its column; no lower end where there is no room for it.
fn scale_line([least, most]: [f64; 2], zero: usize) -> String {
    let start = Some(format!("−{:.1} %", least.abs())).filter(|start| width(start) < zero);
    let start = format!("{:<zero$}0", start.unwrap_or_default());
    let end = format!("+{most:.1} %");
    format!("{:NAME$} {start}{end:>room$}", "", room = DRAWING - zero - 1)
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

    /// Of few pairs an interval has an upper end that is far away.
    #[test]
    fn the_scale_ends_where_a_ratio_does_and_says_where_an_interval_goes_on() {
        let rows = [("wide".to_owned(), [50.0, -80.0, 900.0])];
        let lines = forest_lines(&rows, 1.0);
        assert!(lines[0].ends_with('>') && !lines[0].contains(']'), "{lines:#?}");
        assert!(lines[1].contains("−100.0 %") && lines[1].ends_with("+200.0 %"), "{lines:#?}");
        let zero = NAME + 1 + (DRAWING - 1) / 3;
        assert_eq!(lines[1].chars().position(|sign| sign == '0'), Some(NAME + 3), "of −100.0 %");
        assert!(lines[1].chars().skip(zero).take(2).any(|sign| sign == '0'), "{lines:#?}");
        let far = forest_lines(&[("far".to_owned(), [4000.0, 3000.0, 5000.0])], 1.0);
        assert!(!far[1].contains('−') && far[1].ends_with("+5000.0 %"), "{far:#?}");
        assert!(far.iter().all(|line| line.chars().count() <= 98), "{far:#?}");
    }

    #[test]
    fn without_a_change_there_is_nothing_to_draw() {
        assert!(forest_lines(&[], 1.0).is_empty());
        assert!(forest_lines(&[("x".to_owned(), [f64::NAN; 3])], f64::INFINITY).is_empty());
        let point = forest_lines(&[("x".to_owned(), [0.0; 3])], 0.0);
        assert!(point.is_empty(), "{point:?}");
    }
}
