//! `dbtime study`: planned, run, killed, resumed, reported.

use crate::sandbox::{PATIENCE, Ran, Sandbox};
use dbtime_model::record::file;
use dbtime_model::study::{RecordedStudy, study_file};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

/// Two configurations of which the second takes a fifth longer; whatever else goes on here, of
/// which the median knows least.
const STUDY: &str = r#"
question = "Is 24 ms slower than 20 ms?"
run = "values1 --connections 4 --transactions 40"
primary = "p50"
[design]
blocks = 4
[gate]
steal = "99%"
foreign-cpu = "1000%"
wait = "0s"
repeats = 99
[factors.service]
one = "target=null:?service=20ms"
two = "target=null:?service=24ms"
"#;

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn a_study_is_planned_run_and_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("service.toml", STUDY);
    let plan = sandbox.run("study plan service.toml").fine();
    let plan = plan.prints(&[
        "Study service",
        "12 runs: 4 blocks",
        "changes of 2.9 % with 1 %",
        "one again",
        "A/A control",
        "the null engine, which has neither a server nor data",
        "Order of the runs",
    ]);
    assert!(plan.out.lines().all(|line| line.chars().count() <= 100), "{plan:?}");
    assert_eq!(sandbox.left(), ["service.toml"]);
    let ran = sandbox.run("study run service.toml --out s --quiet").fine();
    let found = ["two slower than one: +", "4 pairs", "A/A control", "12 runs in 4 blocks count"];
    let ran = ran.prints(&found);
    ran.prints(&["dbtime study report s --details prints the rest"]);
    let names = crate::sandbox::names(&sandbox.path("s"));
    let expected = [
        study_file::ANALYSIS,
        study_file::JOURNAL,
        study_file::PLAN,
        "report.html",
        "report.md",
        "runs",
        "runs.csv",
        "study.toml",
    ];
    assert_eq!(names, expected);

    let json = document(&sandbox.run("study report s --json").fine());
    let change = json["comparisons"][0]["comparison"]["metrics"][0]["change_pct"][0].as_f64();
    assert!(change.is_some_and(|pct| (pct - 20.0).abs() < 8.0), "{change:?}");
    assert_eq!(json["runs"].as_array().map(Vec::len).expect("runs"), counted_and_not(&json));
    let lines = fs::read_to_string(sandbox.path("s/runs.csv")).expect("a table");
    assert_eq!(lines.lines().count() - 1, json["runs"].as_array().expect("runs").len());
    assert!(lines.starts_with("run,block,attempt,session,cell,role,folder,target,started_at,"));
    let gate = sandbox.run("study report s --gate");
    gate.exits(1);
    let fails = "gate          fails: with 95 % confidence the change is above +";
    gate.prints(&["two slower than one", fails]);
    sandbox.run("study report s --junit s.xml --markdown s.md").fine();
    let junit = fs::read_to_string(sandbox.path("s.xml")).expect("a file");
    assert!(junit.contains("service: two against one") && junit.contains("<failure"), "{junit}");
    let markdown = fs::read_to_string(sandbox.path("s.md")).expect("a file");
    assert!(markdown.contains("- verdict: **two slower than one: "), "{markdown}");
    // No file of before is taken for the report of what is no study.
    for (flag, name) in [("--markdown", "s.md"), ("--html", "s.html"), ("--junit", "s.xml")] {
        sandbox.run(&format!("study report none {flag} {name}")).exits(3);
        let text = fs::read_to_string(sandbox.path(name)).expect("a file");
        assert!(text.contains("ended without a result") && !text.contains("two slower"), "{text}");
    }
    // Its baseline is a side of a comparison.
    sandbox.run("compare s -- s/runs").refused(2, &["are the same run"]);
    // It is no run.
    let told =
        ["s is a study: `dbtime study report s` shows", "`dbtime runs s/runs` lists its runs"];
    for line in ["compare s s", "explain s"] {
        sandbox.run(line).refused(3, &told);
    }
    sandbox.run("runs s/runs").fine().prints(&["0001-b01-"]);
    // By its file it is found among the records, as it is now.
    sandbox.run("study report service.toml").refused(2, &["no study in dbtime-runs"]);
    sandbox.run("report s --html page.html").fine();
    let page = fs::read_to_string(sandbox.path("page.html")).expect("a page");
    assert!(page.contains("two slower than one") && page.contains("<svg"), "{page}");
    sandbox.run("study resume s --quiet").fine().prints(&["finished: all 4 blocks are complete"]);
    sandbox.run("study resume s --quiet --gate").with(1, &[fails]);
    sandbox.run("runs .").fine().prints(&["service", "12 runs", "study", "study report FOLDER"]);
    sandbox.run("study run service.toml --out s").refused(2, &["s exists already"]);
}

fn counted_and_not(json: &Value) -> usize {
    let runs = json["runs"].as_array().expect("runs");
    let out = runs.iter().filter(|run| run["excluded"].is_string()).count();
    12 + out
}

/// How often a study is killed.
const KILLS: usize = if cfg!(feature = "long") { 200 } else { 12 };

