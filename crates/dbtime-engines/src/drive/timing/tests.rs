//! A transaction's parts add up, whatever it does in which order.

use super::*;
use dbtime_model::OperationId;
use proptest::prelude::*;

/// What a transaction does next, and how long the driver took before that. Unit: nanoseconds.
#[derive(Clone, Copy, Debug)]
enum TimedStep {
    Statement { gap: u64, took: u64, late: u64 },
    Pause { gap: u64, part: Part, took: u64 },
}

fn step() -> impl Strategy<Value = TimedStep> {
    let part = prop::sample::select(&Part::PAUSES[..]);
    prop_oneof![
        (0..50u64, 0..90u64, 0..99u64).prop_map(|(gap, took, late)| TimedStep::Statement {
            gap,
            took,
            late
        }),
        (0..50u64, part, 0..90u64).prop_map(|(gap, part, took)| TimedStep::Pause {
            gap,
            part,
            took
        }),
    ]
}

proptest! {
    #[test]
    fn the_driver_s_own_time_is_what_lies_between(
        steps in prop::collection::vec(step(), 1..12), behind in 0..50u64,
    ) {
        let ready = MonoNanos(1_000);
        let mut timing = TransactionTiming::new(ready, true);
        let (mut at, mut between) = (ready, 0);
        for (index, step) in steps.into_iter().enumerate() {
            let (TimedStep::Statement { gap, .. } | TimedStep::Pause { gap, .. }) = step;
            let from = at + Nanos(gap);
            // Before the first it is lag.
            between += if index == 0 { 0 } else { gap };
            at = match step {
                TimedStep::Statement { took, late, .. } => {
                    let late = Nanos(late.min(took));
                    timing.statement(from, from + Nanos(took));
                    timing.late(late);
                    timing.parts.add(Part::ServerAndWire, (Nanos(took) - late).signed());
                    from + Nanos(took)
                }
                TimedStep::Pause { part, took, .. } => {
                    timing.pause(part, from, from + Nanos(took));
                    from + Nanos(took)
                }
            };
        }
        timing.ends(at + Nanos(behind));
        prop_assert_eq!(timing.client(), Nanos(between + behind));
        let ticket = Ticket { index: 0, operation: OperationId(0), due: MonoNanos(900), client: 0 };
        let sample = timing.sample(&ticket, Outcome::Completed, 0);
        let parts = timing.close(&sample);
        prop_assert_eq!(parts.get(Part::Unexplained), 0);
        prop_assert_eq!(parts.total(), sample.response().signed());
    }
}
