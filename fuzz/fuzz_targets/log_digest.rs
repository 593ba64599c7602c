//! No log makes its reader panic or hang, and a log has the same digest in blocks of any size. The
//! first byte chooses the format, the rest is the log.
#![cfg_attr(feature = "link", no_main)]

use dbtime_model::log_digest::{InputKind, LogDigest};
use dbtime_observe::logs::{FormatChoice, LogPlan, digest_logs};
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use tempfile::TempDir;

thread_local! {
    /// The folder of the log: digests are of files.
    static FOLDER: TempDir = tempfile::tempdir_in("/dev/shm").expect("room for a folder");
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, log)) = bytes.split_first() else { return };
    let choice = choice(*first);
    FOLDER.with(|folder| {
        let path = folder.path().join("log");
        fs::write(&path, log).expect("a file in memory");
        let whole = digest(&path, &choice, None);
        for block_bytes in [1, 61, 1021] {
            assert_eq!(digest(&path, &choice, Some(block_bytes)), whole, "{block_bytes}");
        }
    });
});

/// `0` to `6` are the formats in their order, then come format strings, and what a log begins with.
fn choice(first: u8) -> FormatChoice {
    match first % 12 {
        7 => FormatChoice::Access("combined".to_owned()),
        8 => FormatChoice::Access("%h %l %u %t \"%r\" %>s %b %{pid}P %X %D".to_owned()),
        9 => FormatChoice::PostgresPrefix("%m [%p] %q%u@%d ".to_owned()),
        10 => FormatChoice::JsonFields("time=ts,duration=took:ms,path=request.uri".to_owned()),
        11 => FormatChoice::Auto,
        kind => FormatChoice::Kind(InputKind::ALL[usize::from(kind)]),
    }
}

/// The digest, or why there is none.
fn digest(
    path: &Path,
    choice: &FormatChoice,
    block_bytes: Option<usize>,
) -> Result<LogDigest, String> {
    let plan = LogPlan {
        inputs: vec![path.to_owned()],
        choice: choice.clone(),
        threads: Some(1),
        block_bytes,
        ..LogPlan::default()
    };
    let digest = digest_logs(&plan, &mut |_| ControlFlow::Continue(()));
    digest.map_err(|error| error.to_string())
}

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
