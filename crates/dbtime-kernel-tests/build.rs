//! Compiles the kernel's programs for this machine, with the simulated kernel that they run on.
//!
//! With undefined behaviour trapped, and with AddressSanitizer where its static library is there.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What gcc's AddressSanitizer of many versions stands: with more random bits of addresses its
/// programs end as they start, at times.
const MAX_RANDOM_BITS: u32 = 28;

/// Where the programs are.
const PROGRAMS: &str = "../dbtime-observe/bpf";

fn main() {
    println!("cargo:rerun-if-changed=host");
    println!("cargo:rerun-if-changed={PROGRAMS}");
    let machine = match std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("aarch64") => "__TARGET_ARCH_arm64",
        _ => "__TARGET_ARCH_x86",
    };
    let mut build = cc::Build::new();
    build
        .files(
            ["machine", "records", "tables", "capture", "scheduler"]
                .map(|name| format!("host/{name}.c")),
        )
        .include("host")
        .include(PROGRAMS)
        .define(machine, None)
        .std("gnu11")
        // Sizes of members are only known to the stubs where functions are inlined.
        .opt_level(1)
        .debug(true)
        .extra_warnings(false)
        .flag_if_supported("-Wno-unknown-pragmas")
        .flag("-fsanitize=undefined")
        .flag("-fsanitize-undefined-trap-on-error");
    let sanitizer = address_sanitizer(&build.get_compiler());
    if sanitizer.is_some() {
        build.flag("-fsanitize=address");
    }
    build.compile("dbtime_kernel_host");
    if let Some(library) = sanitizer {
        link(&library);
    }
}

/// The static library of gcc's AddressSanitizer, where it is there and works here.
fn address_sanitizer(compiler: &cc::Tool) -> Option<PathBuf> {
    let bits = std::fs::read_to_string("/proc/sys/vm/mmap_rnd_bits").ok()?;
    let bits: u32 = bits.trim().parse().ok()?;
    if !compiler.is_like_gnu() || bits > MAX_RANDOM_BITS {
        return None;
    }
    let named = Command::new(compiler.path()).arg("-print-file-name=libasan.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(named.stdout).ok()?.trim());
    path.is_absolute().then_some(path)
}

/// All of it goes into each test: what it intercepts it has to define itself.
fn link(library: &Path) {
    let whole = format!("-Wl,--whole-archive,{},--no-whole-archive", library.display());
    for argument in [&*whole, "-lm", "-lpthread", "-ldl", "-lrt"] {
        println!("cargo:rustc-link-arg={argument}");
    }
}
