//! Programs that a script starts.

use super::*;
use dbtime_load::script::EndCondition;
use std::path::PathBuf;

/// The event of a script of which somebody wants an end as soon as this file is there.
fn event_ended_by(file: PathBuf, source: &str) -> (Stage, Client) {
    let source = Some(source.replace("FOLDER", &file.with_file_name("").to_string_lossy()).into());
    let settings = SysbenchSettings { source, ..SysbenchSettings::new("-", SqlDialect::Mysql) };
    let stage = Stage::new(settings);
    stage.script.heed(EndCondition::new(move || file.exists()));
    let mut client = stage.client();
    assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
    let (operation, due) = (OperationId(0), MonoNanos(0));
    client.program.start(&Ticket { index: 0, operation, due, client: 0 });
    (stage, client)
}

#[test]
fn once_a_script_is_to_end_it_starts_no_further_program() {
    for (name, starts) in [
        ("execute", "os.execute('touch FOLDER/second')"),
        ("required", "require('os').execute('touch FOLDER/second')"),
        ("popen", "io.popen('touch FOLDER/second'):close()"),
        (
            "system",
            "local ffi = require('ffi') ffi.cdef 'int system(const char *command);'
            ffi.C.system('touch FOLDER/second')",
        ),
        (
            "pause",
            "local ffi = require('ffi') ffi.cdef 'int usleep(unsigned int);'
            ffi.C.usleep(1) io.open('FOLDER/second', 'w'):close()",
        ),
        ("sleep", "pcall(os.execute, 'sleep 0.01') io.open('FOLDER/second', 'w'):close()"),
        ("caught", "while true do pcall(os.execute, 'touch FOLDER/second') end"),
        ("coroutine", "coroutine.wrap(function() os.execute('touch FOLDER/second') end)()"),
    ] {
        let made = tempfile::tempdir().expect("a folder");
        let folder = made.path();
        let source = format!("function event() os.execute('touch FOLDER/first') {starts} end");
        let (stage, mut client) = event_ended_by(folder.join("first"), &source);
        let mut event = ScriptEvent::Started;
        for _ in 0..3 {
            let step = client.program.resume(event);
            // The engine ends it there, as it does what waits for a database.
            assert!(matches!(step, ScriptProgramStep::Sleep(_)), "{name}: {step:?}");
            event = ScriptEvent::Resumed;
        }
        assert!(folder.join("first").exists() && !folder.join("second").exists(), "{name}");
        assert_eq!(stage.script.inside(), []);
    }
}

#[test]
fn what_comes_behind_a_run_starts_its_programs() {
    let hook = "function event() os.execute('touch FOLDER/first') end
        function thread_done() os.execute('touch FOLDER/second') end";
    let own_loop = "local ffi = require('ffi') ffi.cdef 'bool sb_more_events(int);'
        function thread_run(id)
          while ffi.C.sb_more_events(id) do os.execute('touch FOLDER/first') end
          os.execute('touch FOLDER/second')
        end";
    for source in [hook, own_loop] {
        let made = tempfile::tempdir().expect("a folder");
        let folder = made.path();
        let (_stage, mut client) = event_ended_by(folder.join("first"), source);
        let step = client.program.resume(ScriptEvent::Started);
        assert!(matches!(step, ScriptProgramStep::Done), "{step:?}");
        let step = client.program.begin(ProgramPhase::Close);
        assert!(matches!(step, Some(ScriptProgramStep::Done)), "{step:?}");
        assert!(folder.join("second").exists());
    }
}

/// A script whose event fails where something is not as it asserts; `FOLDER` is one of its own.
fn asserts(source: &str) {
    let made = tempfile::tempdir().expect("a folder");
    let (stage, mut client) = event_ended_by(made.path().join("never"), source);
    let step = client.program.resume(ScriptEvent::Started);
    assert!(matches!(step, ScriptProgramStep::Done), "{}", stage.printed());
}

#[test]
fn what_a_program_prints_is_read_as_from_a_file() {
    asserts(
        r#"function event()
            local p = io.popen("printf 'one\\ntwo\\n -3.5e1 rest'")
            assert(io.type(p) == "file" and tostring(p):find("^file %("))
            assert(p:read() == "one" and p:read("*L") == "two\n")
            local number, text, none = p:read("*n", 3, 0)
            assert(number == -35 and text == " re" and none == "")
            assert(p:read("*a") == "st" and p:read("*a") == "")
            assert(p:read("*l") == nil and p:read(0) == nil and p:read(1) == nil)
            assert(p:read("*n") == nil and select('#', p:read(1, 1)) == 1)
            assert(not pcall(p.read, p, "*x") and not pcall(p.read, p, nil))
            local nothing, words, code = p:write("x")
            assert(nothing == nil and words == "Bad file descriptor" and code == 9)
            assert(p:close() == true and io.type(p) == "closed file")
            assert(not pcall(p.read, p) and tostring(p) == "file (closed)")
        end"#,
    );
}

