//! Comments, and the statement that has nothing but the name of a database.

use super::text_pass::{TextPass, behind, is_space, run};
use memchr::{memchr2_iter, memmem};

/// Removes `/* … */` with something in it that is no `!`; one without an end stays.
pub(super) fn remove_block_comments(text: &mut Vec<u8>) {
    let mut pass = TextPass::new(text);
    while let Some(at) = memmem::find(pass.rest(), b"/*") {
        pass.keep(at);
        let rest = pass.rest();
        if rest.get(2) == Some(&b'!') {
            pass.keep(2);
            continue;
        }
        // Where this one has no end, no later one has.
        let Some(length) = rest.get(3..).and_then(|rest| memmem::find(rest, b"*/")) else { break };
        pass.skip(length + 5);
    }
    pass.end();
}

/// Removes `--` and `#` with the rest of their lines, where no quote is in it.
pub(super) fn remove_line_comments(text: &mut Vec<u8>) {
    let mut pass = TextPass::new(text);
    while let Some(at) = line_comment(pass.rest()) {
        pass.keep(at);
        let rest = pass.rest();
        let length = run(rest, |byte| !matches!(byte, b'\'' | b'"' | b'\r' | b'\n'));
        // Whatever begins before the quote runs into it too.
        match matches!(rest.get(length), Some(b'\'' | b'"')) {
            true => pass.keep(length),
            false => pass.skip(length),
        }
    }
    pass.end();
}

fn line_comment(text: &[u8]) -> Option<usize> {
    memchr2_iter(b'-', b'#', text).find(|at| text[*at] == b'#' || text.get(*at + 1) == Some(&b'-'))
}

/// Replaces the name behind `use`, where there is nothing else; `false`: there is.
pub(super) fn replace_database(text: &mut Vec<u8>) -> bool {
    let Some(name) = behind(text, b"use ") else { return false };
    let (name, end) = match name.strip_suffix(b"\n") {
        Some(name) => (name, &b"\n"[..]),
        None => (name, &b""[..]),
    };
    if name.is_empty() || name.iter().any(|byte| is_space(*byte)) {
        return false;
    }
    text.clear();
    text.extend_from_slice(b"use ?");
    text.extend_from_slice(end);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_comments(sql: &str) -> String {
        let mut text = sql.as_bytes().to_vec();
        remove_block_comments(&mut text);
        remove_line_comments(&mut text);
        String::from_utf8(text).expect("a text in UTF-8")
    }

    #[test]
    fn comments_go_where_percona_sees_them() {
        for (sql, left) in [
            ("a/* b */c/*\nd*/e", "ace"),
            ("a /*!50000 b */ c", "a /*!50000 b */ c"),
            ("a/**/b/* c */d", "ad"),
            ("a /* b", "a /* b"),
            ("a -- b\nc # d", "a \nc "),
            ("a -- it's\nb", "a -- it's\nb"),
            ("a --b 'c' --d", "a --b 'c' "),
            ("a - b", "a - b"),
        ] {
            assert_eq!(without_comments(sql), left, "{sql}");
        }
    }

    #[test]
    fn the_name_of_a_database_is_replaced_where_it_is_all() {
        for (sql, left) in [("USE a", "use ?"), ("use `b`\n", "use ?\n"), ("use a b", "use a b")] {
            let mut text = sql.as_bytes().to_vec();
            assert_eq!(replace_database(&mut text), sql != left, "{sql}");
            assert_eq!(text, left.as_bytes());
        }
    }
}
