//! Two digests as a document: which classes take more of an hour, and which less.

use super::comparison::{ClassLoad, ComparedClass, DigestComparison, DigestSide};
use crate::document::{ReportDocument, RestOfRows, RowLimit};
use crate::format::{NONE, count, counted, factor, fit, if_any, percent, rate, signed_us, us};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};

/// What a page has above its title.
const COMMAND: &str = "dbtime compare";

/// Columns of the text of a class, its rank included.
const TEXT_COLUMNS: usize = 96;

/// How many classes the short report has.
const SHORT_CLASSES: usize = 10;

/// What has to be known of intervals.
const INDEPENDENCE: &str = "Intervals (95 %) take the records of a class as independent of each \
                            other; bursts of slow ones make them too narrow. They show chance \
                            alone, not what else differed between the two times";

/// All classes of two digests.
pub fn digests_document(compared: &DigestComparison) -> ReportDocument {
    document(compared, usize::MAX)
}

/// The classes that changed most.
pub fn short_digests_document(compared: &DigestComparison) -> ReportDocument {
    document(compared, SHORT_CLASSES)
}

fn document(compared: &DigestComparison, most: usize) -> ReportDocument {
    let mut document = ReportDocument::new(COMMAND, &answer(compared));
    document.fact("A", &side(&compared.a), TextRole::Plain);
    document.fact("B", &side(&compared.b), TextRole::Plain);
    for text in &compared.unlike {
        document.fact("differs", text, TextRole::Warn);
    }
    let basis = basis(compared);
    document.heading(&format!("Classes, largest change of {basis} first"));
    let rest = compared.classes.len().saturating_sub(most);
    let rest = format!("{}; --details has them", counted(rest as u64, "further class"));
    let limit = RowLimit::new(most, RestOfRows::Text(rest));
    document.limited_table(&table(compared), Some(limit));
    if compared.classes.iter().any(|class| class.count_factor.is_some()) {
        document.remark(INDEPENDENCE, TextRole::Dim);
    }
    document
}

/// What figures are of.
fn basis(compared: &DigestComparison) -> &'static str {
    match (has_times(compared), compared.is_per_hour) {
        (true, true) => "time per hour",
        (true, false) => "time in all",
        (false, true) => "records per hour",
        (false, false) => "records in all",
    }
}

fn has_times(compared: &DigestComparison) -> bool {
    compared.a.total_us.is_some() && compared.b.total_us.is_some()
}

/// By how much the whole changed, and how many classes did.
fn answer(compared: &DigestComparison) -> String {
    let [a, b] = [&compared.a, &compared.b];
    let all = |side: &DigestSide| {
        let hours = side.hours.filter(|_| compared.is_per_hour).unwrap_or(1.0);
        side.total_us.filter(|_| has_times(compared)).unwrap_or(side.count as f64) / hours
    };
    let shown = |value: f64| if has_times(compared) { us(value) } else { rate(value) };
    let change = match all(a) > 0.0 {
        true => format!(" ({})", signed_percent((all(b) / all(a) - 1.0) * 100.0)),
        false => String::new(),
    };
    let is_new = |class: &&ComparedClass| class.a.is_none();
    let is_gone = |class: &&ComparedClass| class.b.is_none();
    let is_changed = |class: &&ComparedClass| class.is_mean_changed();
    let classes = &compared.classes;
    format!(
        "From {} to {} of {}{change}; {}, {} with a changed mean, {} new, {} gone",
        shown(all(a)),
        shown(all(b)),
        basis(compared),
        counted(classes.len() as u64, "class"),
        count(classes.iter().filter(is_changed).count() as u64),
        count(classes.iter().filter(is_new).count() as u64),
        count(classes.iter().filter(is_gone).count() as u64)
    )
}

fn signed_percent(value: f64) -> String {
    let text = percent(value);
    if value > 0.0 && value.is_finite() { format!("+{text}") } else { text }
}

fn side(side: &DigestSide) -> String {
    let mut text = format!(
        "{}: {} in {}",
        side.place,
        counted(side.count, "record"),
        counted(side.classes, "class")
    );
    if let Some(total_us) = side.total_us {
        text += &format!(", {}", us(total_us));
    }
    if let Some(hours) = side.hours {
        text += &format!(", over {}", us(hours * 3.6e9));
    }
    text
}

fn table(compared: &DigestComparison) -> ReportTable {
    let has_times = has_times(compared);
    let mut table = ReportTable::new(columns(compared, has_times));
    for (index, class) in compared.classes.iter().enumerate() {
        table.title(&fit(&format!("{}. {}", index + 1, class.text), TEXT_COLUMNS));
        table.row(cells(class, has_times));
    }
    table
}

/// Headings, with what counts and times are of.
fn columns(compared: &DigestComparison, has_times: bool) -> Vec<TextColumn> {
    let of = if compared.is_per_hour { "\nper hour" } else { "" };
    let mut headings = ["Change", "Count A", "Count B"].map(|name| format!("{name}{of}")).to_vec();
    if has_times {
        headings.extend(["Time A", "Time B"].map(|name| format!("{name}{of}")));
        headings.extend(["Mean A", "Mean B"].map(str::to_owned));
    }
    let ratio = if has_times { "Mean\nB / A" } else { "Count\nB / A" };
    headings.push(ratio.to_owned());
    let mut columns: Vec<TextColumn> =
        headings.iter().map(|heading| TextColumn::figure(heading)).collect();
    columns.push(TextColumn::text("95 %\ninterval"));
    columns
}

fn cells(class: &ComparedClass, has_times: bool) -> Vec<TextCell> {
    let sides = [&class.a, &class.b];
    let figure = |of: fn(&ClassLoad) -> Option<f64>, shown: fn(f64) -> String| {
        sides.map(|side| TextCell::from(if_any(side.as_ref().and_then(of), shown)))
    };
    let change = if has_times { signed_us(class.change) } else { signed_rate(class.change) };
    let mut cells = vec![TextCell::new(change, TextRole::Bold)];
    cells.extend(figure(|load| Some(load.count), rate));
    if has_times {
        cells.extend(figure(|load| load.total_us, us));
        cells.extend(figure(|load| load.mean_us, us));
    }
    let (ratio, interval) = match has_times {
        true => (class.mean_factor, class.mean_factor_interval),
        false => (class.count_factor, class.count_factor_interval),
    };
    cells.push(if_any(ratio, factor).into());
    cells.push(what_changed(class, interval).into());
    cells
}

fn signed_rate(value: f64) -> String {
    let magnitude = rate(value.abs());
    match value {
        v if v > 0.0 => format!("+{magnitude}"),
        v if v < 0.0 => format!("−{magnitude}"),
        _ => magnitude,
    }
}

/// New or gone; else between which factors it changed.
fn what_changed(class: &ComparedClass, interval: Option<[f64; 2]>) -> String {
    match (&class.a, &class.b, interval) {
        (None, ..) => "new".to_owned(),
        (_, None, _) => "gone".to_owned(),
        (_, _, Some([low, high])) => format!("{} .. {}", factor(low), factor(high)),
        _ => NONE.to_owned(),
    }
}
