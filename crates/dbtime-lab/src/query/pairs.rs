//! Two forms of a statement, executed with the same keys next to each other.
//!
//! A key's number says all that is random about its round: the values, and which form goes first.
//! Whatever changes on the server with time, both forms of a pair share it.

mod form_copies;

use super::keys::QueryKeys;
use super::progress::QueryProgress;
use super::samples::{FormSamples, PairSamples, failure_text, taken};
use super::session::{QuerySession, SessionForm};
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::ExecutionInstants;
use dbtime_load::program::SqlValue;
use dbtime_load::random::{RandomStream, draw};
use dbtime_machine::now;
use dbtime_model::query::FirstExecution;
use dbtime_model::{ErrorClass, MonoNanos, Nanos, Parts, Product};
use form_copies::FormCopies;

/// Executions of each form before those that are measured. PostgreSQL makes a plan of its own for
/// each of the first five sets of parameters, and from the sixth on perhaps one for all.
const WARMING_ROUNDS: u64 = 3;
const WARMING_ROUNDS_POSTGRES: u64 = 10;

/// Of executions that take longer than this a few pairs have to do.
const SLOW: Nanos = Nanos::from_secs(1);
const SLOW_ROUNDS: u64 = 7;

/// How long one progress stands before the next.
const PROGRESS_EVERY: Nanos = Nanos::from_millis(250);

/// With which keys forms are measured, and for how long.
pub(crate) struct PairPlan<'p> {
    pub(crate) keys: &'p QueryKeys,
    /// The number of the first key.
    pub(crate) first_key: u64,
    /// What decides which form goes first.
    pub(crate) seed: u64,
    /// How long each form is measured.
    pub(crate) time: Nanos,
    /// Keys that are executed even if it takes longer; of slow forms seven.
    pub(crate) fewest: u64,
    /// Keys that are executed at most.
    pub(crate) most: u64,
    /// What ends it early.
    pub(crate) stop: &'p RunStop,
    pub(crate) progress: &'p dyn Fn(QueryProgress),
}

/// Executes both forms with one key after the other, until each has had its time. It ends early
/// with what there is when it is stopped, and when the connection is given up.
pub(crate) fn measure_pairs(
    session: &mut QuerySession<'_>,
    forms: [&SessionForm; 2],
    plan: &PairPlan<'_>,
) -> PairSamples {
    let copies = FormCopies::prepared(session, &forms);
    let mut rounds = KeyRounds { copies, ..KeyRounds::new(session, &forms, plan) };
    let mut pairs = Vec::new();
    rounds.measure(|answers, _| {
        if let [Some(a), Some(b)] = answers {
            pairs.push([*a, *b]);
        }
    });
    let KeyRounds { sides, copies, .. } = rounds;
    copies.forget(session);
    let mut sides = sides.into_iter();
    let sides = [sides.next().unwrap_or_default(), sides.next().unwrap_or_default()];
    PairSamples::new(sides, pairs)
}

/// Executes one form as [`measure_pairs`] does two.
pub(crate) fn measure_form(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    plan: &PairPlan<'_>,
) -> FormSamples {
    let forms = [form];
    let mut rounds = KeyRounds::new(session, &forms, plan);
    rounds.measure(|_, _| {});
    rounds.sides.pop().unwrap_or_default()
}

/// Executes all forms as [`measure_pairs`] does two, and shows each measured round: by form what
/// was answered and, as far as the connection measures that, where its time went.
pub(super) fn watch_rounds(
    session: &mut QuerySession<'_>,
    forms: &[SessionForm],
    plan: &PairPlan<'_>,
    each: impl FnMut(&[Option<ExecutionInstants>], &[Option<Parts>]),
) {
    let forms: Vec<&SessionForm> = forms.iter().collect();
    let mut rounds = KeyRounds::new(session, &forms, plan);
    rounds.step = "splitting the time of keys";
    rounds.measure(each);
}

/// Rounds of one key each, in which every form is executed once.
struct KeyRounds<'r, 'a> {
    session: &'r mut QuerySession<'a>,
    forms: &'r [&'r SessionForm],
    /// What is executed in place of a form.
    copies: FormCopies,
    plan: &'r PairPlan<'r>,
    /// What came of each form.
    sides: Vec<FormSamples>,
    /// Where the time of each form's last answer went, where that is measured.
    parts: Vec<Option<Parts>>,
    /// What is shown while it measures.
    step: &'static str,
    /// What all executions together took.
    spent: Nanos,
    executed: u64,
    shown_at: MonoNanos,
}

