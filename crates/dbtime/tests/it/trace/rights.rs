//! Who may watch, and what they may do while they read what comes from clients.

use super::held::{GroupFreezer, ProcessHold, freezer};
use super::*;
use crate::running::{HAS_HEARD, ends_by_one_more};
use rustix::process::{Pid, Signal, geteuid, kill_process, test_kill_process};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

/// What `/proc` says of a process or a thread, by its name.
pub(super) fn status(of: &Path, name: &str) -> String {
    let status = std::fs::read_to_string(of.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
    line.unwrap_or_default().split_whitespace().next().unwrap_or_default().to_owned()
}

pub(super) fn folder(pid: u32) -> PathBuf {
    Path::new("/proc").join(pid.to_string())
}

/// The one process that a process has started, which has this name.
fn child(of: u32, name: &str) -> u32 {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let numbers = processes.filter_map(|one| one.file_name().to_str()?.parse::<u32>().ok());
    let mut children = numbers.filter(|one| status(&folder(*one), "PPid") == of.to_string());
    let child = children.next().expect("it has a child");
    assert_eq!((status(&folder(child), "Name").as_str(), children.next()), (name, None));
    child
}

/// The reader of a tracer.
fn reader(tracer: u32) -> u32 {
    child(tracer, "dbtime-reader")
}

/// The helper of its reader.
fn helper(tracer: u32) -> u32 {
    child(reader(tracer), "dbtime-helper")
}

pub(super) fn pid(of: u32) -> Pid {
    Pid::from_raw(of.cast_signed()).expect("a process")
}

fn wait_for_the_end_of(process: u32) {
    let begin = Instant::now();
    while test_kill_process(pid(process)).is_ok() {
        assert!(begin.elapsed() < PATIENCE, "process {process} stays");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Every thread of the tracer and its reader: no capability, not root's files, few system calls.
fn has_no_rights(tracer: u32) {
    let threads = |of: u32| {
        let threads = std::fs::read_dir(folder(of).join("task")).expect("threads").flatten();
        threads.map(|thread| thread.path()).collect::<Vec<PathBuf>>()
    };
    let mut all = threads(tracer);
    assert!(all.len() >= 2, "one of them waits for signals: {all:?}");
    all.extend(threads(reader(tracer)));
    for thread in &all {
        let of = |name| status(thread, name);
        for set in ["CapEff", "CapPrm", "CapInh", "CapAmb"] {
            assert_eq!(of(set).trim_matches('0'), "", "{set}");
        }
        assert_eq!((of("NoNewPrivs").as_str(), of("Seccomp").as_str()), ("1", "2"));
        assert_ne!(of("Uid"), "0");
    }
}

/// CAP_BPF and CAP_PERFMON, CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH; of root's also
/// CAP_CHECKPOINT_RESTORE, and CAP_SYS_ADMIN before Linux 6.6 and where sampling takes it. It is
/// not root, and neither becomes it again nor starts anything.
fn has_four_rights(helper: u32) {
    const FOUR: u64 = 1 << 39 | 1 << 38 | 1 << 19 | 1 << 2;
    const MORE: u64 = 1 << 21 | 1 << 40;
    let of = |name| status(&folder(helper), name);
    let rights = |set| u64::from_str_radix(&of(set), 16).expect("a set");
    let [effective, permitted] = [rights("CapEff"), rights("CapPrm")];
    assert!(permitted == effective && effective & !MORE == FOUR, "{effective:x}");
    assert_eq!((of("NoNewPrivs").as_str(), of("Seccomp").as_str()), ("1", "2"));
    assert_ne!(of("Uid"), "0");
}

#[test]
fn what_reads_has_no_rights_and_what_has_them_ends_with_it() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(mut tracer) = Tracer::attach(&sandbox, &server, "") else {
        return;
    };
    RawClient::connect(&server).query("DO 1");
    has_no_rights(tracer.child.id());
    let (reader, helper) = (reader(tracer.child.id()), helper(tracer.child.id()));
    has_four_rights(helper);
    tracer.child.kill().expect("it is there");
    tracer.child.wait().expect("it has ended");
    [reader, helper].into_iter().for_each(wait_for_the_end_of);
}

#[test]
fn a_recording_has_its_end_whoever_is_killed_beside_the_reader() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(mut tracer) = Tracer::start(&sandbox, &server, "--record it.trace") else { return };
    let reader = reader(tracer.child.id());
    RawClient::connect(&server).query("DO 1");
    // In the midst of a command: the tracer waits for the reply, and is gone when it comes.
    kill_process(pid(reader), Signal::STOP).expect("it is there");
    std::thread::sleep(Duration::from_millis(200));
    tracer.child.kill().expect("it is there");
    tracer.child.wait().expect("it has ended");
    wait_for_the_end_of(reader);
    let mut err = String::new();
    tracer.told.read_to_string(&mut err).expect("text");
    assert!(!err.contains("reader of client requests (process"), "{err}");
    sandbox.run("trace it.trace").prints(&["DO ?", "requests"]);
}

/// Whoever of the tracer is stopped, and whatever of it is killed then, ends with the rest of it.
#[test]
fn what_is_stopped_does_not_outlive_whoever_has_started_it() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    for stops in [[true, false], [false, true], [true, true]] {
        let Some(mut tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        let all = [reader(tracer.child.id()), helper(tracer.child.id())];
        let stopped = all.into_iter().zip(stops).filter(|(_, stops)| *stops);
        stopped.for_each(|(one, _)| kill_process(pid(one), Signal::STOP).expect("it is there"));
        tracer.child.kill().expect("it is there");
        tracer.child.wait().expect("it has ended");
        all.into_iter().for_each(wait_for_the_end_of);
    }
    let Some(mut tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let (reader, helper) = (reader(tracer.child.id()), helper(tracer.child.id()));
    kill_process(pid(helper), Signal::STOP).expect("it is there");
    kill_process(pid(reader), Signal::KILL).expect("it is there");
    assert_eq!(tracer.child.wait().expect("it ends").code(), Some(3));
    wait_for_the_end_of(helper);
}

/// Neither the time nor a Ctrl-C would end it else, and what it has seen is there.
#[test]
fn what_is_stopped_and_waited_for_goes_on_and_that_is_said() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    for (is_reader, says) in [(true, "the reader of client"), (false, "the helper, process")] {
        let Some(mut tracer) = Tracer::attach(&sandbox, &server, "") else { return };
        RawClient::connect(&server).query("DO 1");
        let session = tracer.child.id();
        let stopped = if is_reader { reader(session) } else { helper(session) };
        kill_process(pid(stopped), Signal::STOP).expect("it is there");
        tracer.interrupt();
        let told = lines_until(&mut tracer, "has resumed it", PATIENCE).concat();
        assert!(told.contains(says) && told.contains(&stopped.to_string()), "{told}");
        let seen = tracer.ended();
        seen.adds_up();
        seen.one("DO 1");
        assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    }
}

/// A reader that stands still whatever signal it gets, held everywhere and frozen where that can
/// be, is named while it is waited for, and a second Ctrl-C does not wait.
#[test]
fn a_second_ctrl_c_names_the_recording_that_is_there() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    // In a guest there is not what it takes to hold one.
    let traced = (!is_in_guest()).then_some(None);
    let holds: Vec<Option<GroupFreezer>> = traced.into_iter().chain(freezer().map(Some)).collect();
    if holds.is_empty() {
        return stopped::not_tested("no control group can be frozen here");
    }
    for freezer in holds {
        let Some(mut tracer) = Tracer::start(&sandbox, &server, "--record it.trace") else {
            return;
        };
        let reader = reader(tracer.child.id());
        RawClient::connect(&server).query("DO 1");
        let mut hold = ProcessHold::begin(reader, freezer);
        let told = lines_until(&mut tracer, "has stood still for", PATIENCE).concat();
        assert!(told.contains(&format!("requests, process {reader}, has stood")), "{told}");
        assert!(told.contains(&hold.cause()), "{told}");
        // The first Ctrl-C has the tracer wait for the end of the recording.
        tracer.interrupt();
        lines_until(&mut tracer, HAS_HEARD, PATIENCE);
        let code = ends_by_one_more(&mut tracer.child, Signal::INT);
        hold.end();
        assert_eq!(code, Some(130));
        wait_for_the_end_of(reader);
        let mut err = String::new();
        tracer.told.read_to_string(&mut err).expect("text");
        assert!(err.contains("interrupted again: it.trace has what was seen"), "{err}");
        sandbox.run("trace it.trace").prints(&["DO ?", "requests"]);
        std::fs::remove_file(sandbox.path("it.trace")).expect("it is there");
    }
}

