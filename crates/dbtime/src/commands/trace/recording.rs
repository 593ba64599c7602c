//! `--record FILE`: everything that is seen, for later.

use super::fingerprints::Fingerprints;
use crate::cli::TraceArgs;
use crate::exit::Failure;
use crate::screen;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{TraceBegin, TraceEnd, TraceWriter, VERSION};
use dbtime_model::traced_totals::StatementName;
use dbtime_model::{MonoNanos, Nanos};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A new file, for its owner's eyes alone; it goes again where nothing comes to be in it.
pub(super) struct NewFile {
    path: PathBuf,
    file: File,
    is_in_use: bool,
}

impl NewFile {
    /// Makes the file, which must not be there.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = new.map_err(|error| failed(path, &error))?;
        Ok(Self { path: path.to_owned(), file, is_in_use: false })
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_in_use {
            // An empty file harms nobody.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A file that is being written.
pub(super) struct Recording {
    file: PathBuf,
    writer: TraceWriter<BufWriter<File>>,
    raw_sql: bool,
    fingerprints: Fingerprints,
    requests: u64,
}

impl Recording {
    /// Begins a file; `clock` is when the watching began.
    pub(super) fn begin(
        mut new: NewFile,
        args: &TraceArgs,
        (since, clock): (MonoNanos, String),
        servers: Vec<String>,
    ) -> Result<Self, Failure> {
        let begin = TraceBegin {
            version: VERSION,
            since,
            clock,
            servers,
            raw_sql: args.raw_sql,
            step: args.step.unwrap_or(Nanos::ZERO),
        };
        new.is_in_use = true;
        let file = new.file.try_clone();
        let writer = file.and_then(|file| TraceWriter::begin(BufWriter::new(file), &begin));
        let writer = writer.map_err(|error| failed(&new.path, &error))?;
        let (file, raw_sql) = (new.path.clone(), args.raw_sql);
        Ok(Self { file, writer, raw_sql, fingerprints: Fingerprints::default(), requests: 0 })
    }

    pub(super) fn add(&mut self, requests: Vec<TracedRequest>) -> Result<(), Failure> {
        for mut request in requests {
            if !self.raw_sql {
                self.leave_literals_out(&mut request);
            }
            let written = self.writer.request(&request);
            written.map_err(|error| failed(&self.file, &error))?;
            self.requests += 1;
        }
        Ok(())
    }

    fn leave_literals_out(&mut self, request: &mut TracedRequest) {
        request.text = self.fingerprints.of(&request.text);
        for one in &mut request.statements {
            one.text = self.fingerprints.of(&one.text);
        }
        let Some(blocker) = &mut request.blocker else { return };
        if let Some(text) = &mut blocker.statement {
            *text = self.fingerprints.of(text);
        }
        if let Some(transaction) = &mut blocker.transaction {
            let latest = &mut Arc::make_mut(transaction).latest;
            latest.iter_mut().for_each(|text| *text = self.fingerprints.of(text));
        }
    }

    /// Leaves the literals of a statement out.
    fn shorten(&mut self, name: &mut StatementName) {
        if let StatementName::Text(text) = name {
            *text = self.fingerprints.make(text);
        }
    }

    pub(super) fn end(mut self, end: &TraceEnd) -> Result<(), Failure> {
        let mut end = end.clone();
        if !self.raw_sql {
            let totals = &mut end.totals;
            totals.statements.iter_mut().for_each(|row| self.shorten(&mut row.name));
            for row in &mut totals.lock_waits {
                self.shorten(&mut row.statement);
                row.holder.iter_mut().for_each(|holder| self.shorten(&mut holder.statement));
            }
        }
        let Self { file, writer, requests, .. } = self;
        writer.end(&end).map_err(|error| failed(&file, &error))?;
        screen::note(&format!("{requests} requests recorded in {}", file.display()));
        Ok(())
    }
}

fn failed(file: &Path, error: &io::Error) -> Failure {
    use io::ErrorKind::{AlreadyExists, FileTooLarge, QuotaExceeded, StorageFull};
    let remedy = match error.kind() {
        AlreadyExists => "; name a file that is not there",
        StorageFull | QuotaExceeded | FileTooLarge => {
            "; free space, or name a file where there is some; \
             what is in this one can be read up to there"
        }
        _ => "",
    };
    Failure::environment(format!("recording in {}: {error}{remedy}", file.display()))
}
