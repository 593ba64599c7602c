//! The plan of a study, before its first run.

use super::resolution::resolution_text;
use crate::compare::groups::signed;
use crate::format::{clean, counted, seconds};
use crate::terminal::{PageStyle, ReportPage, ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::spec::WindowSpec;
use dbtime_model::study::{
    CellRole, ChosenSlices, NoiseRule, ProgramRules, StopRule, StudyCell, StudyData, StudyPlan,
};
use dbtime_stats::{detectable_change, detectable_range};

/// Run-to-run noise that the plan shows examples for where none was measured, as shares: what a
/// quiet machine of one's own has, and what shared ones have.
const USUAL_NOISE: [f64; 3] = [0.01, 0.02, 0.05];

/// What of the planned study is to be known before it is begun.
///
/// `orders`: the configurations of each block in the order of its runs.
/// Shape: lines of at most `style.columns` columns, the last one ended.
pub fn plan_text(plan: &StudyPlan, orders: &[Vec<u32>], style: PageStyle) -> String {
    let mut page = ReportPage::new(style);
    let title = page.paint(&format!("Study {}", clean(&plan.name)), TextRole::Bold);
    page.line(&title);
    for (name, text) in facts(plan) {
        page.fact(name, &text, TextRole::Plain);
    }
    page.heading("Configurations");
    page.table(&cells(plan));
    page.heading("Order of the runs");
    page.table(&blocks(plan, orders));
    page.finish()
}

/// The facts of a plan that a short text has.
const BRIEF: [&str; 4] = ["runs", "takes", "verdict", "resolves"];

/// The same in a few lines, at the beginning of the runs. `file`: how the shell is given the
/// study's file.
///
/// Shape: each fact in two lines at most, of at most `style.columns` columns, the last one ended.
pub fn brief_plan_text(plan: &StudyPlan, file: &str, style: PageStyle) -> String {
    let mut page = ReportPage::new(style).shortened();
    page.title(&format!("Plan of study {}", clean(&plan.name)));
    for (name, text) in facts(plan).iter().filter(|(name, _)| BRIEF.contains(name)) {
        page.fact(name, text, TextRole::Plain);
    }
    page.text(&format!("dbtime study plan {file} prints the rest"), TextRole::Dim);
    page.finish()
}

fn facts(plan: &StudyPlan) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    facts.extend(plan.question.as_ref().map(|text| ("question", clean(text))));
    let runs = plan.cells.len() as u64 * u64::from(plan.most_blocks());
    let slices = u64::from(plan.design.slices);
    let most = if matches!(plan.design.stop, StopRule::Fixed) { "" } else { "at most " };
    let chosen = plan.pilot.as_ref().and_then(|pilot| pilot.chosen);
    let choice = chosen.map_or(String::new(), |_| {
        format!(" of {} a run, which resolve most in the time", counted(slices, "slice"))
    });
    facts.push((
        "runs",
        format!(
            "{most}{}: {}{choice}, and each block has every configuration once, in random order \
             (seed {})",
            counted(runs, "run"),
            counted(u64::from(plan.most_blocks()), "block"),
            plan.design.seed
        ),
    ));
    if slices > 1 {
        facts.push((
            "slices",
            format!(
                "each run is made in {}, in rounds with one of every configuration, whose order is \
                 random and reversed in every other round; each target lives for its block, and \
                 the unit is the block{}",
                counted(slices, "slice"),
                chosen.map_or_else(String::new, reasons)
            ),
        ));
    }
    facts.push(("takes", length(plan, runs)));
    facts.push((
        "verdict",
        format!("on {}; margin {} %; {}", clean(&plan.primary), plan.margin_pct, stop(plan)),
    ));
    facts.push(("resolves", resolution(plan)));
    facts.push(("counts", counts(plan)));
    match &plan.program {
        Some(rules) => facts.push(("program", program(rules))),
        None => facts.push(("target", lives(plan))),
    }
    let is_traced = |cell: &StudyCell| cell.spec.as_ref().is_some_and(|spec| spec.window.trace);
    if plan.cells.iter().all(is_traced) {
        facts.push(("traced", "each run, which slows all configurations down alike".to_owned()));
    }
    facts
}

