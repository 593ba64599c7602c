//! What `dbtime doctor` has found: what can be told apart here, then what is bad, what is to be
//! noted, what is not known, and how much is good.

use crate::document::ReportDocument;
use crate::format::{one_line, percent, seconds};
use crate::terminal::{DETAILS, TextRole};
use dbtime_model::doctor::{
    DoctorFinding, DoctorReport, FindingGrade, FindingScope, NoiseResolution,
};
use dbtime_model::units::counted;

/// How much of the findings a report shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DoctorView {
    /// Whether to show all of them with all that is known of each, instead of one screen.
    pub details: bool,
}

/// Where there is no figure of what runs can tell apart.
const UNRESOLVED: &str = "not measured: --noise makes eight runs that show it";

/// How many names the first line has.
const MOST_NAMED: usize = 3;

/// The report. On one screen it has of each finding what is, why, and the remedy.
pub fn doctor_document(report: &DoctorReport, view: DoctorView) -> ReportDocument {
    match view.details {
        true => whole(report),
        false => ReportDocument::on_screen(|cut| short(report, cut)),
    }
}

/// The commands that fix what is bad or to be noted, as a script, and what undoes them, as its
/// comments. Shape: of a finding nothing but its remedies stands outside of a comment.
pub fn fix_script(report: &DoctorReport) -> String {
    let mut script = "#!/bin/sh\n# Remedies of `dbtime doctor`, for root: read each before you \
                      run it. Nothing has been changed.\n"
        .to_owned();
    let fixable: Vec<&DoctorFinding> = [FindingGrade::Bad, FindingGrade::Note]
        .into_iter()
        .flat_map(|grade| graded(report, grade))
        .filter(|finding| !finding.fix.is_empty())
        .collect();
    if fixable.is_empty() {
        return script + "\n# No finding has a remedy that is a command or a setting.\n";
    }
    for finding in &fixable {
        let (id, value) = (one_line(&finding.id), one_line(&finding.value));
        script += &format!("\n# {id}: {value}\n# {}\n", one_line(&finding.because));
        script += &format!("# {}\n", one_line(&finding.costs));
        script += &commands(finding, &finding.fix);
    }
    script += "\n# To undo all of it:\n";
    for finding in fixable.iter().filter(|finding| !finding.undo.is_empty()) {
        script += &format!("# {}:\n", one_line(&finding.id));
        let lines = finding.undo.lines().map(one_line);
        script.extend(lines.map(|line| format!("# {line}\n")));
    }
    script
}

/// Commands of a shell as they are; what is done to a server or a database is a comment.
fn commands(finding: &DoctorFinding, text: &str) -> String {
    let before = match finding.scope {
        FindingScope::Machine | FindingScope::Driver => "",
        FindingScope::Server | FindingScope::Data => "# on the target: ",
    };
    text.lines().map(|line| format!("{before}{}\n", one_line(line))).collect()
}

fn graded(report: &DoctorReport, grade: FindingGrade) -> impl Iterator<Item = &DoctorFinding> {
    report.findings.iter().filter(move |finding| finding.grade == grade)
}

/// What is bad, by name.
fn verdict(report: &DoctorReport) -> String {
    let bad: Vec<&str> =
        graded(report, FindingGrade::Bad).map(|finding| finding.id.as_str()).collect();
    let named = bad[..bad.len().min(MOST_NAMED)].join(", ");
    match bad.len() {
        0 if graded(report, FindingGrade::Note).next().is_none() => {
            "Nothing was found that spoils figures or production".to_owned()
        }
        0 => "Nothing bad was found, but see the notes".to_owned(),
        1..=MOST_NAMED => format!("Bad here: {named}"),
        all => format!("Bad here: {named} and {} more", all - MOST_NAMED),
    }
}

