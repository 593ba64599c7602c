//! Verdicts on configurations whose names occur in the words of verdicts, in every medium.

use super::*;
use crate::compare::study::cell_comparison::WITHOUT_PAIR;
use crate::compare::{short_study_document, study_document, study_junit};
use crate::terminal::{PageStyle, SHORT_LINES};
use dbtime_model::record::RunRecord;
use dbtime_model::study::NoiseStop;

/// The baseline, then names that are a figure, a letter and a word of a verdict.
const CELLS: [&str; 4] = ["1", "4", "r", "run"];

fn run(tps: f64) -> RunRecord {
    let mut record = RunRecord { throughput_tps: tps, ..RunRecord::default() };
    let response = &mut record.latency_us.response;
    (response.mean, response.p50, response.p99) = (9e6 / tps, 8e6 / tps, 30e6 / tps);
    record
}

/// What changes from block to block by more than three blocks can tell from none.
fn unsettled(cell: &str, block: u32) -> RunRecord {
    let change = match block {
        _ if cell == CELLS[0] => 0.0,
        1 => 0.05,
        2 => -0.05,
        _ => 0.01,
    };
    run(1000.0 * (1.0 + change))
}

fn media(study: &StudyComparison) -> [(&'static str, String); 6] {
    let document = study_document(study);
    [
        ("text", document.text(PageStyle::default())),
        ("short text", short_study_document(study).text(PageStyle::default())),
        ("Markdown", document.markdown()),
        ("page", document.html()),
        ("JUnit", study_junit(study)),
        ("JSON", serde_json::to_string(study).expect("JSON")),
    ]
}

#[test]
fn every_configuration_is_named_in_every_medium() {
    let several = StudyComparison::of(&sample::study(&CELLS, unsettled));
    for cell in &CELLS[1..] {
        let alone = StudyComparison::of(&sample::study(&[CELLS[0], *cell], unsettled));
        for (medium, shown) in media(&several).into_iter().chain(media(&alone)) {
            let named = format!("{cell}: Undecided: ");
            assert!(shown.contains(&named), "{named}in {medium}: {shown}");
        }
    }
}

#[test]
fn what_is_open_has_the_blocks_that_may_decide_it_and_what_they_resolve() {
    let mut study = sample::study(&CELLS[..2], unsettled);
    assert_eq!(StudyComparison::of(&study).further_blocks(), None, "it is not over");
    study.history.finished = Some("all 3 blocks are complete".to_owned());
    let compared = StudyComparison::of(&study);
    let further = compared.further_blocks().expect("it is undecided");
    assert!((50..1000).contains(&further), "{further}");
    let text = study_document(&compared).text(PageStyle::default());
    assert!(text.contains("\n  resolves      changes of about "), "{text}");
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(&format!("about {further} more pairs")), "{text}");
    assert!(!text.contains("extended after looking"), "{text}");
    study.history.extended = Some(3);
    let text = study_document(&StudyComparison::of(&study)).text(PageStyle::default());
    assert!(text.contains("are complete; extended after looking"), "{text}");
    study.history.left_out.insert(1, "no server".to_owned());
    assert_eq!(StudyComparison::of(&study).further_blocks(), None, "none would have a run of it");
    let clear = |cell: &str, _: u32| run(if cell == CELLS[0] { 1000.0 } else { 1100.0 });
    let mut study = sample::study(&CELLS[..2], clear);
    study.history.finished = Some("all 3 blocks are complete".to_owned());
    let compared = StudyComparison::of(&study);
    assert_eq!(compared.further_blocks(), None);
    let text = study_document(&compared).text(PageStyle::default());
    assert!(!text.contains("resolves"), "{text}");
}

