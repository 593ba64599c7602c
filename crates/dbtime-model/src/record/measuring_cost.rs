//! What measuring costs, and how well that is known.

use serde::{Deserialize, Serialize};

/// What is no longer than this is not looked for: a range that reaches further says nothing. Unit:
/// percent of a transaction without.
const MAX_UNNOTICED_PCT: f64 = 5.0;

/// Cost of measuring the parts. From short loads flat out before the run, with and without in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MeasuringCost {
    /// The median difference of a pair, per transaction.
    pub us: f64,
    /// The smallest.
    pub low_us: f64,
    /// The largest.
    pub high_us: f64,
    /// Median time of a transaction without.
    pub without_us: f64,
    /// Number of pairs.
    pub pairs: u32,
    /// Clients of that load; 0 in old records, where there was one.
    pub clients: u32,
    /// Cost in throughput, where the run's clients are flat out for 5 s or more.
    pub throughput: Option<ThroughputCost>,
}

/// Throughput taken by measuring, of clients that never pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThroughputCost {
    /// Median of the pairs, in percent of the throughput without.
    pub lost_pct: f64,
    /// The smallest; negative: more with it.
    pub low_pct: f64,
    /// The largest.
    pub high_pct: f64,
    /// Median throughput without.
    pub without_tps: f64,
}

/// How well a difference is known: its median lies between the smallest and the largest of the
/// pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostCertainty {
    /// It is there, and known to 5 % of a transaction.
    Known,
    /// It is there, and not known better than by its bounds.
    Bounded,
    /// It is no more than 5 % of a transaction, and may be nothing.
    AtMost,
    /// It may be nothing, and may be more than 5 %.
    Unknown,
}

impl MeasuringCost {
    /// How many clients made the load.
    pub fn client_count(&self) -> u32 {
        self.clients.max(1)
    }

    /// A time in percent of what a transaction took without.
    pub fn pct(&self, us: f64) -> f64 {
        100.0 * us / self.without_us
    }

    /// How well it is known.
    pub fn certainty(&self) -> CostCertainty {
        certainty(self.pct(self.low_us), self.pct(self.high_us))
    }
}

impl ThroughputCost {
    /// How well it is known.
    pub fn certainty(&self) -> CostCertainty {
        certainty(self.low_pct, self.high_pct)
    }
}

/// Nothing is quicker for being measured: what reaches far below zero is noise, and what is above
/// zero then may be noise too.
fn certainty(low_pct: f64, high_pct: f64) -> CostCertainty {
    if !(low_pct.is_finite() && high_pct.is_finite()) {
        CostCertainty::Unknown
    } else if low_pct > 0.0 {
        match high_pct - low_pct <= MAX_UNNOTICED_PCT {
            true => CostCertainty::Known,
            false => CostCertainty::Bounded,
        }
    } else if low_pct >= -MAX_UNNOTICED_PCT && high_pct <= MAX_UNNOTICED_PCT {
        CostCertainty::AtMost
    } else {
        CostCertainty::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_known_where_its_range_is_narrow() {
        let of = |low_us, high_us| {
            let cost = MeasuringCost { low_us, high_us, without_us: 200.0, ..Default::default() };
            cost.certainty()
        };
        assert_eq!(of(2.0, 11.9), CostCertainty::Known);
        assert_eq!(of(2.0, 12.1), CostCertainty::Bounded);
        assert_eq!(of(-9.9, 9.9), CostCertainty::AtMost);
        assert_eq!(of(0.0, 10.1), CostCertainty::Unknown);
        assert_eq!(of(-10.1, 1.0), CostCertainty::Unknown, "so much is noise");
        // A fifth of a transaction either way was taken for little.
        let wide = MeasuringCost {
            low_us: -291.0,
            high_us: 291.0,
            without_us: 1070.0,
            ..Default::default()
        };
        assert_eq!(wide.certainty(), CostCertainty::Unknown);
        let nothing = MeasuringCost::default();
        assert_eq!((nothing.certainty(), nothing.client_count()), (CostCertainty::Unknown, 1));
    }
}
