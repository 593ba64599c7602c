//! What is said of a workload file that is wrong: the file, the line, what was found and what was
//! expected.

use dbtime_load::workload::Workload;
use std::path::Path;

const TABLE: &str = r#"
[[table]]
name = "account"
rows_per_scale = 1000
columns = [
    { name = "id", type = "integer", primary_key = true, data = "row" },
    { name = "note", type = "varchar(20)", data = { pattern = "@@@" } },
]
"#;

const OPERATION: &str = r#"
[[operation]]
name = "read"
[[operation.statement]]
sql = "SELECT 1"
"#;

/// A file of a name, some lines, a table and an operation.
fn with(lines: &str) -> String {
    format!("name = \"w\"\n{lines}{TABLE}{OPERATION}")
}

/// A file whose one statement is `SELECT :x`, with these lines as its operation's keys.
fn with_keys(lines: &str) -> String {
    format!(
        "name = \"w\"{TABLE}[[operation]]\nname = \"read\"\n[operation.keys]\n{lines}\n\
         [[operation.statement]]\nsql = \"SELECT :x\"\n"
    )
}

fn message(text: &str) -> String {
    match Workload::parse(text, Path::new("w.toml")) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

fn messages<const N: usize>(texts: [String; N]) -> String {
    texts.iter().map(|text| message(text) + "\n").collect()
}

#[test]
fn the_base_of_the_cases_is_sound() {
    for text in [with(""), with_keys("x = 1")] {
        Workload::parse(&text, Path::new("w.toml")).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn the_file_as_a_whole() {
    let shown = messages([
        String::new(),
        "name = ".to_owned(),
        "name = \"w\"\nname = \"v\"".to_owned(),
        "name = \"w\"\n".to_owned(),
        "name = \"w\"\noperation = []".to_owned(),
        "name = 5\n[[operation]]".to_owned(),
        with("nmae = \"v\""),
        with("limits = [\"p90 < 5ms\"]"),
        with("limits = [\"speed <= 5ms\"]"),
        with("think = \"10 hours\""),
        with("retry = { on = [\"deadlok\", \"conflct\"], max_tries = 3 }"),
        with("retry = { on = [\"conflict\"] }"),
        with("retry = { on = [\"conflict\"], max_tries = 0 }"),
    ]);
    insta::assert_snapshot!(shown, @r#"
    w.toml:1:1: a workload file has no `name`, expected the workload's name in quotes
    w.toml:1:8: not valid TOML: string values must be quoted, expected literal string
    w.toml:2:1: not valid TOML: duplicate key
    w.toml:1:1: a workload file has no `operation`, expected at least one [[operation]]
    w.toml:1:1: found 0 operations, expected 1 to 1000 of them
    w.toml:2:1: `operation` has no `name`, expected the operation's name in quotes
    w.toml:2:1: unknown key `nmae` in a workload file, did you mean `name`?
    w.toml:2:11: found "p90 < 5ms", expected `<=` after this metric
    w.toml:2:11: found "speed <= 5ms", expected a form such as `p90 <= 5ms`, `avg <= 2ms`, `max <= 1s`, `share 20% ± 2`, `errors <= 0.1%` or `throughput >= 500/s`
    w.toml:2:9: found "10 hours", expected a pause such as 10ms, exp:10ms or uniform:5ms..15ms
    w.toml:2:17: error class `deadlok` does not exist; known: busy, conflict, constraint, full, io, corrupt, read_only, connection, timeout, interrupted, statement, other
    w.toml:2:9: retry has no `max_tries`, expected attempts in all, the first included
    w.toml:2:42: found 0, expected an integer from 1 to 1000000
    "#);
}

#[test]
fn tables() {
    let table = |lines: &str| format!("name = \"w\"\n[[table]]\n{lines}{OPERATION}");
    let columns =
        |columns: &str| table(&format!("name = \"t\"\nrows = 1\ncolumns = [\n{columns}\n]\n"));
    let shown = messages([
        table("rows = 5\n"),
        table("name = \"a b\"\nrows = 5\n"),
        table("name = \"t\"\ncolumns = []\n"),
        table("name = \"t\"\nrows = -1\ncolumns = []\n"),
        table("name = \"t\"\nrows = 1\nrows_per_scale = 1\ncolumns = []\n"),
        table("name = \"t\"\nrows = 1\ncolumns = []\n"),
        columns("{ name = \"a\", type = \"int\" }"),
        columns("{ name = \"a\", type = \"char(0)\" }"),
        columns("{ name = \"a\", type = \"integer\" }"),
        columns(
            "{ name = \"a\", type = \"integer\", data = 1 },\n{ name = \"a\", type = \"text\" }",
        ),
        columns("{ name = \"a\", type = \"text\", primary_key = true, auto = true }"),
        columns("{ name = \"a\", type = \"integer\", data = \"b\" }"),
        columns("{ name = \"a\", type = \"integer\", data = \"a + 1\" }"),
        columns("{ name = \"a\", type = \"integer\", dta = 1 }"),
        table(
            "name = \"t\"\nrows = 0\ncolumns = [{ name = \"id\", type = \"integer\" }]\n\
             indexes = [{ name = \"i\", columns = [\"idd\"] }]\n",
        ),
        format!("{}{TABLE}", with("")),
    ]);
    insta::assert_snapshot!(shown, @r#"
    w.toml:2:1: `table` has no `name`, expected the table's name in quotes
    w.toml:3:8: found "a b", expected a name for SQL: ASCII letters, digits and `_` only
    w.toml:2:1: table `t` has no `rows`, expected how many rows it has; or `rows_per_scale`
    w.toml:4:8: found -1, expected an integer from 0 to 9223372036854775807
    w.toml:5:18: found `rows_per_scale` beside `rows`, expected one of them
    w.toml:5:11: found 0 columns, expected 1 to 1000 columns
    w.toml:6:22: found "int", expected "integer", "bigint", "double", "char(N)", "varchar(N)", "text" or "timestamp"
    w.toml:6:22: found "char(0)", expected "integer", "bigint", "double", "char(N)", "varchar(N)", "text" or "timestamp"
    w.toml:6:1: found column `a` of `t` without `data`, expected a generator, such as `data = "row"`, for a table that is loaded with rows
    w.toml:7:10: column `a` occurs twice, expected distinct names
    w.toml:6:1: found `auto` in column `a`, expected it in an integer or bigint column that is the primary key
    w.toml:6:40: name in a formula `b` does not exist; known: a, row, scale, t.rows
    w.toml:6:1: found column `a` that depends on itself, expected columns that are computed from others
    w.toml:6:33: unknown key `dta` in column `a`, did you mean `data`?
    w.toml:6:37: column `idd` does not exist, did you mean `id`?
    w.toml:17:8: table `account` occurs twice, expected distinct names
    "#);
}

#[test]
fn operations() {
    let operation = |lines: &str| format!("name = \"w\"\n[[operation]]\n{lines}");
    let statement =
        |lines: &str| operation(&format!("name = \"read\"\n[[operation.statement]]\n{lines}"));
    let shown = messages([
        operation("weight = 1"),
        operation("name = \"read\"\nweight = 0"),
        operation("name = \"read\"\nweight = -1.5"),
        operation("name = \"read\"\nweight = nan"),
        operation("name = \"read\"\ntransaction = \"yes\""),
        operation("name = \"read\"\ntransaktion = \"read\""),
        operation("name = \"read\""),
        operation("name = \"read\"\nstatement = []"),
        format!("name = \"w\"{OPERATION}{OPERATION}"),
        statement("name = \"s\""),
        statement("sql = \"\""),
        statement("sql = \"SELECT ?\""),
        statement("sql = \"SELECT 1; SELECT 2\""),
        statement("sql = \"SELECT 'x\""),
        statement("sql = \"SELECT 1\"\nrepeat = 10001"),
        statement("sql = \"SELECT 1\"\npause = \"soon\""),
        statement("name = \"commit\"\nsql = \"SELECT 1\""),
        statement("sql = \"SELECT :x\""),
        with_keys("idx = 1\nid = 2").replace(":x", ":xid"),
    ]);
    insta::assert_snapshot!(shown, @r#"
    w.toml:2:1: `operation` has no `name`, expected the operation's name in quotes
    w.toml:4:10: found 0, expected a weight above 0
    w.toml:4:10: found -1.5, expected a weight above 0
    w.toml:4:10: found nan, expected a number
    w.toml:4:15: found "yes", expected "none", "read" or "write"
    w.toml:4:1: unknown key `transaktion` in operation `read`, did you mean `transaction`?
    w.toml:2:1: `operation` has no `statement`, expected at least one [[operation.statement]]
    w.toml:4:13: found 0 statements in operation `read`, expected at least one, and at most 65535 in the file
    w.toml:8:8: operation `read` occurs twice, expected distinct names
    w.toml:4:1: `statement` has no `sql`, expected the SQL in quotes
    w.toml:5:7: found empty SQL, expected a statement
    w.toml:5:7: found `?` in SQL, expected parameters written as `:name`
    w.toml:5:7: found `;` in mid-SQL, expected one statement per entry
    w.toml:5:7: found `'` that is never closed, expected closed quotes and comments
    w.toml:6:10: found 10001, expected an integer from 1 to 10000
    w.toml:6:9: found "soon", expected a pause such as 10ms, exp:10ms or uniform:5ms..15ms
    w.toml:5:8: found "commit", expected a name other than those of the boundaries
    w.toml:5:7: parameter key `x` does not exist; there are none
    w.toml:15:7: parameter key `xid` does not exist; known: id, idx
    "#);
}

#[test]
fn keys() {
    let shown = messages([
        with_keys("x = 1\ny = 2"),
        with_keys("x = {}"),
        with_keys("x = true"),
        with_keys("min = 1"),
        with_keys("x = { unifrom = [1, 2] }"),
        with_keys("x = { uniform = [1, 2], zipf = [1, 2] }"),
        with_keys("x = { uniform = [1, 2], exponent = 1 }"),
        with_keys("x = { uniform = [2, 1] }"),
        with_keys("x = { uniform = [1] }"),
        with_keys("x = { uniform = [1, \"acount.rows\"] }"),
        with_keys("x = { uniform = [1, 1.5] }"),
        with_keys("x = { uniform = [1, 2], draw = \"once\" }"),
        with_keys("x = { zipf = [1, 2] }"),
        with_keys("x = { zipf = [1, 2], exponent = -1 }"),
        with_keys("x = { zipf = [1, \"y\"], exponent = 1 }\ny = 5"),
        with_keys("x = { gaussian = [1, 2], parameter = 1 }"),
        with_keys("x = { dictionary = \"users\" }"),
        with_keys("x = { choose = [] }"),
        with_keys("x = { choose = [{ constant = 1 }] }"),
        with_keys("x = { choose = [{ weight = 0, constant = 1 }] }"),
        with_keys("x = \"1 +\""),
        with_keys("x = \"1 ? 2\""),
        with_keys("x = \"y + 1\"\ny = \"x + 1\""),
        with_keys("x = \"y + 1\"\ny = { pattern = \"###\" }"),
        with_keys("x = { real = [1, 0] }"),
        with_keys("x = { constant = 5, repeat = 3 }"),
        with_keys("x = { constant = \"0123456789abcdef_\", repeat = 1_000_000 }"),
    ]);
    insta::assert_snapshot!(shown, @r#"
    w.toml:13:5: found key `y`, which no statement uses, expected every key to be used
    w.toml:12:5: found key `x` without a generator, expected one of choose, constant, dictionary, exponential, formula, gaussian, hot_spot, nurand, pattern, permutation, real, sequence, uniform, unique, zipf
    w.toml:12:5: found true, expected a number, a formula in quotes, or a table with a generator
    w.toml:12:7: found key name `min`, expected a name of ASCII letters, digits and `_`, not scale, min or max
    w.toml:12:7: unknown key `unifrom` in key `x`, did you mean `uniform`?
    w.toml:12:5: found `uniform` and `zipf` in key `x`, expected one generator
    w.toml:12:25: unknown key `exponent` in key `x`; known: uniform, draw
    w.toml:12:17: found the empty range 2 to 1, expected the lower end first
    w.toml:12:17: found a list, expected a list of two ends, such as [1, "account.rows"]
    w.toml:12:21: name in a formula `acount.rows` does not exist, did you mean `account.rows`?
    w.toml:12:21: found 1.5, expected an integer or a formula in quotes
    w.toml:12:32: found "once", expected "transaction" or "statement"
    w.toml:12:5: key `x` has no `exponent`, expected a number from 0 to 100
    w.toml:12:33: found -1, expected a number from 0 to 100
    w.toml:12:18: found "y", expected a formula of table sizes and `scale` only: the ends of `uniform` alone may depend on keys
    w.toml:12:38: found 1, expected a number from 2 to 1000
    w.toml:12:20: dictionary `users` does not exist; there are none
    w.toml:12:16: found an empty list, expected a list of at least one alternative
    w.toml:12:17: an alternative has no `weight`, expected a number above 0
    w.toml:12:28: found 0, expected a weight above 0
    w.toml:12:5: found the end of the formula, expected a number, a name or `(`
    w.toml:12:5: found `?` in a formula, expected an operator or the end of the formula
    w.toml:12:5: found key `x` that depends on itself, expected keys that are computed from others
    w.toml:12:5: found `y` in a formula, which is a text, expected integers
    w.toml:12:14: found the range 1 to 0, expected the lower end first
    w.toml:12:18: found 5, expected a text, for `repeat` repeats texts
    w.toml:12:18: found constants of more than 16 MiB, expected shorter ones
    "#);
}

#[test]
fn dictionaries() {
    let dictionary = |lines: &str| with(&format!("[dictionaries.users]\n{lines}\n"));
    let shown = messages([
        dictionary(""),
        dictionary("list = []"),
        dictionary("list = [\"a\", 5]"),
        dictionary("list = [\"a\"]\nfile = \"users.txt\""),
        dictionary("list = [\"a\"]\ncount = 5"),
        dictionary("list = [\"a\"]\norder = \"any\""),
        dictionary("file = \"no such file.txt\""),
        dictionary("file = \"/dev/zero\""),
        dictionary("template = \"user%05d\""),
        dictionary("template = \"user\"\ncount = 5"),
        dictionary("template = \"user%d\"\ncount = 0"),
        dictionary("template = \"%5000d\"\ncount = 1"),
        with("[dictionaries.users]\nlist = [\"a\"]\n")
            .replace("pattern = \"@@@\"", "dictionary = \"user\""),
    ]);
    insta::assert_snapshot!(shown, @r#"
    w.toml:2:1: found dictionary `users` without words, expected one of `file`, `list` and `template`
    w.toml:3:8: found an empty list, expected a list of at least one word
    w.toml:3:14: found 5, expected a text in quotes
    w.toml:2:1: found dictionary `users` with words from two places, expected one of `file`, `list` and `template`
    w.toml:4:1: unknown key `count` in dictionary `users`; known: file, list, order
    w.toml:4:9: found "any", expected "random", "sequential" or "unique"
    w.toml:3:8: cannot read dictionary file no such file.txt: No such file or directory (os error 2)
    w.toml:3:8: cannot read dictionary file /dev/zero: it is not a regular file of at most 268435456 bytes
    w.toml:2:1: dictionary `users` has no `count`, expected how many words the template makes
    w.toml:3:12: found a template without `%d`, expected one conversion such as %d, %05d or %08x, at most 1000 wide
    w.toml:4:9: found 0, expected an integer from 1 to 1099511627776
    w.toml:3:12: found width 5000 in a template, expected one conversion such as %d, %05d or %08x, at most 1000 wide
    w.toml:10:66: dictionary `user` does not exist, did you mean `users`?
    "#);
}

#[test]
fn scales() {
    let text = with_keys("x = { uniform = [1, \"account.rows - 1000\"] }");
    let workload = Workload::parse(&text, Path::new("w.toml")).expect("sound");
    let refused = [0, 1, u64::MAX / 1000]
        .map(|scale| workload.check_scale(scale).expect_err("refused").to_string() + "\n")
        .concat();
    insta::assert_snapshot!(refused, @r#"
    workload `w` cannot run at scale 0: the scale must be at least 1
    workload `w` cannot run at scale 1: the range of key `x` is empty: 1 to 0
    workload `w` cannot run at scale 18446744073709551: table `account` would have 1000 × 18446744073709551 rows, more than 63 bits hold
    "#);
    workload.check_scale(2).expect("a range of 1000");
}
