//! The offset between two clocks is found whatever it is, and never claimed to be known better than
//! it is.

use super::clock_mapping::{ClockMapping, MAX_DRIFT_PPM};
use super::clock_search::{DrivenSpan, NoOffset, ServedInstants, TwoSides};
use dbtime_model::MonoNanos;
use proptest::prelude::*;

/// Two hosts and the wire between them.
#[derive(Clone, Copy, Debug)]
struct Hosts {
    /// What an instant of the server's clock has beyond the driver's when the run begins.
    offset: i64,
    drift_ppm: i64,
    /// The least that a way takes, out and back; others take up to three times that.
    ways: (u64, u64),
    connections: usize,
    /// Pauses between statements are up to so long.
    pause: u64,
    seed: u64,
}

/// The least numbers that do: a sequence of Weyl, mixed.
///
/// Source: Steele, Lea, Flood (2014), SplitMix.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> i64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end.max(1)).cast_signed()
    }
}

impl Hosts {
    /// The offset at an instant of the driver's clock.
    fn offset_at(&self, at: i64) -> i64 {
        self.offset + at * self.drift_ppm / 1_000_000
    }

    /// A run of so many statements, with requests of no statement before the first of each
    /// connection. One request in fifty is lost, and what came before a statement was not
    /// recorded.
    fn run(&self, statements: usize, unrecorded: usize) -> TwoSides {
        let mut numbers = Numbers(self.seed);
        let setting = |number: i64| {
            let arrival = number * 50_000 + self.offset;
            ServedInstants { arrival, start: arrival + 10, took: 10_000 }
        };
        let settings = if unrecorded == 0 { 3 } else { 0 };
        let requests = vec![(0..settings).map(setting).collect(); self.connections];
        let mut sides = TwoSides { spans: Vec::new(), requests };
        let mut free = vec![200_000; self.connections];
        for number in 0..statements {
            let connection = number % self.connections;
            let sent = free[connection] + 1 + numbers.below(self.pause);
            let way = |least: u64, numbers: &mut Numbers| {
                least.cast_signed() + numbers.below(2 * least + 1)
            };
            let arrival = sent + way(self.ways.0, &mut numbers);
            let start = arrival + numbers.below(20_000);
            let end = start + 5_000 + numbers.below(80_000);
            let read = end + way(self.ways.1, &mut numbers);
            let drift = self.offset_at(start);
            let (took, start) = (end - arrival, start + drift);
            let recorded = ServedInstants { arrival: arrival + drift, start, took };
            sides.spans.push(DrivenSpan { connection, sent, read });
            free[connection] = read;
            if number < unrecorded || numbers.below(50) == 0 {
                continue;
            }
            sides.requests[connection].push(recorded);
        }
        sides.spans.sort_by_key(|span| span.sent);
        sides
    }

    /// The truth is within what is known, everywhere.
    fn checks(&self, mapping: &ClockMapping, sides: &TwoSides) -> Result<(), TestCaseError> {
        for span in &sides.spans {
            let truth = self.offset_at(span.sent);
            let there = MonoNanos((span.sent + truth).cast_unsigned());
            let off = mapping.offset(there) - truth;
            let known = mapping.uncertainty(MonoNanos(span.sent.cast_unsigned()));
            // Of the second is asked by the other clock, whose offset has moved a little.
            prop_assert!(off.abs() <= known + 2_000, "{} > {known} at {span:?}", off.abs());
        }
        Ok(())
    }
}

fn hosts() -> impl Strategy<Value = Hosts> {
    let drift = -MAX_DRIFT_PPM * 4 / 5..=MAX_DRIFT_PPM * 4 / 5;
    let offset = -500_000_000_000_000i64..500_000_000_000_000;
    (offset, drift, (0u64..400_000, 0u64..400_000), 1usize..9, 1u64..200_000, any::<u64>())
        .prop_map(|(offset, drift_ppm, ways, connections, pause, seed)| Hosts {
            offset: offset + 600_000_000_000_000,
            drift_ppm,
            ways,
            connections,
            pause,
            seed,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(feature = "long") { 200 } else { 5 }))]

    #[test]
    fn the_true_offset_is_within_what_is_known(hosts in hosts(), share in 0usize..4) {
        let sides = hosts.run(3_000, 400 * share);
        let mapping = match sides.mapping() {
            Ok(mapping) => mapping,
            Err(error) => {
                // Most of an exchange is wire, and pauses are shorter: any could be the first.
                prop_assert_eq!(error, NoOffset::Several);
                prop_assert!(hosts.pause < 3 * (hosts.ways.0 + hosts.ways.1) + 50_000);
                return Ok(());
            }
        };
        hosts.checks(&mapping, &sides)?;
        // No more than the shortest exchanges leave open, and what the clocks run apart meanwhile.
        let shortest = hosts.ways.0 + hosts.ways.1 + 105_000;
        let worst = mapping.worst_uncertainty().cast_unsigned();
        prop_assert!(worst < 2 * shortest + 100_000, "{worst} of {shortest}");
    }

    #[test]
    fn runs_that_were_not_recorded_fit_nowhere(hosts in hosts()) {
        let hosts = Hosts { ways: (hosts.ways.0 / 10, hosts.ways.1 / 10), ..hosts };
        let sides = hosts.run(2_000, 0);
        let other = Hosts { seed: hosts.seed ^ 1, ..hosts }.run(2_000, 0);
        let both = TwoSides { requests: other.requests, ..sides };
        prop_assert!(both.mapping().is_err());
    }
}

#[test]
fn nothing_fits_nothing() {
    assert_eq!(TwoSides::default().mapping().expect_err("none"), NoOffset::Nowhere);
}

/// A run as regular as a clock: any of its statements could be the first.
#[test]
fn what_fits_in_several_places_is_no_guess() {
    let span =
        |n: i64| DrivenSpan { connection: 0, sent: n * 1_000_000, read: n * 1_000_000 + 900 };
    let request = |n: i64| ServedInstants {
        arrival: n * 1_000_000 + 300,
        start: n * 1_000_000 + 400,
        took: 500,
    };
    let sides = TwoSides {
        spans: (100..110).map(span).collect(),
        requests: vec![(0..200).map(request).collect()],
    };
    assert_eq!(sides.mapping().expect_err("any"), NoOffset::Several);
}
