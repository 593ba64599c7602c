//! What follows from how a load is described, the same for each driver and for whatever is run.

use super::{Arrivals, LoadSpec};

impl LoadSpec {
    /// Whether clients set the pace, and no schedule does.
    pub fn is_closed(&self) -> bool {
        self.rate.is_none() && self.arrivals != Some(Arrivals::AtOnce)
    }

    /// Clients of a closed loop, connections of an open one: one where no number is given.
    pub fn clients(&self) -> u32 {
        self.connections.unwrap_or(1)
    }

    /// Workers, or connections where each client has its own.
    pub fn servers(&self) -> u32 {
        self.workers.unwrap_or_else(|| self.clients())
    }

    /// How many transactions are executed at once at most: in a closed loop more workers than
    /// clients would have nobody to serve.
    pub fn concurrency(&self) -> u32 {
        if self.is_closed() { self.servers().min(self.clients()) } else { self.servers() }
    }

    /// How arrivals fall around the rate, with the width of their jitter where one is given.
    pub fn due(&self) -> Arrivals {
        match (self.arrivals.unwrap_or_default(), self.jitter) {
            (Arrivals::Steady { .. }, Some(jitter)) => Arrivals::Steady { jitter: Some(jitter) },
            (arrivals, _) => arrivals,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nanos;

    #[test]
    fn a_closed_loop_has_no_more_workers_than_clients() {
        let load = LoadSpec::default();
        assert_eq!((load.clients(), load.servers(), load.concurrency()), (1, 1, 1));
        let closed = LoadSpec { connections: Some(2), workers: Some(4), ..LoadSpec::default() };
        assert_eq!((closed.is_closed(), closed.servers(), closed.concurrency()), (true, 4, 2));
        let open = LoadSpec { rate: "9/s".parse().ok(), ..closed.clone() };
        assert_eq!((open.is_closed(), open.concurrency()), (false, 4));
        let at_once = LoadSpec { arrivals: Some(Arrivals::AtOnce), ..closed };
        assert_eq!((at_once.is_closed(), at_once.concurrency()), (false, 4));
    }

    #[test]
    fn steady_arrivals_alone_have_a_jitter() {
        let jitter = Some(Nanos::from_micros(200));
        let due = |arrivals| LoadSpec { arrivals, jitter, ..LoadSpec::default() }.due();
        assert_eq!(due(None), Arrivals::Steady { jitter });
        assert_eq!(due(Some(Arrivals::Poisson)), Arrivals::Poisson);
        let own = Arrivals::Steady { jitter };
        assert_eq!(LoadSpec { arrivals: Some(own), ..LoadSpec::default() }.due(), own);
    }
}