/// At any moment: the runs, the journal, the records. Each block is there once in the end.
#[test]
fn killed_many_times_a_study_loses_no_run_and_counts_none_twice() {
    let sandbox = Sandbox::new();
    let text = STUDY.replace("--transactions 40", "--transactions 8").replace("= 4\n", "= 12\n");
    sandbox.write("service.toml", &(text.replace("[gate]", "control = false\n[gate]")));
    let mut line = "study run service.toml --out s --quiet";
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut known = BTreeSet::new();
    for _ in 0..KILLS {
        let mut study = sandbox.command(line).spawn().expect("it starts");
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_millis(random >> 33 & 0x1ff));
        study.kill().expect("it can be killed");
        study.wait().expect("it has ended");
        if !sandbox.path("s").join(study_file::PLAN).exists() {
            // Killed before there was a study: what is left of it is in nobody's way.
            let _ = fs::remove_dir_all(sandbox.path("s"));
            continue;
        }
        line = "study resume s --quiet";
        let there = RecordedStudy::read(&sandbox.path("s")).expect("whole");
        let complete = there.history.complete_blocks(2);
        let blocks: BTreeSet<u32> = complete.iter().map(|block| block.block).collect();
        assert!(blocks.is_superset(&known), "lost: {known:?} {blocks:?}");
        known = blocks;
    }
    sandbox.run(line).fine().prints(&["all 12 blocks are complete"]);
    let study = RecordedStudy::read(&sandbox.path("s")).expect("whole");
    let complete = study.history.complete_blocks(2);
    assert_eq!(complete.len(), 12);
    let blocks: BTreeSet<u32> = complete.iter().map(|block| block.block).collect();
    assert_eq!(blocks, (1..=12).collect());
    let runs: BTreeSet<u64> =
        complete.iter().flat_map(|block| &block.runs).map(|run| run.trial.run).collect();
    assert_eq!(runs.len(), 24);
    for run in complete.iter().flat_map(|block| &block.runs) {
        assert!(sandbox.path("s").join(&run.trial.folder).join(file::RUN).is_file());
    }
}

#[test]
fn interrupted_it_says_how_to_go_on() {
    let sandbox = Sandbox::new();
    // The first run goes on for as long as the second command takes.
    sandbox.write("service.toml", &STUDY.replace("--transactions 40", "--time 2m --warmup 0s"));
    let study = sandbox.start("study run service.toml --out s");
    let journal = sandbox.path("s").join(study_file::JOURNAL);
    let begun = Instant::now();
    while !fs::read_to_string(&journal).is_ok_and(|text| text.contains("run_begun")) {
        assert!(begun.elapsed() < PATIENCE, "no run began");
        std::thread::sleep(Duration::from_millis(10));
    }
    let second = sandbox.run("study resume s");
    second.refused(3, &["another dbtime is at work on s"]);
    study.interrupt();
    let ran = study.end();
    ran.exits(130);
    let ran = ran.prints(&[
        "Plan of study service",
        "dbtime study plan s/study.toml prints the rest",
        "continue with dbtime study resume s",
    ]);
    assert!(ran.out.lines().count() < 45, "{ran:?}");
    let read = RecordedStudy::read(&sandbox.path("s")).expect("whole");
    assert_eq!(read.history.runs.len(), 1);
    assert_eq!(read.history.finished, None);
    // No gate goes by a part of it.
    sandbox.run("study report s --gate --junit s.xml").exits(4);
    let junit = fs::read_to_string(sandbox.path("s.xml")).expect("a file");
    assert!(junit.contains("skipped=\"1\"") && junit.contains("not finished"), "{junit}");
}

#[test]
fn what_is_wrong_is_refused_before_the_first_run() {
    let sandbox = Sandbox::new();
    for (text, why) in [
        ("run = \"values1\"\n", "nothing is compared"),
        ("run = \"values1\"\ndesing = 1\n", "line 2: unknown field `desing`"),
        ("run = \"values1\"\n[factors]\nworkres = [1, 2]\n", "workres=1: "),
        (
            "run = \"values1 --find-rate p95<=5ms\"\n[factors]\nworkers = [1, 2]\n",
            "`find-rate` is no flag of a configuration",
        ),
        ("run = \"valeus1\"\n[factors]\nworkers = [1, 2]\n", "workers=1: "),
        ("run = \"values1 --rate auto\"\n[factors]\nworkers = [1, 2]\n", "--rate auto measures"),
        ("run = \"values1 --out x\"\n[factors]\nworkers = [1, 2]\n", "`out` is no flag of"),
        (
            "run = \"values1 --target mysql://u:pw@h/d\"\n[factors]\nworkers = [1, 2]\n",
            "there is a password in `target`",
        ),
        (
            "# PGPASSWORD=pw\nrun = \"values1\"\n[factors]\nworkers = [1, 2]\n",
            "there is a password in a comment of",
        ),
        (
            "question = \"does mysql -ppw help?\"\nrun = \"values1\"\n[factors]\n\
             workers = [1, 2]\n",
            "there is a password in `question`",
        ),
        (
            "command = \"true\"\nparser = \"time\"\n[factors.key]\n\
             \"Authorization: Bearer pw\" = \"A=1\"\nnone = \"A=2\"\n",
            "there is a password in the name of a level",
        ),
        (
            "run = \"values1\"\n[factors]\nquery = [\"SET PASSWORD = 'pw'\", \"SELECT 1\"]\n",
            "there is a password in `query`",
        ),
        ("margin = \"x\"\nrun = \"values1\"\n[factors]\nworkers = [1, 2]\n", "margin = \"x\""),
        (
            "run = \"values1\"\n[factors]\nworkers = [1, 2]\n[design]\nstop = \"looks:9\"\n",
            "write looks:2 to 5",
        ),
        (
            "run = \"values1\"\n[factors]\nworkers = [1, 2]\n[design]\n\
             stop = \"precision:1%\"\nmax-blocks = 4000000000\n",
            "at least 10 blocks, and at most 3000",
        ),
    ] {
        sandbox.write("wrong.toml", text);
        sandbox.run("study run wrong.toml --out s").refused(2, &[why]);
        sandbox.run("study plan wrong.toml").refused(2, &[why]);
    }
    assert_eq!(sandbox.left(), ["wrong.toml"]);
    sandbox.run("study plan none.toml").refused(2, &["none.toml cannot be read"]);
    sandbox.run("study report .").refused(3, &["holds no study"]);
    sandbox.run("study resume none").refused(3, &["holds no study"]);
}

