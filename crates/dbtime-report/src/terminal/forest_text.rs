//! Changes with their intervals as lines of text.

use crate::charts::{MOST_FALL_PCT, forest_reach};
use crate::format::width;
use crate::labels::distinct_labels;

/// Columns before a name, of a name, and what is left on either side of a drawing.
const INDENT: usize = 2;
const NAME: usize = 26;
const MARGIN: usize = 2;

/// Columns of the widest drawing, and of the narrowest.
const MOST_DRAWING: usize = 69;
const LEAST_DRAWING: usize = 40;

/// Changes with the ends of their intervals by name, to be drawn as wide as there is room.
#[derive(Clone, Debug)]
pub(crate) struct ForestText {
    /// Unit: percent.
    pub(crate) rows: Vec<(String, [f64; 3])>,
    /// What is taken for no difference. Unit: percent.
    pub(crate) margin_pct: f64,
}

impl ForestText {
    /// Lines such as `lazy   :  |  :      [---o---]`: no change is `|`, the margin ends at both
    /// `:`, `>` is in the place of `]` where an interval goes on, and the last line has the scale.
    ///
    /// Shape: at most `columns`, of which there are 72 or more; empty where there is nothing to
    /// draw.
    pub(crate) fn lines(&self, columns: usize) -> Vec<String> {
        let most = self.most();
        if self.rows.is_empty() || !most.is_finite() || most <= 0.0 {
            return Vec::new();
        }
        let room = columns.saturating_sub(INDENT + NAME + 1 + MARGIN);
        let scale = ForestScale {
            least: -most.min(MOST_FALL_PCT),
            most,
            columns: room.clamp(LEAST_DRAWING, MOST_DRAWING),
        };
        let names: Vec<&str> = self.rows.iter().map(|(name, _)| name.as_str()).collect();
        let names = distinct_labels(&names, NAME);
        let line = |((_, change), name): (&(String, [f64; 3]), &String)| {
            let pad = NAME.saturating_sub(width(name));
            format!("{:INDENT$}{name}{:pad$} {}", "", "", scale.drawn(*change, self))
        };
        self.rows.iter().zip(&names).map(line).chain([scale.line()]).collect()
    }

    /// Whether an interval goes on behind the end of the scale.
    pub(crate) fn goes_on(&self) -> bool {
        let most = self.most();
        self.rows.iter().any(|(_, [_, _, high])| *high > most)
    }

    /// The upper end of the scale. Unit: percent.
    fn most(&self) -> f64 {
        forest_reach(self.rows.iter().map(|(_, change)| *change), self.margin_pct)
    }
}

/// What the columns of a drawing stand for.
struct ForestScale {
    /// Its ends. Unit: percent.
    least: f64,
    most: f64,
    columns: usize,
}

impl ForestScale {
    /// The column of a change.
    fn at(&self, pct: f64) -> usize {
        let last = (self.columns - 1) as f64;
        let share = |pct: f64| pct / (self.most - self.least);
        let column = last * share(-self.least) + last * share(pct);
        column.round().clamp(0.0, last) as usize
    }

    /// A change with the ends of its interval.
    fn drawn(&self, change: [f64; 3], of: &ForestText) -> String {
        let mut drawing = vec![' '; self.columns];
        let goes_on = change[2] > self.most;
        let [change, low, high] = change.map(|pct| self.at(pct));
        // The ends of an interval that is no number are anywhere.
        let high = high.max(low);
        drawing[self.at(-of.margin_pct)] = ':';
        drawing[self.at(of.margin_pct)] = ':';
        drawing[self.at(0.0)] = '|';
        drawing[low..=high].iter_mut().for_each(|sign| *sign = '-');
        (drawing[low], drawing[high]) = ('[', if goes_on { '>' } else { ']' });
        drawing[change] = 'o';
        let drawing: String = drawing.into_iter().collect();
        drawing.trim_end().to_owned()
    }

