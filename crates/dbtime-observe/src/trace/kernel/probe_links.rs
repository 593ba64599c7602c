//! Attaching programs to places in files: to all of them at once, or where the kernel has no such
//! way, to one after the other.

use super::kernel_features::KernelFeatures;
use super::loading::program;
use super::probe_sites::ProbeSites;
use crate::trace::privilege::rights::is_admin;
use libbpf_rs::{Link, Object, ProgramMut, UprobeMultiOpts, UprobeOpts};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// In every process that runs the file.
const ALL_PROCESSES: i32 = -1;

/// Attaches a program to places in a file, in every process that runs it.
///
/// # Errors
/// The kernel refuses, for people.
pub(crate) fn attach_places(
    object: &mut Object,
    places: &ProbeSites,
    file: &File,
) -> Result<Vec<Link>, String> {
    let kernel = KernelFeatures::find().map_err(|error| error.to_string())?;
    let program = program(object, &places.program).map_err(|error| error.to_string())?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    match kernel.has_multi_probes {
        true => attach_at_once(&program, places, &path).map(|link| vec![link]),
        false => attach_one_by_one(&program, places, &path),
    }
}

fn attach_at_once(
    program: &ProgramMut<'_>,
    places: &ProbeSites,
    path: &Path,
) -> Result<Link, String> {
    let options = UprobeMultiOpts {
        offsets: places.offsets.clone(),
        cookies: places.cookies.clone(),
        retprobe: places.at_return,
        ..UprobeMultiOpts::default()
    };
    let attached = program.attach_uprobe_multi_with_opts(ALL_PROCESSES, path, "", options);
    attached.map_err(|error| error.to_string())
}

fn attach_one_by_one(
    program: &ProgramMut<'_>,
    places: &ProbeSites,
    path: &Path,
) -> Result<Vec<Link>, String> {
    let attach = |(place, offset): (usize, &usize)| {
        let options = UprobeOpts {
            cookie: places.cookies.get(place).copied().unwrap_or(0),
            retprobe: places.at_return,
            ..UprobeOpts::default()
        };
        let attached = program.attach_uprobe_with_opts(ALL_PROCESSES, path, *offset, options);
        attached.map_err(|error| refusal_of_one(&error))
    };
    places.offsets.iter().enumerate().map(attach).collect()
}

/// What kernels since July 2025, and those that distributions mended like them, take for probes one
/// by one is more than they take for many at once.
fn refusal_of_one(error: &libbpf_rs::Error) -> String {
    let is_for_a_right = error.kind() == libbpf_rs::ErrorKind::PermissionDenied;
    match is_for_a_right && !is_admin() {
        true => format!(
            "{error}: this kernel attaches probes one by one (many at once it does since 6.6), which \
             takes CAP_SYS_ADMIN; run dbtime as root"
        ),
        false => error.to_string(),
    }
}
