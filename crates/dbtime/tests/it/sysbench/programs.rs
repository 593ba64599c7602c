//! Programs that scripts start: they are waited for, and end with dbtime.

use crate::running::HAS_HEARD;
use crate::sandbox::{PATIENCE, Sandbox};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A shell that waits for a program of its own, which is not to have the pipes of a test.
const WAITS: &str = "sleep 1000000 >/dev/null 2>&1 & touch begun; wait";

#[test]
fn a_second_interrupt_ends_programs_with_what_they_have_started() {
    for start in [
        format!("os.execute('exec >/dev/null 2>&1; {WAITS}')"),
        format!("os.execute(\"exec >/dev/null 2>&1; trap '' TERM; {WAITS}\")"),
        format!(
            "local ffi = require('ffi') ffi.cdef 'int system(const char *command);'
            ffi.C.system('exec >/dev/null 2>&1; {WAITS}')"
        ),
        format!(
            "local ffi = require('ffi')
            ffi.cdef 'void *popen(const char *, const char *); int pclose(void *);'
            ffi.C.pclose(ffi.C.popen('exec >/dev/null 2>&1; {WAITS}', 'w'))"
        ),
        format!("io.popen('exec 2>/dev/null; {WAITS}'):read('*a')"),
        format!("io.popen('exec >/dev/null 2>&1; {WAITS}', 'w'):close()"),
        // It is open until the end of the script.
        format!("io.popen('exec >/dev/null 2>&1; {WAITS}', 'w')"),
    ] {
        let sandbox = Sandbox::new();
        let script = format!("function prepare() {start} end\nfunction event() end");
        sandbox.write("waits.lua", &script);
        let running = sandbox.start("sysbench waits.lua prepare");
        sandbox.wait_for(&["begun"]);
        running.interrupt_twice().exits(130);
        sandbox.wait_until_none_is_left();
    }
}

#[test]
fn every_signal_that_ends_a_process_ends_programs_too() {
    let script = format!("function prepare() os.execute('exec >/dev/null 2>&1; {WAITS}') end");
    for signal in [
        Signal::USR1,
        Signal::USR2,
        Signal::ALARM,
        Signal::STKFLT,
        Signal::VTALARM,
        Signal::PROF,
        Signal::IO,
        Signal::POWER,
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("waits.lua", &format!("{script}\nfunction event() end"));
        let running = sandbox.start("sysbench waits.lua prepare");
        sandbox.wait_for(&["begun"]);
        running.signal_twice(signal).exits(128 + signal.as_raw());
        sandbox.wait_until_none_is_left();
    }
}

/// No core is written by what crashes from here on.
fn without_cores() {
    let limit = Rlimit { current: Some(0), ..getrlimit(Resource::Core) };
    setrlimit(Resource::Core, limit).expect("a lower limit");
}

/// A script that has started a program, which says so, and knows of it; then it waits for its end.
fn waiting_script(before: &str, waits: &str) -> String {
    format!(
        "function prepare()
          {before}
          local program = io.popen('exec >/dev/null 2>&1; {waits}', 'w')
          io.open('known', 'w'):close()
          program:close()
        end
        function event() end"
    )
}

/// What guards the programs of a process, by its folder in `/proc`.
fn guard_of(pid: u32) -> PathBuf {
    let is_its = |process: &PathBuf| {
        let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
        guards(process) && status.contains(&format!("\nPPid:\t{pid}\n"))
    };
    let processes = std::fs::read_dir("/proc").expect("a /proc").flatten();
    processes.map(|process| process.path()).find(is_its).expect("a guard")
}

/// Whether a process guards programs, and has not ended.
fn guards(process: &Path) -> bool {
    let line = std::fs::read_to_string(process.join("cmdline"));
    line.is_ok_and(|line| line.contains("program-guard"))
}

