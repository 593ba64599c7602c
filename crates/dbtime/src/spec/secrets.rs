//! What a run needs and its written form leaves out: passwords.

use crate::exit::CommandFailure;
use crate::pipes;
use crate::secrets::variable_of;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_engines::server::url::{ServerUrl, is_keywords, without_login_secret};
use dbtime_lab::TargetForm;
use dbtime_model::bounded_file;
use dbtime_model::secret_text::{is_secret_option, is_secret_variable};
use dbtime_model::spec::RunSpec;
use dbtime_sql::{lacks_password, without_passwords};
use std::path::Path;

/// The password of the target, where its URL has none.
pub(crate) const PASSWORD: &str = "DBTIME_PASSWORD";

/// The statement of `--query`, where its written form lacks a password.
pub(crate) const QUERY: &str = "DBTIME_QUERY";

/// Passwords of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunSecrets {
    /// Of the target; `None`: from where its clients look.
    password: Option<ServerSecret>,
    /// The statement of `--query`, where that has a password in it.
    query: Option<ServerSecret>,
    /// Variables of the private server's environment, and options of a script.
    variables: Vec<NamedSecret>,
}

/// A secret that another process of dbtime gets in a variable.
#[derive(Clone, Debug)]
struct NamedSecret {
    /// The flag that it was given by, and its name there.
    flag: &'static str,
    name: String,
    /// What it is called in the environment of dbtime.
    variable: String,
    value: ServerSecret,
}

/// The flags whose values may be secrets.
const SERVER_ENV: &str = "--server-env";
const SCRIPT_SET: &str = "--script-set";

impl RunSecrets {
    /// What the environment of this process has, or a file whose first line is the password.
    ///
    /// Errors: a file that cannot be read.
    pub(crate) fn of_surroundings(file: Option<&Path>) -> Result<Self, CommandFailure> {
        let Some(file) = file else {
            let password = std::env::var(PASSWORD).ok().map(ServerSecret::new);
            return Ok(Self { password, ..Self::default() });
        };
        let text = pipes::awaited(file, || bounded_file::written_text(file));
        let text = text.map_err(|error| {
            let file = file.display();
            CommandFailure::usage(format!("--password-file {file} cannot be read: {error}"))
        })?;
        let password = text.lines().next().filter(|line| !line.is_empty()).map(ServerSecret::new);
        Ok(Self { password, ..Self::default() })
    }

    /// Takes the password out of a target's URL, and leaves the URL; a connection string becomes
    /// one.
    pub(crate) fn take_from_url(&mut self, url: &str) -> String {
        let Some(parsed) = server_url(url) else { return url.to_owned() };
        if parsed.password.is_none() && !is_keywords(url) {
            return url.to_owned();
        }
        self.password = parsed.password.or(self.password.take());
        without_login_secret(url)
    }

    /// Takes the value of a private server's variable, `NAME=VALUE`, if that is a secret.
    pub(crate) fn take_from_variable(&mut self, pair: &str) -> String {
        match pair.split_once('=') {
            Some((name, value)) if is_secret_variable(name, value) => {
                self.take(SERVER_ENV, name, name.to_owned(), value);
                name.to_owned()
            }
            _ => pair.to_owned(),
        }
    }

    fn take(&mut self, flag: &'static str, name: &str, variable: String, value: &str) {
        let (name, value) = (name.to_owned(), ServerSecret::new(value));
        self.variables.push(NamedSecret { flag, name, variable, value });
    }

    /// Takes the value of a script's option, `NAME=VALUE`, if that is a secret.
    pub(crate) fn take_from_option(&mut self, pair: &str) -> String {
        match pair.split_once('=') {
            Some((name, value)) if is_secret_option(name, value) => {
                self.take(SCRIPT_SET, name, variable_of(name), value);
                name.to_owned()
            }
            _ => pair.to_owned(),
        }
    }

    /// Takes the passwords out of the statement of `--query`.
    pub(crate) fn take_from_query(&mut self, sql: &str) -> String {
        let written = without_passwords(sql).into_owned();
        if written != sql {
            self.query = Some(ServerSecret::new(sql));
        }
        written
    }

    /// Takes what is secret out of the written form of a run.
    pub(crate) fn take_from_spec(&mut self, spec: &mut RunSpec) {
        spec.target.url = self.take_from_url(&spec.target.url);
        if let Some(query) = &mut spec.workload.query {
            *query = self.take_from_query(query);
        }
        for pair in &mut spec.target.server_env {
            *pair = self.take_from_variable(pair);
        }
        for pair in &mut spec.workload.script_set {
            *pair = self.take_from_option(pair);
        }
    }

