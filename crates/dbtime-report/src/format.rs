//! Numbers and foreign texts as people read them.
//!
//! Everything that comes from a record passes through here: a number may be NaN or span hours, a
//! name may hold control characters.

use dbtime_model::plain_text::is_treacherous;
pub(crate) use dbtime_model::units::{count, counted};
use dbtime_model::units::{human_ns, three_digits};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands where there is nothing to show.
pub(crate) const NONE: &str = "–";

/// `value`, or zero when it is no number: a chart or table must survive any record.
pub(crate) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// Microseconds with three significant digits in the unit a reader would choose.
pub(crate) fn us(us: f64) -> String {
    if !us.is_finite() {
        return NONE.to_owned();
    }
    if us < 0.0 {
        return signed_us(us);
    }
    let hours = us / 3.6e9;
    // Thousands of seconds say nothing to a reader.
    if hours < 2.0 {
        human_ns(us * 1e3)
    } else if hours < 1e9 {
        format!("{} h", three_digits(hours))
    } else {
        format!("{hours:.2e} h")
    }
}

/// Microseconds with an explicit sign.
pub(crate) fn signed_us(value: f64) -> String {
    let magnitude = us(value.abs());
    match value {
        v if v < 0.0 && !magnitude.starts_with("0 ") => format!("−{magnitude}"),
        v if v > 0.0 && !magnitude.starts_with("0 ") => format!("+{magnitude}"),
        _ => magnitude,
    }
}

/// A figure that there may not be.
pub(crate) fn if_any<T>(value: Option<T>, shown: impl FnOnce(T) -> String) -> String {
    value.map_or(NONE.to_owned(), shown)
}

/// A share in percent: `62 %`, `3.1 %`, `< 0.1 %`.
pub fn percent(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    match value.abs() {
        0.0 => "0 %".to_owned(),
        v if v < 0.05 => (if value < 0.0 { "> −0.1 %" } else { "< 0.1 %" }).to_owned(),
        v if v >= 1e6 => format!("{} %", minus(format!("{value:.1e}"))),
        v if v >= 9.95 => format!("{} %", minus(format!("{value:.0}"))),
        _ => format!("{} %", minus(format!("{value:.1}"))),
    }
}

/// A figure with four significant digits, as in the tables of old: `44.17`, `3.391`, `0.01234`;
/// below 0.001 with as many as the fifth decimal leaves, zero as `0.000`.
pub(crate) fn four_digits(value: f64) -> String {
    match finite(value) {
        0.0 => "0.000".to_owned(),
        // More than a count can have.
        v if v >= u64::MAX as f64 => format!("{v:.2e}"),
        v if v >= 9999.5 => count(v.round() as u64),
        v if v >= 999.95 => format!("{v:.0}"),
        v if v >= 99.995 => format!("{v:.1}"),
        v if v >= 9.9995 => format!("{v:.2}"),
        v if v >= 0.99995 => format!("{v:.3}"),
        v if v >= 0.099_995 => format!("{v:.4}"),
        v => format!("{v:.5}"),
    }
}

/// Bytes in at most five columns, for tables with many figures: `812`, `14.2K`, `1.50G`.
pub(crate) fn short_bytes(n: f64) -> String {
    let n = finite(n).max(0.0);
    let units = ["", "K", "M", "G", "T", "P"];
    let step = units.len().min((n.max(1.0).log2() / 10.0) as usize + 1) - 1;
    let value = n / 1024f64.powi(step as i32);
    match step {
        0 => format!("{n:.0}"),
        _ if value >= 999.5 => format!("{value:.0}{}", units[step]),
        _ => format!("{}{}", three_digits(value), units[step]),
    }
}

/// A number with the typographic minus, which is as wide as a digit.
fn minus(text: String) -> String {
    text.replace('-', "−")
}

/// Events per second, without the unit: `12,345`, `499.8`, `1.88`.
pub(crate) fn rate(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    match value.abs() {
        v if v >= u64::MAX as f64 => format!("{value:.2e}"),
        v if v >= 999.95 || value.fract() == 0.0 => count(value.round() as u64),
        v if v >= 99.95 => format!("{value:.1}"),
        _ => three_digits(value),
    }
}

/// Seconds of a window: `30 s`, `0.12 s`.
pub(crate) fn seconds(value: f64) -> String {
    let value = finite(value);
    if value.fract() == 0.0 && value.abs() < 7200.0 {
        format!("{value:.0} s")
    } else {
        us(value * 1e6)
    }
}

/// Seconds as a bare number: two decimals as in the tables of old, more where two say nothing, down
/// to a nanosecond.
pub(crate) fn bare_seconds(value: f64) -> String {
    match finite(value) {
        v if v == 0.0 || v.abs() >= 0.1 => format!("{v:.2}"),
        v if v.abs() < 1e-5 => format!("{v:.9}"),
        v => three_digits(v),
    }
}

/// Bytes in binary units.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let step = ((63 - n.leading_zeros()) / 10) as usize;
    format!("{} {}", three_digits(n as f64 / (1u64 << (10 * step)) as f64), UNITS[step - 1])
}

/// A factor such as `81` or `1.07`.
pub(crate) fn factor(value: f64) -> String {
    let value = finite(value);
    if value >= 9.95 || value.fract() == 0.0 { format!("{value:.0}") } else { three_digits(value) }
}

