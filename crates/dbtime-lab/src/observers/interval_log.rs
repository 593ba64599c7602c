//! The interval log of a run: the response times of each second, in the format of HdrHistogram.

use dbtime_model::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

/// Writes an interval log. After an error nothing more is written.
pub(crate) struct IntervalLog<'a> {
    out: Box<dyn Write + Send + 'a>,
    error: Option<io::Error>,
}

impl<'a> IntervalLog<'a> {
    /// A log of a load that started at `started`, with its heading.
    pub(crate) fn new(out: Box<dyn Write + Send + 'a>, started: SystemTime) -> Self {
        let mut log = Self { out, error: None };
        log.write(|log| log.out.write_all(heading(started).as_bytes()));
        log
    }

    /// Writes one second's response times.
    pub(crate) fn second(&mut self, second: u32, response: &Histogram) {
        self.write(|log| log.interval(second, response));
    }

    /// Writes out what is still held.
    pub(crate) fn flush(&mut self) {
        self.write(|log| log.out.flush());
    }

    /// Why it could not be written, if it could not.
    pub(crate) fn into_error(self) -> Option<io::Error> {
        self.error
    }

    fn write(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = write(self).err();
        }
    }

    fn interval(&mut self, second: u32, response: &Histogram) -> io::Result<()> {
        let mut serializer = V2DeflateSerializer::new();
        let mut text = Vec::new();
        {
            let mut writer = IntervalLogWriterBuilder::new()
                .with_max_value_divisor(1e6)
                .begin_log_with(&mut text, &mut serializer)?;
            let (at, length) = (Duration::from_secs(second.into()), Duration::from_secs(1));
            writer
                .write_histogram(response.hdr(), at, length, Tag::new("response"))
                .map_err(|error| io::Error::other(error.to_string()))?;
        }
        // Each use of the writer opens a log with its heading; the file has one heading of its own.
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            if !line.starts_with(b"#") && !line.starts_with(b"\"") {
                self.out.write_all(line)?;
            }
        }
        Ok(())
    }
}

/// The comment lines that open an interval log.
fn heading(started: SystemTime) -> String {
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
    use dbtime_model::Nanos;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use std::collections::BTreeMap;

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

    fn histogram(milliseconds: &[u64]) -> Histogram {
        let mut histogram = Histogram::coarse();
        milliseconds.iter().for_each(|ms| histogram.record(Nanos::from_millis(*ms)));
        histogram
    }

    #[test]
    fn every_second_is_a_histogram() {
        let mut text = Vec::new();
        let mut log = IntervalLog::new(Box::new(&mut text), SystemTime::now());
        log.second(0, &histogram(&[10]));
        log.second(1, &histogram(&[20, 21]));
        log.flush();
        assert!(log.into_error().is_none());
        assert_eq!(logged(&text), BTreeMap::from([(0, vec![10]), (1, vec![20, 21])]));
    }

    #[test]
    fn the_first_error_is_kept_and_ends_the_log() {
        struct FullDisk(u32);
        impl Write for FullDisk {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                self.0 += 1;
                assert_eq!(self.0, 1, "nothing is written after an error");
                Err(io::ErrorKind::StorageFull.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut log = IntervalLog::new(Box::new(FullDisk(0)), SystemTime::now());
        log.second(0, &histogram(&[10]));
        log.flush();
        assert_eq!(log.into_error().map(|e| e.kind()), Some(io::ErrorKind::StorageFull));
    }
}
