//! The probes of a server: on calls in its program file, and places in its memory.

use super::attacher::ProbeAttacher;
use super::cache::{cache_places, has_cache};
use super::commits::{commit_places, has_commits};
use super::constants::ProgramConstants;
use super::demand::TextProbeSite;
use super::imports::ProgramImports;
use super::portals::portal_probe_site;
use super::program::ServerProgram;
use super::texts::text_probe_site;
use super::tls::{TlsLibrary, has_tls, tls_library};
use super::tranches::{Tranches, tranches};
use super::wait_event::{wait_event, wait_variable};
use super::waits::wait_places;
use crate::trace::kernel::loading::{LoadRefusal, UnavailableFeature, unavailable_features};
use crate::trace::kernel::probe_sites::ProbeSites;
use crate::trace::privilege::helper::HelperProcess;
use crate::trace::servers::TracedServer;
use dbtime_model::WireProtocol;
use rustix::fs::fstat;
use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

/// What the kernel's side has to know of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgramFacts {
    /// Where it has the address of what it waits for; 0: nowhere.
    pub(crate) wait_event: u64,
    /// Whether there are probes on its TLS library.
    pub(crate) has_tls_probes: bool,
    /// What it calls lightweight locks (PostgreSQL).
    pub(crate) tranches: Option<Arc<Tranches>>,
}

/// A file, by its device and number.
type FileId = Option<(u64, u64)>;

/// What was found out of a program file; or why not.
#[derive(Clone)]
struct ProgramInspection {
    wait_variable: Result<u64, String>,
    /// Whether it has TLS built in, with probes on it.
    has_tls: Result<bool, String>,
    tranches: Result<Arc<Tranches>, String>,
}

/// What is listened to, and what was found out of files: those of a server that starts again are
/// known.
#[derive(Default)]
pub(crate) struct ServerProbes {
    programs: HashMap<FileId, ProgramInspection>,
    libraries: HashMap<FileId, Result<(), String>>,
    /// Where servers tell of texts, of those that were looked at last.
    pub(crate) text_sites: Vec<TextProbeSite>,
    /// The same of portals.
    pub(crate) portal_sites: Vec<TextProbeSite>,
    pub(crate) unavailable: Vec<UnavailableFeature>,
    /// Programs that are not there.
    pub(crate) refused: LoadRefusal,
}

impl ServerProbes {
    /// None yet; these programs are not there.
    pub(crate) fn new(refused: LoadRefusal) -> Self {
        Self { unavailable: unavailable_features(&refused), refused, ..Self::default() }
    }

    /// Does without a feature.
    pub(crate) fn lack(&mut self, feature: &'static str, why: String) {
        self.or_unavailable::<()>(feature, Err(why));
    }

    /// Attaches all probes that stay, where another server with the same files has not got them.
    pub(crate) fn attach(
        &mut self,
        helper: &mut HelperProcess,
        server: &TracedServer,
    ) -> ProgramFacts {
        let before = self.unavailable.len();
        let known = match helper.program(server.process) {
            Ok(Some(file)) => self.inspect(helper, server, &file),
            Ok(None) => ProgramFacts::default(),
            Err(why) => self.refuse(server, &why),
        };
        if matches!(helper.program(server.process), Ok(None)) {
            // It has ended meanwhile, and had nothing to say.
            self.unavailable.truncate(before);
        }
        known
    }

    /// All that programs tell is not known of one that may not be opened.
    fn refuse(&mut self, server: &TracedServer, why: &str) -> ProgramFacts {
        let lacks: &[&'static str] = match server.protocol {
            WireProtocol::Postgres => &[TEXTS, PORTALS, EVENTS, TRANCHES, TLS],
            WireProtocol::Mysql if server.program == MARIADB => {
                &[TEXTS, WAITS, COMMITS, CACHE, POOL, TLS]
            }
            WireProtocol::Mysql => &[TEXTS, WAITS, TLS],
        };
        lacks.iter().for_each(|&what| self.lack(what, why.to_owned()));
        ProgramFacts::default()
    }

