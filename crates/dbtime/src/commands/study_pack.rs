//! `dbtime study pack` and `verify`: a study as one file, and its figures from its raw files.

use super::study::{folder_of, json_of, read};
use crate::cli::{StudyPackArgs, StudyVerifyArgs};
use crate::exit::{CommandFailure, ProcessExit};
use crate::{interrupt, screen};
use dbtime_lab::study::{
    RunsVerified, changed_files, changed_plan, pack_study, unpack_study, verify_runs,
};
use dbtime_model::bounded_file::recorded_text;
use dbtime_model::plain_text::legible_path;
use dbtime_model::study::{RecordedStudy, RunOrder, study_file, study_table};
use dbtime_model::units::{count, count_sum, counted};
use dbtime_report::compare::StudyComparison;
use dbtime_report::{one_line, wrap};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// By which share a figure of another build may differ: of the last digits of sums.
const SAME: f64 = 1e-9;

/// How many figures are listed before the rest are counted.
const MOST_LISTED: usize = 10;

/// Columns before what a check has found.
const MARGIN: usize = 18;

pub(crate) fn pack(args: &StudyPackArgs) -> Result<ProcessExit, CommandFailure> {
    let folder = folder_of(&args.study)?;
    let lost = read(&folder)?.lost_text();
    let archive = match &args.out {
        Some(out) => out.clone(),
        None => PathBuf::from(format!("{}.tar.gz", name(&folder)?)),
    };
    let manifest = pack_study(&folder, &archive)?;
    let bytes = count_sum(manifest.files.iter().map(|file| file.bytes));
    screen::result(&format!(
        "Packed: {}\n{}, {:.1} MB before compression; manifest.json has their SHA-256\n",
        legible_path(&archive),
        counted(manifest.files.len() as u64, "file"),
        bytes as f64 / 1e6
    ));
    if let Some(lost) = lost {
        screen::result(&format!("Incomplete: {}, as `verify` will say\n", one_line(&lost)));
    }
    Ok(ProcessExit::Fine)
}

fn name(folder: &Path) -> Result<String, CommandFailure> {
    let folder = folder.canonicalize().map_err(CommandFailure::environment)?;
    Ok(folder.file_name().map_or("study".into(), |name| name.to_string_lossy()).into_owned())
}

pub(crate) fn verify(args: &StudyVerifyArgs) -> Result<ProcessExit, CommandFailure> {
    if !args.study.is_file() || is_toml(&args.study) {
        return verify_folder(&folder_of(&args.study)?);
    }
    // What is unpacked is not left behind.
    interrupt::end_by_first();
    let unpacked = unpack_study(&args.study)?;
    if unpacked.problems().is_empty() {
        return verify_folder(unpacked.folder());
    }
    // Nothing of it can be believed then.
    screen::result(&format!("Archive {}\n", legible_path(&args.study)));
    VerifiedCheck::of_files(unpacked.problems().to_vec()).show();
    Ok(ProcessExit::Failed)
}

