//! Loading on the kernel that the tests run on.

use super::*;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

fn is_permitted() -> bool {
    let is_permitted = missing(&KERNEL).is_empty();
    if !is_permitted {
        assert!(std::env::var_os("CI").is_none(), "eBPF has to be permitted here");
        // The test harness would hide what is printed.
        let _ = io::stderr().write_all(b"NOT TESTED: no eBPF here\n");
    }
    is_permitted
}

/// What the library says is heard by one at a time.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has programs be what may not do what they do; `None` where the kernel permits no eBPF.
fn loaded_without(names: &[&str]) -> Option<Result<LoadRefusal, TraceError>> {
    let change = |open: &mut OpenObject| {
        for mut program in open.progs_mut() {
            if names.contains(&&*program.name().to_string_lossy()) {
                program.set_prog_type(ProgramType::SocketFilter);
            }
        }
    };
    if !is_permitted() {
        return None;
    }
    let _one = one_at_a_time();
    let config = CaptureConfig { is_on: true, buffer: 64 << 10, ..CaptureConfig::default() };
    let kernel = KernelFeatures::find().expect("it has enough");
    Some(load(kernel, &config, change).map(|(_, refused)| refused))
}

/// Settings are constants to the verifier: each leaves other code to be looked at.
fn all_configs() -> impl Iterator<Item = CaptureConfig> {
    [0, 3, 4, 7].into_iter().map(|bits| CaptureConfig {
        is_on: bits & 1 > 0,
        adds_up: bits & 2 > 0,
        stacks: bits & 4 > 0,
        driver: (bits & 4 > 0).then_some(1),
        follows_unix: bits & 1 > 0,
        follows_new: bits & 2 > 0,
        user: (bits & 4 > 0).then(|| "u".to_owned()),
        buffer: 64 << 10,
        ..CaptureConfig::default()
    })
}

#[test]
fn every_program_is_taken_by_this_kernel() {
    if is_permitted() {
        let _one = one_at_a_time();
        let kernel = KernelFeatures::find().expect("it has enough");
        for config in all_configs() {
            let (_, refused) = load(kernel, &config, |_| {}).expect("it is loaded");
            assert_eq!(refused, LoadRefusal::new(), "{config:?}");
        }
        // Those that only newer kernels have use for, too.
        let newer = KernelFeatures { preempts_programs: true, ..kernel };
        let config = all_configs().last().expect("there are some");
        let (_, refused) = load(newer, &config, |_| {}).expect("it is loaded");
        assert_eq!(refused, LoadRefusal::new());
    }
}

/// Prints how many instructions the verifier went through and how long loading took, of which
/// `scripts/kernels/test.sh` makes a table.
#[test]
fn each_program_is_taken_alone() {
    if !is_permitted() {
        return;
    }
    let _one = one_at_a_time();
    let config = all_configs().last().expect("there are some");
    let kernel = KernelFeatures::find().expect("it has enough");
    let (object, _) = load(kernel, &config, |_| {}).expect("it is loaded");
    let loaded = object.progs().filter(libbpf_rs::Program::autoload);
    let names: Vec<_> = loaded.map(|one| one.name().to_owned()).collect();
    drop(object);
    let without = time_to_load(&config, "").0;
    for name in names {
        let name = name.to_string_lossy();
        let (time, object) = time_to_load(&config, &name);
        let took = time.saturating_sub(without).as_secs_f64() * 1e3;
        let line = format!("verified {name} {} {took:.1}\n", instructions(&name));
        let _ = io::stderr().write_all(line.as_bytes());
        drop(object);
    }
}

/// How long it takes to load this program alone.
fn time_to_load(config: &CaptureConfig, name: &str) -> (Duration, Object) {
    let kernel = KernelFeatures::find().expect("it has enough");
    let mut open = open(config, &config.settings(true, kernel)).expect("opened");
    for mut program in open.progs_mut() {
        let is_it = program.name() == name;
        program.set_autoload(is_it);
    }
    let begun = Instant::now();
    let object = open.load().expect("it is loaded");
    (begun.elapsed(), object)
}

/// Of a program that is loaded now. The kernel keeps the beginning of its name.
fn instructions(name: &str) -> u32 {
    let known = libbpf_rs::query::ProgInfoIter::default();
    let is_it = |known: &str| !known.is_empty() && name.starts_with(known);
    let found = known.filter(|one| is_it(&one.name.to_string_lossy()));
    found.map(|one| one.verified_insns).max().expect("it is known")
}

#[test]
fn what_a_kernel_refuses_is_left_out_and_named() {
    let Some(refused) = loaded_without(&["on_waking", "on_tls_write", CONNECTION_WALK]) else {
        return;
    };
    let refused = refused.expect("the rest is there");
    let names: Vec<&str> = refused.keys().map(String::as_str).collect();
    assert_eq!(names, [CONNECTION_WALK, "on_switch", "on_tls_write", "on_waking"]);
    assert!(refused["on_waking"].contains("on_waking"), "{refused:?}");
    let features = unavailable_features(&refused);
    let what: Vec<&str> = features.iter().map(|(what, _)| *what).collect();
    assert_eq!(what, ["the parts of responses", "what connections are at"]);
}

#[test]
fn what_is_of_no_use_alone_goes_with_its_partner() {
    assert_eq!(with_partners("on_timer_end".to_owned()), TIMERS);
    assert_eq!(with_partners(CONNECTION_WALK.to_owned()), [CONNECTION_WALK]);
}

#[test]
fn what_is_needed_is_not_left_out() {
    let Some(refused) = loaded_without(&["on_send"]) else { return };
    let refused = refused.expect_err("it is needed").to_string();
    assert!(refused.contains("on_send"), "{refused}");
}