/// What slices were chosen by.
fn reasons(chosen: ChosenSlices) -> String {
    let percent = |deviation: f64| format!("{:.1} %", 100.0 * deviation);
    format!(
        "; so many, because neighbouring slices of two sides differ by {} and two lives by {}, \
         which leaves ±{:.1} % of a change",
        percent(chosen.slice_deviation),
        percent(chosen.life_deviation),
        chosen.half_width_pct
    )
}

/// Which runs are in the verdict.
fn counts(plan: &StudyPlan) -> String {
    let gate = &plan.gate;
    let runs = match gate.noise {
        NoiseRule::Stop => format!(
            "valid{} runs during which steal was at most {} % of all CPUs and other processes used \
             at most {} % of one",
            if gate.steady { ", steady" } else { "" },
            gate.steal_pct,
            gate.foreign_cpu_pct
        ),
        NoiseRule::Count => "valid runs, also beside noise of the machine".to_owned(),
    };
    let repeats = counted(u64::from(gate.repeats), "time");
    format!("{runs}; otherwise the block is repeated, up to {repeats}")
}

/// What the shell does for each run.
fn program(rules: &ProgramRules) -> String {
    let around = [("before it", &rules.prepare), ("after it", &rules.conclude)];
    let around = around.iter().filter_map(|(when, what)| Some((when, what.as_ref()?)));
    let around: String = around.map(|(when, what)| format!("; {when} {}", clean(what))).collect();
    let metrics = rules.metrics.iter().map(|metric| clean(&metric.name)).collect::<Vec<_>>();
    format!(
        "of the configurations below, at most {} a run; measured: {}{around}",
        minutes(rules.timeout_s),
        metrics.join(", ")
    )
}

fn length(plan: &StudyPlan, runs: u64) -> String {
    if let Some(pilot) = &plan.pilot {
        let all = minutes(pilot.seconds_a_run * runs as f64);
        return format!("about {all}: a run took {}", seconds(pilot.seconds_a_run));
    }
    let windows: Option<Vec<_>> =
        plan.cells.iter().map(|cell| cell.spec.as_ref().map(|spec| &spec.window)).collect();
    let Some(windows) = windows else {
        return "as long as the program takes (--pilot 3 measures that)".to_owned();
    };
    if windows.iter().any(|window| window.time.is_none()) {
        let unknown = "the time of the runs' transactions, plus starting, loading and ending \
                       (--pilot 3 measures that)";
        return unknown.to_owned();
    }
    let load_s = |window: &WindowSpec| {
        let time = window.time.map_or(0.0, |time| time.as_secs());
        time + window.warmup.map_or(0.0, |warmup| warmup.as_secs())
    };
    let block_s: f64 = windows.into_iter().map(load_s).sum();
    let all = minutes(block_s * f64::from(plan.most_blocks()));
    format!("{all} of load, plus starting, loading and ending (--pilot 3 measures that)")
}

fn minutes(length_s: f64) -> String {
    match length_s / 60.0 {
        minutes if minutes < 2.0 => seconds(length_s),
        minutes if minutes < 120.0 => format!("{minutes:.0} min"),
        minutes => format!("{:.1} h", minutes / 60.0),
    }
}

fn stop(plan: &StudyPlan) -> String {
    match plan.design.stop {
        StopRule::Fixed => "after all blocks, whatever they show".to_owned(),
        StopRule::Precision { half_width_pct, .. } => format!(
            "as soon as every change is known to ±{half_width_pct} %, after {} at least",
            counted(u64::from(plan.design.blocks), "block")
        ),
        StopRule::Looks { looks } => format!(
            "after each of {looks} equal shares of the blocks it may end, by the bounds of \
             O'Brien and Fleming"
        ),
    }
}

/// The changes that would be found in 80 % of cases.
fn resolution(plan: &StudyPlan) -> String {
    let blocks = plan.design.blocks as usize;
    // Of a pair both runs have the noise.
    let deviation = |noise: f64| 2f64.sqrt() * noise;
    let measured = plan.pilot.as_ref().and_then(|pilot| {
        let noise = noise(&pilot.values)?;
        Some((noise, pilot.values.len()))
    });
    let text = match measured {
        Some((noise, runs)) => detectable_range(deviation(noise), runs, blocks).map(|found| {
            format!(
                "{}, by the noise of {} before it, about {} % from run to run",
                resolution_text(&found),
                counted(runs as u64, "run"),
                (1000.0 * noise).round() / 10.0
            )
        }),
        None => {
            let found = |noise: f64| {
                let share = detectable_change(deviation(noise), blocks)?;
                Some(signed(share).trim_start_matches('+').to_owned())
            };
            let each = USUAL_NOISE
                .iter()
                .filter_map(|noise| Some(format!("{} % with {} %", found(*noise)?, 100.0 * noise)));
            let each = each.collect::<Vec<_>>();
            let list = each.join(", ");
            (!each.is_empty()).then(|| format!("changes of {list} of noise from run to run"))
        }
    };
    let text = match text {
        Some(text) => format!("{text} (in 80 % of cases)"),
        None => "nothing: one block gives no verdict".to_owned(),
    };
    match plan.design.slices > 1 {
        true => format!("{text}; by whole runs: slices resolve more, which the blocks will show"),
        false => text,
    }
}