    /// The ends of the scale, and no change at its column; no lower end where there is no room for
    /// it.
    fn line(&self) -> String {
        let (zero, before) = (self.at(0.0), INDENT + NAME);
        let start = Some(format!("−{:.1} %", self.least.abs()));
        let start = start.filter(|start| width(start) < zero);
        let start = format!("{:<zero$}0", start.unwrap_or_default());
        let end = format!("+{:.1} %", self.most);
        format!("{:before$} {start}{end:>room$}", "", room = self.columns - zero - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::COLUMNS;

    /// On a page of the usual width.
    fn drawn(rows: &[(String, [f64; 3])]) -> Vec<String> {
        ForestText { rows: rows.to_vec(), margin_pct: 1.0 }.lines(COLUMNS)
    }

    #[test]
    fn an_interval_stands_where_it_is() {
        let rows = [("again".to_owned(), [0.0, -0.5, 0.5]), ("lazy".to_owned(), [8.0, 6.0, 10.0])];
        let lines = drawn(&rows);
        assert_eq!(lines.len(), 3);
        let place = |line: &str, sign: char| line.chars().position(|it| it == sign);
        let zero = INDENT + NAME + 1 + MOST_DRAWING / 2;
        assert_eq!(lines[2].chars().nth(zero), Some('0'), "{lines:#?}");
        assert_eq!(place(&lines[0], 'o'), Some(zero), "{lines:#?}");
        assert_eq!(place(&lines[1], '|'), Some(zero));
        assert_eq!(place(&lines[1], ']'), Some(zero + MOST_DRAWING / 2));
        assert!(lines[2].ends_with("+10.0 %") && lines[2].contains("−10.0 %"));
    }

    #[test]
    fn a_drawing_is_as_wide_as_there_is_room() {
        let rows = [[8.0, 6.0, 10.0], [0.0, -99.0, 900.0]].map(|change| ("a".repeat(99), change));
        for columns in [72, 80, 100, 120] {
            let forest = ForestText { rows: rows.to_vec(), margin_pct: 1.0 };
            let widest = forest.lines(columns).iter().map(|line| line.chars().count()).max();
            assert_eq!(widest, Some(columns.min(100) - MARGIN), "{:#?}", forest.lines(columns));
            // A sign of these takes two columns.
            let wide = rows.clone().map(|(_, change)| ("測定".repeat(20), change));
            let forest = ForestText { rows: wide.to_vec(), margin_pct: 1.0 };
            let widest = forest.lines(columns).iter().map(|line| width(line)).max();
            assert_eq!(widest, Some(columns.min(100) - MARGIN), "{:#?}", forest.lines(columns));
        }
    }

    #[test]
    fn names_that_begin_alike_are_told_apart() {
        let rows = ["on", "off"]
            .map(|value| (format!("server-set=innodb_flush_neighbors={value}"), [1.0, 0.0, 2.0]));
        let lines = drawn(&rows);
        assert!(lines[0].contains("…on ") && lines[1].contains("…off "), "{lines:#?}");
    }

    /// Of few pairs an interval has an upper end that is far away.
    #[test]
    fn the_scale_ends_where_a_ratio_does_and_says_where_an_interval_goes_on() {
        let rows = [("wide".to_owned(), [50.0, -80.0, 900.0])];
        let lines = drawn(&rows);
        assert!(lines[0].ends_with('>') && !lines[0].contains(']'), "{lines:#?}");
        assert!(lines[1].contains("−100.0 %") && lines[1].ends_with("+200.0 %"), "{lines:#?}");
        let before = INDENT + NAME + 1;
        let zero = before + (MOST_DRAWING - 1) / 3;
        assert_eq!(lines[1].chars().position(|sign| sign == '0'), Some(before + 2), "of −100.0 %");
        assert!(lines[1].chars().skip(zero).take(2).any(|sign| sign == '0'), "{lines:#?}");
        let far = drawn(&[("far".to_owned(), [4000.0, 3000.0, 5000.0])]);
        assert!(!far[1].contains('−') && far[1].ends_with("+5000.0 %"), "{far:#?}");
        assert!(far.iter().all(|line| line.chars().count() <= 98), "{far:#?}");
    }

    #[test]
    fn without_a_change_there_is_nothing_to_draw() {
        let drawn = |rows: &[(String, [f64; 3])], margin_pct| {
            ForestText { rows: rows.to_vec(), margin_pct }.lines(COLUMNS)
        };
        assert!(drawn(&[], 1.0).is_empty());
        assert!(drawn(&[("x".to_owned(), [f64::NAN; 3])], f64::INFINITY).is_empty());
        let point = drawn(&[("x".to_owned(), [0.0; 3])], 0.0);
        assert!(point.is_empty(), "{point:?}");
    }
}
