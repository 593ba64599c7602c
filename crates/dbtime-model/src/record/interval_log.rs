//! `latency.hlog` read back: how the responses of each second are distributed.

use super::folder::ReadError;
use super::summary::HistogramBucket;
use crate::Histogram;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, LogEntry, LogIteratorError,
};
use std::io::Read;
use std::path::Path;

/// What an encoded histogram that was compressed begins with; then it has a length, as the one
/// within has behind its own first four bytes.
const COMPRESSED: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];

/// A histogram takes less, uncompressed. Unit: bytes.
const MAX_HISTOGRAM_BYTES: u64 = 1 << 20;

/// Of a histogram with more significant digits each second would take megabytes; ours have two.
const MAX_DIGITS: u32 = 3;

/// The responses of one second, by half-octave bucket.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseSecond {
    /// Seconds since the start of the load.
    pub second: u32,
    /// Buckets that are not empty, fastest first; see [`Histogram::half_octaves`]. The upper edge
    /// is `below_us`, the lower one the next smaller edge.
    pub buckets: Vec<HistogramBucket>,
}

impl ResponseSecond {
    /// The distribution of a second.
    pub fn new(second: u32, response: &Histogram) -> Self {
        let bucket = |(below, count): (crate::Nanos, u64)| HistogramBucket {
            below_us: below.as_micros(),
            count,
        };
        Self { second, buckets: response.half_octaves().into_iter().map(bucket).collect() }
    }
}

/// Reads an interval log; `path` is only for messages.
///
/// Errors: [`ReadError::Malformed`] names the line.
pub(super) fn read(text: &str, path: &Path) -> Result<Vec<ResponseSecond>, ReadError> {
    let malformed = |line: usize, problem: &str| ReadError::Malformed {
        path: path.to_owned(),
        line,
        problem: problem.to_owned(),
    };
    let line_of = |offset: usize| 1 + text.bytes().take(offset).filter(|b| *b == b'\n').count();
    let mut deserializer = Deserializer::new();
    let mut seconds = Vec::new();
    for entry in IntervalLogIterator::new(text.as_bytes()) {
        match entry {
            Ok(LogEntry::Interval(interval)) => {
                let second = second(&interval, &mut deserializer);
                let at = interval.encoded_histogram().as_ptr() as usize - text.as_ptr() as usize;
                seconds.push(second.ok_or_else(|| malformed(line_of(at), "no histogram"))?);
            }
            Ok(_) => {}
            Err(LogIteratorError::ParseError { offset }) => {
                return Err(malformed(line_of(offset), "no line of an interval log"));
            }
        }
    }
    Ok(seconds)
}

fn second(
    interval: &IntervalLogHistogram<'_>,
    deserializer: &mut Deserializer,
) -> Option<ResponseSecond> {
    let bytes = STANDARD.decode(interval.encoded_histogram()).ok()?;
    let inflated = inflated(&bytes)?;
    let histogram = Histogram::from_hdr(deserializer.deserialize(&mut inflated.as_slice()).ok()?);
    let second = u32::try_from(interval.start_timestamp().as_secs()).ok()?;
    Some(ResponseSecond::new(second, &histogram))
}

/// An encoded histogram without its compression; `None`: it is none, or none of ours. The library
/// would take as much memory as the numbers in it say.
fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    let deflated = bytes.strip_prefix(&COMPRESSED)?.get(4..)?;
    let mut inflated = Vec::new();
    ZlibDecoder::new(deflated).take(MAX_HISTOGRAM_BYTES).read_to_end(&mut inflated).ok()?;
    let number = |at: usize| Some(u32::from_be_bytes(*inflated.get(at..)?.first_chunk()?));
    let (length, digits) = (number(4)?, number(12)?);
    let is_ours = length as usize <= inflated.len() && digits <= MAX_DIGITS;
    is_ours.then_some(inflated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nanos;
    use hdrhistogram::serialization::V2DeflateSerializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
    use std::time::Duration;

    fn log(seconds: &[(u64, &[u64])]) -> String {
        let mut serializer = V2DeflateSerializer::new();
        let mut text = Vec::new();
        let mut writer = IntervalLogWriterBuilder::new()
            .begin_log_with(&mut text, &mut serializer)
            .expect("a log");
        for (at, micros) in seconds {
            let mut histogram: Histogram = Histogram::coarse();
            micros.iter().for_each(|us| histogram.record(Nanos::from_micros(*us)));
            let (at, one) = (Duration::from_secs(*at), Duration::from_secs(1));
            writer.write_histogram(histogram.hdr(), at, one, Tag::new("response")).expect("memory");
        }
        drop(writer);
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn seconds_read_back_as_they_were_counted() {
        let text = log(&[(0, &[100, 100, 900]), (2, &[5_000])]);
        let seconds = read(&text, Path::new("latency.hlog")).expect("a log");
        let mut first: Histogram = Histogram::coarse();
        [100, 100, 900].iter().for_each(|us| first.record(Nanos::from_micros(*us)));
        assert_eq!(seconds[0], ResponseSecond::new(0, &first));
        assert_eq!(seconds[0].buckets.iter().map(|b| b.count).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((seconds.len(), seconds[1].second), (2, 2));
    }

    /// A log of one second, whose histogram is these bytes.
    fn log_of(encoded: &[u8]) -> String {
        let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut deflated, encoded).expect("memory");
        let deflated = deflated.finish().expect("memory");
        let length = (deflated.len() as u32).to_be_bytes();
        let text = STANDARD.encode([&COMPRESSED[..], &length, &deflated].concat());
        let whole = log(&[(0, &[100])]);
        let at = whole.find("HISTF").expect("a histogram");
        format!("{}{text}\n", &whole[..at])
    }

    #[test]
    fn numbers_in_a_histogram_take_no_memory_that_it_does_not_have() {
        let encoded = |length: u32, digits: u32| {
            let heads = [0x1c84_9313, length, 0, digits].map(u32::to_be_bytes);
            let ends = [1, u64::MAX >> 1, 1f64.to_bits()].map(u64::to_be_bytes);
            [heads.concat(), ends.concat(), vec![2; 9]].concat()
        };
        let read = |encoded: &[u8]| read(&log_of(encoded), Path::new("x.hlog"));
        assert_eq!(read(&encoded(9, 2)).expect("a second").len(), 1);
        let bomb = [encoded(u32::MAX, 2), vec![2; 8 << 20]].concat();
        for hostile in [&encoded(u32::MAX, 2), &encoded(9, 5), &bomb] {
            let error = read(hostile).expect_err("refused").to_string();
            assert!(error.contains("no histogram"), "{error}");
        }
    }

    #[test]
    fn what_is_no_log_is_refused_by_its_line() {
        let whole = log(&[(0, &[100])]);
        let broken = whole.replace("HISTF", "HISTX");
        let error = read(&broken, Path::new("x.hlog")).expect_err("no histogram").to_string();
        assert!(error.contains("x.hlog, line") && error.contains("no histogram"), "{error}");
        assert_eq!(read("", Path::new("x")).expect("no line at all"), []);
    }
}
