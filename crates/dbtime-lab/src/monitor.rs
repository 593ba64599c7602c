//! Watches a run go by: gathers the seconds its threads hand over, samples the machine once a
//! second, writes the interval log, tells progress.
//!
//! Runs on a thread of its own; the driving threads never wait for it.

mod seconds;
mod server_eyes;

pub(crate) use seconds::{Seconds, seconds};
pub(crate) use server_eyes::ServerEyes;

use crate::progress::{Progress, SecondSeen};
use dbtime_machine::now;
use dbtime_machine::usage::MachineSample;
use dbtime_model::counters::CounterSample;
use dbtime_model::process::ServerSample;
use dbtime_model::record::SeriesRow;
use dbtime_model::recorder::Window;
use dbtime_model::series::Second;
use dbtime_model::{Histogram, MonoNanos, Nanos};
use dbtime_observe::process::ServerGlance;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, SystemTime};

/// How many seconds a late thread may still add to before a second is closed and logged.
const OPEN_SECONDS: usize = 20;

/// How long after its end a second is told: threads hand it over when they next have an answer.
const TOLD_AFTER: Nanos = Nanos::from_millis(150);

/// What the monitor brings back.
pub(crate) struct Watched {
    /// A row per second.
    pub series: Vec<SeriesRow>,
    /// The machine at the start and end of the window: the samples nearest after. Of a load that
    /// ended before, its own start and end.
    pub machine: [MachineSample; 2],
    /// The server at the start and end of the window, where it can be seen.
    pub server: [Option<ServerSample>; 2],
    /// Its counters likewise.
    pub counters: [Option<CounterSample>; 2],
    /// Why the interval log could not be written, if it could not.
    pub log_error: Option<io::Error>,
}

/// Watches until every sink is gone. `log` receives the interval log.
pub(crate) struct Monitor<'a> {
    start: MonoNanos,
    window: Window,
    seconds: BTreeMap<u32, Open>,
    rows: BTreeMap<u32, SeriesRow>,
    samples: Vec<MachineSample>,
    /// How many seconds have been told.
    told: u32,
    window_samples: [Option<MachineSample>; 2],
    eyes: ServerEyes,
    /// Its CPU time at each full second.
    glances: Vec<Option<ServerGlance>>,
    log: Box<dyn Write + 'a>,
    log_error: Option<io::Error>,
    progress: &'a (dyn Fn(Progress) + Sync),
}

/// A second that threads may still add to.
struct Open {
    completed: u64,
    failed: u64,
    retries: u64,
    response: Histogram,
    service_ns: u64,
}

