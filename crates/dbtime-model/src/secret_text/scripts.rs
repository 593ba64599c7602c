//! Scripts of a shell: whether a secret stands in them, or only what takes one from elsewhere.

use super::command_line::{CommandMasker, MaskRules};
use super::{MASK, QUOTES, masked_where, printed};

/// Words behind which another command begins.
const BETWEEN: [&str; 10] = ["&&", "||", "|", "&", "(", "{", "then", "do", "else", "!"];

/// Whether a script of a shell says a secret. A variable in its place, or what a command prints, is
/// none: `"$NAME"`, `${NAME:?}`, `$(cat file)`.
pub fn script_holds_secret(script: &str) -> bool {
    let mut scripts = vec![script.to_owned()];
    while let Some(script) = scripts.pop() {
        let plain = without_expansions(&script, &mut scripts);
        let shown = masked_script(&plain, MaskRules::WRITTEN);
        if shown.replace(QUOTES, "") != plain.replace(QUOTES, "") {
            return true;
        }
    }
    false
}

/// A script of a shell without what looks like a password in it, its spacing and quotes kept.
pub fn script_without_secrets(script: &str) -> String {
    masked_script(script, MaskRules::SHOWN)
}

/// A script with what looks like a password masked, its spacing and quotes kept.
pub(super) fn masked_script(text: &str, rules: MaskRules) -> String {
    let mut masker = CommandMasker::new(rules);
    let mut shown = String::with_capacity(text.len());
    for word in words(text, rules) {
        // Blanks between words are words of their own here.
        let is_blank = word.trim().is_empty();
        match is_blank {
            true => shown += word,
            false => shown += &masker.take(word),
        }
        if ends_command(word) || (is_blank && word.contains('\n')) {
            masker.end_command();
        }
    }
    masked_where(&shown, rules.is_secret).into_owned()
}

/// Whether quotes hold a text together as one word.
pub(super) fn is_single(text: &str, rules: MaskRules) -> bool {
    words(text, rules).len() == 1
}

/// Whether a command ends with this word.
fn ends_command(word: &str) -> bool {
    word.ends_with(';') || BETWEEN.contains(&word)
}

/// Words and the blanks between them; quotes hold a word together.
fn words(text: &str, rules: MaskRules) -> Vec<&str> {
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
            None if QUOTES.contains(&c) => {
                let opens = !rules.is_printed || printed::opens_quote(&text[begin..], at - begin);
                opens.then_some(c)
            }
            quote => quote,
        };
    }
    words.push(&text[begin..]);
    words
}

/// A script with a mask in the place of what a shell puts in; commands that print it go to `inner`.
fn without_expansions(script: &str, inner: &mut Vec<String>) -> String {
    let mut plain = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = rest.find(['\\', '$', '`']) {
        plain += &rest[..at];
        rest = &rest[at..];
        let (length, command) = expansion(rest);
        match length {
            // A sign that is none, and the one that a backslash takes the meaning of.
            0 => {
                let signs = if rest.starts_with('\\') { 2 } else { 1 };
                let end = rest.char_indices().nth(signs).map_or(rest.len(), |(at, _)| at);
                plain += &rest[..end];
                rest = &rest[end..];
            }
            _ => {
                plain += MASK;
                inner.extend(command.map(str::to_owned));
                rest = &rest[length..];
            }
        }
    }
    plain + rest
}

/// How long the expansion is that begins a text, and the command in it; 0: it is none.
fn expansion(text: &str) -> (usize, Option<&str>) {
    if let Some(behind) = text.strip_prefix('`') {
        return behind.find('`').map_or((0, None), |end| (end + 2, Some(&behind[..end])));
    }
    let Some(behind) = text.strip_prefix('$') else { return (0, None) };
    if let Some(command) = behind.strip_prefix('(') {
        return closing(command).map_or((0, None), |end| (end + 3, Some(&command[..end])));
    }
    let braced = behind.strip_prefix('{');
    let name = braced.unwrap_or(behind);
    let length = name.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    if braced.is_none() {
        return (if length > 0 { 1 + length } else { 0 }, None);
    }
    let (after, end) = (&name[length..], name.find('}'));
    // Another value in its place would be said here.
    let is_bare = ["}", ":?", "?", ":-}", "-}"].iter().any(|bare| after.starts_with(bare));
    let end = end.filter(|_| length > 0 && is_bare);
    (end.map_or(0, |end| end + 3), None)
}