#[test]
fn a_study_without_its_only_candidate_ends_with_the_reason() {
    let sandbox = Sandbox::new();
    let text = STUDY.replace("target=null:?service=24ms", "target=mysql://u@127.0.0.1:1/d");
    sandbox.write("service.toml", &text);
    let ran = sandbox.run("study run service.toml --out s");
    ran.exits(3);
    assert!(ran.err.contains("nothing is left to compare: two is left out: "), "{ran:?}");
    assert!(ran.out.contains("LEFT OUT: two (") && ran.out.contains("127.0.0.1"), "{ran:?}");
    let study = RecordedStudy::read(&sandbox.path("s")).expect("whole");
    assert!(study.history.runs.is_empty(), "nothing was measured for no verdict: {study:?}");
    // It cannot run now either.
    let ran = sandbox.run("study resume s --retry-left-out --quiet");
    ran.exits(3);
    let journal = fs::read_to_string(sandbox.path("s").join(study_file::JOURNAL));
    assert_eq!(journal.expect("a journal").matches("cell_left_out").count(), 2, "{ran:?}");
}

/// By name and with its error, in everything that tells of the study.
#[test]
fn the_rest_of_a_study_goes_on_without_a_configuration_that_cannot_run() {
    let sandbox = Sandbox::new();
    let text = STUDY.to_owned() + "gone = \"target=mysql://u@127.0.0.1:1/d\"\n";
    sandbox.write("service.toml", &text);
    let ran = sandbox.run("study run service.toml --out s --quiet").fine();
    let told = "LEFT OUT: gone (";
    ran.prints(&[told, "two slower than one: +", "finished: all 4 blocks are complete"]);
    let line = "study report s --junit s.xml --markdown s.md";
    sandbox.run(line).fine().prints(&[told, "dbtime study resume s --retry-left-out"]);
    sandbox.run("study report s --html s.html").fine();
    let files = [("s.xml", "gone can run"), ("s.md", "LEFT OUT: gone"), ("s.html", told)];
    for (file, expected) in files {
        let text = fs::read_to_string(sandbox.path(file)).expect("a file");
        assert!(text.contains(expected), "{file}: {text}");
    }
    let json = document(&sandbox.run("study report s --json").fine());
    assert_eq!(json["left_out"][0]["cell"], "gone");
    let reason = json["left_out"][0]["reason"].as_str().expect("its error");
    assert!(reason.contains("127.0.0.1"), "{reason}");
    assert_eq!(json["comparisons"].as_array().map(Vec::len), Some(1));
    let again = sandbox.run("study resume s --retry-left-out --quiet").fine();
    again.prints(&[told, "all 4 blocks are complete"]);
    let runs = document(&sandbox.run("study report s --json").fine())["runs"].clone();
    assert_eq!(runs, json["runs"], "what counts was not made again");
    // A list of runs waits for none of it either.
    let journal = sandbox.path("s").join(study_file::JOURNAL);
    let text = fs::read_to_string(&journal).expect("a journal");
    let open = text.split_inclusive('\n').filter(|line| !line.contains("\"finished\""));
    fs::write(&journal, open.collect::<String>()).expect("written");
    let list = sandbox.run("runs . --json").fine().json();
    let record = &list["records"][0];
    assert_eq!((&record["runs"], &record["planned"]), (&12.into(), &12.into()));
    assert_eq!(record["is_finished_study"], false);
}

/// As far as the server itself, which does not start with it.
#[test]
fn a_server_setting_that_there_is_not_is_left_out_before_the_first_block() {
    let sandbox = Sandbox::new();
    let text = "run = \"values1 --target mariadb --connections 1 --transactions 2000\"\n[design]\n\
                blocks = 2\ncontrol = false\n[gate]\nsteal = \"99%\"\nforeign-cpu = \"1000%\"\n\
                wait = \"0s\"\nrepeats = 99\nsteady = false\n[factors.setting]\n\
                few = \"server-set=max_connections=100\"\n\
                many = \"server-set=max_connections=120\"\n\
                none = \"server-set=no_such_setting=1\"\n";
    sandbox.write("setting.toml", text);
    let ran = sandbox.run("study run setting.toml --out s --quiet").fine();
    ran.prints(&["LEFT OUT: none (", "all 2 blocks are complete"]);
    let study = RecordedStudy::read(&sandbox.path("s")).expect("whole");
    assert!(study.history.runs.iter().all(|run| run.trial.cell != 2), "{study:?}");
}

/// As if the machine had never been quiet.
#[test]
fn a_study_that_noise_has_stopped_goes_on_with_more_repeats() {
    let sandbox = Sandbox::new();
    sandbox.write("service.toml", STUDY);
    sandbox.run("study run service.toml --out s --quiet").fine();
    let journal = sandbox.path("s").join(study_file::JOURNAL);
    let text = fs::read_to_string(&journal).expect("a journal");
    let quiet = "\"outcome\":\"valid\",\"reason\":null";
    let text = text.replace(quiet, "\"outcome\":\"invalid\",\"reason\":\"too loud\"");
    let unfinished = text.split_inclusive('\n').filter(|line| !line.contains("\"finished\""));
    fs::write(&journal, unfinished.collect::<String>()).expect("written");
    let ran = sandbox.run("study resume s --repeats 1 --quiet");
    ran.exits(4);
    let why = ["stopped by noise: ", "too loud", "continue with dbtime study resume s --repeats "];
    assert!(why.iter().all(|part| ran.err.contains(part)), "{ran:?}");
    ran.prints(&["stopped by noise: "]);
    sandbox.run("study report s --gate").exits(4);
    sandbox.run("study resume s --quiet").exits(4);
    let ran = sandbox.run("study resume s --repeats 99 --quiet").fine();
    ran.prints(&["two slower than one: +", "finished: all 4 blocks are complete"]);
}