#[test]
fn a_reader_that_is_killed_is_named() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(mut tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let (reader, helper) = (reader(tracer.child.id()), helper(tracer.child.id()));
    kill_process(pid(reader), Signal::KILL).expect("it is there");
    let status = tracer.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(3));
    let mut err = String::new();
    tracer.told.read_to_string(&mut err).expect("text");
    let cause = format!("the reader of client requests (process {reader}) was ended by signal 9");
    assert_eq!(err.matches(&cause).count(), 1, "{err}");
    wait_for_the_end_of(helper);
}

#[test]
fn a_reader_that_is_killed_leaves_what_was_recorded() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(mut tracer) = Tracer::start(&sandbox, &server, "--record it.trace") else { return };
    let length = || std::fs::metadata(sandbox.path("it.trace")).map_or(0, |file| file.len());
    let heading = length();
    assert!(heading > 0);
    RawClient::connect(&server).query("DO 1");
    let begin = Instant::now();
    while length() == heading {
        assert!(begin.elapsed() < PATIENCE, "nothing is recorded");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(pid(reader(tracer.child.id())), Signal::KILL).expect("it is there");
    tracer.child.wait().expect("it ends");
    let ran = sandbox.run("trace it.trace");
    ran.exits(4);
    ran.prints(&["DO ?"]);
}

