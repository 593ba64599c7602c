//! Names of PostgreSQL's files, read from the server's own catalogs on disk.
//!
//! - `catalogs`: which files are opened; `heap`: rows of a page; `relations`: rows of the catalogs;
//! - `file_names`: numbers of files to names.

pub(super) mod catalogs;
pub(super) mod file_names;
mod heap;
pub(super) mod relations;
