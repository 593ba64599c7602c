//! Shipped workloads on fewer rows, for tests to which their number does not matter: to load a
//! hundred thousand takes longer than what is done with them.

use crate::sandbox::Sandbox;
use dbtime_load::workload::SHIPPED;

/// A number of rows as the files write it, and what stands in its place.
const FEWER: [(&str, &str); 2] = [("100_000", "10_000"), ("100000", "10000")];

/// Writes a shipped workload with a tenth of its rows to a file, whose name it returns. Its
/// operations, its statements and the one branch of `tpcb` are the same.
pub(crate) fn write_small(sandbox: &Sandbox, name: &str) -> String {
    let shipped = SHIPPED.iter().find(|(shipped, _)| *shipped == name);
    let (_, text) = shipped.unwrap_or_else(|| panic!("no workload is called {name}"));
    let small = FEWER.iter().fold((*text).to_owned(), |text, (all, few)| text.replace(all, few));
    assert_ne!(small, *text, "{name} has fewer rows already");
    let file = format!("{name}.toml");
    sandbox.write(&file, &small);
    file
}