impl<'r, 'a> KeyRounds<'r, 'a> {
    fn new(
        session: &'r mut QuerySession<'a>,
        forms: &'r [&'r SessionForm],
        plan: &'r PairPlan<'r>,
    ) -> Self {
        let (sides, parts) = (vec![FormSamples::default(); forms.len()], vec![None; forms.len()]);
        let (step, shown_at) = ("measuring keys", MonoNanos(0));
        let (spent, executed) = (Nanos::ZERO, 0);
        let copies = FormCopies::default();
        Self { session, forms, copies, plan, sides, parts, step, spent, executed, shown_at }
    }

    /// Executes all, and shows the answers of each measured round by form, with their parts.
    fn measure(&mut self, mut each: impl FnMut(&[Option<ExecutionInstants>], &[Option<Parts>])) {
        self.execute_first();
        self.warm_up();
        (self.spent, self.executed) = (Nanos::ZERO, 0);
        let mut rounds = 0;
        while !self.is_ended() && !self.is_enough(rounds) {
            self.show(self.step, rounds);
            let answers = self.execute_round(rounds);
            for (side, answer) in self.sides.iter_mut().zip(&answers) {
                if let Some(execution) = answer {
                    side.add(*execution);
                }
            }
            each(&answers, &self.parts);
            rounds += 1;
        }
    }

    /// The first execution of each form plans and finds caches cold.
    fn execute_first(&mut self) {
        self.show("executing each form for the first time", 0);
        let answers = self.execute_round(0);
        for (side, answer) in self.sides.iter_mut().zip(answers) {
            side.first = answer.map(|execution| FirstExecution {
                prepare_us: None,
                execute_us: taken(&execution).as_micros(),
            });
        }
    }

    /// Executes what is not measured, for as long as the measurement at most.
    fn warm_up(&mut self) {
        let rounds = match self.session.product {
            Product::Postgres => WARMING_ROUNDS_POSTGRES,
            Product::Mariadb | Product::Mysql | Product::Sqlite => WARMING_ROUNDS,
        };
        for round in 0..rounds {
            if self.is_ended() || self.spent >= self.budget() {
                return;
            }
            self.show("warming up", round);
            self.execute_round(round);
        }
    }

    /// Executes all forms with a key, in the order of its coin. `None`: that form failed, or its
    /// turn did not come.
    fn execute_round(&mut self, round: u64) -> Vec<Option<ExecutionInstants>> {
        let number = self.plan.first_key.wrapping_add(round);
        let key = self.plan.keys.draw(number);
        let coin = draw(self.plan.seed, RandomStream::Mix, number);
        let is_turned = coin >> 63 == 1;
        let count = self.forms.len();
        let mut answers = vec![None; count];
        for nth in 0..count {
            let form = if is_turned { count - 1 - nth } else { nth };
            if !self.is_ended() {
                answers[form] = self.execute(form, coin, &key);
            }
        }
        answers
    }

    /// Executes a form, in the copy that a random number chooses.
    fn execute(&mut self, form: usize, coin: u64, key: &[SqlValue]) -> Option<ExecutionInstants> {
        let begun = now();
        let chosen = self.copies.chosen(form, coin).unwrap_or(self.forms[form]);
        let answer = self.session.execute(chosen, key, &mut ());
        self.executed += 1;
        self.sides[form].executed += 1;
        match answer {
            Ok(instants) => {
                self.spent += taken(&instants);
                self.parts[form] = self.session.connection.last_parts();
                Some(instants)
            }
            Err(failure) => {
                self.spent += now() - begun;
                // What was broken off at the end has not failed.
                if failure.class != ErrorClass::Interrupted {
                    let sql = &self.forms[form].text.given;
                    let text = || failure_text(self.session.place, sql, &failure);
                    self.sides[form].count_failure(text);
                }
                None
            }
        }
    }

    fn is_ended(&self) -> bool {
        self.plan.stop.has_come(now()) || self.session.connection.is_given_up()
    }

    /// Whether so many rounds are enough. Rounds with failures count, too: more of them say nothing
    /// new.
    fn is_enough(&self, rounds: u64) -> bool {
        let is_slow = self.spent.0 / self.executed.max(1) > SLOW.0;
        let slow = if is_slow { SLOW_ROUNDS } else { u64::MAX };
        let is_hopeless = rounds > 0 && self.sides.iter().any(FormSamples::has_only_failures);
        let has_fewest = is_hopeless || rounds >= self.plan.fewest.min(slow);
        rounds >= self.plan.most || (has_fewest && self.spent >= self.budget())
    }

    /// What all forms together may take.
    fn budget(&self) -> Nanos {
        Nanos(self.plan.time.0.saturating_mul(self.forms.len() as u64))
    }

    fn show(&mut self, step: &str, done: u64) {
        let present = now();
        if present - self.shown_at >= PROGRESS_EVERY {
            self.shown_at = present;
            (self.plan.progress)(QueryProgress { step: step.to_owned(), done, of: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake_place::{FakeExecution, FakePlace, GIVEN_UP, request_with};
    use super::super::form_text::FormText;
    use super::super::keys::read_keys;
    use super::*;
    use dbtime_model::SqlDialect;
    use dbtime_model::query::{FormVerdict, RatioMethod};
    use dbtime_sql::LexicalRules;
    use std::cell::RefCell;

    const A: &str = "SELECT a FROM t WHERE id = :id";
    const B: &str = "SELECT b FROM t WHERE id = :id";

    /// What is measured, and how often each text was executed.
    struct PlannedPairs {
        samples: PairSamples,
        executed: Vec<(String, Vec<SqlValue>)>,
        steps: Vec<String>,
    }

    /// Measures A and B with 20 pairs at least and 500 at most, 10 s each.
    fn measured(dialect: SqlDialect, execution: FakeExecution, stop: &RunStop) -> PlannedPairs {
        let place = FakePlace::new(dialect, execution);
        let mut request = request_with(A, &[("id", "range:1..1000")]);
        request.forms.extend(request_with(B, &[]).forms);
        let mut session = place.session();
        let rules = LexicalRules::defaults(dialect);
        let forms = FormText::parse_all(&request.forms, session.product, &rules).expect("forms");
        let keys = read_keys(&request, &forms, &mut session).expect("keys");
        let forms = [0, 1].map(|at| session.prepare(&forms[at]).expect("prepared"));
        let steps = RefCell::new(Vec::new());
        let plan = PairPlan {
            keys: &keys,
            first_key: 100,
            seed: 7,
            time: Nanos::from_secs(10),
            fewest: 20,
            most: 500,
            stop,
            progress: &|progress| steps.borrow_mut().push(progress.step),
        };
        let samples = measure_pairs(&mut session, [&forms[0], &forms[1]], &plan);
        PlannedPairs { samples, executed: place.executed(), steps: steps.into_inner() }
    }

    /// B takes half as long as A, whose time is that of its key.
    fn half(sql: &str, key: &[SqlValue], _: u64) -> Result<Nanos, &'static str> {
        let Some(SqlValue::Integer(id)) = key.first() else { return Err("no key") };
        let us = id.unsigned_abs() * 100;
        Ok(Nanos::from_micros(if sql.contains("SELECT b") { us / 2 } else { us }))
    }

    #[test]
    fn both_forms_are_executed_with_the_same_keys_in_the_order_of_a_coin() {
        let found = measured(SqlDialect::Sqlite, half, &RunStop::default());
        let mut first = [0, 0];
        for pair in found.executed.chunks(2) {
            assert_eq!(pair[0].1, pair[1].1);
            assert_ne!(pair[0].0, pair[1].0);
            first[usize::from(pair[0].0.contains("SELECT b"))] += 1;
        }
        assert!(first.iter().all(|count| *count > 40), "{first:?}");
        let comparison = found.samples.comparison(0.02).expect("many pairs");
        assert_eq!(comparison.verdict, FormVerdict::Faster);
        assert!((comparison.ratio.ratio - 0.5).abs() < 1e-3, "{comparison:?}");
        assert!(found.steps[0].ends_with("for the first time"), "{:?}", found.steps);
        let [a, b] = [0, 1].map(|side| found.samples.side(side));
        assert!(a.first.is_some() && b.first.is_some() && a.failed == 0);
        // 10 s each of executions of 50 ms and 25 ms.
        let times = a.times().expect("executions");
        assert_eq!(times.count, comparison.pairs);
        assert!((200..350).contains(&comparison.pairs), "{comparison:?}");
        // The first one and three that warm up are no pairs.
        assert_eq!(found.executed.len() as u64, 2 * (comparison.pairs + 4));
        assert_eq!((a.executed, b.executed), (comparison.pairs + 4, comparison.pairs + 4));
    }

    #[test]
    fn postgres_is_warmed_up_until_it_has_its_plan_for_all() {
        let found = measured(SqlDialect::Postgres, half, &RunStop::default());
        let pairs = found.samples.comparison(0.02).expect("many pairs").pairs;
        assert_eq!(found.executed.len() as u64, 2 * (pairs + 11));
    }

    #[test]
    fn of_slow_executions_seven_pairs_do() {
        let slow = |_: &str, _: &[SqlValue], _: u64| Ok(Nanos::from_secs(5));
        let found = measured(SqlDialect::Sqlite, slow, &RunStop::default());
        let comparison = found.samples.comparison(0.02).expect("seven pairs");
        assert_eq!((comparison.pairs, comparison.method), (7, RatioMethod::Signs));
        // The first one and one that warms up have had the time of all.
        assert_eq!(found.executed.len(), 2 * (7 + 2));
    }

    #[test]
    fn what_fails_is_counted_and_no_pair() {
        let failing = |sql: &str, key: &[SqlValue], nth: u64| match nth % 5 {
            0 if sql.contains("SELECT b") => Err("no room"),
            _ => half(sql, key, nth),
        };
        let found = measured(SqlDialect::Sqlite, failing, &RunStop::default());
        let [a, b] = [0, 1].map(|side| found.samples.side(side));
        assert_eq!((a.failed, b.failure.as_deref()), (0, Some("no room")));
        let pairs = found.samples.comparison(0.02).expect("many pairs").pairs;
        assert_eq!(b.times().expect("executions").count, pairs);
        assert!(b.failed > 10 && a.times().expect("executions").count > pairs);
        // Of rounds that all fail there are as many as may be.
        let all = |_: &str, _: &[SqlValue], _: u64| Err("no such table");
        let found = measured(SqlDialect::Sqlite, all, &RunStop::default());
        assert_eq!(found.samples.comparison(0.02), None);
        assert_eq!(found.samples.side(0).failed, 504);
        assert_eq!(found.samples.side(0).first, None);
    }

    #[test]
    fn it_ends_with_what_there_is() {
        let stop = RunStop::default();
        stop.at(MonoNanos(0));
        let found = measured(SqlDialect::Sqlite, half, &stop);
        assert!(found.executed.is_empty());
        assert_eq!(found.samples.comparison(0.02), None);
        let lost = |sql: &str, key: &[SqlValue], nth: u64| match nth {
            60 => Err(GIVEN_UP),
            _ => half(sql, key, nth),
        };
        let found = measured(SqlDialect::Sqlite, lost, &RunStop::default());
        assert_eq!(found.executed.len(), 61);
        assert_eq!(found.samples.comparison(0.02).expect("pairs").pairs, 26);
        let failed = [0, 1].map(|side| found.samples.side(side).failed);
        assert_eq!(failed.iter().sum::<u64>(), 1);
    }

    #[test]
    fn one_form_is_measured_alone() {
        let place = FakePlace::new(SqlDialect::Mysql, half);
        let request = request_with(A, &[("id", "range:1..1000:seq")]);
        let mut session = place.session();
        let rules = LexicalRules::defaults(SqlDialect::Mysql);
        let forms = FormText::parse_all(&request.forms, session.product, &rules).expect("a form");
        let keys = read_keys(&request, &forms, &mut session).expect("keys");
        let form = session.prepare(&forms[0]).expect("prepared");
        let stop = RunStop::default();
        let (time, progress) = (Nanos::from_secs(1), |_: QueryProgress| {});
        let plan = PairPlan {
            keys: &keys,
            first_key: 0,
            seed: 7,
            time,
            fewest: 20,
            most: 30,
            stop: &stop,
            progress: &progress,
        };
        let samples = measure_form(&mut session, &form, &plan);
        let times = samples.times().expect("executions");
        assert_eq!((times.count, times.min_us, times.max_us), (30, 100.0, 3000.0));
        assert_eq!(samples.first.expect("it did not fail").execute_us, 100.0);
    }
}
