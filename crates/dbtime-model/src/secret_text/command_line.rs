//! Command lines without their passwords: which programs take one in which word.

use super::{
    EMPTY, MASK, QUOTES, ends_in_secret, is_masked, is_of_name, is_secret_name, is_secret_variable,
    masked_where, printed, scripts,
};
use crate::shell::quoted;

/// Programs that take a password right behind `-p`.
const MYSQL_FAMILY: [&str; 8] =
    ["mysql", "mariadb", "mytop", "innotop", "xtrabackup", "mariabackup", "mydumper", "myloader"];

/// Programs and the flags whose next word is a password, or the rest of this one.
static SECRET_FLAGS: [(&str, &[&str]); 25] = [
    ("redis-cli", &["-a", "--pass"]),
    ("valkey-cli", &["-a", "--pass"]),
    ("mongo", &["-p"]),
    (SSHPASS, &["-p"]),
    ("ldap", &["-w"]),
    ("sqlcmd", &["-P"]),
    ("isql", &["-P"]),
    ("ab", &["-A", "-P"]),
    ("curl", &["-u", "--user", "-U", "--proxy-user", "--oauth2-bearer"]),
    ("keytool", &["-storepass", "-keypass"]),
    ("cqlsh", &["-p"]),
    ("cypher-shell", &["-p"]),
    ("beeline", &["-p"]),
    ("hdbsql", &["-p"]),
    ("cbq", &["-p"]),
    ("rabbitmqadmin", &["-p"]),
    ("vsql", &["-w"]),
    ("gsql", &["-W"]),
    ("bcp", &["-P"]),
    ("tsql", &["-P"]),
    ("zip", &["-P"]),
    ("unzip", &["-P"]),
    ("plink", &["-pw"]),
    ("pscp", &["-pw"]),
    ("http", &["-a", "--auth"]),
];

/// Of these alone, and not of those whose names begin so.
const WHOLE_PROGRAMS: [&str; 3] = ["ab", "http", "zip"];

/// Programs that run the one behind their flags, and of these the letters without a value.
const WRAPPERS: [(&str, &str); 9] = [
    ("sudo", "AbEHiknPSs"),
    ("doas", "n"),
    ("env", "i0v"),
    ("time", "pv"),
    ("timeout", "v"),
    ("xargs", "0prtx"),
    ("setsid", "cfw"),
    ("exec", "cl"),
    ("command", "p"),
];

/// What ends the flags of any program.
const END_OF_FLAGS: &str = "--";

/// Runs a program too, behind a password.
const SSHPASS: &str = "sshpass";

/// The command of many programs that log in, with a password behind `-p`: `docker login`.
const LOGIN: &str = "login";

/// Long flags with one dash, as programs in Go and Java have them, that begin with `-p`, without
/// that.
const OTHER_FLAGS: [&str; 12] = [
    "arallel", "eriod", "ipe", "lugin", "ort", "refix", "riority", "rofile", "rogress", "rotocol",
    "roxy", "thread",
];

/// What openssl has before a password.
const PASS_MARK: &str = "pass:";

/// Scripts within scripts are followed so far; what lies deeper is masked as a whole.
const DEEPEST: u8 = 6;

/// What is taken for a secret.
#[derive(Clone, Copy)]
pub(super) struct MaskRules {
    /// Which names are those of secrets.
    pub(super) is_secret: fn(&str) -> bool,
    /// Whether also what only may be one.
    in_doubt: bool,
    /// Whether it is what a program has printed, of which most are sentences.
    pub(super) is_printed: bool,
    /// How many scripts this one lies in.
    depth: u8,
}

impl MaskRules {
    /// Of what is shown: in doubt too much.
    pub(super) const SHOWN: Self =
        Self { is_secret: is_secret_name, in_doubt: true, is_printed: false, depth: 0 };

    /// Of what a program has printed, which may be a command line, or a sentence about one.
    pub(super) const PRINTED: Self = Self { is_printed: true, ..Self::SHOWN };

    /// Of what somebody has written, and has to change if there is one.
    pub(super) const WRITTEN: Self =
        Self { is_secret: ends_in_secret, in_doubt: false, ..Self::SHOWN };
}

/// The words of a command line, joined, with what looks like a password masked.
pub fn masked_command(words: &[String]) -> String {
    masked_words(words).join(" ")
}

/// The same, with words in quotes where a shell would take any of them for something else.
pub fn quoted_masked_command(words: &[String]) -> String {
    let shown = masked_words(words);
    let words: Vec<_> = shown.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn masked_words(words: &[String]) -> Vec<String> {
    let mut masker = CommandMasker::new(MaskRules::SHOWN);
    words.iter().map(|word| masker.take(word)).collect()
}

/// Goes over the words of command lines.
pub(super) struct CommandMasker<'a> {
    rules: MaskRules,
    /// What is run; `None`: it has not been named yet.
    program: Option<&'a str>,
    /// The word before.
    before: &'a str,
    /// Whether what it runs logs in.
    is_login: bool,
}

