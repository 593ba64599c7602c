//! Places where a server handles the text of a statement that was prepared before the trace. Probes
//! are there while such statements come ([`demand`](super::demand)); each text is copied once.

use super::demand::TextProbeSite;
use super::program::{BRANCH_TARGET, ServerProgram};
use dbtime_model::WireProtocol;
use std::fs::File;

/// MariaDB, and MySQL up to 5.6: what executes a prepared statement, of which the text lies where
/// that of a connection's statement lies in the connection: both are statements first of all.
const EXECUTE: &str = "_ZN18Prepared_statement12execute_loopEP6StringbPhS2_";
const TEXT_OF_CONNECTION: &str = "thd_query_string";

/// MySQL since 5.7: its profiler gets the text as a prepared statement begins,
/// `PROFILING::set_query_source(const char *, size_t)`.
const EXECUTES: [&str; 2] = [
    "_Z19mysqld_stmt_executeP3THDP18Prepared_statementbmP8PS_PARAM",
    "_Z19mysqld_stmt_executeP3THDmmPhm",
];
const SET_QUERY_SOURCE: &str = "_ZN9PROFILING16set_query_sourceEPKcm";
/// In place of an offset: text and length are arguments.
const ARGUMENTS: u64 = 0;

/// PostgreSQL: sets the session's activity, with the text.
const ACTIVITY: &str = "pgstat_report_activity";

/// The place in a server's program.
///
/// # Errors
/// Why there is none, for people.
pub(crate) fn text_probe_site(
    protocol: WireProtocol,
    file: &File,
    program: &ServerProgram,
) -> Result<TextProbeSite, String> {
    let entry = |name| program.place(name).map(|place| program.entry(place));
    let (program_name, offset, cookie) = match protocol {
        WireProtocol::Postgres => ("on_activity", entry(ACTIVITY)?, 0),
        WireProtocol::Mysql if program.function(TEXT_OF_CONNECTION).is_ok() => {
            ("on_execute", entry(EXECUTE)?, text_offset(program)?)
        }
        WireProtocol::Mysql => ("on_execute", profiler_call(program)?, ARGUMENTS),
    };
    TextProbeSite::new(file, program_name, offset, cookie)
}

/// Where a statement has its text: what the function that returns it adds to its argument.
fn text_offset(program: &ServerProgram) -> Result<u64, String> {
    let code = &program.code()?[program.place(TEXT_OF_CONNECTION)?..];
    let code = code.strip_prefix(&BRANCH_TARGET).unwrap_or(code);
    let (code, ends) = match code {
        // push %rbp: of a program with frame pointers
        [0x55, rest @ ..] => (rest, FRAMED_ENDS),
        _ => (code, PLAIN_ENDS),
    };
    // lea distance(%rdi), %rax
    let (distance, rest) = match code {
        [0x48, 0x8d, 0x47, distance @ 0..=0x7f, rest @ ..] => (u64::from(*distance), rest),
        [0x48, 0x8d, 0x87, a, b, c, 0, rest @ ..] => {
            (u32::from_le_bytes([*a, *b, *c, 0]).into(), rest)
        }
        _ => (0, &[][..]),
    };
    let is_getter = ends.iter().any(|end| rest.starts_with(end));
    // What lies at the beginning of an object is no text.
    (is_getter && distance != ARGUMENTS)
        .then_some(distance)
        .ok_or_else(|| unexpected(TEXT_OF_CONNECTION))
}

/// How a function ends that has nothing more to do: with ret, before which one with a frame has
/// `mov %rsp, %rbp` and either `pop %rbp` or `leave`.
const PLAIN_ENDS: &[&[u8]] = &[&[0xc3]];
const FRAMED_ENDS: &[&[u8]] = &[&[0x48, 0x89, 0xe5, 0x5d, 0xc3], &[0x48, 0x89, 0xe5, 0xc9, 0xc3]];

fn unexpected(function: &str) -> String {
    format!("{function} does not look as expected")
}

/// Where the text of what is executed is an argument, as an offset in the file.
fn profiler_call(program: &ServerProgram) -> Result<usize, String> {
    let name = EXECUTES.into_iter().find(|name| program.function(name).is_ok());
    let name = name.ok_or_else(|| format!("the program exports no {}", EXECUTES[0]))?;
    let target = program.function(SET_QUERY_SOURCE)?;
    let calls = program.calls_of(name)?;
    let call = calls.iter().find(|call| call.1 == target).ok_or_else(|| unexpected(name))?;
    Ok(program.in_file(&[call.0]).into_iter().sum())
}

#[cfg(test)]
mod tests {
    use super::super::program::tests::{call, program};
    use super::*;

    #[test]
    fn the_distance_is_read_from_the_function_that_adds_it() {
        let of = |code: &[u8]| {
            text_offset(&program(code.to_vec(), &[(TEXT_OF_CONNECTION, 0..code.len() as u64)]))
        };
        assert_eq!(of(&[0x48, 0x8d, 0x47, 0x68, 0xc3]), Ok(0x68));
        assert_eq!(of(&[0x48, 0x8d, 0x87, 0x10, 0x02, 0, 0, 0xc3]), Ok(0x210));
        assert_eq!(of(&[0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8d, 0x47, 8, 0xc3]), Ok(8));
        assert_eq!(of(&[0x55, 0x48, 0x8d, 0x47, 0x60, 0x48, 0x89, 0xe5, 0xc9, 0xc3]), Ok(0x60));
        assert_eq!(of(&[0x55, 0x48, 0x8d, 0x47, 0x68, 0x48, 0x89, 0xe5, 0x5d, 0xc3]), Ok(0x68));
        assert!(of(&[0x55, 0xc3]).expect_err("another").contains("expected"));
        assert!(of(&[0x48, 0x8d, 0x47, 0x60, 0x90]).is_err());
        assert!(of(&[]).is_err());
    }

    #[test]
    fn a_server_without_that_function_tells_its_profiler() {
        let mut code = vec![0x90; 10];
        call(&mut code, 1000);
        call(&mut code, 2000);
        let functions = [(EXECUTES[1], 8..20), (SET_QUERY_SOURCE, 2000..2010)];
        assert_eq!(profiler_call(&program(code.clone(), &functions)), Ok(15));
        let elsewhere = [(EXECUTES[0], 0..10), functions[1].clone()];
        let missing = profiler_call(&program(code, &elsewhere)).expect_err("no call");
        assert!(missing.contains("expected"), "{missing}");
    }

    #[test]
    fn a_probe_goes_behind_a_mark_for_branches() {
        let code = [&[0x90, 0x90][..], &BRANCH_TARGET, &[0x55]].concat();
        let program = program(code, &[(ACTIVITY, 2..7)]);
        let file = File::open("/proc/self/exe").expect("it runs");
        let find = |protocol| text_probe_site(protocol, &file, &program);
        let site = find(WireProtocol::Postgres).expect("found");
        assert_eq!((site.program, site.offset), ("on_activity", 6));
        let missing = find(WireProtocol::Mysql).expect_err("another's");
        assert!(missing.contains("exports no"), "{missing}");
    }
}
