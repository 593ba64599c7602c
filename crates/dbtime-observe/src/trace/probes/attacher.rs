//! Programs of the kernel's side, attached to places in a program file or a library.

use crate::trace::kernel::loading::LoadRefusal;
use crate::trace::kernel::probe_sites::ProbeSites;
use crate::trace::privilege::helper::HelperProcess;
use std::fs::File;

/// Attaches programs to places in a file, in every process that runs it: which of them are watched
/// is looked up there.
pub(crate) struct ProbeAttacher<'a> {
    pub(crate) helper: &'a mut HelperProcess,
    pub(crate) file: &'a File,
    pub(crate) refused: &'a LoadRefusal,
}

impl ProbeAttacher<'_> {
    /// Attaches the program of this name to places: offsets in the file.
    ///
    /// # Errors
    /// The kernel refuses, for people.
    pub(crate) fn attach_at(&mut self, program: &str, offsets: Vec<usize>) -> Result<(), String> {
        self.attach(program, ProbeSites { offsets, ..ProbeSites::default() })
    }

    /// The same, with cookies, a group, or at returns.
    ///
    /// # Errors
    /// As [`attach_at`](Self::attach_at).
    pub(crate) fn attach(&mut self, program: &str, places: ProbeSites) -> Result<(), String> {
        if let Some(why) = self.refused.get(program) {
            return Err(format!("the kernel refuses the probe's program: {why}"));
        }
        self.helper.attach_probes(ProbeSites { program: program.to_owned(), ..places }, self.file)
    }
}