impl<'a> CommandMasker<'a> {
    pub(super) fn new(rules: MaskRules) -> Self {
        Self { rules, program: None, before: "", is_login: false }
    }

    /// The next word as it may be shown.
    pub(super) fn take(&mut self, word: &'a str) -> String {
        let (opening, word) = match self.rules.is_printed {
            true => printed::without_opening(word),
            false => ("", word),
        };
        let shown = format!("{opening}{}", self.shown(word));
        let is_free = self.program.is_none() && !word.contains('=');
        // `sudo mysql`, `docker exec name mysql`; behind a flag it is that one's value.
        let is_value = self.before.starts_with('-') && !self.is_bare_flag();
        self.is_login |= self.program.is_some() && !is_value && word == LOGIN;
        if is_free || self.is_run_by_sshpass(word) || (!is_value && is_known(base(word))) {
            self.program = Some(base(word));
        }
        self.before = word;
        shown
    }

    /// Whether a word is what `sshpass` runs, whose flags are others.
    fn is_run_by_sshpass(&self, word: &str) -> bool {
        self.program == Some(SSHPASS) && !word.starts_with('-') && !self.announces()
    }

    /// Whether the word before is a flag without a value, of a program that runs another.
    fn is_bare_flag(&self) -> bool {
        if self.before == END_OF_FLAGS {
            return true;
        }
        let program = self.program.unwrap_or("");
        let letters = WRAPPERS.iter().find(|(name, _)| *name == program);
        let flags = self.before.strip_prefix('-').unwrap_or("");
        letters.is_some_and(|(_, letters)| flags.chars().all(|flag| letters.contains(flag)))
    }

    /// The next word begins another command.
    pub(super) fn end_command(&mut self) {
        (self.program, self.before, self.is_login) = (None, "", false);
    }

    fn shown(&self, word: &str) -> String {
        let is_sentence = self.rules.is_printed && printed::goes_on(word);
        if self.announces() && !word.starts_with('-') && !is_sentence {
            return announced(word).to_owned();
        }
        if takes_a_script(self.before) {
            return self.script(word);
        }
        let shown = self.single(word);
        let is_quoted = self.rules.is_printed && word.contains(char::is_whitespace);
        match is_quoted || (shown == word && is_command_within(word)) {
            true => self.script(&shown),
            false => shown,
        }
    }

    /// A word that is a script of its own, maybe in quotes.
    fn script(&self, word: &str) -> String {
        let rules = MaskRules { depth: self.rules.depth + 1, ..self.rules };
        if rules.depth > DEEPEST {
            return MASK.to_owned();
        }
        let begin = match scripts::is_single(word, rules) {
            true => word.find(QUOTES).map_or(0, |at| at + 1),
            false => 0,
        };
        let (before, inner) = word.split_at(begin);
        let end = before.chars().last().map_or(inner, |c| inner.strip_suffix(c).unwrap_or(inner));
        format!("{before}{}{}", scripts::masked_script(end, rules), &inner[end.len()..])
    }

    /// Whether the next word is a password.
    fn announces(&self) -> bool {
        let word = self.before;
        let is_own = self.own_flags().any(|flag| flag == word || ends_group(word, flag));
        let is_own = is_own || (self.is_login && word == "-p");
        let has_value = word.contains(['=', ':']);
        let is_off = word.starts_with("--no-") || word.starts_with("--skip-");
        // Also with one dash, as Java's programs have them, if it is no `-p` with its value.
        let is_long = word.starts_with("--") || (word.starts_with('-') && !word.starts_with("-p"));
        let is_long = is_long || word == "-password";
        is_own || (is_long && !is_off && !has_value && (self.rules.is_secret)(word))
    }

