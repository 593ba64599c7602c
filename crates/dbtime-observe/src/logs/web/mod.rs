//! Access logs of web servers: by the format strings of Apache and nginx, W3C's, and JSON lines.
//!
//! ```text
//!   format string ─► AccessFormat ─► AccessLog ─┐
//!                                               ├─► rows ─► pieces, one for each request
//!           keys of JSON ─► JsonLines, spans ───┘             └─ class by RouteNamer
//! ```

mod access;
mod apache;
mod error;
mod field;
mod format;
mod joiner;
mod json_fields;
mod json_lines;
mod nginx;
mod presets;
mod route;
mod row;
mod spans;
mod template;
#[cfg(test)]
mod tests;
mod time;
mod w3c;

pub(crate) use access::AccessLog;
pub use error::LogFormatError;
pub use format::AccessFormat;
pub(crate) use json_fields::JsonFields;
pub(crate) use json_lines::JsonLines;
pub use route::RouteNamer;
