//! A recording of a trace: everything that is seen, for later.

use crate::error::{LabError, want_of_room};
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{TraceBegin, TraceEnd, TraceWriter};
use dbtime_model::units::noun_for;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A new file, for its owner's eyes alone; it goes again where nothing comes to be in it.
pub(super) struct NewTraceFile {
    path: PathBuf,
    file: File,
    is_in_use: bool,
}

impl NewTraceFile {
    /// Makes the file, which must not be there.
    pub(super) fn create(path: &Path) -> Result<Self, LabError> {
        let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = new.map_err(|error| failed(path, &error))?;
        Ok(Self { path: path.to_owned(), file, is_in_use: false })
    }
}

impl Drop for NewTraceFile {
    fn drop(&mut self) {
        if !self.is_in_use {
            // An empty file harms nobody.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A recording that is being written.
pub(super) struct TraceRecording {
    file: PathBuf,
    writer: TraceWriter<BufWriter<File>>,
    requests: u64,
}

impl TraceRecording {
    pub(super) fn begin(mut new: NewTraceFile, begin: &TraceBegin) -> Result<Self, LabError> {
        new.is_in_use = true;
        let file = new.file.try_clone();
        let writer = file.and_then(|file| TraceWriter::begin(BufWriter::new(file), begin));
        let writer = writer.map_err(|error| failed(&new.path, &error))?;
        Ok(Self { file: new.path.clone(), writer, requests: 0 })
    }

    /// Adds requests, which lose their logins and texts.
    pub(super) fn add(&mut self, requests: &mut [TracedRequest]) -> Result<(), LabError> {
        self.requests += requests.len() as u64;
        self.writer.requests(requests).map_err(|error| failed(&self.file, &error))
    }

    /// Adds the last requests and the end. Returns a note on it.
    pub(super) fn finish(
        mut self,
        last: &mut [TracedRequest],
        end: &TraceEnd,
    ) -> Result<String, LabError> {
        self.add(last)?;
        let Self { file, writer, requests } = self;
        writer.end(end).map_err(|error| failed(&file, &error))?;
        let noun = noun_for(requests, "request");
        Ok(format!("{requests} {noun} recorded in {}", file.display()))
    }
}

fn failed(file: &Path, error: &io::Error) -> LabError {
    let remedy = match want_of_room(error) {
        Some(remedy) => {
            format!("; {remedy}, or name a file elsewhere; this one can be read up to there")
        }
        None if error.kind() == io::ErrorKind::AlreadyExists => {
            "; name a file that is not there".to_owned()
        }
        None => String::new(),
    };
    LabError::Target(format!("recording in {}: {error}{remedy}", file.display()))
}
