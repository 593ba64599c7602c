//! The same work by pgbench itself and by dbtime, one beside the other.
//!
//! Where pgbench 15 is not installed there is nothing to compare with.

use super::Stage;
use crate::sandbox::{Ran, words};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const PGBENCH: &str = "/usr/lib/postgresql/15/bin/pgbench";

impl Stage {
    /// Runs pgbench itself; `None`: it is not there.
    fn original(&self, line: &str) -> Option<Ran> {
        if !Path::new(PGBENCH).exists() {
            return None;
        }
        let mut command = Command::new(PGBENCH);
        self.sandbox.settle(command.args(words(line)).arg(self.database()));
        Some(Ran::new(line, &command.output().expect("pgbench starts")))
    }

    /// What the tables are like, and what is in them.
    fn tables(&self) -> String {
        let questions = [
            "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable \
             FROM information_schema.columns WHERE table_name LIKE 'pgbench%' \
             ORDER BY table_name, ordinal_position",
            "SELECT relname, relkind, relpersistence, reloptions::text, \
             pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname LIKE 'pgbench%' \
             ORDER BY relname",
            "SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'pgbench%' ORDER BY indexname",
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint \
             WHERE conname LIKE 'pgbench%' ORDER BY conname, 2",
            "SELECT md5(string_agg(a::text, ';' ORDER BY aid)) FROM pgbench_accounts a",
            "SELECT md5(string_agg(t::text, ';' ORDER BY tid)) FROM pgbench_tellers t",
            "SELECT b::text FROM pgbench_branches b ORDER BY bid",
        ];
        let mut text = String::new();
        for question in questions {
            for row in self.given.sql(question).rows {
                let cells = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL"));
                text += &cells.collect::<Vec<_>>().join("|");
                text.push('\n');
            }
        }
        text
    }
}

/// A text with every number replaced by `#`, and with one blank for those that pad numbers.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut was_digit = false;
    for character in text.replace("NaN", "0").chars() {
        let is_digit = character.is_ascii_digit() || was_digit && character == '.';
        let is_padding = character == ' ' && shape.ends_with(' ');
        if !(is_digit && was_digit || is_padding) {
            shape.push(if is_digit { '#' } else { character });
        }
        was_digit = is_digit;
    }
    shape
}

#[test]
fn tables_are_the_same() {
    let stage = Stage::new(&[]);
    for line in [
        "-i",
        "-i -s 2 -I dtGvpf -F 90 --unlogged-tables",
        "-i --partitions=3 --foreign-keys",
        "-i -n --partitions=2 --partition-method=hash",
    ] {
        let Some(original) = stage.original(line) else { return };
        let expected = stage.tables();
        let ours = stage.run(line);
        ours.exits(0);
        assert_eq!(stage.tables(), expected, "{line}");
        let told = |ran: &Ran| {
            let lines = ran.err.lines().filter(|line| !line.starts_with("NOTICE: "));
            lines.map(shape).collect::<Vec<_>>()
        };
        assert_eq!(told(&ours), told(&original), "{line}");
    }
}

#[test]
fn reports_have_the_same_lines() {
    let stage = Stage::filled();
    let script = "\\set a random(1, 10)\nSELECT :a AS b, 7 AS c \\gset x_\n\\if :x_b > 5\n\
                  SELECT 'big';\n\\else\nSELECT 'small';\n\\endif\n";
    stage.sandbox.write("flow.sql", script);
    stage.sandbox.write("bad.sql", "SELECT 1/0;\n");
    stage.sandbox.write("pause.sql", "\\sleep 2ms\nSELECT 1;\n");
    let conflict = "BEGIN ISOLATION LEVEL SERIALIZABLE;\n\
                    SELECT sum(abalance) FROM pgbench_accounts WHERE aid < 4;\n\
                    UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1;\nEND;\n";
    stage.sandbox.write("conflict.sql", conflict);
    for line in [
        "-t 5 -c 2",
        "-v -t 2 -s 3",
        "-n -M prepared -t 5 -c 2 -j 2 -r",
        "-n -C -t 3 -c 2 -S",
        "-n -t 5 -c 2 -S -R 500 -L 1000 --max-tries=3 --failures-detailed",
        "-n -f flow.sql@2 -b se@1 -t 20 -c 2 -r --random-seed=7",
        "-n -f flow.sql -t 5 -D a=3 -M extended -L 1000 -r --max-tries=0",
        "-n -f bad.sql -t 5",
        "-n -f conflict.sql -c 4 -t 40 --failures-detailed --max-tries=2 -r",
        "-n -f pause.sql -T 2 -P 1 -c 2",
        "-n -S -T 2 -R 200 -P 1 --progress-timestamp",
    ] {
        let Some(original) = stage.original(line) else { return };
        let ours = stage.run(&format!("--classic {line}"));
        assert_eq!(ours.code, original.code, "{line}: {ours:?}");
        let report = |ran: &Ran| ran.out.lines().skip(1).map(shape).collect::<Vec<_>>();
        assert_eq!(report(&ours), report(&original), "{line}");
        // How many lines of progress there are hangs on who is faster at the end.
        let told = |ran: &Ran| {
            let mut lines: Vec<_> = ran.err.lines().map(shape).collect();
            lines.dedup();
            lines
        };
        assert_eq!(told(&ours), told(&original), "{line}");
    }
}

