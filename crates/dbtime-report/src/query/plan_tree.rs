//! A plan as a tree: what each step does, how far the planner was off, and which steps took the
//! time. Figures that a server does not give have no column.

use crate::document::{DocumentDrawing, DrawnLines};
use crate::format::{NONE, bytes, counted, finite, one_line, percent, rate, us, width, wrap};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::query::{PlanNode, PlanOperation, StatementPlan};

/// From this factor on an estimate that is off has a word beside it.
const FLAGGED: f64 = 3.0;

/// Above it times of steps are shares alone: looking took too much of them.
pub(super) const MOST_INFLATION: f64 = 1.5;

/// Steps that lie deeper stand where this level does.
const MAX_LEVELS: usize = 14;

/// Columns of a remark with what leads to it, and of its text at least.
const REMARK_COLUMNS: usize = 76;
const REMARK_LEAST: usize = 30;

/// Columns of what leads one level down.
const LEVEL_COLUMNS: usize = 3;

/// How long the bar of a step is that took all of the time.
const BAR_COLUMNS: usize = 12;

/// A step with at least so much of the time is shown where others are left out.
const HEAVY_SHARE: f64 = 0.25;

/// So many such steps.
const MOST_HEAVY: usize = 2;

/// How much of a plan is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanTreeView {
    /// So many steps, and one or two that take the time or are executed for each row of another.
    pub(super) steps: usize,
    /// Whether conditions, memory and the server's remarks stand below their steps.
    pub(super) remarks: bool,
}

/// A column of figures, which is there where a step has one.
struct StepColumn {
    heading: &'static str,
    /// Empty: the server does not say, or there is nothing to look at.
    cell: fn(&PlanNode) -> String,
}

const FIGURES: &[StepColumn] = &[
    StepColumn { heading: "Estimated\nrows", cell: |node| figure(node.estimated_rows) },
    StepColumn { heading: "Actual\nrows", cell: |node| figure(node.actual_rows) },
    StepColumn { heading: "Off", cell: off },
    StepColumn { heading: "Loops", cell: |node| figure(node.loops.filter(|n| *n != 1.0)) },
];

/// The tree under a title.
pub(super) fn plan_drawing(
    title: String,
    plan: &StatementPlan,
    view: PlanTreeView,
) -> DocumentDrawing {
    let lines = DrawnLines::Tree(plan_table(plan, view));
    DocumentDrawing { title, lines, charts: Vec::new() }
}

fn plan_table(plan: &StatementPlan, view: PlanTreeView) -> ReportTable {
    let steps = tree_steps(&plan.root);
    let figures: Vec<&StepColumn> = FIGURES
        .iter()
        .filter(|column| steps.iter().any(|step| !(column.cell)(step.node).is_empty()))
        .collect();
    let whole_us: f64 = steps.iter().map(|step| own_us(step.node)).sum();
    let time = StepTime {
        whole_us: finite(whole_us),
        is_share: plan.inflation.is_some_and(|inflation| inflation > MOST_INFLATION),
    };
    let mut columns = vec![TextColumn::text("Step")];
    columns.extend(figures.iter().map(|column| TextColumn::figure(column.heading)));
    if time.whole_us > 0.0 {
        columns.extend([TextColumn::figure("Own time"), TextColumn::text("")]);
    }
    let mut table = ReportTable::new(columns);
    let shown = shown_steps(&steps, view.steps, time.whole_us);
    for step in &shown {
        let name = format!("{}{}", step.branch, step_name(step.node));
        let mut cells = vec![TextCell::from(name)];
        cells.extend(figures.iter().map(|column| TextCell::from((column.cell)(step.node))));
        cells.extend(time.cells(step.node));
        table.row(cells);
        if view.remarks {
            add_remarks(&mut table, step);
        }
    }
    let further = (steps.len() - shown.len()) as u64;
    if further > 0 {
        alone(&mut table, format!("… and {}", counted(further, "further step")));
    }
    table.cleaned()
}