    /// A target's URL with its password, where it has none of its own.
    pub(crate) fn put_into_url(&self, url: &str) -> String {
        let Some(password) = &self.password else { return url.to_owned() };
        match server_url(url) {
            Some(parsed) if parsed.password.is_none() => {
                let user = Some(parsed.user.unwrap_or_default());
                ServerUrl { user, password: Some(password.clone()), ..parsed }.written()
            }
            // What is wrong with it is said by whoever uses it.
            _ => url.to_owned(),
        }
    }

    /// A variable of a private server with its value: that of the flag, else that of this process.
    ///
    /// Errors: a variable that this process has not, or that two secrets would have.
    pub(crate) fn variable(&self, name: &str) -> Result<String, CommandFailure> {
        self.value(SERVER_ENV, name, name)?.ok_or_else(|| {
            CommandFailure::usage(format!(
                "--server-env {name} takes its value from dbtime's own environment, where it is \
                 not set: set it, or write {name}=VALUE"
            ))
        })
    }

    /// An option of a script with its value: that of the flag, else that of this process.
    ///
    /// Errors: an option that this process has no variable of, or one that two secrets would have.
    pub(crate) fn option(&self, name: &str) -> Result<String, CommandFailure> {
        let variable = variable_of(name);
        self.value(SCRIPT_SET, name, &variable)?.ok_or_else(|| {
            CommandFailure::usage(format!(
                "--script-set {name} takes the variable {variable} of dbtime's own environment, \
                 where it is not set: set it, or write {name}=VALUE"
            ))
        })
    }

    /// The statement of `--query` with its passwords.
    ///
    /// Errors: it lacks them, and this process has no variable with the same statement.
    pub(crate) fn query(&self, written: &str) -> Result<String, CommandFailure> {
        if !lacks_password(written) {
            return Ok(written.to_owned());
        }
        let given = self.query.as_ref().map(|query| query.reveal().to_owned());
        let why = match given.or_else(|| std::env::var(QUERY).ok()) {
            Some(whole) if without_passwords(&whole) == written => return Ok(whole),
            Some(_) => "has another one",
            None => "is not set",
        };
        Err(CommandFailure::usage(format!(
            "the statement of --query has *** in place of a password, and the variable {QUERY}, \
             its source, {why}: set it to the whole statement, or write that as --query"
        )))
    }

    /// Refuses a run whose written form takes a secret that is not there.
    ///
    /// Errors: what is missing.
    pub(crate) fn check(&self, spec: &RunSpec) -> Result<(), CommandFailure> {
        let is_name = |pair: &&String| !pair.contains('=');
        for name in spec.target.server_env.iter().filter(is_name) {
            self.variable(name)?;
        }
        for name in spec.workload.script_set.iter().filter(is_name) {
            self.option(name)?;
        }
        spec.workload.query.as_ref().map_or(Ok(()), |sql| self.query(sql).map(drop))
    }

    fn value(
        &self,
        flag: &str,
        name: &str,
        variable: &str,
    ) -> Result<Option<String>, CommandFailure> {
        let is_own = |given: &&NamedSecret| given.flag == flag && given.name == name;
        let of_variable = |given: &&NamedSecret| given.variable == variable;
        let given = || self.variables.iter().rev().filter(of_variable);
        let own = given().find(is_own).map(|given| given.value.reveal().to_owned());
        let own = own.or_else(|| std::env::var(variable).ok());
        // Both would have the one value in the process that makes the run.
        let other = given().find(|given| !is_own(given));
        match other.filter(|other| own.as_deref() != Some(other.value.reveal())) {
            None => Ok(own),
            Some(other) => Err(CommandFailure::usage(format!(
                "{flag} {name} and {} {} are two secrets with the same variable, {variable}: give \
                 one of them another name",
                other.flag, other.name
            ))),
        }
    }

    /// The variables that hand all of them to another process of dbtime.
    pub(crate) fn environment(&self) -> Vec<(String, ServerSecret)> {
        let password = self.password.iter().map(|password| (PASSWORD, password));
        let query = self.query.iter().map(|query| (QUERY, query));
        let given = self.variables.iter();
        let variables = given.map(|given| (given.variable.as_str(), &given.value));
        let all = password.chain(query).chain(variables);
        all.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }
}