    fn inspect(
        &mut self,
        helper: &mut HelperProcess,
        server: &TracedServer,
        file: &File,
    ) -> ProgramFacts {
        let found = match self.programs.get(&file_id(file)) {
            Some(found) => found.clone(),
            None => self.read(helper, server, file),
        };
        let event = match server.protocol {
            WireProtocol::Mysql => Ok(0),
            WireProtocol::Postgres => found.wait_variable.clone().and_then(|variable| {
                helper.program_base(server.process).map(|base| wait_event(base, variable))
            }),
        };
        let has_events = server.protocol == WireProtocol::Postgres && found.wait_variable.is_ok();
        let tranches = has_events.then_some(found.tranches).transpose();
        let has_tls_probes = match found.has_tls {
            Ok(false) => self.attach_library(helper, server.process),
            inside => inside,
        };
        ProgramFacts {
            wait_event: self.or_unavailable(EVENTS, event),
            has_tls_probes: self.or_unavailable(TLS, has_tls_probes),
            tranches: self.or_unavailable(TRANCHES, tranches),
        }
    }

    /// A program that was not there before.
    fn read(
        &mut self,
        helper: &mut HelperProcess,
        server: &TracedServer,
        file: &File,
    ) -> ProgramInspection {
        let program = ServerProgram::read(file);
        let refused = self.refused.clone();
        let mut attacher = ProbeAttacher { helper, file, refused: &refused };
        self.attach_to_program(server, &program, &mut attacher);
        let program = program.as_ref().map_err(Clone::clone);
        let found = ProgramInspection {
            wait_variable: program.clone().and_then(wait_variable),
            tranches: program.clone().and_then(|program| match server.protocol {
                WireProtocol::Mysql => Err("it has none".to_owned()),
                WireProtocol::Postgres => {
                    tranches(program, &ProgramConstants::read(file)?).map(Arc::new)
                }
            }),
            has_tls: program.and_then(|program| match has_tls(program) {
                true => attach_tls(&mut attacher, &tls_library(program)?).map(|()| true),
                false => Ok(false),
            }),
        };
        let id = file_id(file);
        if id.is_some() {
            self.programs.insert(id, found.clone());
        }
        found
    }

    /// Attaches to the TLS library of a process; whether it has one.
    fn attach_library(&mut self, helper: &mut HelperProcess, process: u32) -> Result<bool, String> {
        let Some(file) = helper.tls_library(process)? else { return Ok(false) };
        let id = file_id(&file);
        let known = self.libraries.get(&id).filter(|_| id.is_some()).cloned();
        let attached = known.unwrap_or_else(|| {
            let library = tls_library(&ServerProgram::read(&file)?)?;
            attach_tls(&mut ProbeAttacher { helper, file: &file, refused: &self.refused }, &library)
        });
        self.libraries.insert(id, attached.clone());
        attached.map(|()| true)
    }

    fn attach_to_program(
        &mut self,
        server: &TracedServer,
        program: &Result<ServerProgram, String>,
        attacher: &mut ProbeAttacher<'_>,
    ) {
        let program = program.as_ref().map_err(Clone::clone);
        let site = program.clone().and_then(|p| text_probe_site(server.protocol, attacher.file, p));
        let site = self.or_unavailable(TEXTS, site.map(Some));
        self.text_sites.extend(site);
        if server.protocol == WireProtocol::Postgres {
            let site = program.clone().and_then(|p| portal_probe_site(attacher.file, p));
            let site = self.or_unavailable(PORTALS, site.map(Some));
            self.portal_sites.extend(site);
        }
        if server.protocol == WireProtocol::Mysql {
            let waits = program.clone().and_then(|program| attach_waits(attacher, program));
            self.or_unavailable(WAITS, waits);
        }
        if program.as_ref().is_ok_and(|program| has_commits(program)) {
            let commits = program.clone().and_then(|program| attach_commits(attacher, program));
            self.or_unavailable(COMMITS, commits);
        }
        // MariaDB's older versions are called as MySQL's are.
        let is_mariadb = server.program == MARIADB;
        let has = |what: fn(&ServerProgram) -> bool| {
            is_mariadb || program.as_ref().is_ok_and(|program| what(program))
        };
        if has(has_cache) {
            let cache = program.clone().and_then(|program| attach_cache(attacher, program));
            self.or_unavailable(CACHE, cache);
        }
        if has(|program| program.function(POOL_CALL).is_ok()) {
            let pool = program.clone().and_then(|program| attach_pool(attacher, program));
            self.or_unavailable(POOL, pool);
        }
    }

    /// What was found; else the default, with the reason among the unavailable features.
    fn or_unavailable<T: Default>(&mut self, what: &'static str, found: Result<T, String>) -> T {
        found.unwrap_or_else(|why| {
            if !self.unavailable.iter().any(|unavailable| *unavailable == (what, why.clone())) {
                self.unavailable.push((what, why));
            }
            T::default()
        })
    }
}