    /// The flags of the program that take a password.
    fn own_flags(&self) -> impl Iterator<Item = &'static str> {
        let program = self.program.unwrap_or("");
        let own = SECRET_FLAGS.iter().filter(move |(name, _)| is_program(program, name));
        own.flat_map(|(_, flags)| flags.iter().copied())
    }

    /// Whether a variable may be one whose name says so by chance too.
    fn may_be_variable(&self, name: &str, value: &str) -> bool {
        let is_variable = name.starts_with(|c: char| c.is_ascii_uppercase())
            && !name.bytes().any(|byte| byte.is_ascii_lowercase());
        let is_number = value.parse::<f64>().is_ok();
        self.rules.in_doubt && is_variable && !is_number && is_secret_variable(name, "")
    }

    /// One word, which may have a flag and its value.
    fn single(&self, word: &str) -> String {
        let quote = word.chars().next().filter(|c| QUOTES.contains(c));
        let bare = quote.map_or(word, |quote| {
            let inner = &word[1..];
            inner.strip_suffix(quote).unwrap_or(inner)
        });
        match (self.without_value(bare), quote) {
            (Some(shown), None) => shown,
            (Some(shown), Some(quote)) => format!("{quote}{shown}{quote}"),
            (None, _) => masked_where(word, self.rules.is_secret).into_owned(),
        }
    }

    /// A word without the password that is its end; `None`: it has none there.
    fn without_value(&self, word: &str) -> Option<String> {
        let program = self.program.unwrap_or("");
        let short = word.strip_prefix("-p").filter(|value| {
            let is_sure = is_password_of_family(program, value);
            is_sure
                || (self.is_login && !value.is_empty())
                || (self.rules.in_doubt && may_be_password(value))
        });
        let attached = || {
            let flags = self.own_flags().filter(|flag| flag.len() == 2);
            flags.filter_map(|flag| word.strip_prefix(flag)).find(|value| !value.is_empty())
        };
        let named = || {
            let (name, value) = word.split_once('=')?;
            let is_secret = (self.rules.is_secret)(name) || self.may_be_variable(name, value);
            let is_named = name.chars().all(is_of_name) && is_secret;
            // The value is the rest of the word, whatever it holds.
            (is_named && !value.is_empty()).then_some(value)
        };
        let marked = || word.strip_prefix(PASS_MARK).filter(|value| !value.is_empty());
        let value = short.or_else(attached).or_else(named).or_else(marked)?;
        let flag = &word[..word.len() - value.len()];
        let shown = announced(value);
        (shown != value).then(|| format!("{flag}{shown}"))
    }
}

/// Whether a word is a group of short flags that ends in this one: `-sku` of curl.
fn ends_group(word: &str, flag: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or("");
    let is_group = letters.len() > 1 && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_group && flag.len() == 2 && letters.ends_with(&flag[1..])
}

/// What stands where a password was announced; a name may stand before it.
fn announced(word: &str) -> &str {
    let is_shown = EMPTY.contains(&word) || word.rsplit(':').next().is_some_and(is_masked);
    if is_shown { word } else { MASK }
}

/// Whether a program takes passwords in words that say nothing of them.
fn is_known(program: &str) -> bool {
    let is_name = |program: &str| program.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    is_name(program)
        && (is_of_mysql(program) || SECRET_FLAGS.iter().any(|(name, _)| is_program(program, name)))
}

fn is_of_mysql(program: &str) -> bool {
    MYSQL_FAMILY.iter().any(|name| program.starts_with(name))
}

/// Whether a program is the one of this name, or one of its family: `mongosh`, `ldapsearch`.
fn is_program(program: &str, name: &str) -> bool {
    program == name || (!WHOLE_PROGRAMS.contains(&name) && program.starts_with(name))
}

/// Whether a word is a command of its own, as `ssh host 'mysql -p…'` has one.
fn is_command_within(word: &str) -> bool {
    word.contains(char::is_whitespace) && word.split_whitespace().any(|part| is_known(base(part)))
}

/// Whether the next word is a command line of its own: `sh -c`, `bash -lc`.
fn takes_a_script(word: &str) -> bool {
    let flags = word.strip_prefix('-').unwrap_or("");
    flags.ends_with('c') && flags.bytes().all(|b| b.is_ascii_lowercase()) && flags.len() <= 3
}

/// The last part of a path, without the dash of a login shell and what a shell has around it.
fn base(program: &str) -> &str {
    let word = program.split_whitespace().next().unwrap_or("");
    let word = word.rsplit('/').next().unwrap_or(word);
    word.trim_start_matches(['-', '(', '{', '`', '"', '\'']).trim_end_matches([':', ';', '"', '\''])
}

/// Whether what stands right behind `-p` is a password, as with MySQL's programs always.
fn is_password_of_family(program: &str, value: &str) -> bool {
    !value.is_empty() && (is_of_mysql(program) || program == SSHPASS)
}

/// Whether it may be one with others: unless it is a number (a port, a process), a path, or letters
/// that are flags.
fn may_be_password(value: &str) -> bool {
    let is_number = value.bytes().all(|b| b.is_ascii_digit() || b == b',' || b == b':');
    let is_flags = value.len() < 4 && value.bytes().all(|b| b.is_ascii_alphabetic());
    // `-path` of find, `-print`, `-password` with its value in the next word.
    let is_word = ["ath", "rint", "rint0", "erm", "rune", "assword", "assin", "assout"];
    let is_word = is_word.contains(&value) || OTHER_FLAGS.iter().any(|flag| is_flag(value, flag));
    !(is_number || is_flags || is_word || value.starts_with(['/', '.']))
}

