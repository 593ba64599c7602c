//! What a run needs and its written form leaves out: passwords.

use crate::exit::CommandFailure;
use crate::secrets::is_secret;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_engines::server::url::{ServerUrl, without_password};
use dbtime_model::bounded_file;
use std::ffi::OsString;
use std::path::Path;

/// The password of the target, where its URL has none.
pub(crate) const PASSWORD: &str = "DBTIME_PASSWORD";

/// Passwords of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunSecrets {
    /// Of the target; `None`: from where its clients look.
    password: Option<ServerSecret>,
    /// Variables of the private server's environment, by their names.
    variables: Vec<(String, ServerSecret)>,
}

impl RunSecrets {
    /// What the environment of this process has, or a file whose first line is the password.
    ///
    /// Errors: a file that cannot be read.
    pub(crate) fn of_surroundings(file: Option<&Path>) -> Result<Self, CommandFailure> {
        let Some(file) = file else {
            let password = std::env::var(PASSWORD).ok().map(ServerSecret::new);
            return Ok(Self { password, ..Self::default() });
        };
        let text = bounded_file::written_text(file).map_err(|error| {
            let file = file.display();
            CommandFailure::usage(format!("--password-file {file} cannot be read: {error}"))
        })?;
        let password = text.lines().next().filter(|line| !line.is_empty()).map(ServerSecret::new);
        Ok(Self { password, ..Self::default() })
    }

    /// Takes the password out of a target's URL, and leaves the URL.
    pub(crate) fn take_from_url(&mut self, url: &str) -> String {
        let Some(password) = ServerUrl::parse(url).ok().and_then(|url| url.password) else {
            return url.to_owned();
        };
        self.password = Some(password);
        without_password(url).replacen(":***@", "@", 1)
    }

    /// Takes the value of a private server's variable, `NAME=VALUE`, if that is a secret.
    pub(crate) fn take_from_variable(&mut self, pair: &str) -> String {
        match pair.split_once('=') {
            Some((name, value)) if is_secret(name) => {
                self.variables.push((name.to_owned(), ServerSecret::new(value)));
                name.to_owned()
            }
            _ => pair.to_owned(),
        }
    }

    /// A target's URL with its password, where it has none of its own.
    pub(crate) fn put_into_url(&self, url: &str) -> String {
        let Some(password) = &self.password else { return url.to_owned() };
        match ServerUrl::parse(url) {
            Ok(parsed) if parsed.password.is_none() => {
                let user = Some(parsed.user.unwrap_or_default());
                ServerUrl { user, password: Some(password.clone()), ..parsed }.written()
            }
            // What is wrong with it is said by whoever uses it.
            _ => url.to_owned(),
        }
    }

    /// A private server's variable with its value: that of the flag, else that of this process.
    ///
    /// Errors: a variable that this process has not.
    pub(crate) fn variable(&self, name: &str) -> Result<String, CommandFailure> {
        let given = self.variables.iter().rev().find(|(given, _)| given == name);
        let value = given.map(|(_, value)| value.reveal().to_owned());
        value.or_else(|| std::env::var(name).ok()).ok_or_else(|| {
            CommandFailure::usage(format!(
                "--server-env {name} takes the variable of dbtime's own environment, which has \
                 none: set it, or write {name}=VALUE"
            ))
        })
    }

    /// The variables that hand all of them to another process of dbtime.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let password = self.password.iter().map(|password| (PASSWORD, password.reveal()));
        let variables = self.variables.iter().map(|(name, value)| (name.as_str(), value.reveal()));
        password.chain(variables).map(|(name, value)| (name.into(), value.into())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_leaves_a_url_and_comes_back() {
        for (url, without) in [
            ("mysql://u:p%40w@h:33/d?ssl-mode=disabled", "mysql://u@h:33/d?ssl-mode=disabled"),
            ("postgres://:secret@/d?host=/x", "postgres://@/d?host=/x"),
        ] {
            let mut secrets = RunSecrets::default();
            assert_eq!(secrets.take_from_url(url), without);
            let put = ServerUrl::parse(&secrets.put_into_url(without)).expect("a URL");
            assert_eq!(put.password, ServerUrl::parse(url).expect("a URL").password);
        }
        let mut secrets = RunSecrets::default();
        for url in ["sqlite:a:b@c.db", "mariadb", "mysql://u@h/d", "mysql://u:p@h:x/"] {
            assert_eq!(secrets.take_from_url(url), url);
            assert_eq!(secrets.put_into_url(url), url);
        }
    }

    #[test]
    fn the_password_of_a_url_is_its_own() {
        let secrets =
            RunSecrets { password: Some(ServerSecret::new("x")), ..RunSecrets::default() };
        assert_eq!(secrets.put_into_url("mysql://u:own@h/d"), "mysql://u:own@h/d");
        assert_eq!(secrets.put_into_url("mysql://u@h/d"), "mysql://u:x@h/d");
        assert_eq!(secrets.put_into_url("sqlite:u@h.db"), "sqlite:u@h.db");
    }

    #[test]
    fn secret_variables_are_handed_on() {
        let mut secrets = RunSecrets::default();
        assert_eq!(secrets.take_from_variable("LD_PRELOAD=/a.so"), "LD_PRELOAD=/a.so");
        assert_eq!(secrets.take_from_variable("APP_TOKEN=x"), "APP_TOKEN");
        assert_eq!(secrets.variable("APP_TOKEN").expect("given"), "x");
        assert_eq!(secrets.environment(), [("APP_TOKEN".into(), "x".into())]);
        let missing = secrets.variable("NOBODY_HAS_THIS").expect_err("not set");
        assert!(missing.words().contains("write NOBODY_HAS_THIS=VALUE"), "{missing:?}");
    }
}
