//! Scripts, and what pgbench 15 says of those that are wrong.

use super::*;
use crate::pgbench::command::{CommandLength, ShellWord};

fn read(text: &str) -> Result<Vec<ScriptCommand>, String> {
    let script = parse("e.sql", text, &mut NameTable::default());
    script.map(|script| script.commands).map_err(|complaint| complaint.to_string())
}

fn kinds(text: &str) -> Vec<CommandKind> {
    read(text).expect("a script").into_iter().map(|command| command.kind).collect()
}

#[test]
fn commands_are_cut_and_named_by_their_first_lines() {
    let text =
        "-- head\n\\set a 1 \\\n + 2\nBEGIN;\n  select :a\n  , 2;\n-- tail\n\\sleep 1ms\nend";
    let commands = read(text).expect("a script");
    let lines: Vec<_> = commands.iter().map(|command| command.first_line.as_str()).collect();
    assert_eq!(lines, ["\\set a 1 \\\n + 2", "BEGIN;", "select :a", "\\sleep 1ms", "end"]);
    assert!(matches!(&commands[2].kind, CommandKind::Sql(sql) if sql.text == "select :a\n  , 2;"));
}

#[test]
fn first_lines_have_no_passwords() {
    let commands = read("ALTER ROLE r PASSWORD 'hush';\nselect 'kept'").expect("a script");
    let lines: Vec<_> = commands.iter().map(|command| command.first_line.as_str()).collect();
    assert_eq!(lines, ["ALTER ROLE r PASSWORD '***';", "select 'kept'"]);
    assert!(matches!(&commands[0].kind, CommandKind::Sql(sql) if sql.text.contains("'hush'")));
}

#[test]
fn backslash_commands_and_their_errors_have_no_passwords() {
    let commands = read("\\shell mysql -pgeheim\n\\set pw 4711\n").expect("a script");
    let lines: Vec<_> = commands.iter().map(|command| command.first_line.as_str()).collect();
    assert_eq!(lines, ["\\shell mysql -p***", "\\set pw ***"]);
    let text = |word: &ShellWord| *word == ShellWord::Text("-pgeheim".to_owned());
    assert!(matches!(&commands[0].kind, CommandKind::Shell(words) if words.iter().any(text)));
    for (text, expected) in [
        (
            "\\set x 'geheim'\n",
            "e.sql:1: unexpected character (') in command \"set\"\n\\set x '***'",
        ),
        (
            "\\set pw 99999999999999999999\n",
            "e.sql:1: bigint constant overflow in command \"set\"\n\\set pw ***",
        ),
        (
            "\\sleep pw=geheim\n",
            "e.sql:1: invalid sleep time, must be an integer in command \"sleep\"\n\\sleep pw=***",
        ),
        (
            "\\shell mysql -pgeheim\n\\gset\n",
            "e.sql:2: \\gset must follow an SQL command (\\shell mysql -p***)",
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), expected);
    }
}