/// A changed plan is another study; another program needs a new session.
#[test]
fn what_changed_since_is_no_secret() {
    let sandbox = Sandbox::new();
    sandbox.write("service.toml", STUDY);
    sandbox.run("study run service.toml --out s --quiet").fine();
    let plan = sandbox.path("s").join(study_file::PLAN);
    let text = fs::read_to_string(&plan).expect("a plan");
    fs::write(&plan, text.replace("\"blocks\": 4", "\"blocks\": 6")).expect("written");
    sandbox.run("study resume s --new-session").refused(3, &["its plan was changed"]);
    let changed = "plan.json was changed after the first run";
    sandbox.run("study report s").fine().prints(&["CHANGED PLAN: ", changed]);
    let gate = sandbox.run("study report s --gate");
    gate.exits(4);
    gate.prints(&["gate          undecided: the plan was changed after the first run"]);
    sandbox.run("report s --text").fine().prints(&[changed]);
    sandbox.run("study verify s").with(1, &["WRONG plan", changed]);
    fs::write(&plan, &text).expect("written");
    sandbox.run("study verify s").fine().prints(&["ok    plan"]);
    // What is said of the file is not in the figures, which hold once it is put back.
    let source = sandbox.path("s/study.toml");
    let given = fs::read_to_string(&source).expect("the study's file");
    fs::write(&source, format!("{given}# later\n")).expect("written");
    let resumed = sandbox.run("study resume s --quiet").fine();
    resumed.prints(&["study.toml was changed after the first run"]);
    fs::write(&source, given).expect("written");
    sandbox.run("study verify s").fine();
    let journal = sandbox.path("s").join(study_file::JOURNAL);
    let events = fs::read_to_string(&journal).expect("a journal");
    let other = events.replace("\"kernel\":\"", "\"kernel\":\"another ");
    fs::write(&journal, other).expect("written");
    sandbox.run("study resume s").refused(3, &["another kernel since its last run"]);
    sandbox.run("study resume s --new-session --quiet").fine();
    // A journal that was lost knows none of the runs, which would all be made again.
    fs::remove_file(&journal).expect("it was there");
    for line in ["study resume s --quiet", "study report s", "study verify s"] {
        let told = ["journal.jsonl, which is gone or empty", "restore it from a copy"];
        sandbox.run(line).refused(3, &told);
    }
    fs::write(&journal, events.replacen("\"run_begun\"", "\"run_bogun\"", 1)).expect("written");
    sandbox.run("study report s").refused(3, &["line 4 is damaged", "restore it from a copy"]);
    fs::write(&journal, events.replace("\"cell\":2", "\"cell\":9")).expect("written");
    for line in ["study report s", "study resume s"] {
        sandbox.run(line).refused(3, &["a configuration that the plan does not have"]);
    }
}

/// What is there is shown, what is not is named, and made again.
#[test]
fn a_run_that_was_deleted_is_named_and_made_again() {
    let sandbox = Sandbox::new();
    sandbox.write("service.toml", STUDY);
    sandbox.run("study run service.toml --out s --quiet").fine();
    let study = RecordedStudy::read(&sandbox.path("s")).expect("whole");
    let blocks = study.history.complete_blocks(3);
    let gone = &blocks[1].runs[0].trial.folder;
    fs::remove_dir_all(sandbox.path("s").join(gone)).expect("it was there");
    let lost = format!("1 run lost: {gone} (its record is not there any more)");
    let report = sandbox.run("study report s --json").fine().json();
    let told = report["lost"].as_str().expect("it is told");
    assert!(told.contains(&lost) && told.contains("dbtime study resume"), "{told}");
    assert_eq!(report["complete_blocks"], 3);
    let line = "study report s --junit s.xml";
    sandbox.run(line).fine().prints(&["INCOMPLETE: 1 run lost", " in 3 blocks count"]);
    let junit = fs::read_to_string(sandbox.path("s.xml")).expect("a file");
    assert!(junit.contains("<skipped message=\"INCOMPLETE: 1 run lost"), "{junit}");
    let gate = sandbox.run("study report s --gate");
    gate.exits(4);
    let told = "finished, and runs were lost since: 3 blocks are complete";
    gate.prints(&["undecided: runs that counted are lost", told]);
    let is_not_there = format!("{gone} is not there");
    sandbox.run("study verify s").with(1, &["WRONG runs", is_not_there.as_str()]);
    sandbox.run("study pack s --out s.tar.gz").fine().prints(&["Incomplete: 1 run lost"]);
    // What was packed is not what there will be.
    fs::remove_file(sandbox.path("s").join(study_file::MANIFEST)).expect("it was packed");
    let resumed = sandbox.run("study resume s --quiet");
    resumed.exits(0);
    let again = format!("{gone}: its record is not there any more; block {}", blocks[1].block);
    assert!(resumed.err.contains(&again), "{resumed:?}");
    resumed.prints(&["all 4 blocks are complete"]);
    let report = sandbox.run("study report s --json").fine().json();
    assert_eq!((&report["lost"], &report["complete_blocks"]), (&Value::Null, &4.into()));
    sandbox.run("study verify s").fine();
}