/// The standard deviation of the logarithms, without the bias that it has of few values (c4).
fn noise(values: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let count = logs.len() as f64;
    if logs.len() < 2 || logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let c4 = 1.0 - 1.0 / (4.0 * count) - 7.0 / (32.0 * count * count);
    Some(variance.sqrt() / c4)
}

/// What the targets go through between two runs: a sentence for each kind that there is.
fn lives(plan: &StudyPlan) -> String {
    let mut lives: Vec<&str> = Vec::new();
    for spec in plan.cells.iter().filter_map(|cell| cell.spec.as_ref()) {
        let life = life(&spec.target.url, plan.data);
        if !lives.contains(&life) {
            lives.push(life);
        }
    }
    lives.join("; ")
}

/// What a target of this text goes through.
fn life(url: &str, data: StudyData) -> &'static str {
    let is_snapshot = data == StudyData::Snapshot;
    let (name, rest) = url.split_at(url.find([':', '?']).unwrap_or(url.len()));
    let path = rest.trim_start_matches(':');
    match name {
        "null" => "the null engine, which has neither a server nor data",
        "sqlite" if !(path.is_empty() || path.starts_with('?')) => {
            "the file as it is: each run finds the data that the previous run left"
        }
        "sqlite" if is_snapshot => {
            "a new file for each run, with data restored from a snapshot, which the first run makes"
        }
        "sqlite" => "a new file for each run, with freshly loaded data",
        // A URL, or the keywords of PostgreSQL's own clients.
        _ if rest.starts_with("://") || name.contains('=') => {
            "the server as it is: it is not restarted, and each run finds the data that the \
             previous run left"
        }
        _ if is_snapshot => {
            "a fresh server for each run, with data restored from a snapshot, which the first run \
             of each server and its settings makes"
        }
        _ => "a fresh server for each run, with freshly loaded data",
    }
}

fn cells(plan: &StudyPlan) -> ReportTable {
    let columns = ["Configuration", "", "Flags"].map(TextColumn::wrapped);
    let mut table = ReportTable::new(columns.into());
    let has_several = plan.with_role(CellRole::Baseline).count() > 1;
    for cell in &plan.cells {
        let role = match cell.role {
            CellRole::Baseline => "baseline".to_owned(),
            CellRole::Control => "A/A control".to_owned(),
            CellRole::Candidate if has_several => {
                format!("against {}", clean(&plan.cells[cell.baseline as usize].name))
            }
            CellRole::Candidate => String::new(),
        };
        let flags = cell.factors.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let texts = [clean(&cell.name), role, clean(&flags)];
        table.row(texts.iter().map(|text| TextCell::from(text.as_str())).collect());
    }
    table
}

