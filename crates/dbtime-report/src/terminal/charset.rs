//! The signs that a terminal can show: all of UTF-8, or ASCII alone.

use crate::format::width;
use std::borrow::Cow;

/// What stands for a sign that ASCII has nothing for.
const UNKNOWN: char = '?';

/// The signs that reports are written with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// Everything.
    #[default]
    Utf8,
    /// Plain ASCII: `us` for microseconds, `#` for bars, `~` where a text was cut.
    Ascii,
}

impl Charset {
    /// The charset of a locale such as `de_DE.UTF-8` or `C`. Nothing set says nothing against
    /// UTF-8: containers and services have no locale, and their logs take it.
    pub fn of_locale(locale: Option<&str>) -> Self {
        let Some(locale) = locale.filter(|locale| !locale.is_empty()) else { return Self::Utf8 };
        let lower = locale.to_ascii_lowercase();
        match lower.contains("utf-8") || lower.contains("utf8") {
            true => Self::Utf8,
            false => Self::Ascii,
        }
    }

    /// A text in these signs, as wide as before but for the few that take two in ASCII.
    pub fn spelled<'a>(self, text: &'a str) -> Cow<'a, str> {
        if self == Self::Utf8 || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        for sign in text.chars() {
            match ascii(sign) {
                Some(plain) => out.push_str(plain),
                None if sign.is_ascii() => out.push(sign),
                // Columns stay where they are.
                None => (0..width(sign.encode_utf8(&mut [0; 4]))).for_each(|_| out.push(UNKNOWN)),
            }
        }
        Cow::Owned(out)
    }
}

/// How ASCII writes a sign of ours.
fn ascii(sign: char) -> Option<&'static str> {
    Some(match sign {
        'µ' | 'μ' => "u",
        '–' | '−' | '—' => "-",
        '…' => "~",
        '·' => ".",
        '×' => "x",
        '’' | '‘' => "'",
        '“' | '”' => "\"",
        '→' => "->",
        '±' => "+-",
        '≠' => "!=",
        '≤' => "<=",
        '≥' => ">=",
        'Σ' => "sum",
        '█' | '▉' | '▊' | '▋' | '▌' | '▆' | '▇' => "#",
        '▄' | '▅' => "=",
        '▍' | '▎' | '▏' | '▂' | '▃' => "-",
        '▁' => "_",
        '│' => "|",
        '─' => "-",
        '├' | '└' => "+",
        '\u{a0}' => " ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_name_their_charset_at_the_end() {
        for utf8 in [None, Some(""), Some("de_DE.UTF-8"), Some("C.utf8"), Some("en_US.UTF-8@x")] {
            assert_eq!(Charset::of_locale(utf8), Charset::Utf8, "{utf8:?}");
        }
        for plain in ["C", "POSIX", "de_DE", "de_DE.ISO-8859-1", "ja_JP.eucJP"] {
            assert_eq!(Charset::of_locale(Some(plain)), Charset::Ascii, "{plain}");
        }
    }

    #[test]
    fn ascii_keeps_columns() {
        let text = "12 µs −3 ██▌ 表 ä…";
        assert_eq!(Charset::Ascii.spelled(text), "12 us -3 ### ?? ?~");
        assert_eq!(width(&Charset::Ascii.spelled(text)), width(text));
        assert_eq!(Charset::Utf8.spelled(text), text);
    }
}