/// The first line, and how many findings there are of each grade.
fn headed(report: &DoctorReport) -> ReportDocument {
    let title = report.resolution.as_ref().map_or_else(|| verdict(report), resolution);
    let mut document = ReportDocument::new("dbtime doctor", &title);
    if let Some(target) = &report.target {
        document.fact("target", target, TextRole::Plain);
    }
    let grades = [FindingGrade::Bad, FindingGrade::Note, FindingGrade::Unknown, FindingGrade::Good];
    let counts = grades.map(|grade| match (graded(report, grade).count(), grade) {
        (notes, FindingGrade::Note) => counted(notes as u64, "note"),
        (findings, _) => format!("{findings} {}", grade.name()),
    });
    let checks = counted(report.findings.len() as u64, "check");
    document.fact("found", &format!("{} ({checks})", counts.join(", ")), TextRole::Bold);
    if report.resolution.is_none() {
        document.fact("differences", UNRESOLVED, TextRole::Dim);
    }
    document
}

fn resolution(found: &NoiseResolution) -> String {
    let NoiseResolution { throughput_pct, p50_pct, p99_pct, runs, run_s } = *found;
    format!(
        "Two runs here can show differences from about ±{} in throughput, ±{} in the p50 and ±{} \
         in the p99 on ({runs} runs of {})",
        percent(throughput_pct),
        percent(p50_pct),
        percent(p99_pct),
        seconds(run_s)
    )
}

/// How a grade is shown.
fn role(grade: FindingGrade) -> TextRole {
    match grade {
        FindingGrade::Good => TextRole::Good,
        FindingGrade::Note => TextRole::Warn,
        FindingGrade::Bad => TextRole::Bad,
        FindingGrade::Unknown => TextRole::Dim,
    }
}

fn title(grade: FindingGrade) -> &'static str {
    match grade {
        FindingGrade::Good => "Good",
        FindingGrade::Note => "Notes",
        FindingGrade::Bad => "Bad",
        FindingGrade::Unknown => "Not known",
    }
}

/// What fits on a screen; the more is cut, the less stands beside each finding.
fn short(report: &DoctorReport, cut: usize) -> ReportDocument {
    let mut document = headed(report).short();
    for grade in [FindingGrade::Bad, FindingGrade::Note] {
        let found: Vec<&DoctorFinding> = graded(report, grade).collect();
        if found.is_empty() {
            continue;
        }
        document.heading(title(grade));
        for finding in &found {
            let lines = if cut == 0 { 2 } else { 1 };
            let text = format!("{}: {}", finding.value, finding.because);
            document.fact_within(lines, &finding.id, &text, role(grade));
            if cut < 2 && !finding.fix.is_empty() {
                let fix = format!("fix: {}", finding.fix);
                document.fact_within(1, "", &fix, TextRole::Plain);
            }
        }
    }
    let unknown: Vec<&str> =
        graded(report, FindingGrade::Unknown).map(|finding| finding.id.as_str()).collect();
    if !unknown.is_empty() {
        document.heading(title(FindingGrade::Unknown));
        document.paragraph(&unknown.join(", "), TextRole::Dim);
    }
    let rest = format!(
        "{DETAILS}: costs, sources, how to undo a remedy, why something is not known, what is \
         good; --fix-script prints the remedies as a script"
    );
    document.remark(&rest, TextRole::Dim);
    document
}

/// All findings with all that is known of each.
fn whole(report: &DoctorReport) -> ReportDocument {
    let mut document = headed(report);
    let grades = [FindingGrade::Bad, FindingGrade::Note, FindingGrade::Unknown, FindingGrade::Good];
    for grade in grades {
        let mut found = graded(report, grade).peekable();
        if found.peek().is_none() {
            continue;
        }
        document.heading(title(grade));
        found.for_each(|finding| in_full(finding, &mut document));
    }
    document
}

fn in_full(finding: &DoctorFinding, document: &mut ReportDocument) {
    let text = match finding.value.is_empty() {
        true => finding.because.clone(),
        false => format!("{}: {}", finding.value, finding.because),
    };
    document.fact(&finding.id, &text, role(finding.grade));
    let rows = [
        ("good is", &finding.expected),
        ("costs", &finding.costs),
        ("fix", &finding.fix),
        ("undo", &finding.undo),
        ("source", &finding.source),
    ];
    // What is good needs no more than where that was read.
    let is_shown = |name: &str| finding.grade != FindingGrade::Good || name == "source";
    for (name, text) in rows.into_iter().filter(|(name, text)| is_shown(name) && !text.is_empty()) {
        document.fact("", &format!("{name}: {text}"), TextRole::Dim);
    }
}
