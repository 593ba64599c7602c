//! Places in a program file that a program of the kernel's side is attached to.

use serde::{Deserialize, Serialize};

/// Where a program is attached to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProbeSites {
    /// The program's name.
    pub(crate) program: String,
    /// In the file. Unit: bytes.
    pub(crate) offsets: Vec<usize>,
    /// Passed to the program at each; may be empty.
    pub(crate) cookies: Vec<u64>,
    /// Whether it is when the function that begins there returns.
    pub(crate) at_return: bool,
    /// With which others it goes.
    pub(crate) group: ProbeGroup,
}

/// Probes that go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum ProbeGroup {
    /// Those that stay to the end.
    #[default]
    Staying,
    /// Those that read texts of statements.
    Texts,
    /// Those that time portals.
    Portals,
}
