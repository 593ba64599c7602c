//! The written form of a run, and the values that it is made of, a file for each kind.
//!
//! A value is read and written in the notation of its flag, on a command line, in a file and in a
//! record alike. What a value does to a load is for other crates.

/// Serde in the notation that [`std::str::FromStr`] reads and [`std::fmt::Display`] writes.
macro_rules! serde_as_text {
    ($value:ty) => {
        impl serde::Serialize for $value {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $value {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// The notation of a value that is one of a few words, with serde in it.
macro_rules! one_of_words {
    ($value:ident, $error:ident: $($word:literal => $variant:ident),+) => {
        impl std::str::FromStr for $value {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, $error> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($error(text.to_owned())),
                }
            }
        }

        impl std::fmt::Display for $value {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $word,)+
                })
            }
        }

        serde_as_text!($value);
    };
}

mod arrivals;
mod backlog;
mod bit_rate;
mod budget_choice;
mod cpu_list;
mod duration_text;
mod flag_value;
mod limit;
mod load_spec;
mod notation;
mod of_flag;
mod rate;
mod rate_choice;
mod reconnect;
mod run_spec;
mod set;
mod setting;
mod statement_protocol;
mod target_spec;
#[cfg(test)]
mod tests;
mod think_time;
mod window_spec;
mod workload_spec;
mod wrong_field;

pub use arrivals::{Arrivals, ArrivalsError, JitterError};
pub use backlog::{Backlog, BacklogError};
pub use bit_rate::{BitRate, BitRateError};
pub use budget_choice::{BudgetChoice, BudgetChoiceError};
pub use cpu_list::{CpuList, CpuListError};
pub use flag_value::{whole, with_unit};
pub use limit::{LimitError, LimitMetric, WorkloadLimit};
pub use load_spec::LoadSpec;
pub use rate::{Rate, RateError};
pub use rate_choice::{AUTO_SHARE_PCT, RateChoice, RateChoiceError};
pub use reconnect::{ReconnectError, ReconnectPolicy};
pub use run_spec::{RunSpec, SpecDocument, SpecError};
pub use set::FlagError;
pub use setting::{FlagSetting, SettingError};
pub use statement_protocol::{ProtocolError, StatementProtocol};
pub use target_spec::TargetSpec;
pub use think_time::{ThinkError, ThinkTime};
pub use window_spec::WindowSpec;
pub use workload_spec::WorkloadSpec;