/// The first steps of a tree, and of the others those without which it tells nothing.
fn shown_steps<'s, 'a>(
    steps: &'s [TreeStep<'a>],
    most: usize,
    whole_us: f64,
) -> Vec<&'s TreeStep<'a>> {
    let (first, others) = steps.split_at(most.min(steps.len()));
    let least_us = HEAVY_SHARE * whole_us;
    let is_heavy = |step: &&TreeStep<'_>| {
        step.node.is_dependent || whole_us > 0.0 && own_us(step.node) >= least_us
    };
    first.iter().chain(others.iter().filter(is_heavy).take(MOST_HEAVY)).collect()
}

/// Adds what else there is to say of a step across all columns: no condition is cut.
fn add_remarks(table: &mut ReportTable, step: &TreeStep<'_>) {
    let room = REMARK_COLUMNS.saturating_sub(width(&step.stem)).max(REMARK_LEAST);
    let remarks = remarks(step.node);
    let lines = remarks.iter().flat_map(|remark| wrap(remark, room));
    lines.for_each(|line| table.group(&format!("{}{line}", step.stem)));
}

/// Adds a row with a text and no figures.
fn alone(table: &mut ReportTable, text: String) {
    let rest = vec![TextCell::from(""); table.columns.len().saturating_sub(1)];
    table.row([TextCell::new(text, TextRole::Dim)].into_iter().chain(rest).collect());
}

/// A step where it stands in the tree.
struct TreeStep<'a> {
    node: &'a PlanNode,
    /// What leads to it.
    branch: String,
    /// What stands before all lines below it.
    stem: String,
}

/// All steps, each before those that it takes its rows from.
fn tree_steps(root: &PlanNode) -> Vec<TreeStep<'_>> {
    let mut steps = Vec::new();
    let mut waiting = vec![TreeStep { node: root, branch: String::new(), stem: String::new() }];
    while let Some(step) = waiting.pop() {
        let mut below = steps_below(&step);
        below.reverse();
        waiting.extend(below);
        steps.push(step);
    }
    steps
}

fn steps_below<'a>(step: &TreeStep<'a>) -> Vec<TreeStep<'a>> {
    let last = step.node.children.len().saturating_sub(1);
    let is_deep = step.stem.chars().count() >= MAX_LEVELS * LEVEL_COLUMNS;
    let children = step.node.children.iter().enumerate();
    let placed = children.map(|(at, node)| {
        let (turn, line) = if at == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let line = if is_deep { "" } else { line };
        let (branch, stem) = (format!("{}{turn}", step.stem), format!("{}{line}", step.stem));
        TreeStep { node, branch, stem }
    });
    placed.collect()
}

/// What a step does, to what, and by which index.
fn step_name(node: &PlanNode) -> String {
    let mut name = match node.operation {
        PlanOperation::Other if node.label.is_empty() => "step".to_owned(),
        PlanOperation::Other => one_line(&node.label),
        known => known.name().replace('_', " "),
    };
    if let Some(relation) = &node.relation {
        name += &format!(" on {}", one_line(relation));
    }
    if let Some(alias) = &node.alias {
        name += &format!(" ({})", one_line(alias));
    }
    if let Some(index) = &node.index {
        name += &format!(" by {}", one_line(index));
    }
    if node.is_covering {
        name += ", index only";
    }
    if node.is_dependent {
        name += ", for each row of another step";
    }
    name
}

/// What else there is to say of a step, a line each.
fn remarks(node: &PlanNode) -> Vec<String> {
    let size = |value: f64| bytes(finite(value).max(0.0) as u64);
    let known = [
        node.condition.as_ref().map(|condition| format!("if {}", one_line(condition))),
        node.removed_rows.map(|rows| format!("its conditions remove {} rows", rate(rows))),
        node.pages_read.map(|pages| format!("pages read: {}", rate(pages))),
        node.pages_hit.map(|pages| format!("pages in memory: {}", rate(pages))),
        node.memory_bytes.map(|taken| format!("memory: {}", size(taken))),
        node.spilled_bytes.map(|spilled| format!("written to temporary files: {}", size(spilled))),
        node.cost.map(|cost| format!("cost: {}", rate(cost))),
    ];
    let notes = node.notes.iter().map(|note| one_line(note));
    known.into_iter().flatten().chain(notes).collect()
}

