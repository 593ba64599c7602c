//! The list of workloads, one of them shown, and files that are refused with the place of the fault.

use crate::sandbox::{SMALL, Sandbox};

#[test]
fn the_list_names_and_describes_every_shipped_workload() {
    let list = Sandbox::new().run("workloads").fine().out;
    let shipped = ["atm", "oltp-read-only", "oltp-read-write", "point-select", "report-scan"];
    for name in shipped.iter().chain(&["tpcb", "values1"]) {
        let line = list.lines().find(|line| line.split_whitespace().next() == Some(name));
        let line = line.unwrap_or_else(|| panic!("{name} is missing in {list}"));
        assert!(line.len() > 20 + name.len(), "{name} has no description: {line}");
    }
}

#[test]
fn one_workload_is_shown_with_its_file_and_its_size() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run("workloads atm --scale 10").fine();
    let shown = shown.prints(&["name = \"atm\"", "Size at scale 10", "[[operation]]"]);
    for (table, rows) in [("account", "1,000,000"), ("branch", "100"), ("history", "0")] {
        let has = |line: &str| line.split_whitespace().take(2).eq([table, rows]);
        assert!(shown.out.lines().any(has), "no {table} of {rows} rows: {shown:?}");
    }
    sandbox.run("workloads values1").fine().prints(&["No tables"]);
    sandbox.write("mine.toml", SMALL);
    sandbox.run("workloads mine.toml").fine().prints(&["Size at scale 1", "item"]);
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let sandbox = Sandbox::new();
    for command in ["workloads atmm", "run atmm", "init atmm --target sqlite:t.db"] {
        sandbox.run(command).refused(2, &["`atmm`", "did you mean `atm`?"]);
    }
    sandbox.run("run oltp-read-onyl").refused(2, &["did you mean `oltp-read-only`?"]);
    sandbox.run("run ./none.toml").refused(2, &["./none.toml", "No such file"]);
    assert!(sandbox.left().is_empty(), "{:?}", sandbox.left());
}

/// The refusal of the small workload with one text replaced by another.
fn refusal(from: &str, to: &str, told: &[&str]) {
    let sandbox = Sandbox::new();
    let text = SMALL.trim_start();
    assert!(text.contains(from), "{from}");
    sandbox.write("w.toml", &text.replacen(from, to, 1));
    for line in ["run w.toml", "workloads w.toml", "init w.toml --target sqlite:t.db"] {
        let ran = sandbox.run(line).refused(2, told);
        assert_eq!(ran.err.lines().filter(|l| l.starts_with("dbtime: ")).count(), 1, "{ran:?}");
    }
    assert_eq!(sandbox.left(), ["w.toml"]);
}

#[test]
fn a_syntax_error_is_told_with_its_line() {
    refusal("rows_per_scale = 100", "rows_per_scale = = 100", &["w.toml:4:", "not valid TOML"]);
    refusal("\"small\"", "\"small", &["w.toml:1:"]);
}

#[test]
fn a_fault_of_meaning_is_told_with_its_line_and_what_was_expected() {
    refusal("rows_per_scale", "rows_per_scal", &["w.toml:4:1", "did you mean `rows_per_scale`?"]);
    refusal("100", "-1", &["w.toml:4:", "-1", "expected"]);
    refusal("\"integer\", p", "\"intger\", p", &["w.toml:6:", "intger", "integer"]);
    refusal("data = \"row\"", "data = \"rwo\"", &["w.toml:6:", "`rwo`", "known: id, n, row"]);
    refusal("[1, \"item.rows\"]", "[5, 1]", &["w.toml:10:", "the lower end first"]);
    refusal("WHERE id = :id", "WHERE id = :idd", &["w.toml:16:", "`idd`", "`id`"]);
    refusal("\"write\"", "\"wirte\"", &["w.toml:13:", "wirte", "write"]);
    refusal("name = \"set\"", "name = \"get\"", &["w.toml:", "`get`", "twice"]);
    refusal("[[operation]]\n", "[[operation]]\nweight = 0\n", &["w.toml:12:", "above 0"]);
    refusal(
        "[[operation]]\n",
        "[[operation]]\nlimits = [\"p90\"]\n",
        &["w.toml:12:", "\"p90\"", "`p90 <= 5ms`"],
    );
    refusal("[[operation]]\n", "[[operation]]\nthink = \"10x\"\n", &["w.toml:12:", "10ms"]);
    refusal("name = \"small\"\n", "", &["w.toml:1:1", "`name`"]);
}

#[test]
fn a_bare_number_is_seconds_in_a_file_too() {
    let sandbox = Sandbox::new();
    for think in ["0.001", "\"0.001\"", "\"1ms\""] {
        let operation = format!("[[operation]]\nthink = {think}\n");
        sandbox.write("w.toml", &SMALL.replace("[[operation]]\n", &operation));
        let run = sandbox.run("run w.toml --transactions 200 --no-record --json").fine();
        // 200 pauses of a millisecond; without the unit of seconds it were nothing or minutes.
        let measured = run.json()["window"]["measure_s"].as_f64().expect("a length");
        assert!((0.19..20.0).contains(&measured), "{think}: {measured} s");
    }
    let negative = SMALL.replace("[[operation]]\n", "[[operation]]\nthink = -1\n");
    sandbox.write("w.toml", &negative);
    sandbox.run("run w.toml --no-record").refused(2, &["w.toml:", "10ms"]);
}

#[test]
fn a_range_that_is_empty_at_a_scale_is_refused() {
    let sandbox = Sandbox::new();
    sandbox
        .write("w.toml", &SMALL.replace("[1, \"item.rows\"]", "[\"scale * 60\", \"item.rows\"]"));
    sandbox.run("run w.toml --transactions 3 --no-record").fine();
    let wide = SMALL.replace("[1, \"item.rows\"]", "[1, \"150 - scale * 60\"]");
    sandbox.write("w.toml", &wide);
    let told = ["`small` cannot run at scale 3", "key `id` is empty: 1 to -30"];
    sandbox.run("run w.toml --scale 3 --no-record").refused(2, &told);
}
