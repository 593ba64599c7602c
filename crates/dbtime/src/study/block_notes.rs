//! What is shown as a block of a study begins: each of its runs, or which configurations take turns
//! in slices.

use dbtime_model::Nanos;
use dbtime_model::study::{StudyCell, StudyTrial};
use dbtime_model::units::{counted, exact_ns};
use std::cell::{Cell, RefCell};

/// So many configurations are named; more are counted.
const NAMED: usize = 4;

/// The blocks of a study as they begin.
pub(super) struct BlockNotes<'a> {
    /// The configurations that a block has, in the order of the plan.
    cells: RefCell<Vec<&'a StudyCell>>,
    /// In how many slices the plan divides a run.
    slices: u32,
    /// How many blocks there are to be.
    blocks: Cell<u32>,
    /// The block whose slices were shown last, and which time it was begun.
    begun: Cell<Option<(u32, u32)>>,
}

impl<'a> BlockNotes<'a> {
    /// So many blocks of these configurations, whose runs are divided into so many slices.
    pub(super) fn new(cells: Vec<&'a StudyCell>, slices: u32, blocks: u32) -> Self {
        let (blocks, begun) = (Cell::new(blocks), Cell::new(None));
        Self { cells: RefCell::new(cells), slices, blocks, begun }
    }

    /// How many blocks there are to be.
    pub(super) fn blocks(&self) -> u32 {
        self.blocks.get()
    }

    /// Takes another number of blocks.
    pub(super) fn renew(&self, blocks: u32) {
        self.blocks.set(blocks);
    }

    /// How many configurations a block has.
    pub(super) fn cells(&self) -> usize {
        self.cells.borrow().len()
    }

    /// Takes a configuration out of all further blocks.
    pub(super) fn leave_out(&self, left_out: &StudyCell) {
        self.cells.borrow_mut().retain(|cell| cell.name != left_out.name);
    }

    /// The line for a run that begins. `None`: it is a slice of a block that was shown.
    pub(super) fn of_run(
        &self,
        trial: &StudyTrial,
        cell: &StudyCell,
        loud: Option<&str>,
    ) -> Option<String> {
        let begun = Some((trial.block, trial.attempt));
        if trial.slice > 0 && self.begun.replace(begun) == begun {
            return None;
        }
        let again = if trial.attempt > 1 { ", again" } else { "" };
        let what = match trial.slice {
            0 => cell.name.clone(),
            _ => self.turns(trial.slices),
        };
        let loud = loud.map_or(String::new(), |found| format!("; not quiet: {found}"));
        Some(format!("block {} of {}{again}: {what}{loud}", trial.block, self.blocks()))
    }

    /// Which configurations take turns, in so many slices each.
    fn turns(&self, slices: u32) -> String {
        let cells = self.cells.borrow();
        let names: Vec<&str> = cells.iter().take(NAMED).map(|cell| cell.name.as_str()).collect();
        let names = match (cells.len() - names.len(), names.split_last()) {
            (0, Some((last, rest))) if !rest.is_empty() => {
                format!("{} and {last}", rest.join(", "))
            }
            (0, _) => names.concat(),
            (others, _) => format!("{} and {}", names.join(", "), counted(others as u64, "other")),
        };
        let length = slice_length(&cells, self.slices);
        let length = length.map_or(String::new(), |length| format!(" of {length} each"));
        format!("{names} take turns, {}{length}", counted(slices.into(), "slice"))
    }
}

/// How long a slice is, in words, where it is equally long for all configurations.
fn slice_length(cells: &[&StudyCell], slices: u32) -> Option<String> {
    let mut times = cells.iter().map(|cell| cell.spec.as_ref()?.window.time);
    let first: Nanos = times.next()??;
    let is_one = times.all(|time| time == Some(first));
    // Thirds of a second have no last digit.
    let slice_ms = (first.as_secs() * 1e3 / f64::from(slices.max(1))).round();
    is_one.then(|| exact_ns(slice_ms * 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::spec::{FlagSetting, RunSpec};
    use dbtime_model::study::CellRole;

    fn cells(names: &[&str], time: &str) -> Vec<StudyCell> {
        let spec = RunSpec::default().with(&[FlagSetting::new("time", time)]).expect("a run");
        let cell = |name: &&str| StudyCell {
            name: (*name).to_owned(),
            role: CellRole::Baseline,
            baseline: 0,
            factors: Vec::new(),
            levels: Vec::new(),
            command: String::new(),
            spec: Some(spec.clone()),
        };
        names.iter().map(cell).collect()
    }

    fn trial(block: u32, attempt: u32, slice: u32) -> StudyTrial {
        let slices = if slice > 0 { 4 } else { 0 };
        StudyTrial { block, attempt, slice, slices, ..StudyTrial::default() }
    }

    #[test]
    fn a_block_in_slices_has_one_line_that_names_all_that_take_turns() {
        let cells = cells(&["A", "B", "A again"], "8s");
        let notes = BlockNotes::new(cells.iter().collect(), 4, 3);
        let line =
            |block, attempt, slice| notes.of_run(&trial(block, attempt, slice), &cells[2], None);
        let first = "block 1 of 3: A, B and A again take turns, 4 slices of 2 s each";
        assert_eq!(line(1, 1, 1).as_deref(), Some(first));
        assert_eq!([line(1, 1, 1), line(1, 1, 2)], [None, None]);
        let repeated = "block 1 of 3, again: A, B and A again take turns, 4 slices of 2 s each";
        assert_eq!(line(1, 2, 1).as_deref(), Some(repeated));
        notes.leave_out(&cells[2]);
        let loud = notes.of_run(&trial(2, 1, 1), &cells[0], Some("a compiler"));
        let two = "block 2 of 3: A and B take turns, 4 slices of 2 s each; not quiet: a compiler";
        assert_eq!((loud.as_deref(), notes.cells()), (Some(two), 2));
    }

    #[test]
    fn whole_runs_have_a_line_each_and_many_configurations_are_counted() {
        let cells = cells(&["a", "b", "c", "d", "e", "f"], "1s");
        let notes = BlockNotes::new(cells.iter().collect(), 3, 2);
        let line = |cell: usize, slice| notes.of_run(&trial(2, 1, slice), &cells[cell], None);
        let whole = [line(0, 0), line(1, 0)].map(Option::unwrap_or_default);
        assert_eq!(whole, ["block 2 of 2: a", "block 2 of 2: b"]);
        let many = "block 2 of 2: a, b, c, d and 2 others take turns, 4 slices of 333 ms each";
        assert_eq!(line(0, 1).as_deref(), Some(many));
    }
}
