//! Programs of the kernel's side, attached to places in a program file or a library.

use super::loading::Refused;
use libbpf_rs::{Link, Object, UprobeMultiOpts};
use std::path::Path;

/// Attaches programs to places in a file, in every process that runs it: which of them are watched
/// is looked up there.
pub(super) struct Listener<'a> {
    pub(super) object: &'a mut Object,
    pub(super) path: &'a Path,
    pub(super) refused: &'a Refused,
    pub(super) links: &'a mut Vec<Link>,
}

impl Listener<'_> {
    /// Attaches the program of this name to places: offsets in the file.
    ///
    /// # Errors
    /// The kernel refuses, for people.
    pub(super) fn listen(&mut self, name: &str, places: Vec<usize>) -> Result<(), String> {
        self.attach(name, UprobeMultiOpts { offsets: places, ..UprobeMultiOpts::default() })
    }

    /// The same, with what else there is to say.
    ///
    /// # Errors
    /// As [`listen`](Self::listen).
    pub(super) fn attach(&mut self, name: &str, places: UprobeMultiOpts) -> Result<(), String> {
        if let Some(why) = self.refused.get(name) {
            return Err(format!("the kernel refuses what would listen: {why}"));
        }
        let mut programs = self.object.progs_mut();
        let program = programs.find(|program| program.name() == name);
        let program = program.ok_or_else(|| format!("the program `{name}` is missing"))?;
        let link = program.attach_uprobe_multi_with_opts(-1, self.path, "", places);
        self.links.push(link.map_err(|error| error.to_string())?);
        Ok(())
    }
}