#[test]
fn two_settings_are_compared_in_one_line() {
    let sandbox = Sandbox::new();
    let line = "study ab values1 --connections 4 --transactions 40 --for 15s --margin 5% --primary p50 \
                --allow 'steal=99% foreign-cpu=1000% wait=0s repeats=99' --save ab.toml --out s \
                --a 'target=null:?service=20ms' --b 'target=null:?service=24ms'";
    let ran = sandbox.run(line);
    ran.exits(0);
    ran.prints(&["B slower than A: +", "changes of about ", " runs before it"]);
    let more = sandbox.run("study resume s --blocks 1 --for 1min --quiet").fine();
    more.prints(&["B slower than A: +", "blocks are complete; extended after looking"]);
    sandbox.run("study resume s --for 0s").refused(2, &["no run ends within 0 s: write 10min"]);
    let saved = fs::read_to_string(sandbox.path("ab.toml")).expect("the study's file");
    assert!(saved.contains("margin = \"5%\"") && saved.contains("[[cell]]"), "{saved}");
    sandbox.run("study plan ab.toml").fine().prints(&["target=null:?service=24ms"]);
    let other = line.replace("--primary p50", "--primary p45x").replace("--out s", "--out t");
    sandbox.run(&other).refused(2, &["p45x", "a percentile such as p75"]);
    // Whatever percentile a limit takes a verdict can be on.
    sandbox.write("p95.toml", &saved.replace("primary = \"p50\"", "primary = \"p95\""));
    sandbox.run("study plan p95.toml").fine().prints(&["on p95; margin 5 %"]);
    sandbox.write("wrong.toml", &saved.replace("primary = \"p50\"", "primary = \"thruput\""));
    sandbox.run("study plan wrong.toml").refused(2, &["primary = \"thruput\"", "`throughput`?"]);
    // Without a verdict it is no answer.
    let none = line.replace("--primary p50", "--primary server-cpu").replace(" 40", " 4");
    let none = none.replace("--save ab.toml --out s", "--out none");
    let ran = sandbox.run(&none);
    ran.exits(4);
    ran.prints(&["Invalid: server CPU per transaction was not measured in any run of A"]);
    sandbox.run("study resume none --quiet").exits(4);
    sandbox.run("study resume s --quiet --gate").with(1, &["so B is worse by 5 % or more"]);
    let short = line.replace("--for 15s", "--for 1s").replace("--out s", "--out t");
    sandbox.run(&short).refused(2, &["--for 1.00 s: a verdict takes at least 11 runs", "raise"]);
    assert!(!sandbox.path("t").exists());
}

/// Before time is spent on the other, and before there is a folder.
#[test]
fn a_side_that_cannot_run_is_named_before_anything_is_measured() {
    let sandbox = Sandbox::new();
    let (gone, there) = ("target=mysql://u@127.0.0.1:1/d", "target=null:");
    for (a, b, told) in [(there, gone, "B cannot run: "), (gone, there, "A cannot run: ")] {
        let line = format!(
            "study ab values1 --transactions 40 --for 30s --allow wait=0s --out s --a '{a}' \
             --b '{b}'"
        );
        let ran = sandbox.run(&line);
        ran.exits(3);
        assert!(ran.err.contains(told) && ran.err.contains("127.0.0.1"), "{ran:?}");
        assert!(!ran.err.contains("block 1 of"), "{ran:?}");
        assert!(!sandbox.path("s").exists());
    }
    let unnamed = "study ab --a connections=1 --b connections=2 --out s";
    sandbox.run(unnamed).refused(2, &["name a workload, or a rate that is known"]);
}

/// Whatever others do beside its runs.
#[test]
fn noise_costs_a_comparison_of_two_settings_no_block() {
    let sandbox = Sandbox::new();
    // There is always somebody who takes that much.
    let line = "study ab values1 --connections 4 --transactions 40 --for 15s --margin 5% --out s \
                --primary p50 --allow 'steal=0.0001% foreign-cpu=0.0001% wait=0s' --quiet \
                --a 'target=null:?service=20ms' --b 'target=null:?service=24ms'";
    sandbox.run(line).fine().prints(&["B slower than A: +"]);
    let study = RecordedStudy::read(&sandbox.path("s")).expect("a study");
    let reasons = study.history.runs.iter().filter_map(|run| run.reason.as_deref());
    let of_noise = |reason: &&str| reason.contains("more than 0.0001 %");
    assert_eq!(reasons.filter(of_noise).count(), 0, "{study:?}");
}

/// Slices of both sides take turns on databases that live for the block, which is the unit.
#[test]
fn windows_are_made_in_slices_that_take_turns() {
    let sandbox = Sandbox::new();
    // On a machine that is loud with other tests, noise counts.
    let line = "study ab values1 --target null:?service=1ms --time 1s --warmup 200ms --for 20s \
                --slices 2 --margin 99% --allow wait=0s --save ab.toml --out s --quiet \
                --a connections=1 --b connections=2";
    let ran = sandbox.run(line);
    assert!(ran.code.is_some_and(|code| code == 0 || code == 4), "{ran:?}");
    let saved = fs::read_to_string(sandbox.path("ab.toml")).expect("the study's file");
    assert!(saved.contains("slices = 2"), "{saved}");
    sandbox.run("study plan ab.toml").fine().prints(&["each run is made in 2 slices"]);
    let study = RecordedStudy::read(&sandbox.path("s")).expect("a study");
    let trials: Vec<_> = study.history.runs.iter().map(|run| &run.trial).collect();
    // The last blocks have as many as there is time for.
    let is_slice = |slices: u32| (1..=16).contains(&slices);
    assert!(!trials.is_empty() && trials.iter().all(|trial| is_slice(trial.slices)), "{trials:?}");
    assert!(trials.iter().all(|trial| trial.folder.contains("-s")), "{trials:?}");
    let windows = study.records.iter().flatten().filter_map(|record| record.run());
    assert!(windows.map(|run| run.window.measure_s).all(|length_s| length_s < 0.6));
    let report = sandbox.run("study report s --json").fine().json();
    // A slice that does not count costs its round, and a block that has none left is in no pair.
    let compared = &report["comparisons"][0]["comparison"];
    let pairs = compared["metrics"][0]["a"].as_array().map_or(0, Vec::len);
    assert!(pairs as u64 <= report["complete_blocks"].as_u64().expect("a number"), "{report}");
    if pairs > 0 {
        ran.prints(&["a side; the unit is the block"]);
        assert!(compared["slices"].as_u64().is_some_and(|slices| slices <= 16), "{compared}");
    }
    sandbox.run("study verify s").fine();
    sandbox.wait_until_none_is_left();
    sandbox.write("cut.toml", &saved.replace("slices = 2", "slices = 17"));
    sandbox.run("study plan cut.toml").refused(2, &["slices = \"17\": write 1 to 16"]);
    sandbox.write("program.toml", &PROGRAM.replace("blocks = 3", "blocks = 3\nslices = 2"));
    sandbox.run("study plan program.toml").refused(2, &["a command has no window"]);
}