/// Whether this is the rest of a flag, alone or with its value.
fn is_flag(value: &str, flag: &str) -> bool {
    value.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &[&str]) -> String {
        masked_command(&line.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
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
            (&["curl", "-ujoe:geheim", "x"], "curl -u*** x"),
            (&["curl", "-H", "Authorization: Bearer x.y"], "curl -H Authorization: Bearer ***"),
            (&["curl", "-d", "{\"password\": \"x\"}"], "curl -d {\"password\": \"***\"}"),
            (&["app", "-password", "geheim"], "app -password ***"),
            (&["sudo", "mysql", "-pabc"], "sudo mysql -p***"),
            (&["openssl", "rsa", "-passin", "pass:geheim"], "openssl rsa -passin pass:***"),
            (&["app", "--credentials", "x", "--pw", "y"], "app --credentials *** --pw ***"),
            (&["docker", "login", "-u", "joe", "-p", "x", "h"], "docker login -u joe -p *** h"),
            (&["sudo", "-n", "podman", "login", "-px", "h"], "sudo -n podman login -p*** h"),
            (&["sshpass", "-p", "x", "ssh", "-p", "22", "h"], "sshpass -p *** ssh -p 22 h"),
            (&["sudo", "-nE", "sshpass", "-p", "x", "ssh"], "sudo -nE sshpass -p *** ssh"),
            (&["env", "-i", "redis-cli", "-a", "x"], "env -i redis-cli -a ***"),
            (&["sudo", "--", "sshpass", "-p", "x"], "sudo -- sshpass -p ***"),
            (&["curl", "-sku", "joe:x", "h"], "curl -sku *** h"),
            (&["curl", "--proxy-user", "u:p", "h"], "curl --proxy-user *** h"),
            (&["curl", "-HX-Api-Key:x", "h"], "curl -HX-Api-Key:*** h"),
            (
                &["curl", "--header=Authorization: Basic x"],
                "curl --header=Authorization: Basic ***",
            ),
            (&["http", "-a", "joe:x", "h", "X-Auth-Token:x"], "http -a *** h X-Auth-Token:***"),
            (&["plink", "-pw", "x", "h"], "plink -pw *** h"),
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
            (&["a", "amqps://u:x@h/v", "s3://i:x@b"], "a amqps://u:***@h/v s3://i:***@b"),
        ] {
            assert_eq!(shown(line), wanted);
        }
    }

    #[test]
    fn passwords_of_the_environment_are_masked() {
        for (line, wanted) in [
            (&["env", "PGPASSWORD=x", "psql"][..], "env PGPASSWORD=*** psql"),
            (&["env", "AWS_SECRET_ACCESS_KEY=x", "a"], "env AWS_SECRET_ACCESS_KEY=*** a"),
            (&["sh", "-c", "REDISCLI_AUTH=x redis-cli"], "sh -c REDISCLI_AUTH=*** redis-cli"),
            (&["docker", "run", "-e", "STRIPE_KEY=x"], "docker run -e STRIPE_KEY=***"),
            (&["sh", "-c", "MYSQL_PWD=x mysql -uroot"], "sh -c MYSQL_PWD=*** mysql -uroot"),
            (&["sh", "-c", "mysql -uroot -pgeheim <x.sql"], "sh -c mysql -uroot -p*** <x.sql"),
            (&["sh", "-c", "A=1 mysql  --password geheim"], "sh -c A=1 mysql  --password ***"),
            (&["bash", "-lc", "mysql -p'a b' db"], "bash -lc mysql -p*** db"),
            (&["sh", "-c", "x --password \"a b\" y"], "sh -c x --password *** y"),
            (&["sh", "-c", "cd x; mysql -pabc && ls -pa"], "sh -c cd x; mysql -p*** && ls -pa"),
            (&["sh", "-c", "x '-pgeheim' \"--token=a b\""], "sh -c x '-p***' \"--token=***\""),
            (&["ssh", "host", "mysql -pabc"], "ssh host mysql -p***"),
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
            &["psql", "--no-password", "shop"],
            &["curl", "-u", "joe:***", "x"],
            &["docker", "login", "--password-stdin", "h"],
            &["docker", "run", "--name", "login", "-p", "80:80"],
            &["sudo", "-u", "mysql", "cp", "-pr", "a", "b"],
            &["httpd", "-a", "x"],
            &["make", "KEYS=1000"],
            &["bench", "-parallel", "4", "-port=3306"],
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
                let shown = masked_command(&line);
                proptest::prop_assert!(!shown.contains(&secret), "{line:?}: {shown}");
            }
        }

        #[test]
        fn any_command_line_is_taken(words in proptest::collection::vec(".{0,40}", 0..6)) {
            masked_command(&words);
        }
    }
}
