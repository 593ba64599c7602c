//! What databases say went wrong, without the values of rows and parameters that they repeat.
//!
//! ```text
//!   Duplicate entry '5-hush' for key 'PRIMARY'       Duplicate entry '?' for key 'PRIMARY'
//!   invalid input syntax for type integer: "hush"    invalid input syntax for type integer: "?"
//!   Key (id)=(5) already exists.                     Key (id)=(?) already exists.
//!   account 5 of hush is closed (RAISE or SIGNAL)    ? (…)
//! ```
//!
//! Which words stand for values is decided by codes, not by the words around them, which are in the
//! language of the server. Names of tables, columns, keys and constraints stay where the code says
//! where they are; where it does not, what may be a value is left out with what may be a name.

mod mysql;
mod postgres;
mod postgres_messages;
mod sqlite;

pub use mysql::without_mysql_values;
pub use postgres::{PostgresWords, internal_query, without_context_values};
pub use sqlite::without_sqlite_values;

use crate::repeated_words::{closing_of, is_opening};
use std::borrow::Cow;

/// What stands for words that a trigger, a procedure or a program in between has made up: any of
/// them may be a value. It has no quotes, for what stands in these is looked at again.
pub(crate) const LEFT_OUT: &str = "? (words left out: they may hold values)";

/// What stands for a value.
const VALUE: char = '?';

/// Words that were made up; there may be none.
fn left_out(message: &str) -> Cow<'_, str> {
    match message.trim().is_empty() {
        true => Cow::Borrowed(message),
        false => Cow::Borrowed(LEFT_OUT),
    }
}

/// A text without what stands in quotes, up to the last of their kind: a value may have some in it.
fn without_quoted(text: &str) -> String {
    without_quoted_in(text, |sign| is_opening(sign) && sign != '`')
}

/// The same where only these signs are quotes around values.
fn without_quoted_in(text: &str, is_quote: impl Fn(char) -> bool) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some((at, quote)) = opening_in(text, rest, &is_quote) {
        let begin = at + quote.len_utf8();
        shown.push_str(&rest[..begin]);
        shown.push(VALUE);
        let closing = closing_of(quote).unwrap_or_default();
        let end = rest[begin..].char_indices().rev().find(|(_, sign)| closing.contains(sign));
        // Of a text that was cut all that follows may be the value.
        let Some((end, sign)) = end else { return shown };
        shown.push(sign);
        rest = &rest[begin + end + sign.len_utf8()..];
    }
    shown.push_str(rest);
    shown
}

/// The first quote around a value in the rest of a text, and where in the rest it is.
fn opening_in(text: &str, rest: &str, is_quote: impl Fn(char) -> bool) -> Option<(usize, char)> {
    let read = text.len() - rest.len();
    let opens = |(at, sign): &(usize, char)| {
        let behind = &rest[at + sign.len_utf8()..];
        is_quote(*sign) && (*sign != '\'' || !is_apostrophe(&text[..read + at], behind))
    };
    rest.char_indices().find(opens)
}

/// Whether what is between these is part of a word, as in `can't`, `server's` and `l'index`. In
/// some languages a quote follows a word without a blank: only what cannot be one is taken for it.
fn is_apostrophe(before: &str, behind: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '\'');
    let is_of_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let word = &before[before.trim_end_matches(is_of_word).len()..];
    // A literal may have a word before it, as in `N'x'` and `_latin1'x'`.
    let is_plain = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let end = behind.find(|sign: char| !is_part(sign)).unwrap_or(behind.len());
    let rest = &behind[..end];
    let is_ending = is_plain && (rest == "s" || rest == "t" && word.ends_with('n'));
    let is_elision = ["d", "l", "qu", "s"].contains(&word.to_ascii_lowercase().as_str());
    is_ending || is_elision && rest.starts_with(char::is_alphabetic) && !rest.contains('\'')
}

/// A text without its numbers, but for the length of a type, as in `character varying(3)`, and what
/// is part of a name.
fn without_numbers(text: &str) -> String {
    let (mut shown, mut before) = (String::new(), [' ', ' ']);
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        let is_length = before[1] == '(' && before[0].is_alphanumeric();
        let is_of_name = before[1].is_alphanumeric() || before[1] == '_';
        if !sign.is_ascii_digit() || is_length || is_of_name {
            shown.push(sign);
            before = [before[1], sign];
            continue;
        }
        while signs.next_if(|next| next.is_alphanumeric() || *next == '_').is_some() {}
        shown.push(VALUE);
        before = [before[1], VALUE];
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message in which `<` and `>` are around its values, without these signs, and without the
    /// values.
    pub(super) fn marked(text: &str) -> (String, String) {
        let (mut shown, mut rest) = (String::new(), text);
        while let Some((before, behind)) = rest.split_once('<') {
            shown += before;
            shown.push(VALUE);
            rest = behind.split_once('>').expect("an end").1;
        }
        (text.replace(['<', '>'], ""), shown + rest)
    }

    #[test]
    fn what_is_in_quotes_ends_at_the_last_of_their_kind() {
        for (text, expected) in [
            ("no quotes", "no quotes"),
            ("value 'hush' at 1", "value '?' at 1"),
            ("value 'it's hush' at 1", "value '?' at 1"),
            ("value \"hu\"sh\", \"x\"; 'y'", "value \"?\"; '?'"),
            ("Wert »hush« für „hush“", "Wert »?« für „?“"),
            ("value 'hush… (9 more", "value '?"),
            ("`a` is no value", "`a` is no value"),
            ("can't open 'hush' (x)", "can't open '?' (x)"),
            ("server's 'it's hush' at", "server's '?' at"),
            ("l'index 'hush' n'existe", "l'index '?'existe"),
            ("file'hush'", "file'?'"),
            ("file't hush'", "file'?'"),
            ("N't hush'", "N'?'"),
            ("_binary's hush'", "_binary'?'"),
            ("", ""),
        ] {
            assert_eq!(without_quoted(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_left_out_and_those_of_names_and_types_are_not() {
        for (text, expected) in [
            ("for value 5", "for value ?"),
            ("-12.5e3 of t1", "-?.? of t1"),
            ("encoding \"UTF8\": 0xff 0x41", "encoding \"UTF8\": ? ?"),
            ("type character varying(30)", "type character varying(30)"),
            ("a (5)", "a (?)"),
            ("utf8mb4_general_ci, col_2", "utf8mb4_general_ci, col_2"),
            ("2024-01-02 10:00", "?-?-? ?:?"),
        ] {
            assert_eq!(without_numbers(text), expected, "{text}");
        }
    }

    #[test]
    fn words_that_were_made_up_are_left_out_and_none_stays_none() {
        assert_eq!(left_out("account 5 has no hush"), LEFT_OUT);
        assert_eq!(left_out(" \n"), " \n");
    }

    proptest::proptest! {
        #[test]
        fn any_value_is_left_out(value in "([0-9]|hush|['\"`«»„“é表a (=)]){0,20}") {
            let shown = without_numbers(&without_quoted(&format!("for 'x{value}' at")));
            proptest::prop_assert_eq!(shown, "for '?' at");
            without_numbers(&without_quoted(&value));
        }
    }
}