fn blocks(plan: &StudyPlan, orders: &[Vec<u32>]) -> ReportTable {
    let mut table =
        ReportTable::new(vec![TextColumn::figure("Block"), TextColumn::wrapped("Runs")]);
    for (at, order) in orders.iter().enumerate() {
        let names = order.iter().map(|cell| clean(&plan.cells[*cell as usize].name));
        let names = names.collect::<Vec<_>>().join(" · ");
        table.row(vec![(at + 1).to_string().as_str().into(), names.as_str().into()]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use dbtime_model::spec::RunSpec;
    use dbtime_model::study::PilotRuns;

    fn fact(plan: &StudyPlan, wanted: &str) -> Option<String> {
        facts(plan).into_iter().find(|(name, _)| *name == wanted).map(|(_, text)| text)
    }

    #[test]
    fn what_a_few_runs_resolve_has_a_range() {
        let mut plan = sample::plan(&["n=1", "n=2"]);
        let usual = fact(&plan, "resolves").expect("examples");
        assert!(usual.starts_with("changes of ") && usual.contains(" % with 1 %"), "{usual}");
        let values = vec![100.0, 102.0, 98.0];
        plan.pilot = Some(PilotRuns { values, seconds_a_run: 4.0, chosen: None });
        let known = fact(&plan, "resolves").expect("a range");
        assert!(known.starts_with("changes of about "), "{known}");
        assert!(known.contains(" %), by the noise of 3 runs before it, about 2"), "{known}");
    }

    #[test]
    fn noise_of_the_machine_costs_no_block_where_it_counts() {
        let mut plan = sample::plan(&["n=1", "n=2"]);
        plan.gate.repeats = 9;
        let quiet = fact(&plan, "counts").expect("a rule");
        assert!(quiet.contains(" during which steal was at most "), "{quiet}");
        plan.gate.noise = NoiseRule::Count;
        let told = "valid runs, also beside noise of the machine; otherwise the block is repeated, \
                    up to 9 times";
        assert_eq!(fact(&plan, "counts").as_deref(), Some(told));
    }

    #[test]
    fn a_brief_plan_has_what_a_verdict_goes_by() {
        let mut plan = sample::plan(&["n=1", "n=2"]);
        plan.design.slices = 4;
        let text = brief_plan_text(&plan, "'a b/study.toml'", PageStyle::default());
        assert!(text.lines().count() <= 8, "{text}");
        for part in ["Plan of study sample", "6 runs: 3 blocks", "\n  takes ", "\n  resolves "] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.ends_with("  dbtime study plan 'a b/study.toml' prints the rest\n"), "{text}");
        assert!(!text.contains("slices    "), "{text}");
    }

    #[test]
    fn slices_that_were_chosen_have_the_reason() {
        let mut plan = sample::plan(&["n=1", "n=2"]);
        plan.design.slices = 4;
        let slices = fact(&plan, "slices").expect("slices");
        assert!(slices.ends_with("and the unit is the block"), "{slices}");
        let (values, seconds_a_run) = (vec![100.0, 102.0], 4.0);
        let (slice_deviation, life_deviation, half_width_pct) = (0.1, 0.04, 5.24);
        let chosen = Some(ChosenSlices { slice_deviation, life_deviation, half_width_pct });
        plan.pilot = Some(PilotRuns { values, seconds_a_run, chosen });
        let runs = fact(&plan, "runs").expect("runs");
        let told = "6 runs: 3 blocks of 4 slices a run, which resolve most in the time, and each ";
        assert!(runs.starts_with(told), "{runs}");
        let slices = fact(&plan, "slices").expect("slices");
        let told = "; so many, because neighbouring slices of two sides differ by 10.0 % and two \
                    lives by 4.0 %, which leaves ±5.2 % of a change";
        assert!(slices.ends_with(told), "{slices}");
    }

    #[test]
    fn runs_that_are_all_traced_are_said_to_be() {
        let mut plan = sample::plan(&["n=1", "n=2"]);
        let mut traced = RunSpec::default();
        traced.window.trace = true;
        plan.cells[0].spec = Some(traced.clone());
        plan.cells[1].spec = Some(RunSpec::default());
        assert_eq!(fact(&plan, "traced"), None);
        plan.cells[1].spec = Some(traced);
        assert!(fact(&plan, "traced").is_some_and(|text| text.contains("alike")));
    }

    #[test]
    fn what_happens_between_two_runs_is_told_by_the_target() {
        for (url, expected) in [
            ("null", "the null engine"),
            ("null:?service=20ms", "the null engine"),
            ("sqlite", "a new file for each run"),
            ("sqlite:?cache_size=10", "a new file for each run"),
            ("sqlite:/tmp/a.db", "the file as it is"),
            ("mariadb", "a fresh server for each run"),
            ("mysql:/opt/mysql", "a fresh server for each run"),
            ("mysql://root@127.0.0.1/a", "the server as it is"),
            ("host=h options='-c a:b?c'", "the server as it is"),
        ] {
            for data in [StudyData::Snapshot, StudyData::Loaded] {
                let life = life(url, data);
                assert!(life.starts_with(expected), "{url}: {life}");
                let is_private = expected.ends_with("for each run");
                let is_restored = is_private && data == StudyData::Snapshot;
                assert_eq!(life.contains("snapshot"), is_restored, "{url}: {life}");
            }
        }
    }
}
