//! What commands show besides sweeps, each a file or a folder that makes a document of it.

mod counters;
mod doctor;
mod explain;
mod processes;
mod run;
mod trace_summary;
mod usage;

pub use counters::{CounterOptions, counter_document};
pub use doctor::{DoctorView, doctor_document, fix_script};
pub use explain::advice_document;
pub use processes::{ProcessesOptions, process_document};
pub use run::run_document;
pub use trace_summary::{
    TracedReport, short_trace_document, trace_document, trace_histogram, whole_trace_document,
};
pub use usage::usage_document;

pub(crate) use run::run_page;
pub(crate) use trace_summary::NO_PARTS;
