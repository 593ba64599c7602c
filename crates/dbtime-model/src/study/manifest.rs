//! What a study was packed with: every file of its folder, so that whoever has it knows that none
//! is another, or missing.

use serde::{Deserialize, Serialize};

/// The version of the manifest that this program writes.
pub const MANIFEST_SCHEMA: u32 = 1;

/// The files of a packed study, as in `manifest.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyManifest {
    /// [`MANIFEST_SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// Version of that program.
    pub dbtime: String,
    /// When it was packed, UTC, RFC 3339.
    pub packed_at: String,
    /// All files but this one, by their paths.
    pub files: Vec<PackedFile>,
}

/// One file of a packed study.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedFile {
    /// Its path in the folder, with `/` between its parts.
    pub path: String,
    /// Its length. Unit: bytes.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}