#[test]
fn a_helper_that_is_killed_costs_nothing_that_was_seen() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    let mut client = RawClient::connect(&server);
    client.query("DO 1");
    // Longer than it takes all of them to end.
    client.ask("DO SLEEP(900)");
    until_at_rest(server.server.pid());
    let helper = helper(tracer.child.id());
    kill_process(pid(helper), Signal::KILL).expect("it is there");
    let seen = tracer.ended();
    seen.adds_up();
    seen.one("DO 1");
    assert_eq!((seen.code, seen.counted("in_flight")), (Some(3), 1), "{}", seen.ledger);
}

/// Runs dbtime as somebody else: from a place that anybody may enter, with no more than these
/// capabilities.
fn as_another(sandbox: &Sandbox, capabilities: &str, arguments: &str) -> Command {
    let program = sandbox.path("dbtime");
    if !program.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_dbtime"), &program).expect("a copy");
        let anybody: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        for path in [sandbox.path("."), program.clone()] {
            std::fs::set_permissions(path, anybody.clone()).expect("allowed");
        }
    }
    let mut command = Command::new("setpriv");
    let (inherited, kept) = (format!("--inh-caps={capabilities}"), "--ambient-caps");
    command.args(["--reuid=4321", "--regid=4321", "--clear-groups", &inherited]);
    command.arg(format!("{kept}={capabilities}")).arg(program).args(arguments.split(' '));
    command.current_dir(sandbox.path("."));
    command
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn rights_that_are_missing_are_named_and_others_are_enough() {
    if !geteuid().is_root() {
        return; // it takes root to become somebody else
    }
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "") else { return };
    tracer.end();
    let server = server.server.pid();
    let run = |capabilities: &str, more: &str| {
        let line = format!("trace {more}--time 300ms --record it.trace");
        let output = as_another(&sandbox, capabilities, &line).output().expect("it starts");
        (output.status.code(), told(&output), sandbox.path("it.trace").exists())
    };
    // Where it looks for servers, and where it is told of one.
    for named in [String::new(), format!("-p {server} ")] {
        let (code, told, has_file) = run("-all", &named);
        assert_eq!((code, has_file), (Some(3), false), "{told}");
        assert!(told.contains("CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, which"), "{told}");
        assert!(told.contains("setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read"), "{told}");
    }
    let (code, told, has_file) =
        run("-all,+sys_ptrace,+dac_read_search,+bpf", &format!("-p {server} "));
    assert_eq!((code, has_file), (Some(3), false), "{told}");
    assert!(told.contains("takes CAP_PERFMON, which"), "{told}");
    let enough = "-all,+sys_ptrace,+dac_read_search,+bpf,+perfmon";
    let line = format!("trace -p {server} --time 100s --record it.trace");
    let mut command = as_another(&sandbox, enough, &line);
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut first = String::new();
    stderr.read_line(&mut first).expect("a line");
    assert!(first.starts_with("watching mariadbd"), "{first}");
    has_no_rights(child.id());
    kill_process(pid(child.id()), Signal::INT).expect("it is there");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    sandbox.run("trace it.trace").prints(&["0 started"]);
}
