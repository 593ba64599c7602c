//! What a type of Rust is in JSON, in words.

/// Types that are a number.
const NUMBERS: &[&str] =
    &["MonoNanos", "Nanos", "NonZeroU64", "f64", "i64", "u16", "u32", "u64", "u8"];

/// Types that are a text: of this module's, and those of the model that are written as their flag
/// has them (`serde_as_text!`).
const TEXTS: &[&str] = &[
    "Arrivals",
    "Backlog",
    "BitRate",
    "BudgetChoice",
    "CpuList",
    "RateChoice",
    "ReconnectPolicy",
    "SocketAddr",
    "StatementProtocol",
    "String",
    "ThinkTime",
    "WorkloadLimit",
    "str",
];

/// Types without a section, and what stands for them: another page explains them, or serde does not
/// write them field by field. The frame has `BudgetUs`, which a macro makes.
const WRITTEN_AS: &[(&str, &str)] = &[
    ("BudgetUs", "[BudgetUs](#budgetus)"),
    ("ErrorCode", "number or text"),
    ("Part", "[part](measurement.md#the-parts)"),
    ("PartsJson", "number by part?"),
    ("WarningKind", "[kind](measurement.md#warnings)"),
    ("bool", "boolean"),
];

/// Other names of types.
const ALIASES: &[(&str, &str)] =
    &[("CounterValues", "BTreeMap<String, CounterValue>"), ("RecordedSpec", "RunSpec")];

/// The words for a type, as the rules of the page explain them; `refer` has those for a type of the
/// record's own.
pub(super) fn json_words(rust: &str, refer: &mut dyn FnMut(&str) -> String) -> String {
    let rust = rust.trim_start_matches("&'a ").trim_end_matches("<'a>");
    let named = |table: &[(&str, &'static str)]| {
        table.iter().find(|(name, _)| *name == rust).map(|(_, words)| *words)
    };
    if let Some(alias) = named(ALIASES) {
        return json_words(alias, refer);
    }
    if let Some(words) = named(WRITTEN_AS) {
        return words.to_owned();
    }
    if NUMBERS.contains(&rust) {
        return "number".to_owned();
    }
    if TEXTS.contains(&rust) {
        return "text".to_owned();
    }
    let generic = rust.strip_suffix('>').and_then(|rust| rust.split_once('<'));
    match generic {
        Some(("Option", inside)) => format!("{}?", json_words(inside, refer)),
        Some(("Vec", inside)) => format!("{}[]", json_words(inside, refer)),
        Some(("Arc" | "Box" | "Cow", inside)) => {
            json_words(inside.trim_start_matches("'a, "), refer)
        }
        Some(("BTreeMap", inside)) => {
            let value = inside.split_once(", ").map_or(inside, |(_, value)| value);
            format!("{} by name", json_words(value, refer))
        }
        _ => refer(rust),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_rust_are_said_in_words_of_json() {
        let of = |rust: &str| json_words(rust, &mut |name: &str| format!("[{name}]"));
        assert_eq!(of("Option<f64>"), "number?");
        assert_eq!(of("Option<Vec<OneType>>"), "[OneType][]?");
        let of_maps = "[CounterValue] by name by name";
        assert_eq!(of("BTreeMap<String, CounterValues>"), of_maps);
        assert_eq!(of("Vec<Cow<'a, str>>"), "text[]");
        assert_eq!(of("Option<BlockerJson<'a>>"), "[BlockerJson]?");
        assert_eq!(of("&'a TraceLedger"), "[TraceLedger]");
        assert_eq!(of("Option<RecordedSpec>"), "[RunSpec]?");
        assert_eq!(of("Box<bool>"), "boolean");
    }

    #[test]
    fn lists_are_sorted() {
        assert!(NUMBERS.is_sorted() && TEXTS.is_sorted());
        assert!(WRITTEN_AS.is_sorted() && ALIASES.is_sorted());
    }
}
