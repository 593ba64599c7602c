//! What was sent over one connection, and what its server was seen to do about it.

use crate::join::StatementJoiner;
use dbtime_engines::server::ExecutionInstants;
use dbtime_model::exchange::{ConnectionKey, DrivenTransaction, StatementExchange};
use dbtime_model::traced::TracedRequest;
use dbtime_model::{Budget, Nanos, OperationId, Outcome, Part, Parts, Sample, StatementId};

/// The executions of several forms on a connection, and the requests of its server.
#[derive(Debug)]
pub(super) struct ExecutionJoin {
    joiner: StatementJoiner,
    /// What names the connection at both of its ends.
    key: Option<ConnectionKey>,
    /// What the server calls it.
    number: Option<u32>,
    executed: u64,
    /// Of each form the sums over the executions that were matched.
    budgets: Vec<Budget>,
}

impl ExecutionJoin {
    /// Of so many forms.
    pub(super) fn new(key: Option<ConnectionKey>, number: Option<u32>, forms: usize) -> Self {
        let (joiner, budgets) = (StatementJoiner::new(), vec![Budget::default(); forms]);
        Self { joiner, key, number, executed: 0, budgets }
    }

    /// As [`StatementJoiner::ignore_arrivals`].
    pub(super) fn ignore_arrivals(&mut self) {
        self.joiner.ignore_arrivals();
    }

    /// Takes what came of a round, by form.
    pub(super) fn round(&mut self, answers: &[Option<ExecutionInstants>]) {
        let answered = answers.iter().enumerate();
        let answered = answered.filter_map(|(form, answer)| Some((form, (*answer)?)));
        let mut executions: Vec<_> = answered.collect();
        executions.sort_by_key(|(_, execution)| execution.sent);
        executions.into_iter().for_each(|(form, execution)| self.execution(form, &execution));
    }

    /// Takes an execution, which was sent behind all others: a transaction of one statement.
    fn execution(&mut self, form: usize, execution: &ExecutionInstants) {
        let ExecutionInstants { sent, done, .. } = *execution;
        let (transaction, form) = (self.executed, form as u16);
        self.executed += 1;
        self.joiner.exchange(StatementExchange {
            key: self.key,
            server_id: self.number,
            transaction,
            statement: Some(StatementId(form)),
            sent,
            read: done,
            late: Nanos::ZERO,
        });
        let sample = Sample {
            operation: OperationId(form),
            outcome: Outcome::Completed,
            due: sent,
            ready: sent,
            sent,
            done,
            late: Nanos::ZERO,
            retries: 0,
        };
        let parts = Parts::only(Part::ServerAndWire, sample.response().signed());
        self.joiner.transaction(DrivenTransaction { transaction, sample, parts, exchanges: 1 });
    }

    /// Takes requests of the server; those of others are left alone.
    pub(super) fn requests(&mut self, requests: &[TracedRequest]) {
        for request in requests {
            if self.is_own(request) {
                self.joiner.request(request);
            }
        }
        self.add_joined();
    }

    /// Whether a request came over the connection: where something lies between, its client has
    /// another name, and the server's number is the same.
    fn is_own(&self, request: &TracedRequest) -> bool {
        let has_key = self.key.is_some() && request.connection_key() == self.key;
        let number = self.number.map(u64::from);
        has_key || (number.is_some() && request.server_id() == number)
    }

    fn add_joined(&mut self) {
        let Self { joiner, budgets, .. } = self;
        for joined in joiner.take_joined() {
            let sample = &joined.driven.sample;
            if let Some(budget) = budgets.get_mut(usize::from(sample.operation.0)) {
                budget.add_overlapping(sample.response(), &joined.parts, joined.twice);
            }
        }
    }

    /// Nothing more comes. Returns the sums of each form, and what they lack, in a sentence.
    pub(super) fn finish(mut self) -> (Vec<Budget>, Option<String>) {
        self.joiner.decide_rest();
        self.add_joined();
        let (executed, left_out) = (self.executed, self.joiner.counts().left_out);
        let note = match left_out {
            0 => None,
            _ if left_out == executed => Some(format!(
                "not split by the trace: none of {executed} executions was matched with a request \
                 that the kernel saw; a pooler between dbtime and the server has connections of \
                 its own: name the server itself by --target"
            )),
            _ => Some(format!(
                "{left_out} of {executed} executions were not matched with a request that the \
                 kernel saw, and are in no part"
            )),
        };
        (self.budgets, note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::tests::fixtures::traced;
    use dbtime_model::MonoNanos;

    /// The port that the requests of the connection come from.
    const PORT: u16 = 4_711;

    fn join_of(forms: usize) -> ExecutionJoin {
        let key = ConnectionKey::Tcp(([127, 0, 0, 1], PORT).into());
        ExecutionJoin::new(Some(key), Some(7), forms)
    }

    fn answer(sent: u64, done: u64) -> Option<ExecutionInstants> {
        let (sent, done) = (MonoNanos(sent), MonoNanos(done));
        Some(ExecutionInstants { sent, done, ..ExecutionInstants::default() })
    }

    #[test]
    fn executions_of_both_forms_have_the_parts_of_their_own_requests() {
        let mut join = join_of(2);
        // B came first. Between both a transaction is begun, and others are served.
        join.round(&[answer(2_000, 2_900), answer(1_000, 1_500)]);
        join.requests(&[
            traced(PORT, (1_100, 1_400), Some(20), 250),
            traced(PORT + 1, (1_200, 1_900), Some(5), 600),
            traced(PORT, (1_600, 1_700), Some(10), 90),
            traced(PORT, (2_200, 2_800), Some(100), 400),
        ]);
        let (budgets, note) = join.finish();
        assert_eq!(note, None);
        let [a, b] = budgets[..] else { panic!("{budgets:?}") };
        assert_eq!((a.count, a.response_ns, a.sums.total()), (1, 900, 900));
        assert_eq!((b.count, b.response_ns, b.sums.total()), (1, 500, 500));
        let shown = [Part::Cpu, Part::ServerQueue, Part::Wire, Part::Unexplained];
        let of = |budget: &Budget| shown.map(|part| budget.sums.get(part));
        assert_eq!((of(&a), of(&b)), ([400, 100, 200, 200], [250, 20, 180, 50]));
    }

    #[test]
    fn what_is_not_matched_is_counted_and_in_no_part() {
        let mut join = join_of(1);
        join.round(&[answer(1_000, 2_000)]);
        join.round(&[answer(3_000, 4_000)]);
        join.round(&[None]);
        join.requests(&[traced(PORT, (3_100, 3_900), None, 800)]);
        let (budgets, note) = join.finish();
        assert_eq!((budgets[0].count, budgets[0].sums.get(Part::Cpu)), (1, 800));
        assert!(note.is_some_and(|note| note.starts_with("1 of 2 executions")));
        let mut none = join_of(1);
        none.round(&[answer(1_000, 2_000)]);
        let (budgets, note) = none.finish();
        assert_eq!(budgets[0].count, 0);
        assert!(note.is_some_and(|note| note.contains("none of 1 executions")));
    }
}
