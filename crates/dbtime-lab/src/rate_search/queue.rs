//! Queues whose responses are known, by formulas and as events, for the tests of the search.

use dbtime_load::random::{RandomStream, draw, unit};

/// What all servers of a queue carry together. Unit: transactions per second.
pub(super) const CAPACITY_TPS: f64 = 1000.0;

/// Of a window: how long the queue runs before it.
const WARMUP: f64 = 0.1;

/// How long a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueService {
    Exponential,
    /// Of one server.
    Constant,
}

/// What a limit is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueMetric {
    Mean,
    P99,
}

/// Servers with one queue, at which transactions arrive at random.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueModel {
    pub(super) servers: usize,
    pub(super) service: QueueService,
}

impl QueueModel {
    /// The response at a rate. Unit: seconds. Only with an exponential service the 99th percentile
    /// is known.
    pub(super) fn response(self, metric: QueueMetric, rate_tps: f64) -> f64 {
        let left = CAPACITY_TPS - rate_tps;
        match (metric, self.service) {
            // Pollaczek and Khinchine.
            (QueueMetric::Mean, QueueService::Constant) => {
                (1.0 + rate_tps / (2.0 * left)) / CAPACITY_TPS
            }
            (QueueMetric::Mean, QueueService::Exponential) => {
                1.0 / self.each_tps() + self.waiting(rate_tps) / left
            }
            (QueueMetric::P99, _) => self.p99(rate_tps),
        }
    }

    fn each_tps(self) -> f64 {
        CAPACITY_TPS / self.servers as f64
    }

    /// Which share of transactions waits: Erlang's C by his B.
    fn waiting(self, rate_tps: f64) -> f64 {
        let offered = rate_tps / self.each_tps();
        let lost = (1..=self.servers)
            .fold(1.0, |lost, servers| offered * lost / (servers as f64 + offered * lost));
        lost / (1.0 - rate_tps / CAPACITY_TPS * (1.0 - lost))
    }

    fn p99(self, rate_tps: f64) -> f64 {
        let (mut low, mut high) = (0.0, 10.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.longer(rate_tps, middle) > 0.01 {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Which share of responses is longer than so many seconds: a service, behind a wait that is
    /// exponential too where there is one.
    fn longer(self, rate_tps: f64, seconds: f64) -> f64 {
        let (each, left) = (self.each_tps(), CAPACITY_TPS - rate_tps);
        let waiting = self.waiting(rate_tps);
        let alone = (-each * seconds).exp();
        let both = (left * alone - each * (-left * seconds).exp()) / (left - each);
        (1.0 - waiting) * alone + waiting * both
    }

    /// The same of a window as it happens, which is another one for every seed.
    pub(super) fn measured(
        self,
        metric: QueueMetric,
        rate_tps: f64,
        window_s: f64,
        seed: u64,
    ) -> f64 {
        let mut responses = self.responses(rate_tps, window_s, seed);
        match metric {
            QueueMetric::Mean => responses.iter().sum::<f64>() / responses.len() as f64,
            QueueMetric::P99 => {
                let rank = responses.len() * 99 / 100;
                *responses.select_nth_unstable_by(rank, f64::total_cmp).1
            }
        }
    }

    fn responses(self, rate_tps: f64, window_s: f64, seed: u64) -> Vec<f64> {
        let exponential = |stream, at| -(1.0 - unit(draw(seed, stream, at))).ln();
        let begin_s = WARMUP * window_s;
        let mut free = vec![0.0f64; self.servers];
        let mut responses = Vec::new();
        let mut due = 0.0;
        for at in 0u64.. {
            due += exponential(RandomStream::Arrivals, at) / rate_tps;
            if due > begin_s + window_s {
                break;
            }
            let share = match self.service {
                QueueService::Exponential => exponential(RandomStream::Data, at),
                QueueService::Constant => 1.0,
            };
            let first = free.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("a server");
            *first = first.max(due) + share / self.each_tps();
            if due > begin_s {
                responses.push(*first - due);
            }
        }
        responses
    }
}
