//! What a target is, by the form of its text. Everything that has to know goes by this.

use dbtime_model::Product;

/// The forms `--target` takes.
pub(super) const FORMS: [&str; 9] = [
    "sqlite",
    "sqlite:PATH",
    "mariadb",
    "mysql",
    "postgres",
    "mysql://USER@HOST/DATABASE",
    "mariadb://USER@HOST/DATABASE",
    "postgres://USER@HOST/DATABASE",
    "null",
];

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetForm {
    /// The database that does nothing.
    Null,
    /// A file, or one that is made for the run.
    Sqlite,
    /// A server that is started for the run.
    Private(Product),
    /// A server that runs, by its URL.
    Server(Product),
}

impl TargetForm {
    /// The form of a text; `None` where it is none. Whether what stands behind the name can be
    /// meant is not looked at.
    pub fn of(text: &str) -> Option<Self> {
        let name = text.split([':', '?']).next().unwrap_or(text);
        match Product::named(name) {
            None if name == "null" => Some(Self::Null),
            None => None,
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
        ] {
            assert_eq!(TargetForm::of(text), Some(form), "{text}");
        }
        for text in ["", "oracle", "oracle://a/b", "postgresql", "pgsql", "pgsql://a/b"] {
            assert_eq!(TargetForm::of(text), None, "{text}");
        }
        assert!(FORMS.iter().all(|form| TargetForm::of(form).is_some()));
    }
}