/// Figures stand behind names.
#[test]
fn a_long_name_cuts_no_figures_of_the_one_verdict() {
    let long = ["a name that is a whole sentence, as of a sweep of settings"; 4].join(" ");
    let alone = StudyComparison::of(&sample::study(&[CELLS[0], &long], unsettled));
    let text = short_study_document(&alone).text(PageStyle::default());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (verdict, _) = text.split_once("the runs of a pair").expect("what stands below it");
    assert!(verdict.contains(&format!("{long}: Undecided: ")), "{text}");
    assert!(verdict.contains(" pairs; "), "{text}");
}

/// Of fifteen configurations beside the baseline.
fn short_text_of_many(run: impl Fn(&str, u32) -> RunRecord) -> String {
    short_text_of(15, run)
}

/// Of so many configurations beside the baseline.
fn short_text_of(others: u32, run: impl Fn(&str, u32) -> RunRecord) -> String {
    let others: Vec<String> = (2..2 + others).map(|number| format!("c{number}")).collect();
    let mut cells = vec![CELLS[0]];
    cells.extend(others.iter().map(String::as_str));
    let study = StudyComparison::of(&sample::study(&cells, run));
    short_study_document(&study).text(PageStyle::default())
}

#[test]
fn a_short_text_of_many_configurations_fits_on_a_screen() {
    let text = short_text_of_many(unsettled);
    assert!(text.lines().count() <= SHORT_LINES, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let further = "9 further verdicts, none of them worse, 9 undecided: --details prints all";
    let names = "undecided too: c8, c9, c10, c11, c12, c13, c14, c15, c16\n";
    for expected in ["c2: Undecided", further, names, "\n  runs  ", "\n  study  "] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// A gate ends with 4 by any of them.
#[test]
fn a_short_text_leaves_out_no_verdict_that_is_undecided_where_there_is_room() {
    let text = short_text_of(7, unsettled);
    assert!(text.lines().count() <= SHORT_LINES, "{text}");
    assert_eq!(text.matches(": Undecided: ").count(), 7, "{text}");
    assert!(!text.contains("further verdict"), "{text}");
}

/// What a gate fails by stands on the screen, however many there are, and however far behind.
#[test]
fn a_short_text_leaves_out_no_verdict_that_is_worse() {
    let text = short_text_of_many(|cell, block| {
        let noise = 0.0002 * (f64::from(block) - 2.0);
        match cell {
            "c15" | "c16" => run(700.0 * (1.0 + noise)),
            _ if cell == CELLS[0] => run(1000.0 * (1.0 + noise / 2.0)),
            _ => run(1000.0 * (1.0 + noise)),
        }
    });
    let verdicts = text.lines().find(|line| line.contains("verdicts")).expect("the first");
    assert!(verdicts.contains("c15 slower than 1: "), "{text}");
    assert!(text.contains("c16 slower than 1: ") && text.contains("c5: Same"), "{text}");
    assert!(text.contains("9 further verdicts, none of them worse or undecided"), "{text}");
    let all = short_text_of_many(|cell, block| {
        let speed = if cell == CELLS[0] { 1.0 } else { 0.7 };
        run(1000.0 * speed * (1.0 + 0.001 * f64::from(block)))
    });
    assert_eq!(all.matches(" slower than 1: ").count(), 15, "{all}");
}

#[test]
fn what_names_its_configuration_does_so_once() {
    let faster = |cell: &str, block: u32| {
        let speed = if cell == CELLS[0] { 1.0 } else { 1.3 };
        run(1000.0 * speed * (1.0 + 0.001 * f64::from(block)))
    };
    let study = StudyComparison::of(&sample::study(&CELLS, faster));
    for (one, cell) in study.comparisons.iter().zip(&CELLS[1..]) {
        let verdict = one.verdict.to_string();
        assert!(verdict.starts_with(&format!("{cell} faster than 1: +30.0 % ")), "{verdict}");
    }
}

#[test]
fn json_has_the_sentence_and_what_it_comes_to() {
    let study = StudyComparison::of(&sample::study(&["1", "run"], unsettled));
    let verdict = &study.comparisons[0].verdict;
    let json = serde_json::to_string(&study).expect("JSON");
    let begin = r#""comparisons":[{"cell":"run","baseline":"1","verdict":""#;
    let end = r#"","outcome":"undecided","comparison":{"schema":1,"#;
    assert!(json.contains(&format!("{begin}{verdict}{end}")), "{json}");
}

#[test]
fn a_control_that_differs_leaves_no_verdict() {
    let differing = |cell: &str, block: u32| match cell {
        "again" => run(1300.0 + f64::from(block)),
        cell => unsettled(cell, block),
    };
    let mut recorded = sample::study(&["1", "again", "r"], differing);
    recorded.plan.cells[1].role = CellRole::Control;
    let study = StudyComparison::of(&recorded);
    let verdict = study.comparisons[0].verdict.to_string();
    assert!(verdict.starts_with("Unstable: A/A control differs: again faster than 1: +30."));
    assert!(verdict.contains("; no verdict on r slower than 1: "), "{verdict}");
    assert!(study_junit(&study).contains("<error message=\"Unstable: "));
}

/// Half as fast is half as fast, whatever made the baseline differ from itself by 2 %.
#[test]
fn a_change_many_times_as_large_as_that_of_the_control_stands() {
    let differing = |factor: f64| {
        move |cell: &str, block: u32| {
            let of = |factor: f64| run(1000.0 * factor + f64::from(block));
            of(match cell {
                "again" => 1.02,
                "r" => factor,
                _ => 1.0,
            })
        }
    };
    let verdict = |factor: f64| {
        let mut recorded = sample::study(&["1", "again", "r"], differing(factor));
        recorded.plan.cells[1].role = CellRole::Control;
        let study = StudyComparison::of(&recorded);
        let text = study_document(&study).text(PageStyle::default());
        let words: Vec<&str> = text.split_whitespace().collect();
        let is_told = words.join(" ").contains("; a change many times as large stands");
        (study.comparisons[0].verdict.to_string(), is_told)
    };
    let (text, is_told) = verdict(0.5);
    assert!(text.starts_with("r slower than 1: −50.4") && is_told, "{text}");
    let (text, is_told) = verdict(0.96);
    assert!(text.starts_with("Unstable: A/A control differs: ") && !is_told, "{text}");
}

/// At 95 % one study in twenty would have no verdict, by chance.
#[test]
fn a_control_that_may_differ_by_chance_is_shown_and_withholds_nothing() {
    let differing = |cell: &str, block: u32| {
        let scatter = 1.0 + [0.0, 0.006, -0.006][block as usize % 3];
        run(match cell {
            "again" => 1020.0 * scatter,
            "r" => 960.0,
            _ => 1000.0,
        })
    };
    let mut recorded = sample::study(&["1", "again", "r"], differing);
    recorded.plan.cells[1].role = CellRole::Control;
    let study = StudyComparison::of(&recorded);
    let control = study.control.as_ref().expect("a control").verdict.to_string();
    assert!(control.starts_with("again faster than 1: +2."), "{control}");
    let verdict = study.comparisons[0].verdict.to_string();
    assert!(!verdict.starts_with("Unstable"), "{verdict}");
    let text = study_document(&study).text(PageStyle::default());
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains("; not at 99 %, so that the verdicts stand"), "{text}");
}

/// Fewer runs than a verdict takes show no difference, however near to each other they are.
#[test]
fn a_control_of_two_runs_differs_from_nothing() {
    let differing = |cell: &str, block: u32| match cell {
        "again" => run(1300.0 + f64::from(block)),
        cell => unsettled(cell, block),
    };
    let mut recorded = sample::study(&["1", "again", "r"], differing);
    recorded.plan.cells[1].role = CellRole::Control;
    recorded.history.runs.truncate(6);
    recorded.records.truncate(6);
    let verdict = StudyComparison::of(&recorded).comparisons[0].verdict.to_string();
    assert!(verdict.starts_with("r: No verdict: 2 valid runs of 1 and 2"), "{verdict}");
}

/// A sweep without repeats, some of whose runs are not valid.
#[test]
fn the_runs_of_a_round_are_compared_though_others_do_not_count() {
    let mut recorded = sample::study(&["1", "bad", "r"], unsettled);
    recorded.plan.order = RunOrder::Rounds;
    recorded.history.runs[1].outcome = Some(TrialOutcome::Invalid);
    recorded.history.runs.truncate(3);
    recorded.records.truncate(3);
    let study = StudyComparison::of(&recorded);
    let [bad, good] = [0, 1].map(|at| study.comparisons[at].verdict.to_string());
    assert!(bad.starts_with("bad: Invalid: no run of bad is valid; "), "{bad}");
    assert!(good.starts_with("r: No verdict: single runs of 1 and r; "), "{good}");
    let text = "2 runs in 1 block count, 1 does not: the table of runs has why";
    assert_eq!(study.runs_text(ShownVerdicts::All), text);
    let mut study = study;
    study.runs[0].is_invalid = true;
    let text = "2 runs in 1 block count (1 is NOT VALID for other figures), 1 does not: ";
    assert!(study.runs_text(ShownVerdicts::All).starts_with(text), "counted for its metric alone");
}

/// A block that is broken off has valid runs, too.
#[test]
fn runs_whose_blocks_do_not_count_are_not_said_to_be_invalid() {
    let verdict = |invalid: [usize; 3]| {
        let mut recorded = sample::study(&["1", "r"], unsettled);
        for at in invalid {
            recorded.history.runs[at].outcome = Some(TrialOutcome::Invalid);
        }
        StudyComparison::of(&recorded).comparisons[0].verdict.to_string()
    };
    let of_one = verdict([1, 3, 5]);
    assert!(of_one.starts_with("r: Invalid: no run of r is valid; "), "{of_one}");
    let of_both = verdict([1, 2, 5]);
    assert!(of_both.starts_with("r: Invalid: no run of 1 and no run of r counts, "), "{of_both}");
}

/// What counts without its counterpart makes no pairs of runs that are not of one round.
#[test]
fn of_rounds_whole_pairs_are_compared() {
    let mut recorded = sample::study(&["1", "r"], unsettled);
    recorded.plan.order = RunOrder::Rounds;
    recorded.history.runs[2].outcome = Some(TrialOutcome::Invalid);
    let study = StudyComparison::of(&recorded);
    let comparison = &study.comparisons[0].comparison;
    assert!(comparison.paired);
    let excluded = |at: usize| comparison.b.runs[at].excluded.as_deref();
    assert_eq!([0, 1, 2].map(excluded), [None, Some(WITHOUT_PAIR), None]);
}

/// Whatever was decided of it when it was made.
#[test]
fn a_run_counts_by_the_metric_of_the_verdicts() {
    let late = |cell: &str, block: u32| {
        let mut record = unsettled(cell, block);
        let set = &mut record.latency_us;
        set.without_lag = set.response;
        (set.without_lag.p99, set.lag.p999) = (0.5 * set.response.p99, set.response.p99);
        record.counts.completed = 1000;
        record
    };
    let mut recorded = sample::study(&["1", "r"], late);
    let excluded = |recorded: &RecordedStudy| {
        let runs = StudyComparison::of(recorded).runs;
        runs.into_iter().filter_map(|run| run.excluded).collect::<Vec<String>>()
    };
    assert!(excluded(&recorded).is_empty());
    recorded.plan.primary = "p99".to_owned();
    let why = "not counted for p99: the driver's lag makes up to 50 % of it";
    assert_eq!(excluded(&recorded), [why; 6]);
}

/// What was compared before it was left out stays; what never ran has only its error.
#[test]
fn what_is_left_out_is_named_and_keeps_the_pairs_that_it_has() {
    let mut recorded = sample::study(&["1", "late", "never"], unsettled);
    let mut kept: Vec<bool> = recorded.history.runs.iter().map(|run| run.trial.cell != 2).collect();
    recorded.history.runs.retain(|run| run.trial.cell != 2);
    recorded.records.retain(|_| kept.remove(0));
    (recorded.history.runs[5].outcome, recorded.records[5]) = (Some(TrialOutcome::Failed), None);
    let errors = ["its last 3 runs failed: no server", "unknown setting"].map(str::to_owned);
    recorded.history.left_out = [1, 2].into_iter().zip(errors).collect();
    let study = StudyComparison::of(&recorded);
    assert_eq!((study.comparisons.len(), study.complete_blocks), (1, 3));
    let comparison = &study.comparisons[0].comparison;
    assert_eq!((comparison.paired, comparison.b.runs.len()), (true, 2));
    let excluded = |at: usize| comparison.a.runs[at].excluded.as_deref();
    assert_eq!([0, 1, 2].map(excluded), [None, None, Some(WITHOUT_PAIR)]);
    let told = "LEFT OUT: late (its last 3 runs failed: no server), never (unknown setting); ";
    assert!(study.left_out_text().is_some_and(|text| text.starts_with(told)));
    let junit = study_junit(&study);
    let error = "name=\"never can run\"><error message=\"unknown setting\"/>";
    assert!(junit.contains(error), "{junit}");
}

/// It is over for now, and says how it goes on.
#[test]
fn a_study_that_noise_has_stopped_is_not_finished() {
    let mut recorded = sample::study(&["1", "r"], unsettled);
    let reason = "stopped by noise: 4 blocks".to_owned();
    recorded.history.noise = Some(NoiseStop { reason, repeats: 9, at: String::new() });
    let study = StudyComparison::of(&recorded);
    let told = "stopped by noise: 4 blocks; continue with dbtime study resume DIR --repeats 9";
    assert_eq!((study.state.as_str(), study.is_finished), (told, false));
    assert!(study_junit(&study).contains(&format!("<skipped message=\"{told}\"/>")));
}

/// The sentence begins with the name of the configuration, and is an error all the same.
#[test]
fn what_cannot_be_compared_is_an_error() {
    let mut recorded = sample::study(&["1", "run"], unsettled);
    recorded.plan.primary = "server-cpu".to_owned();
    let study = StudyComparison::of(&recorded);
    let junit = study_junit(&study);
    let why = "run: Invalid: server CPU per transaction was not measured in any run of 1 and any \
               run of run; ";
    assert!(junit.contains(&format!("<error message=\"{why}")), "{junit}");
    let markdown = study_document(&study).markdown();
    assert!(markdown.contains(&format!("- verdict: **{why}")), "{markdown}");
}

/// A server that serves nothing is slower.
#[test]
fn what_is_zero_in_all_runs_of_a_configuration_differs_in_its_unit() {
    let nothing = |cell: &str, block: u32| match cell {
        "run" => RunRecord::default(),
        cell => unsettled(cell, block),
    };
    let junit = study_junit(&StudyComparison::of(&sample::study(&["1", "run"], nothing)));
    assert!(junit.contains("<failure message=\"run slower than 1: −1,000 (95 % CI "), "{junit}");
}

/// A file without a case would be green.
#[test]
fn without_a_verdict_there_is_a_case_that_says_so() {
    let mut study = StudyComparison::of(&sample::study(&CELLS, unsettled));
    study.comparisons.clear();
    study.control = None;
    let says = |study: &StudyComparison, element: &str| {
        let junit = study_junit(study);
        assert!(junit.contains(element), "{element}: {junit}");
    };
    study.is_finished = true;
    says(&study, "<error message=\"No verdict: no run counts\"/>");
    study.is_finished = false;
    says(&study, "<skipped message=\"No verdict: no run counts yet\"/>");
    study.cells.truncate(1);
    says(&study, "<skipped message=\"No verdict: of one configuration alone there is none\"/>");
}
