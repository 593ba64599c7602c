//! Messages of PostgreSQL in English with a name in quotes beside a value, or with a value where
//! their code speaks of names.
//!
//! Source: `guc.c`, `reloptions.c`, `sequence.c`, `oracle_compat.c`, `inv_api.c`, `aclchk.c`,
//! `dbcommands.c` and `genfile.c`.

use super::{VALUE, without_numbers, without_quoted};
use crate::repeated_words::{closing_of, is_opening};

/// What stands before the name of a setting or an option; behind it may be its value.
const BEFORE_NAMES: [&str; 6] = [
    "invalid value for parameter \"",
    "invalid value for boolean option \"",
    "invalid value for integer option \"",
    "invalid value for floating point option \"",
    "invalid value for enum option \"",
    "unrecognized parameter \"",
];

/// What begins messages of which each number is a value.
const BEFORE_NUMBERS: [&str; 6] = [
    "setval: value ",
    "requested character too large for encoding: ",
    "requested character not valid for encoding: ",
    "large object ",
    "permission denied for large object ",
    "must be owner of large object ",
];

/// What messages about a file begin with, and what stands before its path, which may have been made
/// at run time.
const OF_FILES: [&str; 3] = ["could not ", "directory \"", "tablespace location \""];
const BEFORE_PATHS: [&str; 4] = ["file \"", "directory \"", "library \"", "location \""];

/// What the message about a library begins with, whose path the loader repeats without quotes.
const OF_LIBRARY: &str = "could not load library \"";

/// What begins those whose quotes have what words are looked for by.
const BEFORE_QUERIES: [&str; 2] = ["syntax error in tsquery: \"", "no operand in tsquery: \""];

/// What stands behind a value that has no quotes.
const NO_ENCODING: &str = " is not a valid encoding name";

/// A message without its values; `None`: it is none of those that are known here.
pub(super) fn known_message(text: &str) -> Option<String> {
    if let Some(at) = text.rfind(NO_ENCODING) {
        return Some(format!("{VALUE}{}", &text[at..]));
    }
    if BEFORE_NUMBERS.iter().any(|begin| text.starts_with(begin)) {
        return Some(without_bare_numbers(text));
    }
    if text.starts_with(OF_LIBRARY) {
        return Some(format!("{OF_LIBRARY}{VALUE}\": {VALUE}"));
    }
    if names_file(text) || BEFORE_QUERIES.iter().any(|begin| text.starts_with(begin)) {
        return Some(without_quoted(text));
    }
    let begin = BEFORE_NAMES.iter().find(|begin| text.starts_with(**begin))?.len();
    let end = begin + text[begin..].find('"')? + 1;
    let (named, behind) = text.split_at(end);
    let shown = match behind.strip_prefix(": ") {
        Some(value) if value.starts_with('"') => format!(": \"{VALUE}\""),
        Some(_) => format!(": {VALUE}"),
        None => without_numbers(&without_quoted(behind)),
    };
    Some(format!("{named}{shown}"))
}

/// A text without its numbers, but for those in the name in its quotes.
pub(super) fn without_bare_numbers(text: &str) -> String {
    let quote = text.char_indices().find(|(_, sign)| is_opening(*sign));
    let name = quote.and_then(|(begin, sign)| {
        let end = text.rfind(closing_of(sign)?).filter(|end| *end > begin)?;
        Some((begin, end))
    });
    let Some((begin, end)) = name else { return without_numbers(text) };
    let (before, behind) = (without_numbers(&text[..begin]), without_numbers(&text[end..]));
    format!("{before}{}{behind}", &text[begin..end])
}

fn names_file(text: &str) -> bool {
    let is_of_file = OF_FILES.iter().any(|begin| text.starts_with(begin));
    is_of_file && BEFORE_PATHS.iter().any(|mark| text.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::super::tests::marked;
    use super::*;

    #[test]
    fn values_are_left_out_and_names_stay() {
        for text in [
            "invalid value for parameter \"work_mem\": \"<hush>\"",
            "invalid value for parameter \"work_mem\": \"<a\": \"hush>\"",
            "invalid value for parameter \"work_mem\": <4711>",
            "invalid value for parameter \"work_mem\"",
            "invalid value for integer option \"fillfactor\": <hush>",
            "invalid value for floating point option \"n_distinct\": <hush \"x\">",
            "unrecognized parameter \"fill\"",
            "<hush> is not a valid encoding name",
            "<x is not a valid encoding name> is not a valid encoding name at character 8",
            "setval: value <4711> is out of bounds for sequence \"s 5\" (<1>..<9>)",
            "requested character too large for encoding: <4711>",
            "large object <4711> does not exist",
            "permission denied for large object <4711>",
            "could not open file \"<hush>\" for reading: No such file or directory",
            "could not open server file \"<hush>\": No such file or directory",
            "could not open directory \"<hush>\": No such file or directory",
            "could not read block 5 in file \"<base/5/16384>\": read only 0 of 8192 bytes",
            "could not load library \"<hush>\": <hush: cannot open shared object file>",
            "directory \"<hush>\" already in use as a tablespace",
            "syntax error in tsquery: \"<a hush b>\"",
        ] {
            let (message, expected) = marked(text);
            assert_eq!(known_message(&message), Some(expected), "{message}");
        }
    }

    #[test]
    fn other_messages_are_not_known() {
        for text in [
            "could not obtain lock on relation \"t\"",
            "relation \"t 5\" does not exist",
            "invalid value for parameter \"work_mem",
            "",
        ] {
            assert_eq!(known_message(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_message_is_taken(text in "(large object |[0-9]|hush|['\"«»„“é(:]| ){0,20}") {
            without_bare_numbers(&text);
            known_message(&text);
            known_message(&format!("invalid value for parameter \"{text}"));
            let shown = without_bare_numbers(&format!("4711 {text}"));
            proptest::prop_assert!(shown.starts_with("? "));
        }
    }
}
