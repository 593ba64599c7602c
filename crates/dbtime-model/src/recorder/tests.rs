//! Tests of what is recorded of transactions.

use super::*;

#[test]
fn nobody_has_a_share_where_nothing_was_completed() {
    let of = |completed| CountsInfo { completed, failed: 3, ..CountsInfo::default() };
    assert_eq!(of(4).each(10.0), Some(2.5));
    assert_eq!(of(0).each(10.0), None);
    assert_eq!(of(0).each(0.0), None);
}

/// What a recorder of a window from 10 s to 20 s has of a transaction of these seconds.
fn recorded(due_s: u64, done_s: u64, outcome: Outcome) -> Recorder<u64> {
    let at = |seconds: u64| MonoNanos(Nanos::from_secs(seconds).0);
    let mut recorder = Recorder::new(Window { start: at(10), end: at(20) }, 1, 0, 1);
    let operation = OperationId(0);
    recorder.offered(operation, at(due_s));
    let (due, done) = (at(due_s), at(done_s));
    let late = Nanos::ZERO;
    recorder.record(&Sample {
        operation,
        outcome,
        due,
        ready: due,
        sent: due,
        done,
        late,
        retries: 0,
    });
    assert!(recorder.counts().add_up(), "{:?}", recorder.counts());
    recorder
}

#[test]
fn what_is_outstanding_through_the_window_has_its_length_as_its_least_response() {
    use Outcome::{Completed, Dropped, Unfinished};
    for outcome in [Completed, Unfinished, Outcome::Failed(ErrorClass::Timeout)] {
        let recorder = recorded(7, 24, outcome);
        let counts = recorder.counts();
        assert_eq!((counts.outstanding, counts.offered, recorder.carried_in), (1, 0, 1));
        let response = &recorder.operations[0].latencies.response;
        let length = response.max().as_secs();
        assert!(response.count() == 1 && (length - 10.0).abs() < 0.02, "{length}");
    }
    for (due_s, done_s, outcome, carried_in) in
        [(7, 8, Completed, 0), (7, 12, Completed, 1), (7, 24, Dropped, 1), (21, 30, Unfinished, 0)]
    {
        let recorder = recorded(due_s, done_s, outcome);
        assert_eq!((recorder.counts().outstanding, recorder.counts().held), (0, 0), "{due_s}");
        assert_eq!(recorder.operations[0].latencies.response.count(), 0, "{due_s}");
        assert_eq!(recorder.carried_in, carried_in, "{due_s}");
    }
}

#[test]
fn a_client_is_held_whose_first_transaction_of_the_window_outlasts_it() {
    let held = |due_s, done_s, outcome| {
        let recorder = recorded(due_s, done_s, outcome);
        assert_eq!(recorder.counts().outstanding, 0);
        recorder.counts().held
    };
    assert_eq!(held(10, 25, Outcome::Unfinished), 1);
    assert_eq!(held(10, 21, Outcome::Completed), 1, "as one that is outstanding may have");
    let failed = recorded(10, 25, Outcome::Failed(ErrorClass::Timeout)).counts();
    assert_eq!((failed.held, failed.held_failed, failed.failed), (1, 1, 1));
    let open = recorded(10, 25, Outcome::Unfinished).counts();
    assert_eq!((open.held_failed, open.held_unfinished, failed.held_unfinished), (0, 1, 0));
    let late = recorded(10, 21, Outcome::Completed);
    assert_eq!(late.counts().held_unfinished, 0, "it ended behind the window");
    let mut both = recorded(10, 25, Outcome::Unfinished);
    both.merge(&both.clone());
    assert_eq!(both.counts().held_unfinished, 2);
    let later = recorded(12, 25, Outcome::Unfinished).counts();
    assert_eq!((later.unfinished, later.held_unfinished), (1, 0));
    assert_eq!(held(10, 19, Outcome::Completed), 0, "it finished one");
    assert_eq!(held(12, 25, Outcome::Unfinished), 0, "it may have been served before");
    // Of a number of transactions the window has no end before the last of them.
    let window = Window { start: MonoNanos(0), end: MonoNanos(u64::MAX) };
    let recorder = Recorder::<u64>::new(window, 1, 0, 1);
    assert_eq!(recorder.first_until(), MonoNanos(FIRST_TIME.0));
}

#[test]
fn what_never_ended_is_kept_apart_with_its_age_and_its_time_in_the_window() {
    let recorder = recorded(12, 25, Outcome::Unfinished);
    let Latencies { response, unfinished, .. } = &recorder.operations[0].latencies;
    assert_eq!((response.count(), unfinished.count()), (1, 1));
    assert!((unfinished.max().as_secs() - 13.0).abs() < 0.13, "{}", unfinished.max());
    assert_eq!(recorder.unfinished_in_window, Nanos::from_secs(8));
    let mut both = recorder.clone();
    both.merge(&recorder);
    assert_eq!(both.unfinished_in_window, Nanos::from_secs(16));
    assert_eq!(both.operations[0].latencies.unfinished.count(), 2);
    let ended = recorded(12, 25, Outcome::Completed);
    assert_eq!(ended.operations[0].latencies.unfinished.count(), 0);
    assert_eq!(ended.unfinished_in_window, Nanos::ZERO);
}

#[test]
fn a_thread_that_has_ended_completes_nothing_while_others_wait() {
    let at = |second: u64| MonoNanos(Nanos::from_secs(second).0);
    let span = |from, until| TimeSpan { from: at(from), until: at(until) };
    let window = Window { start: at(0), end: at(20) };
    let thread = |quiet: &[TimeSpan]| {
        let mut recorder = Recorder::<u32>::new(window, 0, 0, 1);
        recorder.quiet = Some(quiet.to_vec());
        recorder
    };
    let mut ended = thread(&[span(1, 2), span(5, 6)]);
    let mut waits = thread(&[span(4, 16)]);
    Recorder::stays_quiet(&mut [&mut ended, &mut waits]);
    let mut both = Recorder::<u64>::new(window, 0, 0, 1);
    both.merge(&ended);
    both.merge(&waits);
    assert_eq!(both.quiet, Some(vec![span(5, 16)]));
}

#[test]
fn waits_of_ready_transactions_are_those_of_all_threads_that_know_them() {
    let window = Window { start: MonoNanos(0), end: MonoNanos(10) };
    let mut all = Recorder::<u64>::new(window, 0, 0, 1);
    let mut thread = Recorder::<u32>::new(window, 0, 0, 1);
    all.merge(&thread);
    assert_eq!(all.ready_waits, None);
    thread.ready_waits = Some(ReadyWaits { own: Nanos(3), all: Nanos(5) });
    all.merge(&thread);
    all.merge(&thread);
    assert_eq!(all.ready_waits, Some(ReadyWaits { own: Nanos(6), all: Nanos(10) }));
}

#[test]
fn codes_without_end_are_counted_by_class() {
    let window = Window { start: MonoNanos(0), end: MonoNanos(10) };
    let mut recorder = Recorder::<u32>::new(window, 0, 0, 1);
    for code in 0..3 * MAX_ERROR_CODES {
        recorder.error(MonoNanos(1), ErrorClass::Other, &code.to_string(), "no");
    }
    recorder.error(MonoNanos(1), ErrorClass::Other, "7", "again");
    assert_eq!(recorder.errors.len(), MAX_ERROR_CODES + 1);
    assert_eq!(recorder.errors["other"].count, 2 * MAX_ERROR_CODES as u64);
    assert_eq!((recorder.errors["7"].count, &*recorder.errors["7"].message), (2, "no"));
}
