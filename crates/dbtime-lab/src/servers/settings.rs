//! What the user sets of a server: settings and environment, checked before anything is started.

use super::ServerRequest;
use crate::error::LabError;
use dbtime_model::secret_text::MASK;
use std::io;
use std::path::Path;

/// Settings that are dbtime's own affair, and what to do instead.
const OWN: [(&str, &str); 13] = [
    ("datadir", "use --server-data to choose where the data goes"),
    ("data_directory", "use --server-data to choose where the data goes"),
    ("socket", "the socket is in the server's own folder"),
    ("unix_socket_directories", "the socket is in the server's own folder"),
    ("bind_address", "a private server only listens on the loopback address"),
    ("listen_addresses", "a private server only listens on the loopback address"),
    ("skip_grant_tables", "a private server refuses a login without a password"),
    ("pid_file", "a private server is known by its process"),
    ("user", "the user follows from who runs dbtime"),
    ("log_error", "the log is kept in the record"),
    ("logging_collector", "the log is kept in the record"),
    ("daemonize", "a private server ends with the run"),
    ("basedir", "name the installation with the target: mysql:/path/to/prefix"),
];

/// A setting's name as the servers compare it: they take `-` for `_`, and capitals for small ones.
pub(super) fn plain(name: &str) -> String {
    let name = name.replace('-', "_").to_ascii_lowercase();
    name.strip_prefix("loose_").map(str::to_owned).unwrap_or(name)
}

/// Refuses settings and variables that cannot be meant, on any machine.
pub(super) fn check(request: &ServerRequest) -> Result<(), LabError> {
    for (name, value) in &request.settings {
        let written = setting_as_written(name);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        if !is_name {
            return Err(LabError::Usage(format!(
                "{written}: `{name}` is no name of a setting; write NAME=value, without dashes in front"
            )));
        }
        if value.contains(['\0', '\n']) {
            return Err(LabError::Usage(format!(
                "--server-set {name}: a value is one line of text"
            )));
        }
        if let Some((_, instead)) = OWN.iter().find(|(own, _)| *own == plain(name)) {
            return Err(LabError::Usage(format!("{written}: dbtime sets this itself: {instead}")));
        }
    }
    port(&request.settings)?;
    let mut variables = request.environment.iter();
    variables.try_for_each(|(name, value)| check_variable(name, value.reveal()))
}

/// Errors: it is none. The value may be a secret.
fn check_variable(name: &str, value: &str) -> Result<(), LabError> {
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        return Err(LabError::Usage(format!("--server-env {name}: write NAME=value")));
    }
    Ok(())
}

/// Refuses libraries that this machine does not have.
pub(super) fn check_libraries(request: &ServerRequest) -> Result<(), LabError> {
    let variable = super::preload::VARIABLE;
    let values = request.environment.iter().filter(|(name, _)| name == variable);
    for (_, value) in values {
        let value = value.reveal();
        let mut libraries = super::preload::libraries(value);
        let missing =
            libraries.find(|library| library.contains('/') && !Path::new(library).is_file());
        if let Some(library) = missing {
            return Err(LabError::Usage(format!(
                "--server-env {variable}={value}: there is no file {library}; name an existing \
                 library by its whole path"
            )));
        }
    }
    Ok(())
}

/// The value of a setting; `name` is written with `_` and small letters.
pub(super) fn value<'a>(settings: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let last = settings.iter().rev().find(|(found, _)| plain(found) == name);
    last.map(|(_, value)| value.as_str())
}

/// The port among the settings, if the user wants a certain one.
pub(super) fn port(settings: &[(String, String)]) -> Result<Option<u16>, LabError> {
    let Some(value) = value(settings, "port") else { return Ok(None) };
    match value.parse() {
        Ok(port) if port > 0 => Ok(Some(port)),
        _ => Err(LabError::Usage(format!(
            "{}: a port is a number from 1 to 65535; leave it out, and dbtime takes a free one",
            setting_as_written("port")
        ))),
    }
}