fn wait_until(is_so: impl Fn() -> bool, otherwise: &str) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{otherwise}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends such a script, `waits.lua`, by a signal that dbtime does not catch.
fn end_uncaught(sandbox: &Sandbox, signal: Signal) {
    let running = sandbox.start("sysbench waits.lua prepare");
    for file in ["begun", "known"] {
        sandbox.wait_for(&[file]);
    }
    let guard = guard_of(running.pid());
    running.signal(signal);
    let ran = running.end();
    assert_eq!(ran.code, None, "{ran:?}");
    wait_until(|| !guards(&guard), "the guard goes on");
    for file in ["begun", "known"] {
        std::fs::remove_file(sandbox.path(file)).expect("it was there");
    }
}

#[test]
fn programs_end_with_a_process_that_is_killed() {
    without_cores();
    let sandbox = Sandbox::new();
    for waits in [WAITS.to_owned(), format!("trap \"\" TERM; {WAITS}")] {
        sandbox.write("waits.lua", &waiting_script("", &waits));
        for signal in [Signal::KILL, Signal::QUIT, Signal::ABORT] {
            end_uncaught(&sandbox, signal);
            sandbox.wait_until_none_is_left();
        }
    }
}

#[test]
fn what_a_program_has_left_behind_outlives_a_process_that_is_killed() {
    let sandbox = Sandbox::new();
    let left = "(until [ -e go ]; do sleep 0.01; done; touch whole) >/dev/null 2>&1 &";
    sandbox.write("waits.lua", &waiting_script(&format!("os.execute('{left}')"), WAITS));
    end_uncaught(&sandbox, Signal::KILL);
    let waits = || sandbox.residents().iter().any(|(_, line)| line.contains("1000000"));
    wait_until(|| !waits(), "the program that it waited for goes on");
    sandbox.write("go", "");
    sandbox.wait_for(&["whole"]);
    sandbox.wait_until_none_is_left();
}

/// No argument of it is shown.
#[test]
fn what_goes_on_in_the_background_behind_a_signal_is_named() {
    let sandbox = Sandbox::new();
    let server = "until [ -e go ]; do sleep 0.01; done; touch whole";
    let daemon = format!("setsid sh -c \"{server}\" >/dev/null 2>&1 &");
    let script = format!(
        "function prepare()
          os.execute('{daemon}')
          os.execute('exec >/dev/null 2>&1; {WAITS}')
        end
        function event() end"
    );
    sandbox.write("leaves.lua", &script);
    let running = sandbox.start("sysbench leaves.lua prepare");
    sandbox.wait_for(&["begun"]);
    let ran = running.interrupt_twice();
    ran.exits(130);
    let ran = ran.stderr_has(&["left by programs of the script: ", " (sh)"]);
    assert!(!ran.err.contains("until"), "{ran:?}");
    sandbox.write("go", "");
    sandbox.wait_for(&["whole"]);
    sandbox.wait_until_none_is_left();
}

/// What guards the programs starts with the first, and keeps nothing of the script open.
#[test]
fn a_pipe_that_a_script_closes_behind_a_program_has_an_end() {
    let sandbox = Sandbox::new();
    let made = Command::new("mkfifo").arg(sandbox.path("fifo")).status();
    assert!(made.expect("mkfifo starts").success());
    let mut reader = Command::new("sh");
    sandbox.settle(reader.args(["-c", "cat fifo; touch read"]));
    let mut reader = reader.spawn().expect("a shell");
    let script = "function prepare()
          local pipe = io.open('fifo', 'w')
          os.execute('true')
          pipe:close()
          os.execute('for i in $(seq 600); do [ -e read ] && break; sleep 0.1; done')
          if io.open('read') then
            io.open('seen', 'w'):close()
          end
        end
        function event() end";
    sandbox.write("pipes.lua", script);
    sandbox.run("sysbench pipes.lua prepare").exits(0);
    assert!(reader.wait().expect("it is ours").success());
    assert!(sandbox.path("seen").exists(), "the pipe was open until the end");
}

