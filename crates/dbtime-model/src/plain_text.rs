//! Foreign text that does nothing to a terminal but stand there.

use std::borrow::Cow;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_and_what_drives_a_terminal_goes() {
        assert!(matches!(plain_lines("a\n\tb ä 表"), Cow::Borrowed(_)));
        let (evil, plain) = ("a\r\n\u{1b}]0;b\u{7}\u{202e}c\u{9b}", "a\u{fffd}\n\u{fffd}]0;b");
        assert_eq!(plain_lines(evil), format!("{plain}\u{fffd}\u{fffd}c\u{fffd}"));
    }
}
