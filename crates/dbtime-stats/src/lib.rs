//! Statistics of repeated runs, as pure functions of numbers.
//!
//! The unit is the run, one life of a server: what happens within a run (requests, seconds) shares
//! that life, and repeating it within the run makes no difference more certain. Values are compared
//! as logarithms, so that a difference is a ratio and the interval of it is the same whichever side
//! is named first. What compares two logs ([`DigestChange`]) has records for its unit, for want of
//! runs; two forms of a statement ([`PairedKeys`]) have pairs of executions, and a verdict that
//! holds in one life.
//!
//! Apart from that: values summed up as Percona's tools do it ([`PerconaBuckets`]).

#![forbid(unsafe_code)]

mod block_choice;
mod chi_square;
mod digest_change;
mod effective_size;
mod fisher_exact;
mod geometric_mean;
mod hodges_lehmann;
mod interval;
mod line_crossing;
mod log_ratio;
mod margin_gate;
mod mean_difference;
mod multiplicity;
#[cfg(test)]
mod noise;
mod odd_run;
mod paired_keys;
mod percona_buckets;
mod planned_looks;
mod rounding;
mod run_resolution;
mod sample_size;
mod scalability;
mod screening;
mod session_drift;
mod session_effect;
mod sign_flip;
mod steady_state;
mod student;
mod two_groups;
mod unimodality;
mod verdict;

pub use block_choice::{BlockChoice, BlockCosts, RatioNoise, best_blocks, neighbour_deviation};
pub use digest_change::{DigestChange, RecordMoments};
pub use effective_size::{autocorrelation_time, quantile_ranks};
pub use fisher_exact::fisher_p;
pub use geometric_mean::geometric_mean;
pub use interval::ConfidenceInterval;
pub use line_crossing::{LineCrossing, line_crossing};
pub use log_ratio::LogRatio;
pub use margin_gate::{GateBounds, MarginGate, WorseSide};
pub use mean_difference::MeanDifference;
pub use multiplicity::{SIGNIFICANCE, holm};
pub use odd_run::{OddPlace, OddRun};
pub use paired_keys::{PairGroup, PairedKeys, PairedRatio, PairedVerdict};
pub use percona_buckets::{PerconaBuckets, PerconaSummary};
pub use planned_looks::{MOST_LOOKS, look_level};
pub use run_resolution::run_resolution;
pub use sample_size::{detectable_change, detectable_range, pairs_needed};
pub use scalability::{
    CurvePoint, ScalabilityFit, ScalabilityIntervals, ScalabilityLaw, ScalabilityLevel,
};
pub use screening::{MOST_SCREENED, screening_design};
pub use session_drift::{SessionRun, session_drift};
pub use session_effect::{SessionEffect, session_effect};
pub use steady_state::{FEWEST_TREND_VALUES, SeriesTrend, series_trend, settled_after};
pub use two_groups::{GroupSplit, RunStates};
pub use verdict::{ChangeBasis, GroupFinding, GroupVerdict, RobustCheck, RunValues, VerdictRule};