#[test]
fn programs_end_with_a_process_that_crashes() {
    without_cores();
    let sandbox = Sandbox::new();
    for crash in ["ffi.cast('int *', 8)[0] = 1", "ffi.cdef 'void abort(void);' ffi.C.abort()"] {
        let script = format!(
            "local ffi = require('ffi')
            function prepare()
              local program = io.popen('exec >/dev/null 2>&1; {WAITS}', 'w')
              os.execute('until [ -e begun ]; do sleep 0.01; done')
              {crash}
            end
            function event() end"
        );
        sandbox.write("crashes.lua", &script);
        let ran = sandbox.run("sysbench crashes.lua prepare");
        assert_eq!(ran.code, None, "{ran:?}");
        sandbox.wait_until_none_is_left();
        std::fs::remove_file(sandbox.path("begun")).expect("it began");
    }
}

#[test]
fn the_programs_of_a_run_end_with_it_too() {
    let sandbox = Sandbox::new();
    let script =
        format!("function event() io.popen('exec 2>/dev/null; {WAITS}; echo 1'):read('*a') end");
    sandbox.write("waits.lua", &script);
    // Clients of several threads.
    for line in [
        "sysbench waits.lua --threads=2 --lua-threads --time=3600 run",
        "run --script waits.lua --connections 2 --target null --time 30m --no-record",
    ] {
        let running = sandbox.start(line);
        sandbox.wait_for(&["begun"]);
        running.interrupt_twice().exits(130);
        sandbox.wait_until_none_is_left();
        std::fs::remove_file(sandbox.path("begun")).expect("it began");
    }
}

/// Its run is a process with a group of its own, which no signal to dbtime reaches.
#[test]
fn the_present_run_of_several_ends_with_its_programs_where_dbtime_is_killed() {
    let sandbox = Sandbox::new();
    let program = format!("exec >/dev/null 2>&1; trap \"\" TERM; {WAITS}");
    sandbox.write("waits.lua", &format!("function event() os.execute('{program}') end"));
    for several in ["--repeat 2", "--sweep connections=1,2"] {
        let line = "run --script waits.lua --target null --time 30m --no-record --quiet";
        let running = sandbox.start(&format!("{line} {several}"));
        sandbox.wait_for(&["begun"]);
        running.kill();
        sandbox.wait_until_none_is_left();
        assert_eq!(running.end().code, None);
        std::fs::remove_file(sandbox.path("begun")).expect("it began");
    }
}

#[test]
fn the_programs_of_a_script_that_ends_all_end_with_it() {
    let sandbox = Sandbox::new();
    let script = format!(
        "function prepare()
          io.popen('exec >/dev/null 2>&1; {WAITS}', 'w')
          io.open('kept', 'w'):write('whole')
          os.exit(4)
        end
        function event() end"
    );
    sandbox.write("leave.lua", &script);
    sandbox.run("sysbench leave.lua prepare").exits(4);
    sandbox.wait_until_none_is_left();
    let kept = std::fs::read_to_string(sandbox.path("kept")).expect("a file");
    assert_eq!(kept, "whole", "what was not closed is written");
}

#[test]
fn a_program_that_a_script_has_left_as_a_file_of_c_ends_with_it() {
    let sandbox = Sandbox::new();
    let script = format!(
        "function prepare()
          local ffi = require('ffi')
          ffi.cdef 'void *popen(const char *, const char *);'
          ffi.C.popen('exec >/dev/null 2>&1; {WAITS}', 'w')
          os.execute('until [ -e begun ]; do sleep 0.01; done')
        end
        function event() end"
    );
    sandbox.write("leaves.lua", &script);
    sandbox.run("sysbench leaves.lua prepare").exits(0);
    sandbox.wait_until_none_is_left();
}