/// Servers give means of rows: from a hundred on their fractions tell nothing.
fn figure(value: Option<f64>) -> String {
    let whole = |value: f64| if value.abs() < 99.5 { value } else { value.round() };
    value.map(whole).map_or(String::new(), rate)
}

/// By how much the planner was off, where that is much.
fn off(node: &PlanNode) -> String {
    match node.estimate_error() {
        Some(error) if error >= FLAGGED => format!("{}× more", rate(error)),
        Some(error) if error * FLAGGED <= 1.0 => format!("{}× fewer", rate(1.0 / error)),
        _ => String::new(),
    }
}

fn own_us(node: &PlanNode) -> f64 {
    node.own_time_us().map_or(0.0, finite)
}

/// What all steps took, and how the time of one is shown.
struct StepTime {
    whole_us: f64,
    /// Whether times are shares and no durations.
    is_share: bool,
}

impl StepTime {
    /// The time of a step, and a bar of it; none where no step has any.
    fn cells(&self, node: &PlanNode) -> Vec<TextCell> {
        if self.whole_us <= 0.0 {
            return Vec::new();
        }
        let own = own_us(node);
        let share = own / self.whole_us;
        let text = match (node.time_us, self.is_share) {
            (None, _) => NONE.to_owned(),
            // The time of all below it is all that a server shows of such a step.
            (Some(_), _) if own <= 0.0 && !node.children.is_empty() => NONE.to_owned(),
            (Some(_), true) => percent(share * 100.0),
            (Some(_), false) => us(own),
        };
        vec![text.into(), TextCell::bar(share, BAR_COLUMNS, TextRole::Plain)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_have_no_fraction() {
        let shown = [Some(287.999_99), Some(2.5), Some(100.0), None].map(figure);
        assert_eq!(shown, ["288", "2.50", "100", ""].map(str::to_owned));
    }

    #[test]
    fn a_step_with_nothing_but_the_time_below_it_has_no_time_of_its_own() {
        let below = PlanNode { time_us: Some(5.0), ..PlanNode::default() };
        let join = PlanNode { children: vec![below.clone()], ..below.clone() };
        let time = StepTime { whole_us: 5.0, is_share: false };
        assert_eq!(time.cells(&join)[0].text, NONE);
        assert_eq!(time.cells(&below)[0].text, us(5.0));
    }

    #[test]
    fn the_step_that_takes_the_time_is_shown_where_others_are_not() {
        let node = |time_us, children| PlanNode {
            time_us: Some(time_us),
            children,
            ..PlanNode::default()
        };
        let scan = node(970.0, Vec::new());
        let root = node(1000.0, vec![node(990.0, vec![node(980.0, vec![scan])])]);
        let steps = tree_steps(&root);
        let shown = |most| {
            let shown = shown_steps(&steps, most, 1000.0);
            shown.iter().map(|step| step.node.time_us.unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(shown(1), [1000.0, 970.0]);
        assert_eq!(shown(9).len(), 4);
        assert_eq!(shown_steps(&steps, 1, 0.0).len(), 1);
    }

    #[test]
    fn conditions_are_whole_however_many_columns_of_figures_there_are() {
        let condition = "(orders.customer_id = customers.id) AND (orders.day >= ?) AND (last = ?)";
        let root = PlanNode {
            operation: PlanOperation::HashJoin,
            condition: Some(condition.to_owned()),
            estimated_rows: Some(1000.0),
            actual_rows: Some(9.0),
            time_us: Some(70.0),
            ..PlanNode::default()
        };
        let plan = StatementPlan { root, ..StatementPlan::default() };
        let table = plan_table(&plan, PlanTreeView { steps: 9, remarks: true });
        let lines = table.lines(78, |text, _| text.to_owned());
        let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
        assert!(words.join(" ").contains(&format!("if {condition}")), "{lines:?}");
    }
}
