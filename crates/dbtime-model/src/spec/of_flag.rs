//! The readers of fields whose values have a notation of their own: each names the flag of that
//! notation before what is wrong with a value.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

macro_rules! of_flags {
    ($($field:ident: $flag:literal,)+) => {$(
        pub(super) fn $field<'de, T, D>(from: D) -> Result<T, D::Error>
        where
            T: Deserialize<'de>,
            D: Deserializer<'de>,
        {
            T::deserialize(from).map_err(|why| Error::custom(format_args!("{}: {why}", $flag)))
        }
    )+};
}

of_flags! {
    arrivals: "--arrivals",
    budget: "--budget-every",
    client_cpus: "--client-cpus",
    limits: "--limit",
    on_backlog: "--on-backlog",
    protocol: "--protocol",
    rate: "--rate",
    reconnect: "--reconnect",
    server_cpus: "--server-cpus",
    think: "--think",
}
