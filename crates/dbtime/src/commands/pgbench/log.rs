//! The files of `-l`: one for each of pgbench's threads.

use crate::exit::CommandFailure;
use dbtime_script::pgbench::options::{BenchmarkOptions, LogOptions};
use dbtime_script::pgbench::{
    ClientSeeds, LogEntry, PgbenchRandom, ThreadLog, ThreadSeeds, deal_clients, log_file_name,
};
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;

/// All files of a run.
pub(super) struct LogFiles {
    /// The thread of each client.
    dealt: Vec<u32>,
    threads: Vec<LogFile>,
}

struct LogFile {
    name: String,
    log: ThreadLog,
    /// Which transactions are logged, where it is a share of them.
    draws: PgbenchRandom,
    file: BufWriter<File>,
    text: String,
    failed: Option<std::io::Error>,
}

impl LogFiles {
    /// Makes the files of a run.
    pub(super) fn create(
        log: &LogOptions,
        benchmark: &BenchmarkOptions,
        seed: u64,
    ) -> Result<Self, CommandFailure> {
        let (clients, threads) = (benchmark.clients, benchmark.jobs);
        let is_seed_given = benchmark.defines.iter().any(|(name, _)| name == "default_seed");
        let seeds = ClientSeeds::new(seed, clients, threads, is_seed_given);
        let file = |(number, seeds): (u32, ThreadSeeds)| {
            let name = log_file_name(&log.prefix, std::process::id(), number);
            // The name can be guessed, and the folder may be anybody's: no link is followed.
            let mut options = File::options();
            let options = options.write(true).create(true).truncate(true);
            let no_link = OFlags::NOFOLLOW.bits().cast_signed();
            let file = options.custom_flags(no_link).open(&name).map_err(|error| {
                CommandFailure::environment(format!("could not open logfile \"{name}\": {error}"))
            })?;
            let log = ThreadLog::new(log, benchmark, 0);
            let (file, text) = (BufWriter::new(file), String::new());
            Ok(LogFile { name, log, draws: seeds.sample, file, text, failed: None })
        };
        let files: Result<_, CommandFailure> = (0..).zip(seeds.threads).map(file).collect();
        Ok(Self { dealt: deal_clients(clients, threads), threads: files? })
    }

    /// The run begins at `began_us`, in microseconds since 1970.
    pub(super) fn begin(&mut self, log: &LogOptions, benchmark: &BenchmarkOptions, began_us: i64) {
        for file in &mut self.threads {
            file.log = ThreadLog::new(log, benchmark, began_us);
        }
    }

    /// Logs a transaction.
    pub(super) fn record(&mut self, entry: &LogEntry) {
        let thread = self.dealt.get(entry.client as usize).copied().unwrap_or(0);
        let Some(file) = self.threads.get_mut(thread as usize) else { return };
        let draw = file.draws.unit();
        file.log.record(entry, draw, &mut file.text);
        file.write();
    }

    /// Writes what is left.
    pub(super) fn end(&mut self, now_us: i64) -> Result<(), CommandFailure> {
        for file in &mut self.threads {
            file.log.end(now_us, &mut file.text);
            file.write();
            let flushed = file.file.flush().err();
            if let Some(error) = file.failed.take().or(flushed) {
                let name = &file.name;
                let text = format!("could not write logfile \"{name}\": {error}");
                return Err(CommandFailure::environment(text));
            }
        }
        Ok(())
    }
}

impl LogFile {
    /// A failure is told at the end, when whoever measures has time for it.
    fn write(&mut self) {
        if let Err(error) = self.file.write_all(self.text.as_bytes()) {
            self.failed.get_or_insert(error);
        }
        self.text.clear();
    }
}