/// The names of the settings and variables as the user wrote them, without the values, any of which
/// may be a secret: for a sentence; `None` without any.
pub(super) fn as_written(request: &ServerRequest) -> Option<String> {
    let settings = request.settings.iter().map(|(name, _)| setting_as_written(name));
    let variables = request.environment.iter().map(|(n, _)| format!("--server-env {n}"));
    let all: Vec<String> = settings.chain(variables).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// The error of a setting whose value is a file that cannot be read.
pub(super) fn unreadable(name: &str, error: &io::Error) -> LabError {
    let written = setting_as_written(name);
    LabError::Usage(format!("{written}: {error}; name a file that dbtime can read"))
}

fn setting_as_written(name: &str) -> String {
    format!("--server-set {name}={MASK}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_engines::server::secret::ServerSecret;
    use dbtime_model::Product;

    fn checked(settings: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<(), String> {
        let settings = settings.iter();
        let settings = settings.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let secret = |(name, value): &(&str, &str)| ((*name).to_owned(), ServerSecret::new(*value));
        let variables = environment.iter().map(secret);
        let request = ServerRequest {
            settings: settings.collect(),
            environment: variables.collect(),
            ..ServerRequest::new(Product::Mariadb)
        };
        let checked = check(&request).and_then(|()| check_libraries(&request));
        checked.map_err(|error| error.to_string())
    }

    #[test]
    fn ordinary_settings_pass() {
        checked(
            &[
                ("innodb_buffer_pool_size", "1G"),
                ("thread-handling", "pool-of-threads"),
                ("a.b", ""),
            ],
            &[("MALLOC_CONF", "narenas:1,x=2")],
        )
        .expect("all fine");
    }

    #[test]
    fn what_is_dbtimes_own_is_refused() {
        for name in ["datadir", "Bind-Address", "loose-log_error", "skip-grant-tables"] {
            let error = checked(&[(name, "x")], &[]).expect_err(name);
            assert!(error.contains("dbtime sets this itself: "), "{error}");
        }
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        for name in ["", "--x", "a b", "1a", "a=b"] {
            assert!(checked(&[(name, "x")], &[]).is_err(), "{name}");
        }
        assert!(checked(&[("a", "x\ny")], &[]).is_err());
        assert!(checked(&[], &[("", "x")]).is_err());
    }

    #[test]
    fn values_of_variables_and_settings_are_not_repeated() {
        let error = checked(&[], &[("A", "hush\0")]).expect_err("a zero byte");
        assert!(error.contains("--server-env A: ") && !error.contains("hush"), "{error}");
        let request = ServerRequest {
            settings: [("a", "1"), ("init_connect", "SELECT 'hush'")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            environment: vec![("B".to_owned(), ServerSecret::new("hush"))],
            ..ServerRequest::new(Product::Mariadb)
        };
        let written = "--server-set a=*** --server-set init_connect=*** --server-env B";
        assert_eq!(as_written(&request).as_deref(), Some(written));
        for (name, value) in [("a b_password", "hush"), ("port", "hush")] {
            let error = checked(&[(name, value)], &[]).expect_err("no name, no number");
            assert!(error.contains("=***") && !error.contains("hush"), "{error}");
        }
        let error = unreadable("init_file", &io::ErrorKind::NotFound.into()).to_string();
        assert!(error.contains("--server-set init_file=***: "), "{error}");
    }

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let error =
            checked(&[], &[("LD_PRELOAD", "libm.so.6:/nowhere/x.so")]).expect_err("missing");
        assert!(error.contains("there is no file /nowhere/x.so"), "{error}");
    }

    #[test]
    fn a_port_is_a_number() {
        let of = |value: &str| port(&[("Port".to_owned(), value.to_owned())]);
        assert_eq!(of("3307").expect("a port"), Some(3307));
        assert_eq!(port(&[]).expect("none"), None);
        for value in ["0", "70000", "x", ""] {
            assert!(of(value).is_err(), "{value}");
            assert!(checked(&[("port", value)], &[]).is_err(), "{value}");
        }
    }
}
