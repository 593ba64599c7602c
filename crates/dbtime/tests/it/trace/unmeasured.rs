//! Where the kernel refuses the scheduler's programs, nothing stands in for what they tell.

use super::*;
use std::path::PathBuf;

/// What comes between dbtime and the kernel: it refuses the program of this name, as a kernel does
/// whose verifier knows less.
const REFUSAL: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#define PROG_LOAD 5
#define NAME_AT 48

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long argument[6];
	va_list rest;

	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(rest, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(rest, long);
	va_end(rest);
	if (number == SYS_bpf && argument[0] == PROG_LOAD &&
	    !strcmp((const char *)argument[1] + NAME_AT, "on_switch")) {
		errno = EACCES;
		return -1;
	}
	return next(number, argument[0], argument[1], argument[2], argument[3], argument[4],
		    argument[5]);
}
"#;

/// Builds it.
fn refusal(sandbox: &Sandbox) -> PathBuf {
    sandbox.write("refusal.c", REFUSAL);
    let library = sandbox.path("refusal.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(sandbox.path("refusal.c"));
    assert!(compiler.arg("-ldl").status().expect("a C compiler").success());
    library
}

#[test]
fn a_trace_without_the_scheduler_has_no_parts_and_says_so_first() {
    for product in [Product::Mariadb, Product::Postgres] {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, &[]));
        let refusal = refusal(&sandbox);
        let [json, summary] =
            ["--json --raw-sql --strict", "--summary --strict --record kept.trace"].map(
                |options| {
                    let pid = server.server.pid();
                    let mut command = sandbox.command(&format!("trace -p {pid} {options}"));
                    command.env("LD_PRELOAD", &refusal);
                    let (tracer, left_out) = Tracer::of(&sandbox, pid, command)?;
                    assert!(
                        left_out.starts_with("not measured: the parts of responses ("),
                        "{left_out}"
                    );
                    assert!(left_out.contains("on_switch"), "{left_out}");
                    assert_eq!(server.sql("SELECT 4711").value(), Some("4711"));
                    tracer.interrupt();
                    Some(tracer.printed())
                },
            );
        let (Some((code, requests)), Some((strict, page))) = (json, summary) else { return };
        let replayed = sandbox.run("trace kept.trace --summary --strict");
        replayed.with(4, &["not measured: the parts of responses"]);
        assert_eq!((code, strict), (Some(4), Some(4)), "{page}");
        let request = requests.lines().find(|line| line.contains("SELECT 4711")).expect("seen");
        let line: Value = serde_json::from_str(request).expect("JSON");
        let request = &line["request"];
        assert!(request["response_us"].as_f64().is_some_and(|us| us > 0.0), "{request}");
        assert_eq!(
            (&request["parts_us"], &request["unexplained_us"]),
            (&Value::Null, &Value::Null)
        );
        let first = page.lines().find(|line| !line.trim().is_empty() && !line.contains("Tracing"));
        assert!(first.is_some_and(|line| line.contains("not measured")), "{page}");
        let all = page.lines().find(|line| line.trim_start().starts_with("all statements"));
        assert!(all.is_some_and(|line| line.trim_end().ends_with('–')), "{page}");
        assert!(!page.contains("unexplained"), "{page}");
    }
}

#[test]
fn a_run_that_is_traced_without_the_scheduler_keeps_one_number_for_the_server() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let line = format!(
        "run values1 --target '{}' --connections 2 --transactions 300 --warmup 0s --trace --strict \
         --json --out traced",
        server.target()
    );
    let mut command = sandbox.command(&line);
    let output = command.env("LD_PRELOAD", refusal(&sandbox)).output().expect("dbtime starts");
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("CAP_BPF") {
        return not_tested(&said);
    }
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(4), "{said}");
    let warnings = json["validity"]["warnings"].as_array().expect("a list");
    let untraced = warnings.iter().find(|one| one["kind"] == "untraced").expect("it is told");
    let text = untraced["text"].as_str().expect("words");
    assert!(text.starts_with("not measured: the parts of responses ("), "{text}");
    let budget = &json["budget_us"];
    for part in ["cpu", "lock", "sync", "io_read", "runq_preempted", "other", "sleep"] {
        assert!(budget[part].is_null(), "{part}: {budget}");
    }
    let of = |name: &str| budget[name].as_f64().unwrap_or_default();
    // Lateness from before an answer came is in two parts at once.
    let most = 0.03 * of("total") + of("lag");
    assert!(of("server_and_wire") > 0.0 && of("unexplained").abs() < most);
    let page = sandbox.run("report traced --text --details").fine();
    page.prints(&["not measured: the parts of responses"]);
    let advice = sandbox.run("explain traced");
    assert!(!advice.out.contains("steal"), "{}", advice.out);
}

#[test]
fn a_recording_without_the_scheduler_joins_as_one_number_for_the_server() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    let pid = server.server.pid();
    let mut command = sandbox.command(&format!("trace -p {pid} --record it.trace"));
    command.env("LD_PRELOAD", refusal(&sandbox));
    let Some((tracer, _)) = Tracer::of(&sandbox, pid, command) else { return };
    let load = "--connections 2 --transactions 300 --warmup 0s --statements --out r --quiet";
    sandbox.run(&format!("run values1 --target '{}' {load}", server.target())).fine();
    tracer.interrupt();
    assert_eq!(tracer.printed().0, Some(0));
    for line in ["join r it.trace --json", "join r it.trace --force --json"] {
        let joined = sandbox.run(line).json();
        let warnings = joined["validity"]["warnings"].as_array().expect("a list");
        let kinds: Vec<_> = warnings.iter().filter(|one| one["kind"] == "untraced").collect();
        let [untraced] = kinds[..] else { panic!("{warnings:?}") };
        assert!(untraced["text"].as_str().is_some_and(|text| text.contains("has no parts")));
        let of = |name: &str| joined["budget_us"][name].as_f64();
        assert!(of("server_and_wire") > Some(0.0), "{}", joined["budget_us"]);
        assert_eq!(of("cpu"), None, "{}", joined["budget_us"]);
    }
}