impl<'a> Monitor<'a> {
    /// A monitor of the load that starts at `start`.
    pub(crate) fn new(
        start: MonoNanos,
        window: Window,
        log: Box<dyn Write + 'a>,
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Self {
        Self {
            start,
            window,
            seconds: BTreeMap::new(),
            rows: BTreeMap::new(),
            samples: vec![MachineSample::take()],
            told: 0,
            window_samples: [None; 2],
            eyes: ServerEyes::default(),
            glances: Vec::new(),
            log,
            log_error: None,
            progress,
        }
    }

    /// Also watches a server.
    pub(crate) fn with_server(mut self, eyes: ServerEyes) -> Self {
        self.eyes = eyes;
        let glance = self.eyes.glance();
        self.glances.push(glance);
        self
    }

    /// Watches until the driving threads have dropped their sinks. The server is looked at once
    /// more when its connections are closed: [`ServerEyes::sessions_ended`].
    pub(crate) fn watch(mut self, seconds: Seconds) -> (Watched, ServerEyes) {
        let Seconds { from_threads, back } = seconds;
        loop {
            let wait = self.next_tick() - now();
            match from_threads.recv_timeout(Duration::from_nanos(wait.0)) {
                Ok((thread, second)) => {
                    self.take(&second);
                    if let Some(back) = back.get(thread as usize) {
                        let _ = back.try_send(second);
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.tick(),
                Err(RecvTimeoutError::Disconnected) => return self.finish(),
            }
        }
    }

    /// The next instant at which there is something to do: the machine is sampled at a full second
    /// and at the edges of the window, and a second is told.
    fn next_tick(&self) -> MonoNanos {
        let full = self.start + Nanos::from_secs(self.samples.len() as u64);
        let edges = [self.window.start, self.window.end].into_iter().zip(&self.window_samples);
        let pending = edges.filter(|(_, taken)| taken.is_none()).map(|(edge, _)| edge).min();
        let next = full.min(self.tells_at());
        pending.map_or(next, |edge| edge.min(next))
    }

    fn tells_at(&self) -> MonoNanos {
        self.start + Nanos::from_secs(u64::from(self.told) + 1) + TOLD_AFTER
    }

    fn tick(&mut self) {
        if now() >= self.tells_at() {
            self.tell(self.told);
            self.told += 1;
        }
        let sample = MachineSample::take();
        for (index, edge) in [self.window.start, self.window.end].into_iter().enumerate() {
            if self.window_samples[index].is_none() && sample.at >= edge {
                self.window_samples[index] = Some(sample);
                self.eyes.look(index);
            }
        }
        let full = self.start + Nanos::from_secs(self.samples.len() as u64);
        if sample.at >= full {
            self.samples.push(sample);
            let glance = self.eyes.glance();
            self.glances.push(glance);
            self.close_old();
        }
    }

    fn take(&mut self, second: &Second) {
        if second.is_empty() {
            return;
        }
        // A thread that was held up for longer than seconds stay open adds to the oldest open one.
        let logged = self.rows.last_key_value().map_or(0, |(index, _)| index + 1);
        let open = self.seconds.entry(second.index.max(logged)).or_insert_with(|| Open {
            completed: 0,
            failed: 0,
            retries: 0,
            response: Histogram::coarse(),
            service_ns: 0,
        });
        open.completed += second.completed;
        open.failed += second.failed;
        open.retries += second.retries;
        open.response.merge(&second.response);
        open.service_ns += second.service_ns;
    }

    fn tell(&self, second: u32) {
        let seen = self.seconds.get(&second).map_or_else(SecondSeen::default, |open| SecondSeen {
            second,
            completed: open.completed,
            failed: open.failed,
            p50: open.response.quantile(0.5),
            p99: open.response.quantile(0.99),
        });
        (self.progress)(Progress::Second(SecondSeen { second, ..seen }));
    }

    fn close_old(&mut self) {
        while self.seconds.len() > OPEN_SECONDS {
            let Some((index, open)) = self.seconds.pop_first() else { return };
            self.close(index, &open);
        }
    }

    fn close(&mut self, index: u32, open: &Open) {
        if self.log_error.is_none() {
            self.log_error = self.log(index, open).err();
        }
        let us = |q| open.response.quantile(q).as_micros();
        self.rows.insert(
            index,
            SeriesRow {
                second: index,
                completed: open.completed,
                failed: open.failed,
                retries: open.retries,
                response_mean_us: open.response.mean_ns() / 1e3,
                response_p50_us: us(0.5),
                response_p90_us: us(0.9),
                response_p99_us: us(0.99),
                response_max_us: open.response.max().as_micros(),
                service_mean_us: open.service_ns as f64 / 1e3 / open.response.count().max(1) as f64,
                ..SeriesRow::default()
            },
        );
    }

    fn log(&mut self, index: u32, open: &Open) -> io::Result<()> {
        let mut serializer = V2DeflateSerializer::new();
        let mut text = Vec::new();
        {
            let mut writer = IntervalLogWriterBuilder::new()
                .with_max_value_divisor(1e6)
                .begin_log_with(&mut text, &mut serializer)?;
            let (at, length) = (Duration::from_secs(index.into()), Duration::from_secs(1));
            writer
                .write_histogram(open.response.hdr(), at, length, Tag::new("response"))
                .map_err(|error| io::Error::other(error.to_string()))?;
        }
        // Each use of the writer opens a log with its heading; the file has one heading of its own.
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            if !line.starts_with(b"#") && !line.starts_with(b"\"") {
                self.log.write_all(line)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> (Watched, ServerEyes) {
        while let Some((index, open)) = self.seconds.pop_first() {
            self.close(index, &open);
        }
        if self.log_error.is_none() {
            self.log_error = self.log.flush().err();
        }
        let end = MachineSample::take();
        if self.window_samples[1].is_none() {
            self.eyes.spent(1);
        }
        let glance = self.eyes.glance();
        self.glances.push(glance);
        self.samples.push(end);
        let seconds = self.rows.last_key_value().map_or(0, |(index, _)| index + 1);
        let series = (0..seconds).map(|index| self.row(index)).collect();
        let [begin, finish] = self.window_samples;
        let machine = [begin.unwrap_or(self.samples[0]), finish.unwrap_or(end)];
        let (server, counters) = ([None, None], [None, None]);
        (Watched { series, machine, server, counters, log_error: self.log_error }, self.eyes)
    }

    /// A second with its phase and the machine's figures.
    fn row(&mut self, index: u32) -> SeriesRow {
        let mut row = self.rows.remove(&index).unwrap_or_default();
        row.second = index;
        let at = self.start + Nanos::from_secs(index.into());
        let phase = match at {
            at if at + Nanos::from_millis(500) < self.window.start => "warmup",
            at if at + Nanos::from_millis(500) >= self.window.end => "rundown",
            _ => "measure",
        };
        row.phase = phase.to_owned();
        let index = index as usize;
        if let (Some(mut from), Some(to)) = (self.samples.get(index), self.samples.get(index + 1)) {
            // The counters tick a hundred times a second: a stub of a second at the end borrows
            // from the one before.
            if index > 0 && to.at - from.at < Nanos::from_millis(500) {
                from = &self.samples[index - 1];
            }
            let used = to.since(from);
            row.usr_pct = used.usr_pct;
            row.sys_pct = used.sys_pct;
            row.foreign_pct = used.foreign_pct;
            row.steal_pct = used.steal_pct;
            row.run_queue = to.running;
        }
        let glance = |at: usize| self.glances.get(at).copied().flatten();
        if let (Some(from), Some(to)) = (glance(index), glance(index + 1))
            && to.at - from.at > Nanos::from_millis(100)
        {
            let pct = 100.0 * to.cpu_since(&from).as_secs() / (to.at - from.at).as_secs();
            row.server_pct = Some(pct);
            row.foreign_pct = (row.foreign_pct - pct).max(0.0);
        }
        row
    }
}

/// The comment lines that open an interval log of a load that started at `started`.
pub(crate) fn log_heading(started: SystemTime) -> String {
    let since = started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs_f64();
    format!(
        "#[Histogram log format version 1.3]\n\
         #[Values in nanoseconds, Interval_Max in milliseconds]\n\
         #[StartTime: {seconds:.3} (seconds since epoch)]\n\
         #[BaseTime: {seconds:.3} (seconds since epoch)]\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::{OperationId, Outcome, Sample};
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    fn sample(start: MonoNanos, done_ms: u64, took_ms: u64) -> Sample {
        let done = start + Nanos::from_millis(done_ms);
        let due = done - Nanos::from_millis(took_ms);
        let (operation, outcome) = (OperationId(0), Outcome::Completed);
        Sample {
            operation,
            outcome,
            due,
            ready: due,
            sent: due,
            done,
            late: Nanos::ZERO,
            retries: 0,
        }
    }

    /// Every value of an interval log, by second.
    fn logged(log: &[u8]) -> BTreeMap<u64, Vec<u64>> {
        let mut values = BTreeMap::new();
        for entry in IntervalLogIterator::new(log) {
            let LogEntry::Interval(interval) = entry.expect("a well-formed line") else { continue };
            assert_eq!(interval.tag().map(|tag| tag.as_str().to_owned()), Some("response".into()));
            let bytes = base64_decode(interval.encoded_histogram());
            let histogram: hdrhistogram::Histogram<u64> =
                Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a histogram");
            let steps = histogram.iter_recorded();
            let milliseconds = steps.map(|step| (step.value_iterated_to() + 500_000) / 1_000_000);
            values.insert(interval.start_timestamp().as_secs(), milliseconds.collect());
        }
        values
    }

    /// Decodes standard base64, which is all an interval log holds.
    fn base64_decode(text: &str) -> Vec<u8> {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digits = text.bytes().filter_map(|c| alphabet.iter().position(|a| *a == c));
        let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
        for digit in digits {
            bits = bits << 6 | digit as u32;
            held += 6;
            if held >= 8 {
                held -= 8;
                bytes.push((bits >> held) as u8);
            }
        }
        bytes
    }

    #[test]
    fn seconds_of_all_threads_meet_in_series_and_log() {
        let start = now();
        let window = Window { start, end: start + Nanos::from_secs(2) };
        let (sinks, seconds) = seconds(2);
        for thread in 0..2 {
            let mut sink = sinks.take(thread);
            let mut second = Box::new(Second::new(0));
            second.record(&sample(start, 500, 10));
            second = sink.swap(second);
            second.reset(1);
            second.record(&sample(start, 1500, 20 + u64::from(thread)));
            sink.swap(second);
        }
        drop(sinks);
        let mut log = log_heading(SystemTime::now()).into_bytes();
        let quiet = |_: Progress| {};
        let (watched, _) = Monitor::new(start, window, Box::new(&mut log), &quiet).watch(seconds);
        assert!(watched.log_error.is_none());
        let rows: Vec<(u32, u64, &str)> = watched
            .series
            .iter()
            .map(|row| (row.second, row.completed, row.phase.as_str()))
            .collect();
        assert_eq!(rows, [(0, 2, "measure"), (1, 2, "measure")]);
        assert!((watched.series[1].service_mean_us - 20_500.0).abs() < 1.0);
        assert_eq!(logged(&log), BTreeMap::from([(0, vec![10]), (1, vec![20, 21])]));
    }

    #[test]
    fn the_machine_is_sampled_at_the_edges_of_the_window() {
        let start = now();
        let at = |ms| start + Nanos::from_millis(ms);
        let window = Window { start: at(30), end: at(60) };
        let (sinks, seconds) = seconds(1);
        let held = sinks.take(0);
        drop(sinks);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            drop(held);
        });
        let quiet = |_: Progress| {};
        let (watched, _) = Monitor::new(start, window, Box::new(Vec::new()), &quiet).watch(seconds);
        let [begin, end] = watched.machine;
        assert!(begin.at >= window.start && end.at >= window.end && end.at < at(500));
    }
}
