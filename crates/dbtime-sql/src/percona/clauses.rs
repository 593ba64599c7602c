//! LIMIT and ORDER BY.

use super::text_pass::{TextPass, is_space, is_word_start, spaces};
use memchr::memmem;

/// Leaves one value of the first LIMIT that has values.
pub(super) fn fold_limit(text: &mut Vec<u8>) {
    const LIMIT: &[u8] = b"limit ?";
    let Some(at) = first_words(text, LIMIT) else { return };
    let end = at + LIMIT.len();
    let length = match &text[end..] {
        [b',', b' ', b'?', ..] => 3,
        [b',', b'?', ..] => 2,
        rest if rest.starts_with(b" offset ?") => 9,
        _ => 0,
    };
    text.drain(end..end + length);
}

/// Removes `asc` behind the first ORDER BY, with the space before it; what merely begins so loses
/// its beginning.
pub(super) fn remove_ascending(text: &mut Vec<u8>) {
    const ORDER: &[u8] = b"order by ";
    let Some(at) = first_words(text, ORDER) else { return };
    let mut pass = TextPass::new(text);
    pass.keep(at + ORDER.len());
    while let Some((at, length)) = ascending(pass.rest()) {
        pass.keep(at);
        pass.skip(length);
    }
    pass.end();
}

/// Where these words come first that are not the end of a longer one.
fn first_words(text: &[u8], words: &[u8]) -> Option<usize> {
    memmem::find_iter(text, words).find(|at| is_word_start(text, *at))
}

/// Where space with `asc` behind it comes first, at least a byte further on, and its length.
fn ascending(text: &[u8]) -> Option<(usize, usize)> {
    let mut at = 1;
    loop {
        at += text.get(at..)?.iter().position(|byte| is_space(*byte))?;
        let gap = spaces(&text[at..]);
        if text[at + gap..].starts_with(b"asc") {
            return Some((at, gap + 3));
        }
        at += gap;
    }
}

#[cfg(test)]
mod tests {
    use super::super::text_pass::changed;
    use super::*;

    #[test]
    fn a_limit_has_one_value() {
        for (sql, left) in [
            ("limit ?, ?", "limit ?"),
            ("a limit ?,?", "a limit ?"),
            ("a limit ? offset ? b", "a limit ? b"),
            ("a limit ?, ? limit ?, ?", "a limit ? limit ?, ?"),
            ("a nolimit ?, ?", "a nolimit ?, ?"),
        ] {
            assert_eq!(changed(sql, fold_limit), left, "{sql}");
        }
    }

    #[test]
    fn ascending_is_not_written() {
        for (sql, left) in [
            ("a asc order by b asc, c desc, d asc limit ?", "a asc order by b, c desc, d limit ?"),
            ("order by a, ascii(b)", "order by a,ii(b)"),
            ("order by asc", "order by asc"),
            ("reorder by a asc", "reorder by a asc"),
        ] {
            assert_eq!(changed(sql, remove_ascending), left, "{sql}");
        }
    }
}
