//! Foreign text that does nothing to a terminal but stand there.

use crate::units::noun_for;
use std::borrow::Cow;
use std::path::Path;

/// Whether a sign could move the cursor, reorder the line or hide what stands there.
pub fn is_treacherous(sign: char) -> bool {
    match sign {
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{fffe}' | '\u{ffff}' => true,
        sign => sign.is_control(),
    }
}

/// Text of several lines in which U+FFFD stands for every such sign but line ends and tabs.
pub fn plain_lines(text: &str) -> Cow<'_, str> {
    let is_replaced = |sign: char| is_treacherous(sign) && sign != '\n' && sign != '\t';
    match text.contains(is_replaced) {
        true => Cow::Owned(text.replace(is_replaced, "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}

/// A path as a line of a report has it: U+FFFD stands for such signs, and for what is no UTF-8.
pub fn legible_path(path: &Path) -> String {
    path.to_string_lossy().replace(is_treacherous, "\u{fffd}")
}

/// Characters of what somebody else says that are shown on a line; MySQL's servers never say more.
const LINE_CHARS: usize = 512;

/// What stands where such a text is cut, before how much is left out.
pub const CUT_MARK: &str = "… (";

/// What somebody else says, as people read it: on one line, without such signs, and cut where it is
/// long, with how much is left out.
pub fn legible(text: &str) -> String {
    legible_within(text, LINE_CHARS)
}

/// The same, cut behind so many characters.
pub fn legible_within(text: &str, most_chars: usize) -> String {
    let text = text.trim();
    let end = text.char_indices().nth(most_chars).map_or(text.len(), |(at, _)| at);
    let (shown, rest) = text.split_at(end);
    let lines: Vec<&str> = shown.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = lines.join(" ").replace('\t', " ").replace(is_treacherous, "\u{fffd}");
    match rest.len() {
        0 => line,
        bytes => format!("{line}{CUT_MARK}{bytes} more {} read)", noun_for(bytes as u64, "byte")),
    }
}

/// A text short enough for one line of an error.
pub fn abridged(text: &str) -> String {
    const MAX_QUOTED_CHARS: usize = 60;
    let mut short: String =
        text.chars().take(MAX_QUOTED_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MAX_QUOTED_CHARS).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_and_what_drives_a_terminal_goes() {
        assert!(matches!(plain_lines("a\n\tb ä 表"), Cow::Borrowed(_)));
        let (evil, plain) = ("a\r\n\u{1b}]0;b\u{7}\u{202e}c\u{9b}", "a\u{fffd}\n\u{fffd}]0;b");
        assert_eq!(plain_lines(evil), format!("{plain}\u{fffd}\u{fffd}c\u{fffd}"));
    }

    #[test]
    fn a_path_is_one_line_that_drives_no_terminal() {
        assert_eq!(legible_path(Path::new("runs/größe 1")), "runs/größe 1");
        let evil = Path::new("a\u{1b}[2J\nb\t\u{202e}c");
        assert_eq!(legible_path(evil), "a\u{fffd}[2J\u{fffd}b\u{fffd}\u{fffd}c");
    }

    #[test]
    fn what_others_say_is_one_line_of_a_bounded_length() {
        assert_eq!(
            legible(" no such\r\n  table:\n\tä\u{1b}[2J\t!\n"),
            "no such table: ä\u{fffd}[2J !"
        );
        assert_eq!(legible(&"x".repeat(LINE_CHARS)), "x".repeat(LINE_CHARS));
        let long = legible(&format!("{}ää", "é".repeat(LINE_CHARS)));
        assert_eq!(long, format!("{}… (4 more bytes read)", "é".repeat(LINE_CHARS)));
        assert_eq!(legible_within("a\nbc", 3), "a b… (1 more byte read)");
        assert_eq!((legible("\n \n"), legible_within("a", 1)), (String::new(), "a".to_owned()));
    }
}