#[test]
fn gset_belongs_to_the_sql_before_it() {
    let commands = read("select 1 \\gset\nselect 2\\; select 3\\aset p_\n").expect("a script");
    let keeps: Vec<_> = commands
        .into_iter()
        .map(|command| match command.kind {
            CommandKind::Sql(sql) => (sql.text, sql.keep),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        ("select 1 ".to_owned(), ResultStorage::One(String::new())),
        ("select 2; select 3".to_owned(), ResultStorage::Every("p_".to_owned())),
    ];
    assert_eq!(keeps, expected);
}

#[test]
fn conditions_know_where_they_lead() {
    let text =
        "\\if 1\nselect 1;\n\\elif 2\n\\if 3\n\\endif\n\\else\nselect 2;\n\\endif\nselect 3;";
    let jumps: Vec<_> = kinds(text)
        .into_iter()
        .filter_map(|kind| match kind {
            CommandKind::If { otherwise, .. } => Some((otherwise, 0)),
            CommandKind::Elif { otherwise, end, .. } => Some((otherwise, end)),
            CommandKind::Else { end } => Some((0, end)),
            _ => None,
        })
        .collect();
    assert_eq!(jumps, [(2, 0), (5, 7), (4, 0), (0, 7)]);
}

#[test]
fn pauses_have_units() {
    let sleep = |text: &str| match kinds(text).pop() {
        Some(CommandKind::Sleep { length: CommandLength::Fixed(length), unit }) => length * unit,
        other => panic!("{other:?}"),
    };
    assert_eq!(sleep("\\sleep 2"), 2_000_000);
    assert_eq!(sleep("\\sleep 2 s"), 2_000_000);
    assert_eq!(sleep("\\sleep 2MS"), 2_000);
    assert_eq!(sleep("\\sleep +2 us"), 2);
    let of_variable = kinds("\\sleep :a ms").pop();
    let is_variable = |kind: &CommandKind| {
        matches!(kind, CommandKind::Sleep { length: CommandLength::Variable(_), .. })
    };
    assert!(of_variable.as_ref().is_some_and(is_variable));
}

#[test]
fn shell_words_may_be_variables() {
    let Some(CommandKind::SetShell(_, words)) = kinds("\\setshell x echo :a ::b").pop() else {
        panic!("a shell command");
    };
    assert!(
        matches!(&words[..], [ShellWord::Text(_), ShellWord::Variable(_), ShellWord::Text(b)] if b == ":b")
    );
}

#[test]
fn pipelines_take_no_argument() {
    let text = "\\startpipeline\n\\syncpipeline\n\\endpipeline\n";
    assert_eq!(
        kinds(text),
        [CommandKind::StartPipeline, CommandKind::SyncPipeline, CommandKind::EndPipeline]
    );
}

/// Scripts and what pgbench 15.18 prints about them.
const WRONG: &[(&str, &str)] = &[
    ("\\set a 1 +\n", "e.sql:1: syntax error in command \"set\"\n\\set a 1 +\n          ^"),
    ("\\set a 1 +", "e.sql:1: syntax error in command \"set\"\n\\set a 1 +\n         ^"),
    (
        "\\set a foo(1)\nselect 1;",
        "e.sql:1: unexpected function name (foo) in command \"set\"\n\\set a foo(1)\n         ^",
    ),
    (
        "\\set a random(1)\n",
        "e.sql:1: unexpected number of arguments (random) in command \"set\"\n\
         \\set a random(1)\n               ^",
    ),
    (
        "\\set a 99999999999999999999\n",
        "e.sql:1: bigint constant overflow (99999999999999999999) in command \"set\"\n\
         \\set a 99999999999999999999\n                          ^",
    ),
    (
        "\\set a 9223372036854775808\nselect :a;",
        "e.sql:1: syntax error in command \"set\"\n\\set a 9223372036854775808\n                         ^",
    ),
    (
        "\\set a 1e999\n",
        "e.sql:1: double constant overflow (1e999) in command \"set\"\n\\set a 1e999\n           ^",
    ),
    (
        "\\set a 1 ! 2\n",
        "e.sql:1: unexpected character (!) in command \"set\"\n\\set a 1 ! 2\n         ^",
    ),
    (
        "\\set a least()\n",
        "e.sql:1: at least one argument expected (least) in command \"set\"\n\
         \\set a least()\n             ^",
    ),
    (
        "\\set a case when true then 1\n",
        "e.sql:1: syntax error in command \"set\"\n\\set a case when true then 1\n                            ^",
    ),
    (
        "\\set a (1 \\\n  + 2\n",
        "e.sql:1: syntax error in command \"set\"\n\\set a (1 \\\n  + 2\n                 ^",
    ),
    ("\\set a\n", "e.sql:1: syntax error in command \"set\"\n\\set a\n      ^"),
    ("\\set a 1 2\n", "e.sql:1: syntax error in command \"set\"\n\\set a 1 2\n         ^"),
    (
        "\\set a 1 < 2 < 3\n",
        "e.sql:1: syntax error in command \"set\"\n\\set a 1 < 2 < 3\n             ^",
    ),
    (
        "\\sleep x\n",
        "e.sql:1: invalid sleep time, must be an integer (x) in command \"sleep\"\n\\sleep x\n       ^",
    ),
    (
        "\\sleep 1 2 3\n",
        "e.sql:1: too many arguments in command \"sleep\"\n\\sleep 1 2 3\n           ^",
    ),
    (
        "\\sleep 1 m\n",
        "e.sql:1: unrecognized time unit, must be us, ms or s (m) in command \"sleep\"\n\
         \\sleep 1 m\n         ^",
    ),
    (
        "\\sleep 1m\n",
        "e.sql:1: unrecognized time unit, must be us, ms or s (m) in command \"sleep\"\n\
         \\sleep 1m\n        ^",
    ),
];

#[test]
fn errors_show_the_place() {
    for (text, expected) in WRONG {
        assert_eq!(read(text).unwrap_err(), format!("{expected} error found here"), "{text}");
    }
}

#[test]
fn errors_without_a_place_show_the_line() {
    let cases = [
        ("select 1;\n\\foo bar\n", "e.sql:2: invalid command in command \"foo\"\n\\foo bar"),
        ("\\sleep\n", "e.sql:1: missing argument in command \"sleep\"\n\\sleep"),
        ("\\set\n", "e.sql:1: missing argument in command \"set\""),
        ("\\gset\n", "e.sql:1: \\gset must follow an SQL command"),
        ("\\set a 1\n\\gset\n", "e.sql:2: \\gset must follow an SQL command (\\set a 1)"),
        ("select 1 \\gset\n\\gset", "e.sql:2: \\gset must follow an SQL command"),
        ("select 1 \\gset a b\n", "e.sql:1: too many arguments in command \"gset\"\n\\gset a b"),
        ("\\else x\n", "e.sql:1: unexpected argument in command \"else\"\n\\else x"),
        ("\\shell\n", "e.sql:1: missing command in command \"shell\"\n\\shell"),
        ("\\setshell x\n", "e.sql:1: missing argument in command \"setshell\"\n\\setshell x"),
        ("", "empty command list for script \"e.sql\""),
        ("-- nothing\n", "empty command list for script \"e.sql\""),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text).unwrap_err(), expected, "{text}");
    }
    let error = read("\\setrandom a 1 10\n").unwrap_err();
    assert!(error.contains("\\set NAME random(MIN, MAX)"), "{error}");
}

