//! The report of a record: its blocks in the order in which a reader asks.

use super::advice::{AdviceView, advice};
use super::answer::answer;
use super::counters::counters;
use super::forms::{
    comparison_facts, deciles, form_fact, form_facts, form_parts, forms_table, is_mixed, means_note,
};
use super::plan_tree::{MOST_INFLATION, PlanTreeView, plan_drawing};
use super::ratio_text::ratio;
use super::rows::{rows_difference, rows_facts};
use super::tournament::tournament;
use crate::document::ReportDocument;
use crate::format::{count, counted, fit, one_line, us};
use crate::terminal::{DETAILS, TextRole};
use dbtime_model::query::{
    FormVerdict, KeySummary, QueryAdvice, QueryForm, QueryRecord, QueryTarget, StatementPlan,
};

/// What a page has above its title.
const COMMAND: &str = "dbtime query";

/// Columns of the name of a form in a heading.
const NAME_COLUMNS: usize = 40;

/// Steps of a plan, at most, where all of it is shown.
const MOST_STEPS: usize = 500;

/// How the report of a record is to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryReportOptions {
    /// Whether to show all that is known, instead of one screen.
    pub details: bool,
    /// Whether keys and rows that differ are shown with their values.
    pub shows_values: bool,
}

/// How much of each section there is room for.
struct SectionRoom {
    details: bool,
    steps: usize,
    rows: usize,
    advice: usize,
    /// Whether reasons stand below what they are the reasons of.
    reasons: bool,
}

impl SectionRoom {
    /// All of it.
    const WHOLE: Self = Self {
        details: true,
        steps: MOST_STEPS,
        rows: usize::MAX,
        advice: usize::MAX,
        reasons: true,
    };

    /// What is left on a screen where so much is cut.
    fn on_screen(cut: usize) -> Self {
        Self {
            details: false,
            steps: [9, 7, 5, 4, 3].get(cut).copied().unwrap_or(2),
            rows: 8_usize.saturating_sub(cut).max(2),
            advice: 3_usize.saturating_sub(cut / 2).max(1),
            reasons: cut == 0,
        }
    }
}

/// The report. Without details it has of each section what weighs most, on one screen where there
/// is a way.
pub fn query_document(record: &QueryRecord, options: QueryReportOptions) -> ReportDocument {
    if options.details {
        return document(record, options, &SectionRoom::WHOLE);
    }
    ReportDocument::on_screen(|cut| document(record, options, &SectionRoom::on_screen(cut)).short())
}

fn document(
    record: &QueryRecord,
    options: QueryReportOptions,
    room: &SectionRoom,
) -> ReportDocument {
    if has_plans_alone(record) {
        return plans_document(record, room);
    }
    let mut document = ReportDocument::new(COMMAND, &answer(record));
    if record.is_cut {
        document.callout("The connection was lost: all figures are from before that");
    }
    expectations(record, &mut document);
    setting(record, room, &mut document);
    rows(record, options, &mut document);
    if !record.forms.is_empty() {
        document.heading("Executions");
        document.table(&forms_table(&record.forms));
    }
    if let Some(compared) = &record.comparison {
        if let Some(note) = means_note(&record.forms, compared) {
            document.paragraph(&note, TextRole::Dim);
        }
        if room.details {
            comparison_facts(compared, &mut document);
        }
        if room.details || is_mixed(compared) {
            deciles(compared, &mut document);
        }
    }
    if room.details || record.forms.len() == 1 {
        form_parts(&record.forms, &mut document);
    }
    if let Some(tried) = &record.tournament {
        tournament(tried, room.details, room.rows, &mut document);
    }
    let view = AdviceView { reasons: room.reasons, most: room.advice };
    advice(&record.advice, view, &mut document);
    plans(record, room, &mut document);
    counters(&record.forms, room.details, room.rows, &mut document);
    if !room.details {
        next_steps(record, options.shows_values, &mut document);
    }
    document
}

/// Whether statements were planned and not executed.
fn has_plans_alone(record: &QueryRecord) -> bool {
    let is_planned =
        |form: &QueryForm| form.plan.is_some() && form.times.is_none() && form.failed == 0;
    !record.forms.is_empty() && record.forms.iter().all(is_planned)
}

/// The report of such a record.
fn plans_document(record: &QueryRecord, room: &SectionRoom) -> ReportDocument {
    let title = "What the optimiser expects: nothing was executed";
    let mut document = ReportDocument::new(COMMAND, title);
    document.fact("target", &target_text(&record.target), TextRole::Plain);
    record.forms.iter().for_each(|form| form_fact(form, &mut document));
    if !record.keys.sources.is_empty() {
        document.fact("keys", &keys_text(&record.keys), TextRole::Plain);
    }
    notes(record, &mut document);
    plans(record, room, &mut document);
    document
}

