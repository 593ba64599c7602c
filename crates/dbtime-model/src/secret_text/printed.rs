//! What programs have printed, without the passwords of command lines in it: most lines are
//! sentences, which have to stay as they are.

use super::command_line::MaskRules;
use super::scripts::masked_script;

/// Signs before a word that belong to the sentence: `` `mysql -p…` ``.
const OPENING_SIGNS: [char; 5] = ['`', '(', '[', '{', '<'];

/// Words behind the name of an option that speak of it, and are no value: `--password is required`.
const SENTENCE_WORDS: [&str; 38] = [
    "a", "an", "and", "are", "as", "but", "by", "can", "cannot", "expects", "for", "from", "given",
    "has", "if", "in", "instead", "is", "may", "must", "needs", "not", "of", "on", "option", "or",
    "required", "requires", "should", "so", "the", "to", "unless", "was", "when", "will", "with",
    "without",
];

/// What a program has printed without the passwords that are known from command lines, as
/// [`masked_command`] masks them, and without all that [`without_secrets`] finds.
///
/// Cost: O(length).
///
/// [`masked_command`]: super::masked_command
/// [`without_secrets`]: super::without_secrets
pub fn printed_without_secrets(text: &str) -> String {
    masked_script(text, MaskRules::PRINTED)
}

/// The signs before a word, and the word.
pub(super) fn without_opening(word: &str) -> (&str, &str) {
    let bare = word.trim_start_matches(OPENING_SIGNS);
    match bare.is_empty() {
        true => ("", word),
        false => word.split_at(word.len() - bare.len()),
    }
}

/// Whether a sentence goes on with a word where the value of an option may stand.
pub(super) fn goes_on(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| c.is_ascii_punctuation());
    SENTENCE_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether the quote at this place of a text, which begins with its word, holds words together: an
/// apostrophe does not, nor does a quote that is not closed.
pub(super) fn opens_quote(text: &str, at: usize) -> bool {
    let (before, quoted) = text.split_at(at);
    let is_apostrophe = before.ends_with(char::is_alphanumeric) && !before.starts_with('-');
    let mut signs = quoted.chars();
    let quote = signs.next();
    !is_apostrophe && signs.any(|sign| Some(sign) == quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_printed_command_lines_are_masked() {
        for (line, shown) in [
            ("using --password hunter2 -phunter2", "using --password *** -p***"),
            ("--password hunter2 -phunter2", "--password *** -p***"),
            ("--password=hunter2: refused", "--password=*** refused"),
            ("cannot log in: mysql -uroot -p4711 x", "cannot log in: mysql -uroot -p*** x"),
            ("can't log in with --password hunter2", "can't log in with --password ***"),
            ("PGPASSWORD=hunter2 psql MYSQL_PWD=hunter2", "PGPASSWORD=*** psql MYSQL_PWD=***"),
            ("`mysql --password 'a b' x` failed", "`mysql --password *** x` failed"),
            ("(--token hunter2 was taken)", "(--token *** was taken)"),
            ("it ran 'mysql -phunter2' and ended", "it ran 'mysql -p***' and ended"),
            ("said: 'the --password hunter2'", "said: 'the --password ***'"),
            ("ran 'x --password=hunter2 -phunter2'", "ran 'x --password=*** -p***'"),
            ("ran x -p'a b' and x --password='a b'", "ran x -p*** and x --password=***"),
            ("redis-cli -a hunter2 ping", "redis-cli -a *** ping"),
            ("+ curl -u joe:hunter2 http://h/", "+ curl -u *** http://h/"),
            ("no such host, password=hunter2", "no such host, password=***"),
            ("mysql://u:hunter2@h/d is gone", "mysql://u:***@h/d is gone"),
        ] {
            assert_eq!(printed_without_secrets(line), shown);
        }
    }

    #[test]
    fn sentences_about_passwords_stay() {
        for line in [
            "ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)",
            "mysql: [Warning] Using a password on the command line can be insecure.",
            "psql: error: FATAL:  password authentication failed for user \"joe\"",
            "option --password is required, and --token must not be empty",
            "either --password or --login-path: give one",
            "unknown option '-parallel'",
            "flag provided but not defined: -port=3306",
            "don't use -p without --host, it's the users' own",
            "make: *** [Makefile:3: bench] Error 7",
            "ssh -p22 host: cp -pr a b",
            "the server doesn't answer: 'no route', it says",
            "pgbench: error: client 3 aborted in command 4 (SQL) of script 0; timeout",
            "",
        ] {
            assert_eq!(printed_without_secrets(line), line);
        }
    }

    proptest::proptest! {
        #[test]
        fn plain_sentences_stay(line in "[A-Z]?[a-z]{1,9}([,;]? [a-z]{1,9}(n't|'s)?){0,12}[.!?]?") {
            proptest::prop_assert_eq!(printed_without_secrets(&line), line);
        }

        #[test]
        fn no_password_gets_through(
            secret in "[A-Z][a-z]{3,8}[0-9]{2}",
            before in "[a-z' ]{0,30}",
            behind in "[a-z' ]{0,30}",
        ) {
            for spelling in ["--password ", "--password=", "-p", "PGPASSWORD=", "MYSQL_PWD="] {
                let line = format!("{before} {spelling}{secret} {behind}");
                let shown = printed_without_secrets(&line);
                proptest::prop_assert!(!shown.contains(&secret), "{line}: {shown}");
            }
        }

        #[test]
        fn any_line_is_taken(line in ".{0,80}", signs in "[-p'\"`=: a]{0,60}") {
            printed_without_secrets(&line);
            printed_without_secrets(&signs);
        }
    }
}