/// Where the parenthesis closes that was opened before a text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    let signs = text.bytes().enumerate().filter(|(_, byte)| b"()".contains(byte));
    for (at, byte) in signs {
        depth = if byte == b'(' { depth + 1 } else { depth - 1 };
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_scripts_are_found_in_every_spelling() {
        for script in [
            "mysql -pgeheim shop",
            "cd x && mysql -pabc",
            "mysql --password geheim",
            "mysql \"--password=geheim\"",
            "curl -u joe:geheim http://h/",
            "curl -ujoe:geheim http://h/",
            "curl -H 'Authorization: Bearer x.y' http://h/",
            "curl -d '{\"password\": \"x\"}' http://h/",
            "PGPASSWORD=x psql",
            "export MYSQL_PWD=x; mysql",
            "DB_PASS=x ./bench",
            "./bench --db=mysql://u:x@h/d?a=b",
            "./bench 'u:x@tcp(h:1)/d'",
            "psql -c \"ALTER ROLE u PASSWORD 'x'\"",
            "run # PGPASSWORD=x",
            "run\n# mysql -pgeheim",
            "mysql -p\"${A:-geheim}\"",
            "mysql -p\"$A\"geheim",
            "echo $(mysql -pgeheim)",
            "echo `mysql -pgeheim`",
            "REDISCLI_AUTH=geheim redis-cli",
            "./bench --credentials geheim",
            "./bench --pw=geheim",
            "docker login -u joe -p geheim h",
            "docker login -pgeheim h",
            "sudo -n sshpass -p geheim ssh h",
            "curl -sku joe:geheim http://h/",
            "curl -H X-Api-Key:geheim http://h/",
            "http http://h/ Authorization:'Bearer geheim'",
            "Authorization: Bearer geheim",
        ] {
            assert!(script_holds_secret(script), "{script}");
        }
    }

    #[test]
    fn what_takes_a_secret_from_elsewhere_has_none() {
        for script in [
            "mysql -p\"$A\" shop",
            "mysql --password \"$A\" shop",
            "mysql --password=\"${A:?not set}\"; ls",
            "export MYSQL_PWD=$A; mysql",
            "curl -u \"joe:$A\" -H \"Authorization: Bearer $B\" http://h/",
            "curl -d \"{\\\"password\\\": \\\"$A\\\"}\" http://h/",
            "psql postgres://u:$A@h/d 'host=h user=u'",
            "psql -c \"ALTER ROLE u PASSWORD '$A'\"",
            "mysql -p$(cat /run/secret) | tee x",
            "mysql -p`cat /run/secret`",
            "./bench \"$U:$A@tcp(h)/d\" && cd $PWD",
            "psql -p5432 --no-password shop -c 'select 1'",
            "PWD=/x make -j2 MAX_TOKENS=5 KEYS=1000",
            "sysbench oltp_read_only --mysql-password= --tables=4 run",
            "REDISCLI_AUTH=$A redis-cli",
            "docker login -u joe -p \"$A\" h && docker run -p 80:80 x",
            "echo $A | docker login --password-stdin h",
            "curl -H X-Api-Key:$A http://h/",
            "curl -H \"Authorization:Bearer $A\" http://h/",
            "ssh -l login -p 22 h",
            "sshpass -p \"$A\" ssh -p 22 h",
            "GOOGLE_APPLICATION_CREDENTIALS=/etc/key.json ./bench",
        ] {
            assert!(!script_holds_secret(script), "{script}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_script_is_taken(script in ".{0,60}", signs in "[$`(){}'\"\\\\;: a-c-]{0,60}") {
            script_holds_secret(&script);
            script_holds_secret(&signs);
        }
    }
}
