//! Command lines without their passwords.
//!
//! A command line is public on its machine, a report travels. What looks like a password is shown
//! as `***`; in doubt too much is masked rather than too little.

use dbtime_model::secret_text::{MASK, is_of_name, is_secret_name, without_secrets};

/// Programs that take a password right behind `-p`.
const MYSQL_FAMILY: [&str; 8] =
    ["mysql", "mariadb", "mytop", "innotop", "xtrabackup", "mariabackup", "mydumper", "myloader"];

/// Programs and the flags whose next word is a password.
const SECRET_FLAGS: [(&str, &[&str]); 9] = [
    ("redis-cli", &["-a", "--pass"]),
    ("valkey-cli", &["-a", "--pass"]),
    ("mongo", &["-p"]),
    ("sshpass", &["-p"]),
    ("ldap", &["-w"]),
    ("sqlcmd", &["-P"]),
    ("isql", &["-P"]),
    ("ab", &["-A", "-P"]),
    ("curl", &["-u", "--user", "-U", "--proxy-user"]),
];

/// The words of a command line, joined, with what looks like a password masked.
pub fn masked(words: &[String]) -> String {
    let mut words = words.iter().map(String::as_str);
    let Some(program) = words.next() else { return String::new() };
    let mut shown = vec![without_secrets(program).into_owned()];
    let mut before = "";
    for word in words {
        shown.push(match () {
            () if announces(base(program), before) && !word.starts_with('-') => MASK.to_owned(),
            () if takes_a_script(before) => nested(word),
            () => one(base(program), word),
        });
        before = word;
    }
    shown.join(" ")
}

/// Whether the next word is a command line of its own: `sh -c`, `bash -lc`.
fn takes_a_script(word: &str) -> bool {
    let flags = word.strip_prefix('-').unwrap_or("");
    flags.ends_with('c') && flags.bytes().all(|b| b.is_ascii_lowercase()) && flags.len() <= 3
}

/// The last part of a path, without the dash of a login shell.
fn base(program: &str) -> &str {
    let word = program.split_whitespace().next().unwrap_or("");
    word.rsplit('/').next().unwrap_or(word).trim_start_matches('-').trim_end_matches(':')
}

/// Whether the next word is a password.
fn announces(program: &str, word: &str) -> bool {
    let by_program = SECRET_FLAGS.iter().any(|(name, flags)| {
        program.starts_with(name) && flags.contains(&word) && (*name != "ab" || program == "ab")
    });
    by_program || (word.starts_with("--") && !word.contains('=') && is_secret_name(word))
}

/// One word of a command line.
fn one(program: &str, word: &str) -> String {
    if word.strip_prefix("-p").is_some_and(|value| is_short_password(program, value)) {
        return format!("-p{MASK}");
    }
    let named = word.split_once('=').filter(|(name, value)| {
        name.chars().all(is_of_name) && is_secret_name(name) && !value.is_empty()
    });
    match named {
        // The value is the rest of the word, whatever it holds.
        Some((name, _)) => format!("{name}={MASK}"),
        None => without_secrets(word).into_owned(),
    }
}

/// Whether what stands right behind `-p` is a password: with MySQL's programs always; with others
/// unless it is a number (a port, a process), a path, or letters that are flags.
fn is_short_password(program: &str, value: &str) -> bool {
    if value.is_empty() {
        return false;
    }
    let is_family =
        MYSQL_FAMILY.iter().any(|name| program.starts_with(name)) || program == "sshpass";
    let is_number = value.bytes().all(|b| b.is_ascii_digit() || b == b',' || b == b':');
    let is_flags = value.len() < 4 && value.bytes().all(|b| b.is_ascii_alphabetic());
    // `-path` of find, `-print`: a word of its own.
    let is_word = ["ath", "rint", "rint0", "erm", "rune"].contains(&value);
    is_family || !(is_number || is_flags || is_word || value.starts_with(['/', '.']))
}

/// A command line within a word, its spacing and quotes kept.
fn nested(text: &str) -> String {
    let words = shell_words(text);
    let is_program = |word: &&&str| !word.contains('=') && !word.trim().is_empty();
    let program = words.iter().find(is_program).map_or("", |word| base(word));
    let mut shown = String::with_capacity(text.len());
    let mut before = "";
    for word in words {
        shown += &match () {
            // Blanks between words are words of their own here.
            () if word.trim().is_empty() => {
                shown.push_str(word);
                continue;
            }
            () if announces(program, before) && !word.starts_with('-') => MASK.to_owned(),
            () => one(program, word),
        };
        before = word;
    }
    shown
}

