//! The report of `dbtime doctor`, its script, and findings with hostile texts.

use dbtime_model::doctor::{
    DoctorFinding, DoctorReport, FindingGrade, FindingScope, NoiseResolution,
};
use dbtime_report::reports::{DoctorView, doctor_document, fix_script};
use dbtime_report::terminal::PageStyle;

fn finding(id: &str, grade: FindingGrade) -> DoctorFinding {
    DoctorFinding {
        id: id.to_owned(),
        scope: FindingScope::Machine,
        grade,
        value: format!("{id} as it is"),
        expected: "as it should be".to_owned(),
        source: format!("/proc/{id}"),
        because: "it matters".to_owned(),
        costs: "measured: 3 ms".to_owned(),
        fix: format!("sysctl -w {id}=1"),
        undo: format!("sysctl -w {id}=0"),
    }
}

fn report() -> DoctorReport {
    let unknown = DoctorFinding {
        value: String::new(),
        because: "a host hides it".to_owned(),
        fix: String::new(),
        ..finding("governor", FindingGrade::Unknown)
    };
    let findings = vec![
        finding("aslr", FindingGrade::Good),
        finding("thp", FindingGrade::Note),
        finding("ports", FindingGrade::Bad),
        unknown,
    ];
    DoctorReport { findings, ..DoctorReport::default() }
}

fn text(report: &DoctorReport, details: bool) -> String {
    doctor_document(report, DoctorView { details }).text(PageStyle::default())
}

/// Where a text stands; each of them comes once.
fn place(text: &str, part: &str) -> usize {
    text.find(part).unwrap_or_else(|| panic!("no `{part}` in {text}"))
}

#[test]
fn the_worst_comes_first_and_good_ones_are_counted() {
    let text = text(&report(), false);
    assert!(text.starts_with("Bad here: ports\n"), "{text}");
    assert!(text.contains("not measured: --noise"), "{text}");
    assert!(text.contains("1 bad, 1 note, 1 unknown, 1 good (4 checks)"), "{text}");
    let order = ["ports as it is", "thp as it is", "governor"].map(|part| place(&text, part));
    assert!(order.is_sorted(), "{text}");
    assert!(text.contains("fix: sysctl -w ports=1"), "{text}");
    assert!(!text.contains("aslr") && !text.contains("/proc/ports"), "{text}");
}

#[test]
fn details_have_the_costs_the_source_and_the_reason_of_what_is_not_known() {
    let text = text(&report(), true);
    for part in ["costs: measured: 3 ms", "undo: sysctl -w thp=0", "a host hides it", "aslr as"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let html = doctor_document(&report(), DoctorView { details: true }).html();
    assert!(html.contains("ports as it is") && html.contains("aslr as it is"));
}

#[test]
fn the_resolution_is_the_first_line() {
    let resolution =
        NoiseResolution { throughput_pct: 1.4, p50_pct: 2.0, p99_pct: 6.0, runs: 8, run_s: 3.0 };
    let shown = text(&DoctorReport { resolution: Some(resolution), ..report() }, false);
    let shown = dbtime_report::one_line(&shown);
    assert!(shown.starts_with("Two runs here can show differences"), "{shown}");
    for part in ["±1.4 %", "in the p50", "in the p99", "8 runs of 3"] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn the_first_line_is_what_is_bad() {
    let of = |grade: FindingGrade, all: usize| {
        let findings = (0..all).map(|n| finding(&format!("check_{n}"), grade)).collect();
        let report = DoctorReport { findings, ..DoctorReport::default() };
        text(&report, false).lines().next().map(str::to_owned).unwrap_or_default()
    };
    let many = "Bad here: check_0, check_1, check_2 and 2 more";
    assert_eq!(of(FindingGrade::Bad, 5), many);
    assert!(of(FindingGrade::Note, 1).starts_with("Nothing bad was found, but"));
    assert_eq!(of(FindingGrade::Good, 1), "Nothing was found that spoils figures or production");
}

#[test]
fn many_findings_fit_on_a_screen() {
    let findings = (0..18).map(|n| finding(&format!("check_{n}"), FindingGrade::Note)).collect();
    let many = DoctorReport { findings, ..DoctorReport::default() };
    let text = text(&many, false);
    assert!(text.lines().count() <= dbtime_report::terminal::SCREEN_LINES, "{text}");
    assert!((0..18).all(|n| text.contains(&format!("check_{n} "))), "{text}");
}

#[test]
fn a_script_runs_the_remedies_and_has_how_to_undo_them_as_comments() {
    let mut report = report();
    let server = DoctorFinding { scope: FindingScope::Server, ..finding("x", FindingGrade::Bad) };
    report.findings.push(DoctorFinding { fix: "SET GLOBAL x = 1;".to_owned(), ..server });
    let script = fix_script(&report);
    let run: Vec<&str> =
        script.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    assert_eq!(run, ["sysctl -w ports=1", "sysctl -w thp=1"]);
    let undone = "# thp:\n# sysctl -w thp=0";
    for part in ["# on the target: SET GLOBAL x = 1;", undone, "# thp: thp as it is"] {
        assert!(script.contains(part), "no `{part}` in {script}");
    }
}

#[test]
fn a_script_without_a_remedy_has_no_command() {
    let lacking = DoctorFinding { fix: String::new(), ..finding("x", FindingGrade::Bad) };
    let script = fix_script(&DoctorReport { findings: vec![lacking], ..DoctorReport::default() });
    assert!(script.lines().all(|line| line.is_empty() || line.starts_with('#')), "{script}");
    assert!(script.contains("No finding has a remedy") && !script.contains("undo"), "{script}");
}

#[test]
fn a_hostile_text_drives_no_terminal_and_leaves_no_comment() {
    let hostile = DoctorFinding {
        value: "\u{1b}]0;x\u{7}\nreboot".to_owned(),
        because: "<script>alert(1)</script>\nreboot".to_owned(),
        ..finding("ports", FindingGrade::Bad)
    };
    let report = DoctorReport { findings: vec![hostile], ..DoctorReport::default() };
    assert!(!text(&report, true).contains('\u{1b}'));
    let page = doctor_document(&report, DoctorView { details: true }).html();
    assert!(!page.contains("<script>alert"));
    assert!(fix_script(&report).lines().all(|line| line != "reboot"));
}
