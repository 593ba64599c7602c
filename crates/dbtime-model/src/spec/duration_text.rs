//! Durations of the written form, as people write them: `"20s"`.

use crate::Nanos;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<S: Serializer>(length: &Option<Nanos>, to: S) -> Result<S::Ok, S::Error> {
    length.map(Nanos::exact).serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Nanos>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| text.parse().map_err(Error::custom)).transpose()
}