/// A process of a run holds its target, and makes a record for each line that asks for one.
#[test]
fn a_process_makes_slices_as_it_is_asked_for_them() {
    use std::io::Write;
    use std::process::Stdio;
    let sandbox = Sandbox::new();
    let described = "run atm --workers 1 --time 300ms --warmup 100ms --print-spec";
    let spec = sandbox.run(described).fine().json();
    let line = "run --spec=- --events --slices-from-stdin --no-record";
    let mut child = sandbox.command(line).stdin(Stdio::piped()).spawn().expect("dbtime starts");
    let mut asked = format!("{spec}\n");
    for (out, seed) in [("one", 3), ("two", 4)] {
        asked += &format!("{{\"out\":\"{out}\",\"seed\":{seed}}}\n");
    }
    let mut input = child.stdin.take().expect("piped");
    input.write_all(asked.as_bytes()).expect("it reads");
    drop(input);
    let ran = Ran::new(line, &child.wait_with_output().expect("it ends")).fine();
    let events: Vec<Value> =
        ran.out.lines().map(|event| serde_json::from_str(event).expect("JSON")).collect();
    let count = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!((count("held"), count("record"), count("failure")), (1, 2, 0), "{ran:?}");
    for (out, seed) in [("one", 3), ("two", 4)] {
        let text = fs::read_to_string(sandbox.path(out).join(file::RUN)).expect("a record");
        let record: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(record["spec"]["seed"], seed);
        assert_eq!(record["spec"]["workload"]["data_seed"], spec["seed"]);
    }
}

/// A program that is no run of dbtime: its service takes 0.1 s, or 0.15 s; what it prints is read.
const PROGRAM: &str = r#"
command = "sleep $SERVICE; echo seed $DBTIME_SEED; echo progress: 1 tps; echo result: $RESULT tps"
prepare = "echo ready > $DBTIME_RUN/prepared"
conclude = "test -f $DBTIME_RUN/prepared && echo over > $DBTIME_RUN/concluded"
primary = "speed"
[metric.speed]
regex = ': ([0-9.,]+) tps'
unit = "tps"
better = "higher"
[design]
blocks = 3
[gate]
steal = "99%"
foreign-cpu = "1000%"
wait = "0s"
[factors.service]
short = "SERVICE=0.1 RESULT=1,200"
long = "SERVICE=0.15 RESULT=1100.5"
"#;

#[test]
fn an_external_program_is_compared_by_what_it_prints() {
    let sandbox = Sandbox::new();
    sandbox.write("program.toml", PROGRAM);
    let plan = sandbox.run("study plan program.toml --pilot 2").fine();
    plan.prints(&["9 runs: 3 blocks", "measured: speed, wall, user, system, rss-peak"]);
    let ran = sandbox.run("study run program.toml --out s --quiet").fine();
    let ran = ran.prints(&["long worse than short: −8.3 %", "on speed", "3 pairs"]);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{ran:?}");
    assert!(!ran.out.contains("Plan of study"), "{ran:?}");
    sandbox.run("study report s --details").fine().prints(&["speed, tps", "1,101"]);
    let study = RecordedStudy::read(&sandbox.path("s")).expect("a study");
    let walls: Vec<f64> = study
        .records
        .iter()
        .map(|record| record.as_ref()?.value("wall"))
        .map(Option::unwrap_or_default)
        .collect();
    assert!(walls.len() == 9 && walls.iter().all(|wall| *wall >= 0.1), "{walls:?}");
    for run in &study.history.runs {
        let folder = sandbox.path("s").join(&run.trial.folder);
        let seed = fs::read_to_string(folder.join(study_file::PROGRAM_OUTPUT)).expect("output");
        assert!(seed.starts_with("seed "), "{seed}");
        assert!(folder.join("concluded").is_file());
    }
    let table = fs::read_to_string(sandbox.path("s/runs.csv")).expect("a table");
    assert!(table.contains("SERVICE,RESULT,started_at") && table.contains(",1100.5,"), "{table}");
    sandbox.run("study report s --html page.html").fine();
}

/// By its first run, for none is shorter.
#[test]
fn a_program_that_always_fails_is_left_out_by_name() {
    let sandbox = Sandbox::new();
    let text = PROGRAM.replace("sleep $SERVICE;", "sleep $SERVICE || exit 7;");
    let text = text + "broken = \"SERVICE=never RESULT=1\"\n";
    sandbox.write("program.toml", &text);
    let ran = sandbox.run("study run program.toml --out s --quiet").fine();
    let told = "LEFT OUT: broken (its first run failed: exit code 7: ";
    ran.prints(&[told, "long worse than short: −8.3 %"]);
    let study = RecordedStudy::read(&sandbox.path("s")).expect("whole");
    assert_eq!((study.failed_runs().count(), study.history.complete_blocks(4).len()), (1, 3));
}

