//! The short name of a statement: its verb and its tables, `SELECT account branch`.

use dbtime_model::log_digest::{ClassKind, DigestClass};

/// Words before a table that are no name of it.
const FILLERS: [&str; 9] =
    ["delayed", "exists", "if", "ignore", "low_priority", "not", "only", "quick", "table"];

/// Words that end a list of tables.
const ENDS: [&str; 10] =
    ["group", "having", "limit", "on", "order", "select", "set", "using", "values", "where"];

/// Words of SHOW that its name ends before.
const SHOW_ENDS: [&str; 6] = ["for", "from", "in", "like", "limit", "where"];

/// The short name of a class of any kind.
pub(super) fn distilled(class: &DigestClass) -> String {
    match class.kind {
        ClassKind::Command => command(&class.text),
        ClassKind::Statement => statement(&class.text),
        ClassKind::Request | ClassKind::Mixed => class.text.clone(),
    }
}

fn command(text: &str) -> String {
    let name = text.strip_prefix("administrator command: ").unwrap_or(text);
    format!("ADMIN {}", name.trim_end_matches(';').to_ascii_uppercase())
}

fn statement(text: &str) -> String {
    let words: Vec<&str> = words(text).filter(|word| word.starts_with(is_of_word)).collect();
    let first = words.first().map_or(String::new(), |word| word.to_ascii_lowercase());
    match first.as_str() {
        "administrator" => command(text),
        "call" => format!("CALL {}", words.get(1).copied().unwrap_or_default()),
        "show" => show(&words),
        "use" => "USE".to_owned(),
        "alter" | "create" | "drop" | "rename" | "truncate" => definition(&words, &first),
        _ => [verbs(&words, first)].into_iter().chain(tables(text)).collect::<Vec<_>>().join(" "),
    }
}

/// SHOW and up to two words of what is shown.
fn show(words: &[&str]) -> String {
    let ends = |word: &str| SHOW_ENDS.iter().any(|end| word.eq_ignore_ascii_case(end));
    let name = words.iter().take(3).take_while(|word| !ends(word));
    name.map(|word| word.to_ascii_uppercase()).collect::<Vec<_>>().join(" ")
}

/// The verb, the kind of the object where it is a table or a database, and its name.
fn definition(words: &[&str], verb: &str) -> String {
    let is_object =
        |word: &&str| ["database", "table"].iter().any(|kind| word.eq_ignore_ascii_case(kind));
    let verb = verb.to_ascii_uppercase();
    let Some(at) = words.iter().position(is_object) else { return verb };
    let is_filler = |word: &&&str| FILLERS.iter().any(|one| word.eq_ignore_ascii_case(one));
    let name = words[at + 1..].iter().find(|word| !is_filler(word)).map(|name| plain(name));
    let name = name.map_or(String::new(), |name| format!(" {name}"));
    format!("{verb} {}{name}", words[at].to_ascii_uppercase())
}

/// The verb, and UNION or SELECT where it has that in it.
fn verbs(words: &[&str], verb: String) -> String {
    let has = |verb: &str| words.iter().skip(1).any(|word| word.eq_ignore_ascii_case(verb));
    let second = match verb.as_str() {
        "select" if has("union") => " UNION",
        "insert" | "replace" if has("select") => " SELECT",
        _ => "",
    };
    verb.to_ascii_uppercase() + second
}

/// The tables in the order in which they are named, repetitions of one left out.
fn tables(text: &str) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    let (mut is_next, mut in_list) = (false, false);
    for (index, word) in words(text).enumerate() {
        let lower = word.to_ascii_lowercase();
        match lower.as_str() {
            "from" | "join" | "into" => (is_next, in_list) = (true, lower != "into"),
            "update" if index == 0 => (is_next, in_list) = (true, true),
            "," => is_next = in_list,
            "(" | ")" => (is_next, in_list) = (false, false),
            word if ENDS.contains(&word) => (is_next, in_list) = (false, false),
            word if FILLERS.contains(&word) => {}
            name if is_next && name.starts_with(is_of_word) => {
                is_next = false;
                let name = plain(word);
                if tables.last() != Some(&name) {
                    tables.push(name);
                }
            }
            _ => {}
        }
    }
    tables
}

/// A name without its quotes.
fn plain(name: &str) -> String {
    name.replace('`', "")
}

fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '_' | '.' | '$' | '`' | '?')
}

/// The words and signs of a text, space left out.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = match is_of_word(first) {
            true => rest.find(|sign| !is_of_word(sign)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(length);
        rest = behind.trim_start();
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_named_by_verb_and_tables() {
        for (text, name) in [
            ("select c from t? where id=?", "SELECT t?"),
            ("SELECT a FROM t1 AS x, `db`.`t2` y WHERE x.a = y.b", "SELECT t1 db.t2"),
            ("select a from b join c on b.x=c.x left join c on ?", "SELECT b c"),
            ("select a from (select b from c) as d, e", "SELECT c"),
            ("select ? from a /*repeat union*/", "SELECT UNION a"),
            ("insert ignore into t (a,b) values(?+)", "INSERT t"),
            ("insert into a select b from c", "INSERT SELECT a c"),
            ("update low_priority t set a=? where b in(?+)", "UPDATE t"),
            ("insert into t values(?+) on duplicate key update a=?", "INSERT t"),
            ("delete from t where a=?", "DELETE t"),
            ("create table if not exists t_? (id int(?))", "CREATE TABLE t_?"),
            ("drop index i on t", "DROP"),
            ("show global status like ?", "SHOW GLOBAL STATUS"),
            ("show variables where a=?", "SHOW VARIABLES"),
            ("call my.proc", "CALL my.proc"),
            ("use ?", "USE"),
            ("commit", "COMMIT"),
            ("administrator command: Quit;", "ADMIN QUIT"),
            ("", ""),
        ] {
            assert_eq!(statement(text), name, "{text}");
        }
    }

    #[test]
    fn commands_and_requests_have_their_names() {
        let name = |kind, text: &str| {
            distilled(&DigestClass { kind, text: text.into(), ..DigestClass::default() })
        };
        assert_eq!(name(ClassKind::Command, "Init DB"), "ADMIN INIT DB");
        assert_eq!(name(ClassKind::Request, "GET /a/:n"), "GET /a/:n");
    }
}