fn verify_folder(folder: &Path) -> Result<ProcessExit, CommandFailure> {
    let study = read(folder)?;
    let verified = verify_runs(folder, &study);
    let mut checks = vec![files(folder, &verified)?, plan(folder, &study), runs(&verified)];
    match study.plan.order {
        // Both are of all runs.
        RunOrder::Blocks if study.lost_text().is_some() => checks.push(VerifiedCheck::taken(
            "table",
            format!("{} and {}, for runs are lost", study_file::TABLE, study_file::ANALYSIS),
        )),
        RunOrder::Blocks => checks.extend([table(folder, &study), analysis(folder, &study)?]),
        RunOrder::Rounds | RunOrder::Search => checks.push(match study.history.finished {
            Some(_) if study.missing_runs().next().is_some() => {
                let unread = format!("{}, for runs are lost", study_file::TABLE);
                VerifiedCheck::taken("table", unread)
            }
            Some(_) => table(folder, &study),
            None => unfinished(&study),
        }),
    }
    checks.push(VerifiedCheck::taken("rest", verified.taken.join("; ")));
    screen::result(&format!("Study {}\n", one_line(&study.plan.name)));
    checks.iter().for_each(VerifiedCheck::show);
    Ok(match checks.iter().all(|check| check.problems.is_empty()) {
        true => ProcessExit::Fine,
        false => ProcessExit::Failed,
    })
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

/// One look at a study.
struct VerifiedCheck {
    /// How it has come out where there is no problem.
    word: &'static str,
    name: &'static str,
    /// What holds where there is no problem.
    fine: String,
    problems: Vec<String>,
}

impl VerifiedCheck {
    fn new(name: &'static str, fine: String, problems: Vec<String>) -> Self {
        Self { word: "ok", name, fine, problems }
    }

    /// Of the files of a packed study.
    fn of_files(problems: Vec<String>) -> Self {
        Self::new("files", "all files are as they were packed".to_owned(), problems)
    }

    /// What was not looked at.
    fn taken(name: &'static str, what: String) -> Self {
        Self { word: "–", ..Self::new(name, format!("not verified: {what}"), Vec::new()) }
    }

    /// Of what is written once no more runs are made.
    fn unwritten(name: &'static str, file: &str) -> Self {
        let fine = format!(
            "{file} is not written yet: that is done when the runs end, or dbtime study resume DIR \
             has made the rest"
        );
        Self { word: "–", ..Self::new(name, fine, Vec::new()) }
    }

    fn show(&self) {
        screen::result(&self.text(screen::style().columns));
    }

    /// Its lines, of at most so many columns, without what names of files and figures could do to a
    /// terminal.
    fn text(&self, columns: usize) -> String {
        let (word, texts) = match self.problems.is_empty() {
            true => (self.word, std::slice::from_ref(&self.fine)),
            false => ("WRONG", self.problems.as_slice()),
        };
        let room = columns.saturating_sub(MARGIN);
        let lines = texts.iter().flat_map(|text| wrap(&one_line(text), room));
        let with_names = lines.enumerate().map(|(at, line)| {
            let (word, name) = if at == 0 { (word, self.name) } else { ("", "") };
            format!("  {word:<6}{name:<10}{line}\n")
        });
        with_names.collect()
    }
}

fn files(folder: &Path, verified: &RunsVerified) -> Result<VerifiedCheck, CommandFailure> {
    Ok(changed_files(folder)?.map_or_else(
        || VerifiedCheck { fine: unpacked(verified), ..VerifiedCheck::of_files(Vec::new()) },
        VerifiedCheck::of_files,
    ))
}

/// By what files are checked that were never packed.
fn unpacked(verified: &RunsVerified) -> String {
    match verified.digested {
        0 => "not packed: changes to files cannot be detected".to_owned(),
        digested => format!(
            "not packed: the files of {}{} are checked by their SHA-256 in the journal, changes to \
             others cannot be detected",
            // Those of a run that was cut off have none there.
            if digested < verified.runs { format!("{digested} of ") } else { String::new() },
            counted(digested.max(verified.runs) as u64, "run")
        ),
    }
}

fn plan(folder: &Path, study: &RecordedStudy) -> VerifiedCheck {
    let changed = changed_plan(folder, &study.history).into_iter();
    let problems = changed.map(|name| format!("{name} was changed after the first run"));
    let fine = format!("{} is as it was at the first run", study_file::PLAN);
    VerifiedCheck::new("plan", fine, problems.collect())
}

fn runs(verified: &RunsVerified) -> VerifiedCheck {
    let uncounted = match verified.uncounted.join(", ") {
        none if none.is_empty() => none,
        places => format!("; these do not count: {places}"),
    };
    let files = match verified.are_of_program {
        true => format!("{} and {}", study_file::PROGRAM_OUTPUT, study_file::PROGRAM_USAGE),
        false => "series, histograms and parts".to_owned(),
    };
    let runs = counted(verified.runs as u64, "run");
    let fine = format!("the figures of {runs} follow from their {files}{uncounted}");
    VerifiedCheck::new("runs", fine, verified.problems.clone())
}

fn table(folder: &Path, study: &RecordedStudy) -> VerifiedCheck {
    let file = study_file::TABLE;
    let there = recorded_text(&folder.join(file)).unwrap_or_default();
    let computed = study_table(study);
    let problems = match there == computed {
        true => Vec::new(),
        false if is_open(study) && there.lines().count() < computed.lines().count() => {
            return VerifiedCheck::unwritten("table", file);
        }
        false => vec![format!("{file} differs from the records")],
    };
    VerifiedCheck::new("table", format!("{file} follows from the records"), problems)
}

/// Whether runs are made, or were cut off: the table and the analysis are written behind them.
fn is_open(study: &RecordedStudy) -> bool {
    study.history.finished.is_none() && study.history.noise.is_none()
}

/// Whether an analysis is of fewer runs than there are, or of before the study went on.
fn is_older(there: &Value, computed: &Value) -> bool {
    let runs = |of: &Value| of["runs"].as_array().map_or(0, Vec::len);
    runs(there) < runs(computed) || there["is_finished"].as_bool() == Some(true)
}

/// Of a sweep or a search that was cut off: its table is written when it ends.
fn unfinished(study: &RecordedStudy) -> VerifiedCheck {
    let made = study.ended_runs();
    let what = match study.plan.most_runs() {
        Some(all) => format!("{} of {all} runs remain to be made", all.saturating_sub(made)),
        None => format!("the search stopped after {}", counted(made, "run")),
    };
    let file = study_file::TABLE;
    let fine = format!("{what}: dbtime study resume DIR continues, and writes {file}");
    VerifiedCheck::new("course", fine, Vec::new())
}

fn analysis(folder: &Path, study: &RecordedStudy) -> Result<VerifiedCheck, CommandFailure> {
    let file = study_file::ANALYSIS;
    let computed: Value = serde_json::from_str(&json_of(&StudyComparison::of(study))?)
        .map_err(CommandFailure::environment)?;
    if is_open(study) && !folder.join(file).is_file() {
        return Ok(VerifiedCheck::unwritten("analysis", file));
    }
    let there = recorded_text(&folder.join(file)).map_err(|error| error.to_string());
    let there = there
        .and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| error.to_string()));
    let mut compared = FiguresCompared::default();
    match there {
        Ok(there) if is_open(study) && is_older(&there, &computed) => {
            return Ok(VerifiedCheck::unwritten("analysis", file));
        }
        Ok(there) => compared.compare("", &there, &computed),
        Err(reason) => compared.different.push(format!("{file} cannot be read: {reason}")),
    }
    let more = compared.different.len().saturating_sub(MOST_LISTED);
    compared.different.truncate(MOST_LISTED);
    if more > 0 {
        compared.different.push(format!("and {more} more"));
    }
    let fine =
        format!("{file}: all {} figures follow from the records", count(compared.figures as u64));
    Ok(VerifiedCheck::new("analysis", fine, compared.different))
}