#[test]
fn a_program_that_fails_or_hangs_ends_with_all_that_it_started() {
    let sandbox = Sandbox::new();
    let fails = "K=$(echo hush1); echo no such host, -p$K --password $K password=$K >&2; exit 7;";
    let failing = PROGRAM.replace("sleep $SERVICE;", fails);
    sandbox.write("failing.toml", &failing);
    let ran = sandbox.run("study run failing.toml --out f --quiet");
    ran.exits(3);
    let journal = fs::read_to_string(sandbox.path("f/journal.jsonl")).expect("a journal");
    let told = "exit code 7: no such host, -p*** --password *** password=***";
    assert!(journal.contains(told), "{journal}");
    // It leaves a process behind that ignores what it may clean up at.
    let hangs = format!("(trap '' TERM; sleep {0}) & sleep {0};", hanging_s());
    let hanging = PROGRAM.replace("sleep $SERVICE;", &hangs);
    sandbox.write("hanging.toml", &format!("timeout = \"300ms\"\n{hanging}"));
    let ran = sandbox.run("study run hanging.toml --out h --quiet");
    ran.exits(3);
    let journal = fs::read_to_string(sandbox.path("h/journal.jsonl")).expect("a journal");
    assert!(journal.contains("it took longer than 0.3 s"), "{journal}");
    assert_eq!(sleeping(), 0);
    // Killed, dbtime leaves nothing behind either.
    let long = format!("setsid sleep {};", hanging_s());
    sandbox.write("long.toml", &PROGRAM.replace("sleep $SERVICE;", &long));
    let running = sandbox.start("study run long.toml --out l --quiet");
    let begun = Instant::now();
    while sleeping() == 0 {
        assert!(begun.elapsed() < PATIENCE / 2, "no run began");
        std::thread::sleep(Duration::from_millis(20));
    }
    running.kill();
    running.end();
    while sleeping() > 0 {
        assert!(begun.elapsed() < PATIENCE, "the command outlives dbtime");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What a command leaves in the background ends with it, and what `prepare` has left with the run.
#[test]
fn nothing_that_a_run_has_started_outlives_it() {
    let sandbox = Sandbox::new();
    let background = format!("setsid sleep {} &", hanging_s());
    // One of them starts another in place of each that ends, and does not end itself.
    let restarting = format!("(trap '' TERM; while :; do sleep {}; done) &", hanging_s());
    let command =
        format!("kill -0 $(cat $DBTIME_RUN/prepared) || exit 9; {background} {restarting}");
    let text = PROGRAM
        .replace("echo ready >", &format!("{background} echo $! >"))
        .replace("sleep $SERVICE;", &command);
    sandbox.write("left.toml", &text);
    sandbox.run("study run left.toml --out s --quiet").fine();
    assert_eq!(sleeping(), 0);
    sandbox.run("study verify s").fine();
}

#[test]
fn figures_of_a_program_are_verified_by_what_it_printed() {
    let sandbox = Sandbox::new();
    sandbox.write("program.toml", PROGRAM);
    sandbox.run("study run program.toml --out s --quiet").fine();
    let ok = "the figures of 9 runs follow from their stdout.txt and usage.json";
    sandbox.run("study verify s").fine().prints(&[ok]);
    let study = RecordedStudy::read(&sandbox.path("s")).expect("a study");
    let place = study.history.runs[0].trial.folder.clone();
    let record = sandbox.path("s").join(&place).join(study_file::PROGRAM);
    let text = fs::read_to_string(&record).expect("a record");
    fs::write(&record, text.replace("\"speed\": 1", "\"speed\": 2")).expect("written");
    let other = format!("{place}: speed is 2");
    let verified = sandbox.run("study verify s").with(1, &["WRONG runs", other.as_str()]);
    verified.prints(&["but stdout.txt and usage.json give 1"]);
}

/// Behind a change of what a study compares, its runs are those of another program.
#[test]
fn another_external_program_makes_another_session() {
    let sandbox = Sandbox::new();
    let bench = sandbox.path("bench.sh");
    let script = |tps: u32| format!("echo result: {tps} tps\n");
    fs::write(&bench, script(1200)).expect("written");
    let text = PROGRAM.replace("sleep $SERVICE;", "sh ./bench.sh;");
    sandbox.write("program.toml", &text);
    sandbox.run("study run program.toml --out s --quiet").fine();
    let journal = sandbox.path("s").join(study_file::JOURNAL);
    let events = fs::read_to_string(&journal).expect("a journal");
    assert!(events.contains("/bench.sh\",\"sha256\":\""), "{events}");
    fs::write(&bench, script(1300)).expect("written");
    let resumed = sandbox.run("study resume s").refused(3, &["another bench.sh (/"]);
    resumed.stderr_has(&["go on with --new-session"]);
    sandbox.run("study resume s --new-session --quiet").fine();
}

/// Two days of one file are two sessions of a study.
#[test]
fn several_studies_are_reported_as_sessions_of_one() {
    let sandbox = Sandbox::new();
    sandbox.write("program.toml", PROGRAM);
    sandbox.write("other.toml", &PROGRAM.replace("RESULT=1100.5", "RESULT=1000"));
    for (file, day) in [("program", "monday"), ("program", "tuesday"), ("other", "other")] {
        sandbox.run(&format!("study run {file}.toml --out {day} --quiet")).fine();
    }
    let report = sandbox.run("study report monday tuesday --details").fine();
    report.prints(&[
        "long worse than short: −8.3 %",
        "2 sessions: −8.3 % (",
        "18 runs in 6 blocks count",
        "Changes by session",
        "2 studies are complete",
    ]);
    let json = sandbox.run("study report monday tuesday --json").fine().json();
    let sessions = &json["comparisons"][0]["sessions"];
    assert_eq!(sessions["each"].as_array().map(Vec::len), Some(2), "{sessions}");
    assert_eq!(json["runs"][17]["session"], 2);
    let one = sandbox.run("study report monday --json").fine().json();
    assert_eq!(one["comparisons"][0]["sessions"], Value::Null);
    sandbox.run("study report monday ./monday").refused(2, &["monday is named twice"]);
    let refused = sandbox.run("study report monday other").refused(2, &["other cannot be joined"]);
    refused.stderr_has(&["it compares something else than monday"]);
}

/// How long a command of this process hangs, in seconds: those of other tests have other lengths.
fn hanging_s() -> String {
    format!("71.{}", std::process::id())
}

/// How many processes there are of the command that hangs.
fn sleeping() -> usize {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let hangs = format!("sleep\0{}\0", hanging_s());
    lines.filter(|line| line == hangs.as_bytes()).count()
}

/// Seven factors of which one doubles the service and the others do nothing.
#[test]
fn a_screening_finds_what_matters_with_few_configurations() {
    let sandbox = Sandbox::new();
    let mut text = "command = \"echo result: $((100 + 50 * B + DBTIME_SEED % 3))\"\n\
                    [metric.speed]\nregex = 'result: (.*)'\nbetter = \"higher\"\n[design]\n\
                    blocks = 4\nscreening = true\n[gate]\nwait = \"0s\"\nsteal = \"99%\"\n\
                    foreign-cpu = \"1000%\"\n\
                    [factors]\n"
        .to_owned();
    for name in ["A", "B", "C", "D", "E", "F", "G"] {
        text += &format!("{name} = [0, 1]\n");
    }
    sandbox.write("many.toml", &text);
    let plan = sandbox.run("study plan many.toml").fine();
    plan.prints(&["36 runs: 4 blocks", "A=0 B=0 C=0 D=0 E=0 F=0 G=0 again"]);
    sandbox.run("study run many.toml --out s --quiet").fine();
    let ran = sandbox.run("study report s --details").fine();
    let ran = ran.prints(&["B: 0 → 1 +4", "of 6 more none is known", "few combinations"]);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{ran:?}");
    sandbox.write("three.toml", &text.replace("A = [0, 1]", "A = [0, 1, 2]"));
    sandbox.run("study plan three.toml").refused(2, &["two levels", "`A` has 3"]);
}

/// Four connections that each serve by themselves, and Poisson arrivals: a queue M/M/4, whose mean
/// response is known.
const QUEUE: &str = r#"
run = "values1 --target null:?service=exp:5ms --connections 4 --arrivals poisson --warmup 200ms --time 1s"
primary = "mean"
[design]
blocks = 4
[gate]
wait = "0s"
steal = "99%"
foreign-cpu = "1000%"
repeats = 99
[factors]
rate = ["400/s", "560/s"]
"#;

/// The mean response of M/M/c at a utilisation, in service times (Erlang 1917).
fn erlang_response(servers: u32, utilisation: f64) -> f64 {
    let (c, offered) = (f64::from(servers), f64::from(servers) * utilisation);
    let mut term = 1.0;
    let mut below = 0.0;
    for k in 0..servers {
        below += term;
        term *= offered / f64::from(k + 1);
    }
    let all_busy = term / (1.0 - utilisation);
    1.0 + all_busy / (below + all_busy) / (c * (1.0 - utilisation))
}

/// What differs from theory in a study of the queue; runs that were disturbed do not count, and
/// there may be no others.
fn unlike_theory(json: &Value) -> Vec<String> {
    let [half, more] = [0.5, 0.7].map(|utilisation| 5_000.0 * erlang_response(4, utilisation));
    let mut unlike = Vec::new();
    // 15 %: some four standard errors of so many responses, which queue behind one another.
    for (cell, expected) in [(0, half), (1, half), (2, more)] {
        let mean = &json["cells"][cell]["mean_us"];
        if mean.as_f64().is_none_or(|mean| (mean / expected - 1.0).abs() >= 0.15) {
            unlike.push(format!("{cell}: {mean} µs, by theory {expected}"));
        }
    }
    let change = &json["comparisons"][0]["comparison"]["metrics"][0]["change_pct"];
    let [Some(change), Some(low), Some(high)] = [0, 1, 2].map(|at| change[at].as_f64()) else {
        unlike.push(format!("no change: {}", json["comparisons"]));
        return unlike;
    };
    assert!(low < change && change < high, "{low} .. {change} .. {high}");
    let expected = 100.0 * (more / half - 1.0);
    if (change - expected).abs() >= 20.0 {
        unlike.push(format!("{change} %, by theory {expected}"));
    }
    unlike
}

#[test]
fn a_study_of_a_queue_finds_what_queueing_theory_says() {
    let sandbox = Sandbox::new();
    sandbox.write("queue.toml", QUEUE);
    // A machine that stands still for a moment adds a queue that no theory knows of.
    let mut tried = (1..=8).map(|at| {
        let line = format!("study run queue.toml --out q{at} --quiet --json");
        unlike_theory(&document(&sandbox.run(&line)))
    });
    let mut seen = Vec::new();
    let is_alike = tried.any(|unlike| {
        seen.extend(unlike.iter().cloned());
        unlike.is_empty()
    });
    assert!(is_alike, "each time: {seen:#?}");
}

/// What a level changes where the others are as they are, and not against one configuration.
#[test]
fn levels_of_one_factor_are_compared_at_each_combination_of_the_others() {
    let sandbox = Sandbox::new();
    let text = "compare = \"pool\"\ncommand = \"echo result: $((N * 100 * ($POOL + 9) + DBTIME_SEED % 3))\"\n\
                [metric.speed]\nregex = 'result: (.*)'\nbetter = \"higher\"\n[design]\nblocks = 3\n\
                [gate]\nwait = \"0s\"\nsteal = \"99%\"\nforeign-cpu = \"1000%\"\n\
                [factors]\nN = [1, 8]\n\
                [factors.pool]\noff = \"POOL=0\"\non = \"POOL=1\"\n";
    sandbox.write("pool.toml", text);
    let plan = sandbox.run("study plan pool.toml").fine();
    plan.prints(&["against N=1 off", "against N=8 off"]);
    let ran = sandbox.run("study run pool.toml --out s --quiet").fine();
    ran.prints(&["N=1 on better than N=1 off: +11", "N=8 on better than N=8 off: +11"]);
    let json = document(&sandbox.run("study report s --json").fine());
    assert_eq!(json["comparisons"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["control"]["baseline"], "N=1 off");
    sandbox.write("none.toml", &text.replace("compare = \"pool\"", "compare = \"pond\""));
    sandbox.run("study plan none.toml").refused(2, &["pond", "none of the [factors]"]);
}
