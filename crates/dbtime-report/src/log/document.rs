//! The report of a digest: its answer, what was read, the load over time, and the classes.

use super::class_details::class_details;
use super::class_table::class_table;
use super::input_facts::{all, basis, doubts, events, files, notes, span, unread_count};
use super::load_line::{LoadCell, LoadCells, load_line};
use super::{COMMAND, ClassOrder, instant_text, share};
use crate::charts::{LoadPlot, LoadPoint, load_over_time};
use crate::document::{DocumentDrawing, DrawnLines, ReportDocument};
use crate::format::{count, counted, factor, percent, rate, us};
use crate::terminal::TextRole;
use dbtime_model::log_digest::{DigestClass, LogDigest};

/// How many of the classes with most time the answer is about, where there are more.
const ANSWER_CLASSES: usize = 3;

/// More classes than this are not made to fit on a screen.
const SCREEN_CLASSES: usize = 10;

/// How many steps a chart over time has at most.
const CHART_STEPS: usize = 360;

/// How the report of a digest is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogReportOptions {
    /// In which order classes stand.
    pub order: ClassOrder,
    /// How many classes are shown.
    pub limit: usize,
    /// Whether lines that could not be read are listed by kind.
    pub show_bad: bool,
    /// Whether all that is known of each class is shown.
    pub details: bool,
    /// Whether samples have their literals.
    pub is_raw: bool,
}

/// The report.
///
/// Shape: text without details fits on a screen, with fewer classes than the limit where it has to,
/// unless that is above ten.
pub fn log_document(digest: &LogDigest, options: LogReportOptions) -> ReportDocument {
    if options.details || options.limit > SCREEN_CLASSES {
        return document(digest, options);
    }
    ReportDocument::on_screen(|fewer| {
        let limit = options.limit.saturating_sub(fewer).max(1);
        document(digest, LogReportOptions { limit, ..options })
    })
}

fn document(digest: &LogDigest, options: LogReportOptions) -> ReportDocument {
    let mut document = ReportDocument::new(COMMAND, &answer(digest));
    doubts(digest, &mut document);
    files(digest, options.details, &mut document);
    if digest.total.count == 0 {
        events(digest, &mut document);
        notes(digest, (options.show_bad, options.details), &mut document);
        return document;
    }
    span(digest, &mut document);
    all(digest, &mut document);
    if let Some(line) = load_line(&digest.timeline, digest.total.times.is_some()) {
        document.fact("load", &line, TextRole::Plain);
    }
    events(digest, &mut document);
    notes(digest, (options.show_bad, options.details), &mut document);
    basis(digest, options.details, &mut document);
    let classes = options.order.sorted(&digest.classes);
    document.heading(classes_heading(digest, options.order));
    let (table, limit) = class_table(digest, &classes, options.limit);
    document.limited_table(&table, Some(limit));
    load_charts(digest, &mut document);
    if options.details {
        for (index, class) in classes.iter().take(options.limit).enumerate() {
            class_details(digest, (index + 1, class), &mut document);
        }
    }
    next_steps(digest, options, &mut document);
    document
}

/// How many classes there are, and what the first of them took.
fn answer(digest: &LogDigest) -> String {
    let total = &digest.total;
    let known = (digest.classes.len() as u64).saturating_add(digest.other_classes);
    if total.count == 0 {
        return nothing(digest);
    }
    let classes = counted(known, "class");
    let records = counted(total.count, total.kind.noun());
    let whole = total.times.as_ref().map(|times| format!(" that took {}", us(times.total_us)));
    let whole = whole.unwrap_or_default();
    let text = format!("{classes} of {records}{whole}");
    if digest.classes.len() <= 1 {
        return text;
    }
    // All classes together took all of the time, which says nothing.
    let most = if digest.classes.len() > ANSWER_CLASSES { ANSWER_CLASSES } else { 1 };
    let most_share: f64 = digest.classes[..most].iter().map(|class| share(class, digest)).sum();
    let which = match (most, &total.times) {
        (1, Some(_)) => "one class took",
        (1, None) => "one class has",
        (_, Some(_)) => "three classes took",
        (_, None) => "three classes have",
    };
    let what = if total.times.is_some() { "of the time" } else { "of them" };
    format!("{text}; {which} {} {what}", percent(most_share * 100.0))
}

