//! Values of the record that are one of a few words, each a type of its own.
//!
//! A record of an older or newer dbtime may hold a word that is none of them: it is kept as it
//! stands, so that a report shows it and writing it again changes nothing.

use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares an enum whose variants are words in JSON and CSV; after `+` variants with a value that
/// follows a prefix.
macro_rules! record_words {
    (
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)*
            $(
                + $(#[$value_doc:meta])*
                $value_variant:ident($value:ty) = $prefix:literal, $read:expr, $write:expr,
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            $($(#[$value_doc])* $value_variant($value),)*
            /// Any other word, as the record has it; empty where the record has none.
            Other(String),
        }

        impl $name {
            /// Whether the record has none.
            pub fn is_missing(&self) -> bool {
                matches!(self, Self::Other(text) if text.is_empty())
            }

            /// A variant with a value, where its text is what would be written for it.
            fn with_value(text: &str) -> Option<Self> {
                $(
                    let read: fn(&str) -> Option<$value> = $read;
                    let value = text.strip_prefix($prefix).and_then(read);
                    if let Some(found) = value.map(Self::$value_variant)
                        && found.to_string() == text
                    {
                        return Some(found);
                    }
                )*
                let _ = text;
                None
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::Other(String::new())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant => f.pad($word),)*
                    $(Self::$value_variant(value) => {
                        let write: fn(&$value) -> String = $write;
                        f.pad(&format!("{}{}", $prefix, write(value)))
                    })*
                    Self::Other(text) => f.pad(text),
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($word => Self::$variant,)*
                    other => Self::with_value(other).unwrap_or(Self::Other(text)),
                }
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}

record_words! {
    /// What sets the pace of a load.
    LoadMode {
        /// Clients that wait for each answer.
        Closed = "closed",
        /// A schedule.
        Open = "open",
    }
}

record_words! {
    /// How due instants fall around the rate.
    ArrivalProcess {
        /// One each period.
        Steady = "steady",
        /// Exponential gaps.
        Poisson = "poisson",
        /// Gaps uniform from zero to twice the period.
        Uniform = "uniform",
        /// All at the start.
        AtOnce = "at-once",
        /// None: a closed loop.
        Closed = "closed",
        + /// So many at once.
        Burst(u64) = "burst:", |text| text.parse().ok(), u64::to_string,
    }
}

record_words! {
    /// What becomes of a transaction that is due while no worker is free.
    BacklogPolicy {
        /// It waits.
        Wait = "wait",
        /// It is dropped at once.
        Drop = "drop",
        + /// It is dropped after this wait.
        Deadline(Nanos) = "deadline:", |text| text.parse().ok(), |limit| limit.exact(),
    }
}

record_words! {
    /// What connections are encrypted by: `off`, or the version of TLS and the cipher suite.
    ConnectionCipher {
        /// None.
        Off = "off",
    }
}

record_words! {
    /// What is required or checked.
    CheckMetric {
        /// The mean response.
        Mean = "avg",
        /// The longest response.
        Max = "max",
        /// The operation's share of transactions.
        Share = "share",
        /// The mean think time.
        Think = "think",
        /// Failed transactions of those offered.
        Errors = "errors",
        /// Completed transactions per second.
        Throughput = "throughput",
        + /// The response at this percentile.
        Percentile(f64) = "p", percentile, f64::to_string,
    }
}

record_words! {
    /// Who chose on how many transactions the costly parts are measured.
    SamplingOrigin {
        /// The command line.
        Given = "given",
        /// dbtime, by the cost of measuring.
        Auto = "auto",
    }
}

record_words! {
    /// What a second of a run belongs to.
    SeriesPhase {
        /// Load before the window.
        Warmup = "warmup",
        /// The window.
        Measure = "measure",
        /// Load after the window, until the last transaction has ended.
        Rundown = "rundown",
    }
}

record_words! {
    /// Why a transaction was kept whole.
    ExemplarKind {
        /// It is among the slowest of its operation.
        Slowest = "slowest",
        /// It is among the random choice.
        Random = "random",
    }
}

fn percentile(text: &str) -> Option<f64> {
    text.parse().ok().filter(|percentile| (0.0..100.0).contains(percentile))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::DeserializeOwned;

    /// What a type makes of a word of a record, and what it writes for it.
    fn read<T: Serialize + DeserializeOwned>(word: &str) -> (T, String) {
        let json = serde_json::to_string(word).expect("a string");
        let value: T = serde_json::from_str(&json).expect("any word is taken");
        let written = serde_json::to_value(&value).expect("a string");
        (value, written.as_str().expect("a string").to_owned())
    }

    #[test]
    fn words_are_read_and_written_alike() {
        let written = |word: &str| format!("{word} {word}");
        let both = |(value, text): (ArrivalProcess, String)| format!("{value} {text}");
        for word in ["steady", "poisson", "uniform", "at-once", "closed", "burst:20"] {
            let (value, text) = read::<ArrivalProcess>(word);
            assert!(!matches!(value, ArrivalProcess::Other(_)), "{word}");
            assert_eq!(both((value, text)), written(word));
        }
        for (word, metric) in [
            ("p90", CheckMetric::Percentile(90.0)),
            ("p99.9", CheckMetric::Percentile(99.9)),
            ("avg", CheckMetric::Mean),
            ("think", CheckMetric::Think),
        ] {
            assert_eq!(read::<CheckMetric>(word), (metric, word.to_owned()));
        }
        assert_eq!(read::<LoadMode>("open").0, LoadMode::Open);
        assert_eq!(read::<SeriesPhase>("measure").0, SeriesPhase::Measure);
        assert_eq!(read::<ConnectionCipher>("off").0, ConnectionCipher::Off);
        let deadline = BacklogPolicy::Deadline(Nanos::from_millis(50));
        assert_eq!(read("deadline:50ms"), (deadline, "deadline:50ms".to_owned()));
    }

    #[test]
    fn words_of_other_versions_are_kept_as_they_stand() {
        let tls = "TLS 1.3, TLS_AES_256_GCM_SHA384";
        assert_eq!(read(tls), (ConnectionCipher::Other(tls.to_owned()), tls.to_owned()));
        for word in ["burst:020", "burst:", "pareto:2", "STEADY", " steady"] {
            let other = ArrivalProcess::Other(word.to_owned());
            assert_eq!(read(word), (other, word.to_owned()));
        }
        assert!(read::<LoadMode>("").0.is_missing());
        assert!(LoadMode::default().is_missing() && !LoadMode::Open.is_missing());
    }

    proptest! {
        #[test]
        fn no_word_is_refused_or_changed(word in ".*|p[0-9.]{1,9}|deadline:[0-9]{1,9}[mun]?s") {
            prop_assert_eq!(&read::<CheckMetric>(&word).1, &word);
            prop_assert_eq!(&read::<BacklogPolicy>(&word).1, &word);
            prop_assert_eq!(&read::<ArrivalProcess>(&word).1, &word);
        }
    }
}