#[test]
fn lines_of_a_program_come_one_by_one() {
    asserts(
        r#"function event()
            local lines = {}
            for line in io.popen("echo a; echo; printf c"):lines() do
                lines[#lines + 1] = line
            end
            assert(table.concat(lines, "|") == "a||c")
            local p = io.popen("exit 3", "r")
            assert(p:read() == nil and p:read("*a") == "")
            assert(io.close(p) == true, "the status is not told, as in LuaJIT")
            local nothing, words, code = io.popen("true", "x")
            assert(nothing == nil and words == "true: Invalid argument" and code == 22)
            assert(not pcall(io.popen) and io.type(7) == nil)
        end"#,
    );
}

#[test]
fn a_program_has_what_is_written_when_it_is_closed() {
    asserts(
        r#"function event()
            local p = io.popen("cat > FOLDER/written", "w")
            assert(p:write("a", 1, "\n") == true and p:flush() and p:setvbuf("no"))
            assert(p:read() == nil and select(3, p:seek()) == 29)
            assert(not pcall(p.write, p, {}))
            assert(p:close() == true)
            assert(io.open("FOLDER/written"):read("*a") == "a1\n")
            p = io.popen("exec <&-; true", "w")
            local is_fine, words, code
            repeat is_fine, words, code = p:write("x") until not is_fine
            assert(words == "Broken pipe" and code == 32 and p:close())
        end"#,
    );
}

#[test]
fn a_program_of_c_s_system_ends_with_its_status() {
    asserts(
        r#"function event()
            local ffi = require("ffi")
            ffi.cdef "int system(const char *command);"
            assert(ffi.C.system("exit 3") == 3 * 256 and ffi.C.system(nil) ~= 0)
            assert(ffi.C.system(ffi.new("char[8]", "exit 4")) == 4 * 256)
        end"#,
    );
}

#[test]
fn a_program_of_c_s_popen_is_read_and_written_as_a_file_of_c() {
    asserts(
        r#"function event()
            local ffi = require("ffi")
            ffi.cdef [[
                typedef struct FILE FILE;
                FILE *popen(const char *command, const char *mode);
                int pclose(FILE *file);
                char *fgets(char *text, int size, FILE *file);
                int fputs(const char *text, FILE *file);
            ]]
            local file, text = ffi.C.popen("echo a; echo b; exit 3", "r"), ffi.new("char[9]")
            assert(ffi.C.fgets(text, 9, file) ~= nil and ffi.string(text) == "a\n")
            assert(ffi.C.fgets(text, 9, file) ~= nil and ffi.string(text) == "b\n")
            assert(ffi.C.fgets(text, 9, file) == nil and ffi.C.pclose(file) == 3 * 256)
            file = ffi.C.popen("cat > FOLDER/written", "w")
            assert(ffi.C.fputs("whole", file) >= 0 and ffi.C.pclose(file) == 0)
            assert(io.open("FOLDER/written"):read("*a") == "whole")
        end"#,
    );
}

#[test]
fn a_program_finds_what_the_script_has_written_before() {
    asserts(
        r#"function event()
            local file = io.open("FOLDER/file", "w")
            file:write("whole")
            local p = io.popen("cat FOLDER/file")
            assert(p:read("*a") == "whole" and p:close())
        end"#,
    );
}

#[test]
fn a_program_that_prints_without_end_meets_the_memory_limit() {
    let source = "function event() io.popen('exec 2>/dev/null; yes'):read('*a') end";
    let source = Some(source.into());
    let settings = SysbenchSettings { source, ..SysbenchSettings::new("-", SqlDialect::Mysql) };
    let stage = Stage::new(SysbenchSettings { memory_limit: 20 << 20, ..settings });
    let mut client = stage.client();
    assert_eq!(client.phase(ProgramPhase::Open), Some(Rest::Done));
    assert!(matches!(client.event(), Rest::Quit { .. }));
    let reason = stage.stop_reason();
    assert!(reason.contains("not enough memory (the limit for a thread"), "{reason}");
}
