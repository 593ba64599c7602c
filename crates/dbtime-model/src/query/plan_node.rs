//! A step of a plan.

use serde::{Deserialize, Serialize};

/// A step of a plan and those that it takes its rows from. What a server does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanNode {
    /// What it does, in terms that all products share.
    pub operation: PlanOperation,
    /// The same in the server's own words: `Bitmap Heap Scan`, `ref`.
    pub label: String,
    /// The table, or what else has rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// How the statement calls it, where that is another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The conditions it checks, with `?` for literals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Whether it is executed again for rows of another step.
    #[serde(default)]
    pub is_dependent: bool,
    /// Whether a LIMIT ends it early: fewer rows than expected tell nothing of the planner then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Whether the index alone has all columns.
    #[serde(default)]
    pub is_covering: bool,
    /// Rows that the planner expects of one execution of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_rows: Option<f64>,
    /// What the planner puts the step and all below it at, in the server's own unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Rows that one execution of the step returned: the mean of its executions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual_rows: Option<f64>,
    /// How often it was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loops: Option<f64>,
    /// What all its executions took, with those below it. Unit: microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_us: Option<f64>,
    /// Rows that its conditions removed, in one execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed_rows: Option<f64>,
    /// Pages it found in the server's memory, with those below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages_hit: Option<f64>,
    /// Pages it had to read, with those below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages_read: Option<f64>,
    /// The most memory it took. Unit: bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<f64>,
    /// What it wrote to temporary files. Unit: bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spilled_bytes: Option<f64>,
    /// What else the server says of it, in short: `Using filesort`, `2 of 4 workers launched`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Where it takes its rows from, in the order in which they are asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<PlanNode>,
}

crate::named_variants! {
    /// What a step does, whatever a product calls it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PlanOperation {
        /// Reads all rows of a table.
        TableScan = "table_scan",
        /// Reads a whole index.
        IndexScan = "index_scan",
        /// Reads a range of an index.
        IndexRange = "index_range",
        /// Looks for one value in an index.
        IndexLookup = "index_lookup",
        /// Joins what several indexes have.
        IndexMerge = "index_merge",
        /// For each row of one side, looks for those of the other.
        NestedLoop = "nested_loop",
        /// Joins by a table of hashes.
        HashJoin = "hash_join",
        /// Joins two sorted sides.
        MergeJoin = "merge_join",
        /// Sorts.
        Sort = "sort",
        /// Counts, sums, groups.
        Aggregate = "aggregate",
        /// Removes duplicates.
        Distinct = "distinct",
        /// Takes the first rows.
        Limit = "limit",
        /// Checks a condition.
        Filter = "filter",
        /// Keeps rows to read them again.
        Materialize = "materialize",
        /// A query within the query.
        Subquery = "subquery",
        /// Puts the rows of several steps behind each other.
        Union = "union",
        /// Computes over windows of rows.
        Window = "window",
        /// Has rows made by several processes.
        Parallel = "parallel",
        /// Changes rows.
        Modify = "modify",
        /// Makes rows of no table: values, functions, constants.
        Values = "values",
        /// What dbtime has no word for.
        #[default]
        Other = "other",
    }
}

impl PlanNode {
    /// The step and all below it, each before what it takes its rows from.
    pub fn steps(&self) -> Vec<&Self> {
        let mut steps = vec![self];
        self.children.iter().for_each(|child| steps.extend(child.steps()));
        steps
    }

    /// What its executions took without those below it; never below zero, which clocks that are
    /// read between steps would otherwise make it. Unit: microseconds.
    pub fn own_time_us(&self) -> Option<f64> {
        let below: f64 = self.children.iter().filter_map(|child| child.time_us).sum();
        self.time_us.map(|time| (time - below).max(0.0))
    }

    /// By which factor the planner was off: above 1 there were more rows than it expected, below 1
    /// fewer. No rows count as one.
    pub fn estimate_error(&self) -> Option<f64> {
        // A step that was never executed says nothing of its estimate.
        self.loops.filter(|loops| *loops == 0.0).map_or(Some(()), |_| None)?;
        let error = self.actual_rows?.max(1.0) / self.estimated_rows?.max(1.0);
        // Nor does a step with fewer rows that might have had more.
        (!self.is_cut || error >= 1.0).then_some(error)
    }

    /// Marks what a `LIMIT` ends early: all that hands over rows one by one below such a step, and
    /// from the first step on where the statement has one that is no step: `is_cut`.
    pub fn mark_cut(&mut self, is_cut: bool) {
        use PlanOperation::{Aggregate, Limit, Materialize, Sort, Window};
        self.is_cut = is_cut;
        // These take all rows before they hand over the first; an incremental sort does not.
        let takes_all = matches!(self.operation, Aggregate | Materialize | Sort | Window)
            && !self.label.contains("Increment");
        let is_cut_below = self.operation == Limit || is_cut && !takes_all;
        self.children.iter_mut().for_each(|child| child.mark_cut(is_cut_below));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_limit_ended_has_no_estimate_that_is_off() {
        let step = |operation, children| PlanNode {
            operation,
            estimated_rows: Some(1000.0),
            actual_rows: Some(3.0),
            children,
            ..PlanNode::default()
        };
        let scan = || vec![step(PlanOperation::TableScan, Vec::new())];
        let sorted = step(PlanOperation::Sort, scan());
        let mut limited = step(PlanOperation::Limit, vec![sorted.clone()]);
        limited.mark_cut(false);
        let errors = |root: &PlanNode| {
            root.steps().iter().map(|step| step.estimate_error().is_some()).collect::<Vec<_>>()
        };
        assert_eq!(errors(&limited), [true, false, true]);
        let mut filtered = step(PlanOperation::Filter, scan());
        filtered.mark_cut(true);
        assert_eq!(errors(&filtered), [false, false]);
        let more = PlanNode { actual_rows: Some(9000.0), is_cut: true, ..sorted };
        assert_eq!(more.estimate_error(), Some(9.0));
    }

    #[test]
    fn a_step_has_its_own_time_and_its_error() {
        let below = PlanNode { time_us: Some(30.0), ..PlanNode::default() };
        let step = PlanNode {
            time_us: Some(100.0),
            estimated_rows: Some(10.0),
            actual_rows: Some(500.0),
            loops: Some(1.0),
            children: vec![below.clone(), below],
            ..PlanNode::default()
        };
        assert_eq!(step.own_time_us(), Some(40.0));
        assert_eq!(step.estimate_error(), Some(50.0));
        assert_eq!(step.steps().len(), 3);
        let never = PlanNode { loops: Some(0.0), actual_rows: Some(0.0), ..step };
        assert_eq!(never.estimate_error(), None);
    }
}
