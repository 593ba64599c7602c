//! A few counters of a server, sampled while it is driven, without waiting for it: a statement is
//! sent on a connection of its own, and its answer is looked for.

use crate::error::LabError;
use dbtime_engines::server::{AdminConnection, AdminSession, Server};
use dbtime_engines::socket::ExchangeBound;
use dbtime_machine::now;
use dbtime_model::record::{SampledCounter, ServerSecond};
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::counters::{SecondQuery, ServerVersion, second_query};

/// How long an answer may take: a server that does not give it is not sampled any more.
const SAMPLE_TIMEOUT: Nanos = Nanos::from_secs(10);

/// Samples more than these are not kept: an hour and a half of one a second.
const MAX_SAMPLES: usize = 5_400;

/// How often an answer is looked for: soon at first, so that what it took is known.
const FIRST_LOOK: Nanos = Nanos::from_micros(500);

/// The sampling of a server while a load goes on.
pub(crate) struct SecondSampler {
    admin: Box<dyn AdminConnection>,
    query: SecondQuery,
    /// When the statement was sent that is under way, and when its answer is looked for next.
    pending: Option<(MonoNanos, MonoNanos)>,
    samples: Vec<(MonoNanos, Nanos, Vec<Option<f64>>)>,
    has_failed: bool,
}

impl SecondSampler {
    /// A sampler of a server, over a connection of its own; `None`: it has nothing to be asked.
    ///
    /// # Errors
    /// [`LabError::Target`] when it cannot be reached, or its version cannot be read.
    pub(crate) fn of_server(server: &dyn Server) -> Result<Option<Self>, LabError> {
        let mut admin = server.connect(&ExchangeBound::within(SAMPLE_TIMEOUT))?;
        let target = server.to_string();
        let mut session = AdminSession { target: &target, admin: &mut *admin };
        let table = session.query(server.dialect().version_query())?;
        let text = table.value().unwrap_or_default();
        let product = server.wire_protocol().product(text);
        let query = ServerVersion::parse(text).and_then(|version| second_query(product, version));
        Ok(query.map(|query| Self {
            admin,
            query,
            pending: None,
            samples: Vec::new(),
            has_failed: false,
        }))
    }

    /// Begins a sample, unless the last one is still under way: a server that stands still is not
    /// asked again.
    pub(crate) fn begin(&mut self) {
        if self.pending.is_none() && !self.has_failed && self.samples.len() < MAX_SAMPLES {
            let at = now();
            self.admin.send(&self.query.sql);
            self.pending = Some((at, at + FIRST_LOOK));
        }
    }

    /// When the answer is to be looked for; `None`: nothing is under way.
    pub(crate) fn next_look(&self) -> Option<MonoNanos> {
        self.pending.map(|(_, look)| look)
    }

    /// Looks for the answer, and does not wait for it.
    pub(crate) fn look(&mut self, present: MonoNanos) {
        self.take(present, present);
    }

    /// Waits for the answer that is under way, until `until` at the latest, and returns all samples
    /// of a load that started at `start`, with the counters that the server has.
    pub(crate) fn finish(
        mut self,
        start: MonoNanos,
        until: MonoNanos,
    ) -> (Vec<SampledCounter>, Vec<ServerSecond>) {
        self.take(now(), until);
        let since = |at: MonoNanos| (at.0.cast_signed() - start.0.cast_signed()) as f64 / 1e9;
        let seconds = self.samples.into_iter().map(|(at, took, values)| ServerSecond {
            at_s: since(at + Nanos(took.0 / 2)),
            took_us: took.as_micros(),
            values,
        });
        only_known(self.query.counters, seconds.collect())
    }

    fn take(&mut self, present: MonoNanos, until: MonoNanos) {
        let Some((sent, look)) = self.pending else { return };
        match self.admin.answer_by(until) {
            // Looked for less and less often: half as long again as it has been under way.
            None => {
                let waited = (present - sent).max(look - sent);
                self.pending = Some((sent, present + Nanos(waited.0 / 2)));
            }
            Some(answer) => {
                self.pending = None;
                match answer {
                    Ok((table, _)) => {
                        let values = self.query.values(&table.columns, &table.rows);
                        self.samples.push((sent, now() - sent, values));
                    }
                    // Who may not look is not asked again.
                    Err(_) => self.has_failed = true,
                }
            }
        }
    }
}

/// Without the counters that the server never had a value for.
fn only_known(
    counters: Vec<SampledCounter>,
    mut seconds: Vec<ServerSecond>,
) -> (Vec<SampledCounter>, Vec<ServerSecond>) {
    let is_known = |at: usize| seconds.iter().any(|second| second.values[at].is_some());
    let known: Vec<bool> = (0..counters.len()).map(is_known).collect();
    for second in &mut seconds {
        let mut known = known.iter();
        second.values.retain(|_| known.next().copied().unwrap_or(false));
    }
    let mut known = known.iter();
    let counters = counters.into_iter().filter(|_| known.next().copied().unwrap_or(false));
    (counters.collect(), seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::counters::CounterKind;
    use dbtime_model::record::CounterUnit;

    #[test]
    fn what_a_server_does_not_have_is_left_out() {
        let counter = |name: &str| SampledCounter {
            name: name.to_owned(),
            kind: CounterKind::Counter,
            unit: CounterUnit::Count,
            meaning: String::new(),
        };
        let second = |values: [Option<f64>; 3]| ServerSecond {
            values: values.to_vec(),
            ..ServerSecond::default()
        };
        let counters = ["a", "b", "c"].map(counter).to_vec();
        let seconds = vec![second([Some(1.0), None, None]), second([None, None, Some(2.0)])];
        let (counters, seconds) = only_known(counters, seconds);
        let names: Vec<_> = counters.iter().map(|counter| counter.name.as_str()).collect();
        assert_eq!(names, ["a", "c"]);
        assert_eq!(seconds[1].values, [None, Some(2.0)]);
        assert_eq!(only_known(vec![], vec![]), (vec![], vec![]));
    }
}
