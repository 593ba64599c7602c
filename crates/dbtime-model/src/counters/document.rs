//! Samples and reports on disk: JSON documents that name their own kind and schema.

use super::{CounterReport, CounterSample};
use serde::{Deserialize, Serialize};

/// The version of the documents that this program writes.
pub const SCHEMA: u32 = 1;

/// A saved sample or report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "document", rename_all = "snake_case")]
pub enum CounterDocument {
    /// Counters at one instant.
    CounterSample(CounterSample),
    /// What changed between two.
    CounterReport(CounterReport),
}

/// Why a text is no document.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It was written by a later program.
    #[error("has schema {0}, this program reads up to {SCHEMA}: use a newer dbtime")]
    Newer(u32),
    /// It is not of the form.
    #[error("is no saved sample or report of counters: {0}")]
    Malformed(#[from] serde_json::Error),
}

impl CounterDocument {
    /// Reads a document. Fields this program does not know are ignored.
    pub fn read(text: &str) -> Result<Self, DocumentError> {
        /// Only the version, so that a newer one is refused by name whatever else it holds.
        #[derive(Deserialize)]
        struct DocumentVersion {
            schema: u32,
        }
        let version: DocumentVersion = serde_json::from_str(text)?;
        if version.schema > SCHEMA {
            return Err(DocumentError::Newer(version.schema));
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The document as text, on several lines, the last one ended.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("maps with text keys and plain data");
        json + "\n"
    }

    /// The document on one line, ended.
    pub fn to_json_line(&self) -> String {
        serde_json::to_string(self).expect("maps with text keys and plain data") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Product;
    use crate::counters::{CounterSource, CounterValue};

    fn sample() -> CounterSample {
        let source = CounterSource { product: Product::Mariadb, version: None, url: None };
        let mut sample = CounterSample::new(source);
        let counters = sample.groups.entry("global_status".to_owned()).or_default();
        for (name, value) in [("a", "18446744073709551615"), ("b", "-1"), ("c", "0.1"), ("d", "x")]
        {
            counters.insert(name.to_owned(), CounterValue::parse(value));
        }
        sample
    }

    #[test]
    fn a_document_comes_back_as_it_was() {
        let document = CounterDocument::CounterSample(sample());
        for text in [document.to_json(), document.to_json_line()] {
            assert_eq!(CounterDocument::read(&text).expect("as written"), document);
        }
        assert_eq!(document.to_json_line().lines().count(), 1);
        assert_eq!(sample().count(), 4);
    }

    #[test]
    fn a_newer_or_another_document_is_refused() {
        let newer = CounterDocument::read("{\"schema\":99}").expect_err("newer").to_string();
        assert!(newer.contains("schema 99") && newer.contains("newer dbtime"), "{newer}");
        for other in ["", "[]", "{}", "{\"schema\":1}", "{\"schema\":1,\"document\":\"run\"}"] {
            assert!(CounterDocument::read(other).is_err(), "{other}");
        }
        // What later versions of this schema add is ignored.
        let text =
            CounterDocument::CounterSample(sample()).to_json().replacen('{', "{\"new\":0,", 1);
        assert!(CounterDocument::read(&text).is_ok());
    }
}