/// What flags wanted, before all figures where it did not come true.
fn expectations(record: &QueryRecord, document: &mut ReportDocument) {
    for expected in &record.expectations {
        let (flag, reason) = (one_line(&expected.flag), one_line(&expected.reason));
        match expected.is_met {
            Some(true) => {
                document.fact("expected", &format!("{flag}: met, {reason}"), TextRole::Good);
            }
            Some(false) => document.callout(&format!("{flag} is not met: {reason}")),
            None => document.callout(&format!("{flag} is undecided: {reason}")),
        }
    }
}

/// Where statements ran, with which keys, and what should be known of all of it.
fn setting(record: &QueryRecord, room: &SectionRoom, document: &mut ReportDocument) {
    document.fact("target", &target_text(&record.target), TextRole::Plain);
    form_facts(&record.forms, document);
    document.fact("keys", &keys_text(&record.keys), TextRole::Plain);
    notes(record, document);
    if room.details {
        for set in &record.target.settings {
            document.fact("set", &one_line(set), TextRole::Dim);
        }
        document.fact("command", &one_line(&record.command), TextRole::Dim);
        document.fact("began", &one_line(&record.started_at), TextRole::Dim);
    }
}

fn notes(record: &QueryRecord, document: &mut ReportDocument) {
    for note in &record.notes {
        document.fact("note", &one_line(note), TextRole::Warn);
    }
}

fn target_text(target: &QueryTarget) -> String {
    let copied = target.copy_of.as_ref().map(|of| format!(", a copy of {}", one_line(of)));
    let (version, url) = (one_line(&target.version), one_line(&target.url));
    format!("{version} at {url}{}", copied.unwrap_or_default())
}

fn keys_text(keys: &KeySummary) -> String {
    if keys.sources.is_empty() {
        return "none: the statement has no parameters".to_owned();
    }
    let sources = keys.sources.iter().map(|source| {
        let values = source.values.map(|values| format!(" ({})", counted(values, "value")));
        let (parameter, from) = (one_line(&source.parameter), one_line(&source.source));
        format!("{parameter} from {from}{}", values.unwrap_or_default())
    });
    let sources: Vec<String> = sources.collect();
    format!("{}; {} drawn by seed {}", sources.join(", "), count(keys.drawn), keys.seed)
}

fn rows(record: &QueryRecord, options: QueryReportOptions, document: &mut ReportDocument) {
    let Some(check) = &record.rows else { return };
    rows_facts(check, document);
    if let Some(difference) = &check.difference {
        rows_difference(difference, options.shows_values, document);
    }
}

fn plans(record: &QueryRecord, room: &SectionRoom, document: &mut ReportDocument) {
    let view = PlanTreeView { steps: room.steps, remarks: room.details };
    for form in &record.forms {
        let Some(plan) = &form.plan else { continue };
        let title = format!("Plan of {}", fit(&one_line(&form.name), NAME_COLUMNS));
        document.drawing(plan_drawing(title, plan, view));
        plan_facts(plan, room, document);
    }
}

/// What the figures of a plan are worth, and whether it is another one than before.
fn plan_facts(plan: &StatementPlan, room: &SectionRoom, document: &mut ReportDocument) {
    if let Some(change) = &plan.change {
        let since = one_line(&change.since);
        let (text, role) = match change.is_same {
            true => (format!("the same since {since}"), TextRole::Dim),
            false => (format!("changed since {since}"), TextRole::Bad),
        };
        document.fact("plan", &text, role);
    }
    if let Some(inflation) = plan.inflation.filter(|it| room.details || *it > MOST_INFLATION) {
        document.fact("inflation", &inflation_text(inflation), TextRole::Warn);
    }
    for note in &plan.notes {
        document.fact("server", &one_line(note), TextRole::Plain);
    }
    if room.details {
        let planning = plan.planning_us.map(|taken_us| format!("; planned in {}", us(taken_us)));
        let (source, shape) = (one_line(&plan.source), one_line(&plan.shape));
        let text = format!("{source}; shape {shape}{}", planning.unwrap_or_default());
        document.fact("read from", &text, TextRole::Dim);
    }
}

fn inflation_text(inflation: f64) -> String {
    let text = format!("this execution took {} times as long as a plain one", ratio(inflation));
    match inflation > MOST_INFLATION {
        true => format!("{text}, so that times of steps are shown as shares"),
        false => text,
    }
}

/// What examines the statement further.
fn next_steps(record: &QueryRecord, shows_values: bool, document: &mut ReportDocument) {
    let mut steps = vec![format!("{DETAILS}: all parts, counters, and conditions of plan steps")];
    let compared = record.comparison.as_ref();
    if compared.is_some_and(|compared| compared.verdict == FormVerdict::Undecided) {
        steps.push("a longer --time narrows the interval".to_owned());
    }
    let has_hidden = |advice: &QueryAdvice| advice.proposal.iter().any(|sql| sql.contains('?'));
    if !shows_values && record.advice.iter().any(has_hidden) {
        steps.push("--raw-sql shows literals, which are `?` here".to_owned());
    }
    if record.tournament.is_none() {
        steps.push("--tournament tries other plans".to_owned());
    }
    document.remark(&steps.join("; "), TextRole::Dim);
}