/// Two documents, figure by figure.
#[derive(Default)]
struct FiguresCompared {
    figures: usize,
    different: Vec<String>,
}

impl FiguresCompared {
    fn compare(&mut self, place: &str, there: &Value, computed: &Value) {
        match (there, computed) {
            (Value::Object(a), Value::Object(b)) => {
                for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                    let [a, b] = [a, b].map(|of| of.get(key).unwrap_or(&Value::Null));
                    self.compare(&format!("{place}/{key}"), a, b);
                }
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (at, (a, b)) in a.iter().zip(b).enumerate() {
                    self.compare(&format!("{place}/{at}"), a, b);
                }
            }
            (a, b) => {
                self.figures += 1;
                if !is_same(a, b) {
                    self.different.push(format!(
                        "{}: {place} is {a}, but the records give {b}",
                        study_file::ANALYSIS
                    ));
                }
            }
        }
    }
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= SAME * a.abs().max(b.abs()).max(1.0),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_longer_than_a_line_goes_on_in_the_next_one() {
        let rest = VerifiedCheck::taken("rest", "CPU, memory, queue and lag".to_owned());
        let margin = " ".repeat(MARGIN);
        let lines =
            format!("  –     rest      not verified: CPU,\n{margin}memory, queue and lag\n");
        assert_eq!(rest.text(42), lines);
        let problems = ["a is gone", "b was added"].map(str::to_owned).to_vec();
        let lines = format!("  WRONG files     a is gone\n{margin}b was added\n");
        assert_eq!(VerifiedCheck::of_files(problems).text(42), lines);
    }

    #[test]
    fn figures_are_compared_at_their_places() {
        let mut compared = FiguresCompared::default();
        let a = json!({ "x": [1.0, 2.0], "gone": 3, "same": 1.0 });
        let b = json!({ "x": [1.0, 2.5], "same": 1.000_000_000_000_1 });
        compared.compare("", &a, &b);
        assert_eq!(compared.figures, 4);
        assert_eq!(
            compared.different,
            [
                "analysis.json: /gone is 3, but the records give null",
                "analysis.json: /x/1 is 2.0, but the records give 2.5"
            ]
        );
    }
}
