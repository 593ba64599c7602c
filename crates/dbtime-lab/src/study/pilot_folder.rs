//! The folder of what is run before a study: of its pilot, and of the runs that show whether its
//! configurations work at all.

use crate::error::LabError;
use crate::scratch::ScratchFolder;
use std::path::Path;

/// A temporary folder. It goes when this is dropped; where the process was killed, another process
/// of dbtime removes it.
#[derive(Debug)]
pub struct PilotFolder(ScratchFolder);

impl PilotFolder {
    /// Makes one among the system's temporary files.
    ///
    /// Errors: [`LabError::Target`], where none can be made.
    pub fn temporary() -> Result<Self, LabError> {
        let made = ScratchFolder::temporary();
        made.map(Self).map_err(|error| {
            LabError::Target(format!("cannot make a temporary folder: {error}; set TMPDIR"))
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Makes it a folder of a study, which then has all it holds; whether that took no copy, as on
    /// one file system. Else it stays what it is.
    pub(super) fn becomes(&self, place: &Path) -> bool {
        self.0.keep_as(place).is_ok()
    }
}