/// The statements of every client, with their parameters, out of the server's log from `start` on.
fn statements(log: &str) -> Vec<Vec<String>> {
    let mut sessions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in log.lines() {
        let Some((session, text)) = line.split_once(' ') else { continue };
        let statement = text.strip_prefix("LOG:  statement: ").or_else(|| {
            text.strip_prefix("LOG:  execute ").and_then(|rest| Some(rest.split_once(": ")?.1))
        });
        if let Some(text) = statement.or_else(|| text.strip_prefix("DETAIL:  ")) {
            sessions.entry(session).or_default().push(text.to_owned());
        }
    }
    // dbtime looks at the server, too.
    let is_own = |text: &String| text.contains("pg_stat") || text.contains("pg_settings");
    let looks = |statements: &Vec<String>| {
        statements.iter().any(is_own) || statements.iter().all(|text| text.starts_with("show "))
    };
    let mut sessions: Vec<_> =
        sessions.into_values().filter(|statements| !looks(statements)).collect();
    sessions.retain(|statements| statements.len() > 4);
    sessions.sort();
    sessions
}

#[test]
fn the_same_seed_makes_the_same_statements() {
    let stage = Stage::laid_out(&[("log_statement", "all"), ("log_line_prefix", "%p ")]);
    let script = "\\set u random(1, 1000)\n\\set e random_exponential(1, 1000, 2.5)\n\
                  \\set g random_gaussian(1, 1000, 3.5)\n\\set z random_zipfian(1, 1000, 1.2)\n\
                  \\set h hash(:u)\n\\set f hash_fnv1a(:u)\n\\set p permute(:u, 1000)\n\
                  SELECT :u, :e, :g, :z, :h, :f, :p, :client_id;\n";
    stage.sandbox.write("random.sql", script);
    let logged = |run: &dyn Fn()| {
        let read = || fs::read(stage.given.server.log()).expect("a log");
        let before = read().len();
        run();
        String::from_utf8_lossy(&read()[before..]).into_owned()
    };
    for mode in ["simple", "extended", "prepared"] {
        for scripts in ["-b tpcb-like", "-f random.sql", "-f random.sql@3 -b se -b simple"] {
            // One client a thread: which script is next does not hang on who is faster.
            let line = format!("-n -M {mode} -c 3 -j 3 -t 10 --random-seed=42 {scripts}");
            if stage.original(&line).is_none() {
                return;
            }
            let expected = logged(&|| drop(stage.original(&line)));
            let ours = logged(&|| drop(stage.classic(&line)));
            let (ours, expected) = (statements(&ours), statements(&expected));
            assert_eq!(expected.len(), 3, "{line}");
            assert_eq!(ours, expected, "{line}");
        }
    }
}

#[test]
fn seeds_are_told_where_the_command_line_has_them() {
    let stage = Stage::laid_out(&[]);
    stage.sandbox.write("bad.sql", "\\set a random(\n");
    for line in [
        "-n -S -t 1 --rand=7",
        "-n -S -t 1 --random-seed 7",
        "-f bad.sql --random-seed=7",
        "--random-seed=7 -f bad.sql",
    ] {
        let Some(original) = stage.original(line) else { return };
        let ours = stage.run(&format!("--classic {line}"));
        assert_eq!((ours.code, &ours.err), (original.code, &original.err), "{line}");
    }
}

#[test]
fn errors_point_into_the_statement() {
    let stage = Stage::laid_out(&[]);
    let wide = "x, ".repeat(40);
    let inside = "DO $$ BEGIN PERFORM 1; PERFORM 1 + nothing_of_that_name; END $$";
    let long = format!("SELECT 1,\n  {wide} 2,\n 3;\n");
    let cases = [
        ("short", "SELECT 1 FROM none_of_that_name;\n".to_owned()),
        ("lines", "\n-- first\nSELECT 1,\n\t'é日本', nothing + 1;\n".to_owned()),
        ("long", long),
        ("far", format!("SELECT 1 AS {}, {} 2;\n", "y".repeat(55), wide)),
        ("filled", "\\set a 12345\nSELECT :a, :a, nothing;\n".to_owned()),
    ];
    for (name, script) in cases {
        stage.sandbox.write(&format!("{name}.sql"), &script);
        for mode in ["simple", "extended"] {
            let line = format!("-n -t 1 -M {mode} -f {name}.sql");
            let Some(original) = stage.original(&line) else { return };
            let ours = stage.run(&format!("--classic {line}"));
            assert_eq!((ours.code, &ours.err), (original.code, &original.err), "{line}");
        }
    }
    // What a server repeats of a statement within has no literals here.
    stage.sandbox.write("inside.sql", &format!("{inside};\n"));
    let ours = stage.run("--classic -n -t 1 -f inside.sql");
    assert!(ours.err.contains("QUERY:  SELECT ? + nothing_of_that_name\n"), "{ours:?}");
    assert!(!ours.err.contains("SELECT 1 +"), "{ours:?}");
    stage.given.sql("DROP TABLE pgbench_branches CASCADE");
    let Some(original) = stage.original("-n -t 1") else { return };
    let ours = stage.run("--classic -n -t 1");
    let caret = |ran: &Ran| ran.err.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(caret(&ours), caret(&original));
}