/// Words and the blanks between them; quotes hold a word together.
fn shell_words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut begin, mut quote, mut was_blank) = (0, None, false);
    for (at, c) in text.char_indices() {
        let is_blank = c.is_whitespace() && quote.is_none();
        if is_blank != was_blank && at > begin {
            words.push(&text[begin..at]);
            begin = at;
        }
        was_blank = is_blank;
        quote = match quote {
            Some(open) if open == c => None,
            None if c == '\'' || c == '"' => Some(c),
            quote => quote,
        };
    }
    words.push(&text[begin..]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &[&str]) -> String {
        masked(&line.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn passwords_of_clients_are_masked() {
        for (line, wanted) in [
            (&["mysql", "-uroot", "-pgeheim", "shop"][..], "mysql -uroot -p*** shop"),
            (&["/usr/bin/mariadb-dump", "-p1234"], "/usr/bin/mariadb-dump -p***"),
            (&["mysqladmin", "--password=a b", "ping"], "mysqladmin --password=*** ping"),
            (&["mysql", "--password", "geheim"], "mysql --password ***"),
            (&["sysbench", "--mysql-password=x", "run"], "sysbench --mysql-password=*** run"),
            (&["sysbench", "--pgsql-password=x"], "sysbench --pgsql-password=***"),
            (&["redis-cli", "-a", "geheim", "ping"], "redis-cli -a *** ping"),
            (&["mongosh", "-u", "joe", "-p", "geheim"], "mongosh -u joe -p ***"),
            (&["sshpass", "-pgeheim", "ssh", "host"], "sshpass -p*** ssh host"),
            (&["curl", "-u", "joe:geheim", "http://x/"], "curl -u *** http://x/"),
            (&["app", "--api-key", "k1", "--db_password=z"], "app --api-key *** --db_password=***"),
            (&["app", "-pGeheim1"], "app -p***"),
            (&["app", "--password=a&b=c;d e"], "app --password=***"),
        ] {
            assert_eq!(shown(line), wanted);
        }
    }

    #[test]
    fn passwords_of_urls_are_masked() {
        for (line, wanted) in [
            (
                &["dbtime", "run", "--target", "mysql://joe:ge:he@im@h:1/db"][..],
                "dbtime run --target mysql://joe:***@h:1/db",
            ),
            (
                &["psql", "postgres://joe@h/db?password=x&a=b"],
                "psql postgres://joe@h/db?password=***&a=b",
            ),
            (&["psql", "host=h password='a b' user=joe"], "psql host=h password=*** user=joe"),
            (&["psql", "password=a&b;c user=joe"], "psql password=***"),
            (&["psql", "user=joe password=a&b;c x=y"], "psql user=joe password=*** x=y"),
            (&["a", "Server=h;Password=a&b;Port=1"], "a Server=h;Password=***;Port=1"),
            (&["a", "http://x/y:z@w"], "a http://x/y:z@w"),
            (&["a", "redis://:geheim@h"], "a redis://:***@h"),
        ] {
            assert_eq!(shown(line), wanted);
        }
    }

    #[test]
    fn passwords_of_the_environment_are_masked() {
        for (line, wanted) in [
            (&["env", "PGPASSWORD=x", "psql"][..], "env PGPASSWORD=*** psql"),
            (&["sh", "-c", "MYSQL_PWD=x mysql -uroot"], "sh -c MYSQL_PWD=*** mysql -uroot"),
            (&["sh", "-c", "mysql -uroot -pgeheim <x.sql"], "sh -c mysql -uroot -p*** <x.sql"),
            (&["sh", "-c", "A=1 mysql  --password geheim"], "sh -c A=1 mysql  --password ***"),
            (&["bash", "-lc", "mysql -p'a b' db"], "bash -lc mysql -p*** db"),
            (&["sh", "-c", "x --password \"a b\" y"], "sh -c x --password *** y"),
            (&["make", "PWD=/tmp", "OLDPWD=/"], "make PWD=/tmp OLDPWD=/"),
        ] {
            assert_eq!(shown(line), wanted);
        }
    }

    #[test]
    fn what_is_no_password_stays() {
        for line in [
            &["ssh", "-p22", "host"][..],
            &["cp", "-pr", "a", "b"],
            &["find", ".", "-path", "x", "-print0"],
            &["mysqld", "--skip-password-file", "--password-file=/etc/x", "-P3306"],
            &["docker", "run", "-p8080:80"],
            &["postgres: joe db 127.0.0.1(4711) idle"],
            &["mysql", "--password", "--host=h"],
            &["mysql", "-p", "shop"],
            &["ab", "-c", "1", "-n", "100"],
        ] {
            assert_eq!(shown(line), line.join(" "));
        }
    }

    #[test]
    fn nothing_makes_it_fall_over() {
        for line in
            [&[][..], &["", "-p", "=", "://", "a://:@", "password="], &["é=ü://é:é@é", "-pé"]]
        {
            shown(line);
        }
        assert_eq!(shown(&["x", "password='open"]), "x password=***");
    }
    proptest::proptest! {
        #[test]
        fn no_secret_gets_through(secret in "[!-~]{4,20}", quiet in "[ -~é]{0,30}") {
            // What the other words are made of cannot give it away.
            proptest::prop_assume!(!quiet.contains(&secret) && !"--password=mysql".contains(&secret));
            let plain = !secret.contains(['\'', '"', '/', '?', '#', '@', '&', ';', '=', ':', '-']);
            let mut lines = vec![
                vec!["app".to_owned(), format!("--password={secret}"), quiet.clone()],
                vec!["mysql".to_owned(), format!("-p{secret}"), quiet.clone()],
                vec!["env".to_owned(), format!("MYSQL_PWD={secret}"), quiet.clone()],
            ];
            if plain {
                lines.push(vec!["app".to_owned(), "--token".to_owned(), secret.clone()]);
                lines.push(vec!["app".to_owned(), format!("mysql://joe:{secret}@host/db")]);
                lines.push(vec!["sh".to_owned(), "-c".to_owned(), format!("mysql -p{secret} x")]);
                lines.push(vec!["psql".to_owned(), format!("user=joe password='{secret}' a=b")]);
            }
            for line in lines {
                let shown = masked(&line);
                proptest::prop_assert!(!shown.contains(&secret), "{line:?}: {shown}");
            }
        }

        #[test]
        fn any_command_line_is_taken(words in proptest::collection::vec(".{0,40}", 0..6)) {
            masked(&words);
        }
    }
}