/// What a target says, where it is the URL of a server: of all others what looks like a password is
/// none, but a part of a path.
fn server_url(target: &str) -> Option<ServerUrl> {
    match TargetForm::of(target) {
        Some(TargetForm::Server(_)) => ServerUrl::read(target).ok(),
        _ => None,
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
            ("postgres://u@h/d?p%61ssword=secret&port=1", "postgres://u@h/d?port=1"),
        ] {
            let mut secrets = RunSecrets::default();
            assert_eq!(secrets.take_from_url(url), without);
            let put = ServerUrl::parse(&secrets.put_into_url(without)).expect("a URL");
            assert_eq!(put.password, ServerUrl::parse(url).expect("a URL").password);
        }
        let mut secrets = RunSecrets::default();
        assert_eq!(secrets.take_from_url("host=h user=u"), "postgres:///?host=h&user=u");
        assert_eq!(secrets.password, None);
        let url = secrets.take_from_url("host=h password='a b'");
        assert_eq!(url, "postgres:///?host=h");
        assert_eq!(secrets.put_into_url(&url), "postgres://:a%20b@/?host=h");
        let mut secrets = RunSecrets::default();
        for url in
            ["sqlite:a:b@c.db", "sqlite://a:b@c.db", "mariadb", "mysql://u@h/d", "mysql://u:p@h:x/"]
        {
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
        assert_eq!(secrets.take_from_variable("DSN=host=h password=y"), "DSN");
        assert_eq!(secrets.take_from_option("tables=4"), "tables=4");
        assert_eq!(secrets.take_from_option("app-token=z"), "app-token");
        assert_eq!(secrets.option("app-token").expect("given"), "z");
        let all = [("APP_TOKEN", "x"), ("DSN", "host=h password=y"), ("app_token", "z")];
        let all = all.map(|(name, value)| (name.to_owned(), ServerSecret::new(value)));
        assert_eq!(secrets.environment(), all);
        assert_eq!(secrets.take_from_variable("token=x"), "token");
        assert_eq!(secrets.take_from_option("token=x"), "token");
        assert_eq!(secrets.option("token").expect("the same"), "x");
        secrets.take_from_option("token=y");
        for refused in [secrets.option("token"), secrets.variable("token")] {
            let words = refused.expect_err("two of one name").words();
            assert!(words.contains("--server-env token") && words.contains("--script-set token"));
        }
        secrets.take_from_option("a.key_token=x");
        secrets.take_from_option("a-key-token=y");
        assert!(secrets.option("a.key_token").is_err());
        let missing = secrets.variable("NOBODY_HAS_THIS").expect_err("not set");
        assert!(missing.words().contains("write NOBODY_HAS_THIS=VALUE"), "{missing:?}");
        let missing = secrets.option("nobody-has-this").expect_err("not set");
        assert!(missing.words().contains("variable nobody_has_this of"), "{missing:?}");
    }

    #[test]
    fn the_password_of_a_statement_leaves_it_and_comes_back() {
        let mut secrets = RunSecrets::default();
        assert_eq!(secrets.take_from_query("SELECT 1"), "SELECT 1");
        assert_eq!(secrets.query("SELECT 1").expect("whole"), "SELECT 1");
        assert!(secrets.environment().is_empty());
        let whole = "ALTER ROLE r PASSWORD 'hush'";
        let written = secrets.take_from_query(whole);
        assert_eq!(written, "ALTER ROLE r PASSWORD '***'");
        assert_eq!(secrets.query(&written).expect("kept"), whole);
        assert_eq!(secrets.environment(), [(QUERY.to_owned(), ServerSecret::new(whole))]);
        let other = secrets.query("ALTER ROLE s PASSWORD '***'").expect_err("another one");
        assert!(other.words().contains("DBTIME_QUERY") && !other.words().contains("hush"));
    }

    #[test]
    fn a_spec_that_somebody_wrote_keeps_no_secret() {
        let mut spec = RunSpec::default();
        spec.target.url = "postgres://u:hush@h/d".to_owned();
        spec.target.server_env = vec!["API_KEY=hush".to_owned(), "TZ=UTC".to_owned()];
        spec.workload.script_set = vec!["password=hush".to_owned()];
        spec.workload.query = Some("ALTER ROLE r PASSWORD 'hush'".to_owned());
        let mut secrets = RunSecrets::default();
        secrets.take_from_spec(&mut spec);
        assert!(!format!("{spec:?} {secrets:?}").contains("hush"), "{spec:?}");
        assert_eq!(spec.target.server_env, ["API_KEY", "TZ=UTC"]);
        assert_eq!(secrets.variable("API_KEY").expect("taken"), "hush");
        secrets.check(&spec).expect("all are there");
        RunSecrets::default().check(&spec).expect_err("they were taken");
    }
}
