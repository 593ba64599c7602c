//! What a target is, by the form of its text. Everything that has to know goes by this.

use super::null::NullTargetKind;
use super::private::PrivateTarget;
use super::server::ExistingServer;
use super::sqlite::SqliteTargetKind;
use super::{Target, TargetKind};
use crate::error::LabError;
use dbtime_engines::server::url::is_keywords;
use dbtime_model::Product;
use dbtime_model::secret_text::first_word;
use std::str::FromStr;
use std::sync::Arc;

/// The forms `--target` takes.
pub(super) fn forms() -> Vec<String> {
    let words = Product::SERVERS.map(|product| product.name().to_owned());
    let urls = Product::SERVERS.map(|product| format!("{}://USER@HOST/DATABASE", product.name()));
    let files = ["sqlite", "sqlite:PATH"].map(str::to_owned);
    files.into_iter().chain(words).chain(urls).chain(["null".to_owned()]).collect()
}

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetForm {
    /// The database that does nothing.
    Null,
    /// A file, or one that is made for the run.
    Sqlite,
    /// A server that is started for the run.
    Private(Product),
    /// A server that runs, by its URL, or by a connection string of PostgreSQL's own clients.
    Server(Product),
}

impl TargetForm {
    /// The form of a text; `None` where it is none. Whether what stands behind the name can be
    /// meant is not looked at.
    pub fn of(text: &str) -> Option<Self> {
        let name = text.split([':', '?']).next().unwrap_or(text);
        match Product::named(name) {
            None if name == "null" => Some(Self::Null),
            None => is_keywords(text).then_some(Self::Server(Product::Postgres)),
            Some(Product::Sqlite) => Some(Self::Sqlite),
            Some(product) if text[name.len()..].starts_with("://") => {
                (name != "pgsql").then_some(Self::Server(product))
            }
            Some(product) => (name == product.name()).then_some(Self::Private(product)),
        }
    }

    /// Which product it is, as far as the text tells: `mysql://` may be MariaDB.
    pub fn product(self) -> Option<Product> {
        match self {
            Self::Null => None,
            Self::Sqlite => Some(Product::Sqlite),
            Self::Private(product) | Self::Server(product) => Some(product),
        }
    }
}

impl FromStr for Target {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        let kind: Arc<dyn TargetKind> = match TargetForm::of(text) {
            Some(TargetForm::Null) => Arc::new(NullTargetKind::parse(text)?),
            Some(TargetForm::Sqlite) => Arc::new(SqliteTargetKind::parse(text)?),
            Some(TargetForm::Server(product)) => Arc::new(ExistingServer::parse(text, product)?),
            Some(TargetForm::Private(product)) => Arc::new(PrivateTarget::parse(text, product)?),
            None => return Err(no_target(text)),
        };
        Ok(Self(kind))
    }
}

/// A text that names none. It may be another tool's connection string, with a password in it.
fn no_target(text: &str) -> LabError {
    let scheme = text.split([':', '?']).next().unwrap_or(text);
    let forms = forms();
    let name = |form: &str| form.split(':').next().unwrap_or_default().to_owned();
    let near = forms.iter().find(|form| strsim::damerau_levenshtein(&name(form), scheme) <= 2);
    let hint = near.map_or(String::new(), |form| format!("; did you mean {form}?"));
    LabError::Usage(format!(
        "`{}` is no target: write {}{hint}",
        first_word(text),
        forms.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_known() {
        for (text, form) in [
            ("null", TargetForm::Null),
            ("null:exp:1ms", TargetForm::Null),
            ("sqlite", TargetForm::Sqlite),
            ("sqlite:/tmp/a.db", TargetForm::Sqlite),
            ("sqlite?cache_size=10", TargetForm::Sqlite),
            ("mariadb", TargetForm::Private(Product::Mariadb)),
            ("mysql:/opt/mysql", TargetForm::Private(Product::Mysql)),
            ("postgres", TargetForm::Private(Product::Postgres)),
            ("mysql://root@127.0.0.1/a", TargetForm::Server(Product::Mysql)),
            ("postgresql://me@db/a", TargetForm::Server(Product::Postgres)),
            ("host=h options='-c a:b?c'", TargetForm::Server(Product::Postgres)),
        ] {
            assert_eq!(TargetForm::of(text), Some(form), "{text}");
        }
        for text in ["", "oracle", "oracle://a/b", "postgresql", "pgsql", "pgsql://a/b"] {
            assert_eq!(TargetForm::of(text), None, "{text}");
        }
        assert!(forms().iter().all(|form| TargetForm::of(form).is_some()));
    }

    #[test]
    fn statements_are_sent_to_what_is_there() {
        let place = |text: &str| text.parse::<Target>().expect(text).place();
        for text in ["null", "sqlite", "mariadb", "postgres:/opt/postgresql"] {
            let error = place(text).expect_err(text);
            assert!(error.is_usage() && error.to_string().contains("--on-copy"), "{error}");
        }
        let file = place("sqlite:/tmp/a.db?busy_timeout=250ms").expect("a place");
        assert_eq!(file.url(), "sqlite:/tmp/a.db?busy_timeout=250ms");
        assert!(file.sqlite().is_some() && file.server().is_none());
        let server = place("mysql://root:hush@127.0.0.1:1/a").expect("a place");
        assert!(server.server().is_some() && !server.url().contains("hush"));
    }

    #[test]
    fn what_is_no_target_is_refused_by_the_forms_and_not_repeated() {
        for text in [
            "Server=h;Password=hush",
            "mysq://u:hush@h/d",
            "jdbc:postgresql://h/d?user=u&password=hush",
            "mysql:u:hush@h",
            "mysql:/u:hush@h",
            "mysql:host=h password=hush",
            "mysql:/opt/x?password=hush",
            "mysql?password=hush",
            "null:u:hush@h",
            "sqlite:x.db?key=hush",
        ] {
            let error = text.parse::<Target>().expect_err(text).to_string();
            assert!(!error.contains("hush"), "{error}");
            assert!(error.contains("write ") || error.contains("have no setting"), "{error}");
        }
        for text in ["mysql:/opt/mysql", "postgres:/opt/postgresql@16", "mariadb:inst"] {
            assert!(text.parse::<Target>().is_ok(), "{text}");
        }
    }
}
