//! What is given of a target: by its text, by a connection service, by the environment.

use super::other_parameters::{check_other, check_variables, other_names};
use super::{PostgresTargetError, malformed};
use crate::databases::postgres::service_file;
use crate::server::url::{ServerUrl, UrlError, is_keywords};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Parameters, and the variables they come from where a target leaves them out; empty: from none.
const PARAMETERS: [(&str, &str); 23] = [
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("dbname", "PGDATABASE"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("passfile", "PGPASSFILE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("channel_binding", "PGCHANNELBINDING"),
    ("require_auth", "PGREQUIREAUTH"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("keepalives", ""),
    ("keepalives_idle", ""),
    ("keepalives_interval", ""),
    ("keepalives_count", ""),
    ("tcp_user_timeout", ""),
    ("application_name", "PGAPPNAME"),
    ("options", "PGOPTIONS"),
    ("client_encoding", "PGCLIENTENCODING"),
    ("service", "PGSERVICE"),
    ("fallback_application_name", ""),
];

/// The schemes that name a PostgreSQL server.
const SCHEMES: [&str; 2] = ["postgres", "postgresql"];

/// Values by the name of their parameter; an empty one is none.
pub(super) struct UrlValues {
    values: BTreeMap<&'static str, String>,
    /// Where those stand that the target leaves out: a variable, or a name in a connection service.
    places: BTreeMap<&'static str, String>,
    /// What else is given, which only keeps it from being looked for elsewhere: other parameters,
    /// and empty ones.
    others: Vec<&'static str>,
}

impl UrlValues {
    /// What the text itself says.
    pub(super) fn read(text: &str) -> Result<Self, PostgresTargetError> {
        let scheme = text.split([':', '/']).next().unwrap_or_default();
        let is_url = SCHEMES.contains(&scheme) && text[scheme.len()..].starts_with("://");
        if !is_url && !is_keywords(text) {
            return Err(PostgresTargetError::Scheme(scheme.to_owned()));
        }
        let url = ServerUrl::read(text).map_err(unreadable)?;
        let mut values = BTreeMap::from([
            ("user", url.user.unwrap_or_default()),
            ("password", url.password.unwrap_or_default().reveal().to_owned()),
            ("host", url.host.unwrap_or_default()),
            ("port", url.port.map_or(String::new(), |port| port.to_string())),
            ("dbname", url.database.unwrap_or_default()),
        ]);
        let mut others = Vec::new();
        for (name, value) in url.parameters {
            let other = check_other(&name, &value).map_err(PostgresTargetError::Parameter)?;
            if let Some(other) = other {
                others.push(other);
                continue;
            }
            let name = known(&name).map_err(PostgresTargetError::Parameter)?;
            match value.is_empty() {
                true => others.push(name),
                false => drop(values.insert(name, value)),
            }
        }
        values.retain(|_, value| !value.is_empty());
        Ok(Self { values, places: BTreeMap::new(), others })
    }

    /// What the text says and a URL that is made of the target would otherwise lack: no password.
    pub(super) fn parameters(&self) -> Vec<(&'static str, String)> {
        let elsewhere = ["host", "port", "dbname", "user", "password"];
        let kept = PARAMETERS.into_iter().filter(|(name, _)| !elsewhere.contains(name));
        kept.filter_map(|(name, _)| Some((name, self.values.get(name)?.clone()))).collect()
    }

    /// Adds what a connection service, and then the environment, say of parameters that are not
    /// given.
    pub(super) fn complete(
        &mut self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), PostgresTargetError> {
        self.serve(variable)?;
        check_variables(&self.others, variable).map_err(PostgresTargetError::Parameter)?;
        for (name, from) in PARAMETERS {
            let is_given = self.values.contains_key(name) || self.others.contains(&name);
            if let (false, Some(value)) = (is_given, variable(from))
                && !value.is_empty()
            {
                self.values.insert(name, value);
                self.places.insert(name, from.to_owned());
            }
        }
        Ok(())
    }

    fn serve(
        &mut self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), PostgresTargetError> {
        let (named, otherwise) = match self.values.get("service") {
            Some(own) => (Some(own.clone()), "leave `service` out of the target"),
            // It is given, and asks for none.
            None if self.others.contains(&"service") => return Ok(()),
            None => (variable("PGSERVICE"), "unset PGSERVICE"),
        };
        let Some(service) = named.filter(|name| !name.is_empty()) else { return Ok(()) };
        let refuse = |problem| PostgresTargetError::Service { problem, otherwise };
        let found = service_file::look_up(&service, variable).map_err(refuse)?;
        let wrong = |error: UrlError| refuse(format!("service \"{service}\": {error}"));
        for (name, value) in found {
            if self.others.iter().any(|given| *given == name) {
                continue;
            }
            if let Some(other) = check_other(&name, &value).map_err(wrong)? {
                self.others.push(other);
                continue;
            }
            let known = known(&name).map_err(wrong)?;
            if let Entry::Vacant(entry) = self.values.entry(known) {
                entry.insert(value);
                self.places.insert(known, format!("`{known}` of service \"{service}\""));
            }
        }
        self.values.retain(|_, value| !value.is_empty());
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.values.remove(name)
    }

    /// That the value of a parameter cannot be, by where it stands; `in_target`: in the target.
    pub(super) fn refused(
        &self,
        name: &str,
        problem: &'static str,
        in_target: PostgresTargetError,
    ) -> PostgresTargetError {
        let elsewhere = |place| UrlError::Elsewhere { place, problem };
        let place = self.places.get(name).cloned();
        place.map_or(in_target, |it| PostgresTargetError::Parameter(elsewhere(it)))
    }

    /// That a parameter takes no such value, by where that stands.
    pub(super) fn no_value(
        &self,
        name: &str,
        value: &str,
        allowed: &'static str,
    ) -> PostgresTargetError {
        let name = self.places.get(name).map_or(name, String::as_str).to_owned();
        let value = value.to_owned();
        PostgresTargetError::Parameter(UrlError::Value { name, value, allowed })
    }

    /// Whether a parameter has its value from a variable.
    pub(super) fn is_from_environment(&self, name: &str) -> bool {
        let place = self.places.get(name);
        place.is_some_and(|place| PARAMETERS.iter().any(|(_, variable)| variable == place))
    }
}

/// The parameter of that name.
fn known(name: &str) -> Result<&'static str, UrlError> {
    let names = PARAMETERS.map(|(name, _)| name);
    let found = names.into_iter().find(|known| *known == name);
    found.ok_or_else(|| {
        let taken: Vec<_> = names.into_iter().chain(other_names()).collect();
        ServerUrl::unknown(name, &taken)
    })
}

/// What cannot be read is not shown: a port may be a password whose user was forgotten.
fn unreadable(error: UrlError) -> PostgresTargetError {
    match error {
        UrlError::Login => malformed("user and password"),
        UrlError::Port => malformed("port"),
        UrlError::Escape { piece } => PostgresTargetError::Malformed(piece),
        other => PostgresTargetError::Parameter(other),
    }
}