/// Which file it is; also in the sandbox, where the standard library's way is shut.
fn file_id(file: &File) -> FileId {
    fstat(file).map(|file| (file.st_dev, file.st_ino)).ok()
}

const WAITS: &str = "SLEEP() apart from locks, and the names of locks";
const COMMITS: &str = "the names of locks that commits have";
const EVENTS: &str = "locks apart from other waits, and the names of locks";
const TRANCHES: &str = "names of PostgreSQL's lightweight locks";
pub(crate) const PORTALS: &str = "how long each of several statements took before a Sync";
pub(crate) const TEXTS: &str = "statements that were prepared before dbtime looked";
const TLS: &str = "connections that are encrypted";
const CACHE: &str = "what came from the query cache";
pub(crate) const POOL: &str = "requests of a pool of threads before their connections' next";

/// What its program is called, in versions that are not called as MySQL's.
const MARIADB: &str = "mariadbd";

/// What MariaDB's pool calls for each connection with something to do.
const POOL_CALL: &str = "_Z11tp_callbackP13TP_connection";

fn attach_waits(attacher: &mut ProbeAttacher<'_>, program: &ServerProgram) -> Result<(), String> {
    let waits = wait_places(program)?;
    attacher.attach_at("on_wait_begin", program.in_file(&waits.begins))?;
    attacher.attach_at("on_wait_end", program.in_file(&waits.ends))
}

fn attach_commits(attacher: &mut ProbeAttacher<'_>, program: &ServerProgram) -> Result<(), String> {
    let places = commit_places(program, &ProgramImports::read(attacher.file)?)?;
    let begins = ProbeSites {
        offsets: program.in_file(&places.begins),
        cookies: places.waits,
        ..ProbeSites::default()
    };
    attacher.attach("on_silent_wait", begins)?;
    attacher.attach_at("on_wait_end", program.in_file(&places.ends))
}

fn attach_cache(attacher: &mut ProbeAttacher<'_>, program: &ServerProgram) -> Result<(), String> {
    let places = cache_places(program)?;
    attacher.attach_at("on_cache_search", program.in_file(&places.searches))?;
    attacher.attach_at("on_cache_hit", program.in_file(&places.hits))
}

fn attach_pool(attacher: &mut ProbeAttacher<'_>, program: &ServerProgram) -> Result<(), String> {
    let offsets = vec![program.entry(program.place(POOL_CALL)?)];
    let ends = ProbeSites { offsets, at_return: true, ..ProbeSites::default() };
    attacher.attach("on_pool_end", ends)
}

fn attach_tls(attacher: &mut ProbeAttacher<'_>, library: &TlsLibrary) -> Result<(), String> {
    let at_read = || ProbeSites {
        offsets: vec![library.read],
        cookies: vec![library.read_stores_length.into()],
        ..ProbeSites::default()
    };
    attacher.attach("on_tls_read", at_read())?;
    attacher.attach("on_tls_read_end", ProbeSites { at_return: true, ..at_read() })?;
    attacher.attach_at("on_tls_write", vec![library.write])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::TraceInfo;

    #[test]
    fn what_a_program_would_tell_is_not_measured_where_it_may_not_be_opened() {
        for (program, protocol, lacks) in [
            ("postgres", WireProtocol::Postgres, 5),
            (MARIADB, WireProtocol::Mysql, 6),
            ("mysqld", WireProtocol::Mysql, 3),
        ] {
            let mut probes = ServerProbes::new(LoadRefusal::default());
            let server = TracedServer {
                process: 4711,
                program: program.to_owned(),
                protocol,
                processes: vec![4711],
                ports: Vec::new(),
                inner_process: None,
                place: None,
            };
            // Each once, however often it is looked at.
            for _ in 0..2 {
                let known = probes.refuse(&server, "Permission denied");
                assert!(!known.has_tls_probes && known.wait_event == 0);
            }
            let whys = probes.unavailable.iter().map(|(_, why)| &**why);
            assert!(whys.eq(std::iter::repeat_n("Permission denied", lacks)), "{program}");
        }
    }

    #[test]
    fn a_note_says_that_locks_may_lack_their_names() {
        for what in [WAITS, COMMITS, EVENTS] {
            assert!(what.contains(TraceInfo::LOCK_NAMES), "{what}");
        }
        assert!(!TRANCHES.contains(TraceInfo::LOCK_NAMES), "they are called LWLock then");
    }
}