/// A foreign text on one line and without characters that could move the cursor, reorder the line
/// or hide what stands there.
pub(crate) fn clean(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' | '\r' => ' ',
        c if is_treacherous(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// A foreign text on one line, with single blanks, and nothing in it that drives a terminal.
pub fn one_line(text: &str) -> String {
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// How many columns of a terminal a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text`, cut to `columns` with an ellipsis where it is longer.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1; // the ellipsis
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > columns {
            break;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

/// As many lines of a text as are wanted, the last one with an ellipsis where more would follow:
/// behind a word, for half a figure is another figure.
pub(crate) fn first_lines(mut lines: Vec<String>, columns: usize, most: usize) -> Vec<String> {
    let is_cut = lines.len() > most;
    lines.truncate(most);
    if let Some(last) = lines.last_mut().filter(|_| is_cut) {
        let whole = wrap(last, columns.saturating_sub(2)).swap_remove(0);
        *last = format!("{whole} …");
    }
    lines
}

/// The words of a text; a figure and its unit are one.
fn words(text: &str) -> Vec<String> {
    const UNITS: [&str; 8] = ["%", "ns", "µs", "ms", "s", "h", "MiB", "GiB"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let bare = word.trim_end_matches([',', ';', '.', ')', ':']);
        match words.last_mut() {
            Some(last) if UNITS.contains(&bare) && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// `text` in lines of at most `columns`, broken at spaces, and within a word only where the word
/// alone is longer than a line.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for mut word in words(text) {
        loop {
            let line = lines.last_mut().expect("never empty");
            let gap = usize::from(!line.is_empty());
            if width(line) + gap + width(&word) <= columns {
                if gap == 1 {
                    line.push(' ');
                }
                line.push_str(&word);
                break;
            }
            if line.is_empty() {
                let head = fit(&word, columns).trim_end_matches('…').to_owned();
                // A sign that is wider than a line has one to itself all the same.
                let signs = head.chars().count().max(1);
                let head: String = word.chars().take(signs).collect();
                word = word.chars().skip(signs).collect();
                line.push_str(&head);
            }
            lines.push(String::new());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_seconds_of_something_are_not_zero() {
        let texts = [0.0, 1.234, 0.0123, 4.56e-6, 80e-9].map(bare_seconds);
        assert_eq!(texts, ["0.00", "1.23", "0.0123", "0.000004560", "0.000000080"]);
    }

    #[test]
    fn lines_of_any_width_have_all_of_a_text() {
        for columns in 0..6 {
            assert_eq!(
                wrap("ab 表cde…", columns).concat().replace(' ', ""),
                "ab表cde…",
                "{columns}"
            );
        }
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
    }

    #[test]
    fn lines_that_are_cut_end_in_an_ellipsis() {
        let lines = || wrap("one two three", 7);
        assert_eq!(first_lines(lines(), 7, 2), lines());
        assert_eq!(first_lines(lines(), 7, 1), ["one …"]);
        assert_eq!(first_lines(lines(), 9, 1), ["one two …"]);
        assert_eq!(first_lines(wrap("took 1.23 ms more", 12), 12, 1), ["took …"]);
    }

    #[test]
    fn counts_get_separators() {
        let shown = [0, 999, 1000, 1_234_567, u64::MAX].map(count);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567", "1.84e19"]);
    }

    #[test]
    fn times_reach_from_nothing_to_years() {
        let shown = [0.0, 1240.0, 7.2e9, 3.6e13, f64::NAN].map(us);
        assert_eq!(shown, ["0 ns", "1.24 ms", "2.00 h", "10000 h", "–"]);
        assert_eq!([-1.5, 1.5, 0.0].map(signed_us), ["−1.50 µs", "+1.50 µs", "0 ns"]);
    }

    #[test]
    fn shares_keep_what_matters() {
        let shown = [62.4, 3.13, 0.01, 0.0, -0.3, 100.0].map(percent);
        assert_eq!(shown, ["62 %", "3.1 %", "< 0.1 %", "0 %", "−0.3 %", "100 %"]);
    }

    #[test]
    fn binary_units_step_at_1024() {
        let shown = [0, 1023, 1024, 5 << 20, u64::MAX].map(bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1.00 KiB", "5.00 MiB", "16.0 EiB"]);
    }

    #[test]
    fn four_digits_are_significant() {
        let values = [0.0, 44.166, 3.3914, 0.000_012, 0.012_34, 0.99996, 100.0, 99.996, 12_345.0];
        let shown =
            ["0.000", "44.17", "3.391", "0.00001", "0.01234", "1.000", "100.0", "100.0", "12,345"];
        assert_eq!(values.map(four_digits), shown);
        assert_eq!([2e19, 3e25, 1.5e15].map(four_digits), ["2.00e19", "3.00e25", "1.50e15"]);
    }

    #[test]
    fn short_bytes_stay_short() {
        let shown = [0.0, 1023.0, 1024.0, 1023.6 * 1024.0, 1.5e9].map(short_bytes);
        assert_eq!(shown, ["0", "1023", "1.00K", "1024K", "1.40G"]);
    }

    #[test]
    fn foreign_text_cannot_move_the_cursor() {
        assert_eq!(clean("a\u{1b}[2Jb\nc\u{202e}d\u{61c}"), "a\u{fffd}[2Jb c\u{fffd}d\u{fffd}");
    }

    #[test]
    fn lines_break_at_spaces_and_in_words_longer_than_a_line() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one 12 % more", 7), ["one", "12 %", "more"]);
        assert_eq!(wrap("ab abcdefghij", 4), ["ab", "abc", "def", "ghij"]);
        assert_eq!(fit("abcdef", 4), "abc…");
    }
}