#[test]
fn commands_take_so_many_words_and_no_more() {
    assert!(read(&format!("\\shell echo{}\n", " x".repeat(254))).is_ok());
    let error = read(&format!("\\shell echo{}\n", " x".repeat(255))).unwrap_err();
    assert!(error.starts_with("e.sql:1: too many arguments in command \"shell\""), "{error}");
}

#[test]
fn conditions_have_to_match() {
    let cases = [
        ("\\if 1\nselect 1;\n", 3, "\\if without matching \\endif"),
        ("\\endif\n", 1, "\\endif without matching \\if"),
        ("\\elif 1\n", 1, "\\elif without matching \\if"),
        ("\\else\n", 1, "\\else without matching \\if"),
        ("\\if 1\n\\else\n\\elif 2\n\\endif\n", 3, "\\elif after \\else"),
        ("\\if 1\n\\else\n\\else\n\\endif\n", 3, "\\else after \\else"),
    ];
    for (text, command, message) in cases {
        let expected = format!("condition error in script \"e.sql\" command {command}: {message}");
        assert_eq!(read(text).unwrap_err(), expected);
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(\\PC|[\\\\'\"$;:()\n]|\\\\(set a|if|elif|sleep|gset) ){0,60}") {
        let _ = read(&text).map_err(|error| assert!(!error.is_empty()));
    }
}
