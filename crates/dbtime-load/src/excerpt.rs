//! Where in a statement an error is, as PostgreSQL's own client points at it.
//!
//! Source: `reportErrorPosition` of libpq 15 (fe-protocol3.c).

use unicode_width::UnicodeWidthChar;

/// Columns of a statement that are shown.
const EXCERPT_CHARS: usize = 60;

/// How many of them stay behind the place, where there are as many.
const CHARS_AFTER_CUT: usize = 10;

/// The line of the place and a line with a caret below it; `None`: it is outside of the text.
/// `position` counts characters from 1.
pub fn excerpt(sql: &str, position: usize) -> Option<String> {
    let place = position.checked_sub(1)?;
    let line = ExcerptLine::around(sql, place)?;
    let (from, to) = line.shown(place);
    let mut text = format!("LINE {}: ", line.number);
    text += if from > line.from { "..." } else { "" };
    // All of it is ASCII.
    let blanks = text.len() + line.columns(from, place);
    text.extend(line.characters[from..to].iter().map(|c| if *c == '\t' { ' ' } else { *c }));
    text += if to < line.to { "..." } else { "" };
    Some(format!("{text}\n{:blanks$}^", ""))
}

/// A line of a text, by the numbers of its characters.
struct ExcerptLine {
    characters: Vec<char>,
    number: usize,
    from: usize,
    to: usize,
}

impl ExcerptLine {
    fn around(sql: &str, place: usize) -> Option<Self> {
        let characters: Vec<char> = sql.chars().collect();
        if place > characters.len() {
            return None;
        }
        let is_end = |c: &char| matches!(c, '\r' | '\n');
        let before = &characters[..place];
        let from = before.iter().rposition(is_end).map_or(0, |end| end + 1);
        let rest = characters[place..].iter().position(is_end);
        let to = rest.map_or(characters.len(), |end| place + end);
        // A \r\n is one end of a line.
        let pairs = before.windows(2).filter(|pair| pair == &['\r', '\n']).count();
        let number = 1 + before.iter().filter(|c| is_end(c)).count() - pairs;
        Some(Self { characters, number, from, to })
    }

    fn columns(&self, from: usize, to: usize) -> usize {
        (from..to).map(|at| self.width(at)).sum()
    }

    fn width(&self, at: usize) -> usize {
        self.characters[at].width().unwrap_or(1).max(1)
    }

    /// What of a long line is shown: its beginning if the place is well within that, else what is
    /// around the place.
    fn shown(&self, place: usize) -> (usize, usize) {
        let mut from = self.from;
        let mut to = self.to;
        let before = self.columns(from, place);
        let mut behind = self.columns(place, to);
        let mut columns = before + behind;
        if columns > EXCERPT_CHARS && EXCERPT_CHARS < before + CHARS_AFTER_CUT {
            while CHARS_AFTER_CUT < behind {
                to -= 1;
                behind -= self.width(to);
            }
            columns = before + behind;
            while columns > EXCERPT_CHARS {
                columns -= self.width(from);
                from += 1;
            }
        }
        while columns > EXCERPT_CHARS {
            to -= 1;
            columns -= self.width(to);
        }
        (from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shown(sql: &str, position: usize) -> String {
        excerpt(sql, position).unwrap_or_default()
    }

    #[test]
    fn a_caret_stands_below_the_place() {
        assert_eq!(shown("SELECT x;", 8), "LINE 1: SELECT x;\n               ^");
        assert_eq!(shown("a\r\nb\n\tc d\re", 9), "LINE 3:  c d\n           ^");
        assert_eq!(shown("é 日本 x", 6), "LINE 1: é 日本 x\n               ^");
        assert_eq!(shown("a", 2), "LINE 1: a\n         ^", "behind the end");
        assert_eq!([shown("a", 3), shown("a", 0)], ["", ""]);
    }

    #[test]
    fn long_lines_are_cut_around_it() {
        let sql: String = (0..20).map(|at| format!("word{at:02} ")).collect();
        let begin = shown(&sql, 8);
        let line = begin.lines().next().expect("a line");
        assert!(line.starts_with("LINE 1: word00 ") && line.ends_with("..."), "{begin}");
        assert_eq!(line.len(), "LINE 1: ".len() + EXCERPT_CHARS + "...".len());
        let middle = shown(&sql, 85);
        let [line, caret] = [0, 1].map(|at| middle.lines().nth(at).expect("two lines"));
        assert!(line.starts_with("LINE 1: ...") && line.ends_with("..."), "{middle}");
        assert!(line[caret.len() - 1..].starts_with("word12 "), "{middle}");
        let end = shown(&sql, 134);
        assert!(
            end.starts_with("LINE 1: ...") && !end.lines().next().unwrap_or("").ends_with("...")
        );
    }

    #[test]
    fn the_length_of_a_line_costs_no_more_than_reading_it() {
        let word = "word 日本 ";
        let [short, long] = [40, 100_000].map(|words| word.repeat(words));
        let start = Instant::now();
        assert_eq!(long.chars().collect::<Vec<_>>().len(), 800_000);
        let reading = start.elapsed();
        let start = Instant::now();
        for (position, away) in [(3, 0), (150, 0), (150, 8 * 99_960)] {
            assert_eq!(shown(&long, position + away), shown(&short, position));
        }
        // Once for each character it would be 800,000 times as long.
        let took = start.elapsed();
        assert!(took < 1000 * reading, "{took:?}, reading {reading:?}");
    }
}