fn classes_heading(digest: &LogDigest, order: ClassOrder) -> &'static str {
    let order = if digest.total.times.is_some() { order } else { order.without_times() };
    match order {
        ClassOrder::Total => "Classes by total time",
        ClassOrder::Count => "Classes by count",
        ClassOrder::Mean => "Classes by mean",
        ClassOrder::P99 => "Classes by p99",
        ClassOrder::Max => "Classes by longest record",
        ClassOrder::Errors if digest.total.errors.is_none() => {
            "Classes by count: the log does not show which failed"
        }
        ClassOrder::Errors => "Classes by errors",
    }
}

/// Why there is no class.
fn nothing(digest: &LogDigest) -> String {
    let records = digest.inputs.iter().map(|input| input.records);
    match records.fold(0, u64::saturating_add) {
        0 => match unread_count(digest) {
            0 => "No record was read".to_owned(),
            lines => format!("No record could be read in {}", counted(lines, "line")),
        },
        records => {
            format!("None of {} is in the time of --since and --until", counted(records, "record"))
        }
    }
}

/// What a page has of the load over time: how many ran at once, and how many ended.
fn load_charts(digest: &LogDigest, document: &mut ReportDocument) {
    let load = LoadCells::of(&digest.timeline, CHART_STEPS);
    let Some(first) = load.cells.first() else { return };
    let caption = format!("time since {}", instant_text(first.start_us));
    let charts = [
        ("at-once", "Running at once", load.points(LoadCells::at_once)),
        ("ended", "Ended per second", load.points(LoadCells::per_s)),
    ];
    let charts = charts.into_iter().filter_map(|(name, title, points)| {
        let plot = LoadPlot { name, title, caption: &caption, step_s: load.length_s };
        Some((title.to_owned(), load_over_time(&points, &plot)?))
    });
    let (charts, lines) = (charts.collect(), DrawnLines::Fixed(Vec::new()));
    document.drawing(DocumentDrawing { title: String::new(), lines, charts });
}

impl LoadCells {
    /// The points of a chart of a figure.
    fn points(&self, value: fn(&Self, &LoadCell) -> f64) -> Vec<LoadPoint> {
        let tip = |cell: &LoadCell| {
            let failed = cell.errors.map(|errors| format!(", {} failed", count(errors)));
            format!(
                "{}: {} at once, {}/s{}",
                instant_text(cell.start_us),
                factor(self.at_once(cell)),
                rate(self.per_s(cell)),
                failed.unwrap_or_default()
            )
        };
        let point = |cell: &LoadCell| LoadPoint { value: value(self, cell), tip: tip(cell) };
        self.cells.iter().map(point).collect()
    }
}

/// What examines the classes further.
fn next_steps(digest: &LogDigest, options: LogReportOptions, document: &mut ReportDocument) {
    let mut steps = Vec::new();
    let lacks_literals = !options.is_raw && has_samples(&digest.classes);
    match (options.details, lacks_literals) {
        (false, true) => steps.push(
            "--details has percentiles, parts, figures and samples of each class, with --raw-sql \
             also their literals",
        ),
        (false, false) => {
            steps.push("--details has percentiles, parts, figures and samples of each class");
        }
        (true, true) => steps.push("--raw-sql adds the text of samples, with their literals"),
        (true, false) => {}
    }
    if !digest.inputs.iter().all(|input| input.kind.has_requests()) {
        steps.push(
            "`dbtime trace -p SERVER --summary` shows where the time of these statements goes on \
             the running server",
        );
    }
    steps.push("`dbtime compare OLD.json NEW.json` compares two outputs of --json");
    document.remark(&format!("→ {}", steps.join("; ")), TextRole::Dim);
}

fn has_samples(classes: &[DigestClass]) -> bool {
    classes.iter().any(|class| class.worst.is_some() || class.random.is_some())
}
