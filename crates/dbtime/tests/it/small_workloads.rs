//! Shipped workloads on fewer rows, for tests to which their number does not matter: to load a
//! hundred thousand takes longer than what is done with them.

use crate::sandbox::Sandbox;
use dbtime_load::workload::SHIPPED;

/// Numbers as the files write them, and a fiftieth: the rows of a table, and those of each branch,
/// by which account and branch still belong together.
const FEWER: [(&str, &str); 2] = [("100_000", "2_000"), ("10000", "200")];

/// Writes a shipped workload with a fiftieth of its rows to a file, whose name it returns. Its
/// operations, its statements and the one branch of `tpcb` are the same.
pub(crate) fn write_small(sandbox: &Sandbox, name: &str) -> String {
    let shipped = SHIPPED.iter().find(|(shipped, _)| *shipped == name);
    let (_, text) = shipped.unwrap_or_else(|| panic!("no workload is called {name}"));
    let small = FEWER.iter().fold((*text).to_owned(), |text, (all, few)| text.replace(all, few));
    let has_rows = text.contains("rows_per_scale");
    let is_small = small.contains("rows_per_scale = 2_000");
    assert_eq!(is_small, has_rows, "the rows of {name} are written in another way");
    let file = format!("{name}.toml");
    sandbox.write(&file, &small);
    file
}
