//! Strings, numbers and the words that are values.

use super::PerconaRules;
use super::text_pass::{TextPass, is_word, run};
use memchr::memchr;

/// Puts `?` for what stands in quotes.
pub(super) fn replace_strings(text: &mut Vec<u8>, rules: PerconaRules) {
    match rules {
        PerconaRules::Current => {
            remove_escaped_behind(text, b'\'');
            remove_escaped_behind(text, b'"');
            remove_escaped(text, b"\\");
            remove_escaped(text, b"'");
            remove_escaped(text, b"\"");
            replace_quoted_behind(text, b'"');
            replace_quoted_behind(text, b'\'');
        }
        PerconaRules::Old => {
            remove_escaped(text, b"\"'");
            replace_quoted(text, b'"');
            replace_quoted(text, b'\'');
        }
    }
}

/// Removes a backslash and the quote behind it, where another byte comes before them that is no
/// backslash; that byte serves for one pair only.
fn remove_escaped_behind(text: &mut Vec<u8>, quote: u8) {
    let mut pass = TextPass::new(text);
    while let Some(before) = before_next(pass.rest(), b'\\') {
        let rest = pass.rest();
        let is_removed = rest[before] != b'\\' && rest.get(before + 2) == Some(&quote);
        pass.keep(before + 1);
        if is_removed {
            pass.skip(2);
        }
    }
    pass.end();
}

/// Where the byte stands that comes before the next one of a kind; a text's first byte has none.
fn before_next(text: &[u8], byte: u8) -> Option<usize> {
    memchr(byte, text.get(1..)?)
}

/// Removes each backslash with the byte behind it, where that is one of these.
fn remove_escaped(text: &mut Vec<u8>, escaped: &[u8]) {
    let mut pass = TextPass::new(text);
    while let Some(at) = memchr(b'\\', pass.rest()) {
        pass.keep(at);
        match pass.rest().get(1).is_some_and(|byte| escaped.contains(byte)) {
            true => pass.skip(2),
            false => pass.keep(1),
        }
    }
    pass.end();
}

/// Replaces what stands in quotes, where a byte comes before that is no backslash; that byte serves
/// for one string only, so that the second half of `'a''b'` is cut elsewhere.
fn replace_quoted_behind(text: &mut Vec<u8>, quote: u8) {
    let mut pass = TextPass::new(text);
    while let Some(before) = before_next(pass.rest(), quote) {
        let rest = pass.rest();
        if rest[before] == b'\\' {
            pass.keep(before + 1);
            continue;
        }
        // A quote without a second one is the last.
        let Some(length) = quoted_length(&rest[before + 2..], quote) else { break };
        pass.keep(before + 1);
        pass.replace(1 + length);
    }
    pass.end();
}

/// The length of a string behind its first quote, with its last. Where nothing comes before that
/// one, or a backslash, it is taken for a part of the string if another quote follows.
fn quoted_length(text: &[u8], quote: u8) -> Option<usize> {
    let end = memchr(quote, text)?;
    let is_plain = end > 0 && text[end - 1] != b'\\';
    match is_plain || text.get(end + 1) != Some(&quote) {
        true => Some(end + 1),
        false => Some(end + 2),
    }
}

/// Replaces what stands in quotes.
fn replace_quoted(text: &mut Vec<u8>, quote: u8) {
    let mut pass = TextPass::new(text);
    while let Some(at) = memchr(quote, pass.rest()) {
        let Some(length) = memchr(quote, &pass.rest()[at + 1..]) else { break };
        pass.keep(at);
        pass.replace(length + 2);
    }
    pass.end();
}

/// Puts `?` for each of these words in any case.
pub(super) fn replace_words(text: &mut Vec<u8>, words: &[&[u8]]) {
    let mut pass = TextPass::new(text);
    while let Some(at) = pass.rest().iter().position(|byte| is_word(*byte)) {
        pass.keep(at);
        let length = run(pass.rest(), is_word);
        let word = &pass.rest()[..length];
        match words.iter().any(|value| word.eq_ignore_ascii_case(value)) {
            true => pass.replace(length),
            false => pass.keep(length),
        }
    }
    pass.end();
}

/// Puts `?` for what begins as a number does, with all that may be one, within names too.
pub(super) fn replace_numbers(text: &mut Vec<u8>) {
    let mut pass = TextPass::new(text);
    let begins = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-');
    let goes_on = |byte: u8| begins(byte) || matches!(byte, b'a'..=b'f' | b'.' | b'x');
    while let Some(at) = pass.rest().iter().position(|byte| begins(*byte)) {
        pass.keep(at);
        let length = run(pass.rest(), goes_on);
        pass.replace(length);
    }
    pass.end();
    join_prefixes(text);
}

/// Removes what is left of a literal before its `?`: the `x` of `x'4D'`, a sign, a point.
fn join_prefixes(text: &mut Vec<u8>) {
    let mut pass = TextPass::new(text);
    while let Some(before) = before_next(pass.rest(), b'?') {
        match matches!(pass.rest()[before], b'x' | b'b' | b'.' | b'+' | b'-') {
            true => {
                pass.keep(before);
                pass.replace(2);
            }
            false => pass.keep(before + 1),
        }
    }
    pass.end();
}

#[cfg(test)]
mod tests {
    use super::super::text_pass::changed;
    use super::*;

    #[test]
    fn strings_are_found_by_the_rules_of_each_version() {
        // A statement, by the current rules, by the old ones.
        for (sql, current, old) in [
            ("a 'b' \"c\"", "a ? ?", "a ? ?"),
            (r"a 'it\'s', 'b'", "a ?, ?", "a ?, ?"),
            (r"a 'b\\', 'c'", "a ?, ?", r"a ?c'"),
            ("a 'b''c' d", "a ?'c' d", "a ?? d"),
            ("a '' b", "a ? b", "a ? b"),
            ("a ''' b", "a ? b", "a ?' b"),
            ("'a' b", "'a' b", "? b"),
            ("a 'b", "a 'b", "a 'b"),
        ] {
            let by = |rules| changed(sql, |text| replace_strings(text, rules));
            assert_eq!(by(PerconaRules::Current), current, "{sql}");
            assert_eq!(by(PerconaRules::Old), old, "{sql}");
        }
    }

    #[test]
    fn numbers_are_found_within_names_too() {
        for (sql, left) in [
            ("t1 db23.t5 0xFF 1e9 -5 +.5", "t? d?t? ?FF ? ? ?"),
            ("a-1 b - 2 x? .?", "a? b ? ? ? ?"),
            ("123foo 5_a", "?oo ?_a"),
        ] {
            assert_eq!(changed(sql, replace_numbers), left, "{sql}");
        }
    }

    #[test]
    fn words_are_whole_and_of_any_case() {
        let words: &[&[u8]] = &[b"true", b"false"];
        let left = changed("TRUE is_true (false)", |text| replace_words(text, words));
        assert_eq!(left, "? is_true (?)");
    }
}
