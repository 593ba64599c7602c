//! Space and case, and lists of values that become one.

use super::text_pass::{is_space, is_word_start, run, spaces};
use memchr::memchr2;

/// What begins a list; none is the beginning of one that comes later.
const KEYWORDS: [&[u8]; 3] = [b"values", b"value", b"in"];

/// Makes one blank of space and lower case of capitals. A line end at the end goes, a blank stays.
pub(super) fn fold_space_and_case(text: &mut Vec<u8>) {
    let before = spaces(text);
    text.drain(..before);
    if text.last() == Some(&b'\n') {
        text.pop();
    }
    let mut is_behind_blank = false;
    text.retain_mut(|byte| {
        let is_blank = matches!(*byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0c');
        let is_kept = !(is_blank && is_behind_blank);
        is_behind_blank = is_blank;
        *byte = if is_blank { b' ' } else { byte.to_ascii_lowercase() };
        is_kept
    });
}

/// Makes `in(?+)` and `values(?+)` of lists that have nothing but `?`, one behind the other.
pub(super) fn fold_lists(text: &mut Vec<u8>) {
    // The new text may be longer: it grows behind the old one.
    let length = text.len();
    let mut kept = 0;
    while let Some((keyword_end, end)) = next_lists(&text[..length], kept) {
        text.extend_from_within(kept..keyword_end);
        text.extend_from_slice(b"(?+)");
        kept = end;
    }
    if kept > 0 {
        text.extend_from_within(kept..length);
        text.drain(..length);
    }
}

/// Where the next keyword with lists ends, and where its lists do.
fn next_lists(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        at += memchr2(b'i', b'v', text.get(at..)?)?;
        let rest = &text[at..];
        let keyword = KEYWORDS.into_iter().find(|keyword| rest.starts_with(keyword));
        if let Some(keyword) = keyword.filter(|_| is_word_start(text, at)) {
            let length = lists_length(&rest[keyword.len()..]);
            if length > 0 {
                let end = at + keyword.len();
                return Some((end, end + length));
            }
        }
        at += 1;
    }
}

/// The length of the lists that a text begins with.
fn lists_length(text: &[u8]) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        let open = run(rest, |byte| is_space(byte) || byte == b',');
        if rest.get(open) != Some(&b'(') {
            return length;
        }
        let inner = &rest[open + 1..];
        let close = run(inner, |byte| is_space(byte) || matches!(byte, b'?' | b','));
        if inner.get(close) != Some(&b')') {
            return length;
        }
        length += open + close + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::super::text_pass::changed;
    use super::*;

    #[test]
    fn space_is_one_blank_and_letters_are_small() {
        assert_eq!(changed(" \n A\t\r\n b \n\n", fold_space_and_case), "a b ");
        assert_eq!(changed("A\x0b \x0bÄ\n", fold_space_and_case), "a\x0b \x0bÄ");
        assert_eq!(changed("\n", fold_space_and_case), "");
    }

    #[test]
    fn lists_of_values_become_one() {
        for (sql, left) in [
            ("a in (?, ?,?) and b in()", "a in(?+) and b in(?+)"),
            ("values (?, ?), (?,?) ,(?) on", "values(?+) on"),
            ("value(?) in (?), (select", "value(?+) in(?+), (select"),
            ("insert into (?) valuess(?) in(a) min(?)", "insert into (?) valuess(?) in(a) min(?)"),
        ] {
            assert_eq!(changed(sql, fold_lists), left, "{sql}");
        }
    }
}