#[test]
fn a_forced_shutdown_ends_a_script_that_computes_with_its_open_program() {
    let sandbox = Sandbox::new();
    let script = format!(
        "function event()
          io.popen('exec >/dev/null 2>&1; {WAITS}', 'w')
          while true do end
        end"
    );
    sandbox.write("loops.lua", &script);
    let line = "sysbench loops.lua --time=1 --forced-shutdown=1 --report-interval=1 run";
    let ran = sandbox.run(line);
    ran.exits(2);
    assert!(ran.out.contains("Number of unfinished transactions on forced shutdown: 1"), "{ran:?}");
    sandbox.wait_until_none_is_left();
}

/// The error is shown behind its end, as sysbench does.
#[test]
fn a_program_that_a_failed_event_has_left_open_is_waited_for_aloud() {
    let sandbox = Sandbox::new();
    let program =
        "exec >/dev/null 2>&1; for i in $(seq 1000); do [ -e go ] && break; sleep 0.1; done";
    let script = format!("function event() io.popen('{program}', 'w') error('no') end");
    sandbox.write("open.lua", &script);
    let mut running = sandbox.start("sysbench open.lua --time=3600 run");
    running.hear("it waits for a program that it has started");
    sandbox.write("go", "");
    running.end().exits(1);
}

/// Nor does its script go on behind a pause.
#[test]
fn a_run_that_is_to_end_starts_no_further_program() {
    let wait = "touch begun; for i in $(seq 1000); do [ -e go ] && break; sleep 0.1; done";
    let run = "run --script several.lua --connections 1 --warmup 0s --time 1h --no-record --target";
    for pause in ["", "ffi.C.usleep(10)", "os.execute('sleep 0.01')"] {
        let sandbox = Sandbox::new();
        let script = format!(
            "local ffi, n = require('ffi'), 0
            ffi.cdef 'int usleep(unsigned int);'
            function event()
              n = n + 1
              if n == 1 then return end
              os.execute('{wait}; touch whole') {pause} io.popen('touch second'):close()
            end"
        );
        sandbox.write("several.lua", &script);
        let sysbench = "sysbench several.lua --time=3600 run".to_owned();
        for line in [format!("{run} null"), format!("{run} sqlite"), sysbench] {
            let mut running = sandbox.start(&line);
            sandbox.wait_for(&["begun"]);
            running.signal(Signal::TERM);
            running.hear(HAS_HEARD);
            sandbox.write("go", "");
            running.end().exits(143);
            assert_eq!(sandbox.left(), ["begun", "go", "several.lua", "whole"], "{line}");
            for file in ["begun", "go", "whole"] {
                std::fs::remove_file(sandbox.path(file)).expect("it is there");
            }
        }
    }
}

#[test]
fn a_program_that_is_read_is_waited_for_after_one_signal() {
    let sandbox = Sandbox::new();
    let program = "exec 2>/dev/null; touch begun; sleep 5; touch whole";
    let script = format!("function prepare() io.popen('{program}'):close() end");
    sandbox.write("waits.lua", &format!("{script}\nfunction event() end"));
    sandbox.signalled_when_begun("sysbench waits.lua prepare", Signal::TERM).exits(143);
    // What computes is ended after a second or two.
    assert!(sandbox.path("whole").exists());
}

/// The end of a C program waits for both.
#[test]
fn neither_a_file_that_is_read_nor_the_list_of_files_holds_up_the_end() {
    let sandbox = Sandbox::new();
    let made = Command::new("mkfifo").arg(sandbox.path("fifo")).status();
    assert!(made.expect("mkfifo starts").success());
    // Of `fflush(NULL)` one waits for the file that the other reads, and holds the list.
    let script = "local ffi = require('ffi') ffi.cdef 'int fflush(void *);'
        function event()
          if sysbench.tid == 0 then io.open('fifo', 'r+'):read() end
          io.open('begun', 'w'):close()
          while true do ffi.C.fflush(nil) end
        end";
    sandbox.write("holds.lua", script);
    let line = "sysbench holds.lua --threads=2 --lua-threads --time=3600 run";
    sandbox.signalled_when_begun(line, Signal::TERM).exits(143);
}
