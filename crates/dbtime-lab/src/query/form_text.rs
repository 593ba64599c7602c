//! A form of a statement as it is executed, and the key that it takes.

use super::request::FormSource;
use crate::error::LabError;
use dbtime_model::Product;
use dbtime_sql::{LexicalRules, ParameterName, ParameterPlace, StatementOutline, StatementPlaces};
use std::mem::discriminant;
use std::ops::Range;

/// The most parameters that the forms of a request have together: each of them is given a
/// dictionary.
const MOST_PARAMETERS: usize = 1000;

/// A form's text in the writing of its database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormText {
    /// `A` or `B`, or how a trial calls it.
    pub(crate) name: String,
    /// Where its text comes from.
    pub(crate) source: String,
    /// The text as it was given, without a `;` at its end.
    pub(crate) given: String,
    /// The text with the database's own placeholders.
    pub(crate) native: String,
    /// The names of the parameters of all forms of the request, each once, in the order of their
    /// first places: `id`, `1`.
    pub(crate) parameters: Vec<String>,
    /// For each placeholder of `native` the index of its parameter among `parameters`.
    pub(crate) order: Vec<usize>,
    /// Whether it changes rows.
    pub(crate) writes: bool,
    /// What is set before each execution and taken back behind it, outside of its time.
    pub(crate) switch: Option<PlanSwitch>,
}

/// Statements around an execution, which steer the planner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlanSwitch {
    /// Before it.
    pub(crate) before: Vec<String>,
    /// Behind it, which undo that.
    pub(crate) after: Vec<String>,
}

impl FormText {
    /// Reads the forms of a request, `A` and `B`, which have one list of parameters.
    ///
    /// # Errors
    /// A text has no statement or several, or parameters that are written in different ways.
    pub(crate) fn parse_all(
        sources: &[FormSource],
        product: Product,
        rules: &LexicalRules,
    ) -> Result<Vec<Self>, LabError> {
        let mut parameters = Vec::new();
        let mut forms = Vec::with_capacity(sources.len());
        for (letter, source) in (b'A'..=b'Z').zip(sources) {
            let form = Self::parse(source, product, rules, &mut parameters)?;
            forms.push(Self { name: char::from(letter).to_string(), ..form });
        }
        for form in &mut forms {
            form.parameters.clone_from(&parameters);
        }
        Ok(forms)
    }

    /// Reads one, and adds what parameters it has to those that are known.
    fn parse(
        form: &FormSource,
        product: Product,
        rules: &LexicalRules,
        parameters: &mut Vec<String>,
    ) -> Result<Self, LabError> {
        let FormSource { source, sql } = form;
        // SQLite takes it for the end of the text.
        if let Some(at) = sql.find('\0') {
            let line = 1 + sql[..at].matches('\n').count();
            let text = format!("{source} has a zero byte in line {line}: leave it out");
            return Err(LabError::Usage(text));
        }
        let places = StatementPlaces::of(sql, rules);
        let statement = only_statement(form, &places.statements)?;
        let names = parameter_names(form, &places.parameters)?;
        let (mut native, mut order, mut from) = (String::new(), Vec::new(), statement.start);
        for (place, name) in places.parameters.iter().zip(names) {
            native.push_str(&sql[from..place.range.start]);
            let at = place_among(parameters, name);
            if parameters.len() > MOST_PARAMETERS {
                let most = MOST_PARAMETERS;
                let text = format!("{source} has more than {most} parameters: write values");
                return Err(LabError::Usage(text));
            }
            // A dollar sign behind a word is a part of it.
            if product == Product::Postgres && native.ends_with(is_of_word) {
                native.push(' ');
            }
            native.push_str(&placeholder(product, placeholder_number(product, &mut order, at)));
            from = place.range.end;
        }
        native.push_str(&sql[from..statement.end]);
        let given = sql[statement].trim().to_owned();
        let writes = StatementOutline::of(&given, rules).writes;
        let native = native.trim().to_owned();
        Ok(Self { source: source.clone(), given, native, order, writes, ..Self::default() })
    }
}

/// Where the only statement of a text is.
fn only_statement(
    form: &FormSource,
    statements: &[Range<usize>],
) -> Result<Range<usize>, LabError> {
    let FormSource { source, sql } = form;
    match statements {
        [] => Err(LabError::Usage(format!("{source} has no statement: write one"))),
        [only] => Ok(only.clone()),
        [_, second, ..] => {
            let rest = sql[second.start..].trim_start();
            let line = 1 + sql[..sql.len() - rest.len()].matches('\n').count();
            let verb = rest.chars().take_while(char::is_ascii_alphabetic);
            let verb: String = verb.take(20).collect();
            let name = if verb.is_empty() { String::new() } else { format!(" ({verb} …)") };
            Err(LabError::Usage(format!(
                "{source} has a second statement in line {line}{name}: a form is one statement; \
                 leave the one to measure"
            )))
        }
    }
}

/// What the parameters of a form are called, in the order of their places.
fn parameter_names(form: &FormSource, places: &[ParameterPlace]) -> Result<Vec<String>, LabError> {
    let FormSource { source, sql } = form;
    let first = places.first();
    let is_other = |place: &&ParameterPlace| {
        first.is_some_and(|first| discriminant(&first.name) != discriminant(&place.name))
    };
    if let (Some(first), Some(other)) = (first, places.iter().find(is_other)) {
        let [first, other] = [first, other].map(|place| &sql[place.range.clone()]);
        return Err(LabError::Usage(format!(
            "{source} has parameters of two kinds, `{first}` and `{other}`: write all of them one \
             way, such as `:id`"
        )));
    }
    let mut next = 0u32;
    let name = |place: &ParameterPlace| match &place.name {
        ParameterName::Named(name) => name.clone(),
        ParameterName::Numbered(number) => number.to_string(),
        ParameterName::Next => {
            next += 1;
            next.to_string()
        }
    };
    Ok(places.iter().map(name).collect())
}

/// Where a name is among those of all parameters, to which it is added if it is new.
fn place_among(parameters: &mut Vec<String>, name: String) -> usize {
    let known = parameters.iter().position(|one| *one == name);
    known.unwrap_or_else(|| {
        parameters.push(name);
        parameters.len() - 1
    })
}

/// The number of a parameter's placeholder, of which a new one is added to their order. One of
/// PostgreSQL's stands for all places of its parameter, which have one type by that.
fn placeholder_number(product: Product, order: &mut Vec<usize>, parameter: usize) -> usize {
    let known = match product {
        Product::Postgres => order.iter().position(|one| *one == parameter),
        Product::Mariadb | Product::Mysql | Product::Sqlite => None,
    };
    known.map_or_else(
        || {
            order.push(parameter);
            order.len()
        },
        |at| at + 1,
    )
}

fn is_of_word(one: char) -> bool {
    one.is_alphanumeric() || matches!(one, '_' | '$')
}

/// How a product writes the `n`th placeholder, from 1.
pub(crate) fn placeholder(product: Product, n: usize) -> String {
    match product {
        Product::Postgres => format!("${n}"),
        Product::Mariadb | Product::Mysql | Product::Sqlite => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(product: Product, texts: &[&str]) -> Result<Vec<FormText>, LabError> {
        let source = |sql: &&str| FormSource { source: "A.sql".to_owned(), sql: (*sql).to_owned() };
        let sources: Vec<FormSource> = texts.iter().map(source).collect();
        FormText::parse_all(&sources, product, &LexicalRules::defaults(product.dialect()))
    }

    fn refusal(product: Product, text: &str) -> String {
        parsed(product, &[text]).expect_err(text).to_string()
    }

    #[test]
    fn placeholders_are_those_of_the_product() {
        let sql = "SELECT a FROM t WHERE b=:b AND c > :c OR d = :b; ";
        let form = |product| parsed(product, &[sql]).expect("a form").remove(0);
        let mysql = form(Product::Mariadb);
        assert_eq!(mysql.native, "SELECT a FROM t WHERE b=? AND c > ? OR d = ?");
        assert_eq!(mysql.given, "SELECT a FROM t WHERE b=:b AND c > :c OR d = :b");
        assert_eq!((mysql.order, mysql.parameters), (vec![0, 1, 0], vec!["b".into(), "c".into()]));
        let postgres = form(Product::Postgres);
        assert_eq!(postgres.native, "SELECT a FROM t WHERE b=$1 AND c > $2 OR d = $1");
        assert_eq!(postgres.order, [0, 1]);
        let close = parsed(Product::Postgres, &["SELECT:a"]).expect("a form");
        assert_eq!(close[0].native, "SELECT $1");
    }

    #[test]
    fn forms_have_one_list_of_parameters() {
        let texts = ["SELECT :a, :b", "SELECT :c, :b -- :d"];
        let forms = parsed(Product::Mysql, &texts).expect("two forms");
        assert_eq!(forms[0].parameters, ["a", "b", "c"]);
        assert_eq!(forms[1].parameters, forms[0].parameters);
        assert_eq!(forms[0].order, [0, 1]);
        assert_eq!(forms[1].order, [2, 1]);
        assert_eq!((forms[0].name.as_str(), forms[1].name.as_str()), ("A", "B"));
    }

    #[test]
    fn numbers_and_question_marks_are_names_too() {
        let forms = parsed(Product::Postgres, &["SELECT $2, $1", "SELECT ?, ?"]).expect("forms");
        assert_eq!(forms[0].parameters, ["2", "1"]);
        assert_eq!(forms[0].order, [0, 1]);
        assert_eq!(forms[1].order, [1, 0]);
        assert_eq!(forms[0].native, "SELECT $1, $2");
    }

    #[test]
    fn what_is_no_single_statement_is_refused() {
        let none = refusal(Product::Mysql, " ; -- nothing");
        assert_eq!(none, "A.sql has no statement: write one");
        let zero = refusal(Product::Sqlite, "SELECT a\nFROM t\0 WHERE a = 1");
        assert_eq!(zero, "A.sql has a zero byte in line 2: leave it out");
        let two = refusal(Product::Mysql, "SELECT 'secret';\n\n delete from t where a='secret'");
        assert!(two.contains("line 3 (delete …)") && !two.contains("secret"), "{two}");
        let mixed = refusal(Product::Mysql, "SELECT :a, ?");
        assert!(mixed.contains("`:a` and `?`") && mixed.contains("one way"), "{mixed}");
        let many: Vec<String> = (0..=MOST_PARAMETERS).map(|at| format!(":p{at}")).collect();
        let many = refusal(Product::Sqlite, &format!("SELECT {}", many.join(",")));
        assert!(many.contains("more than 1000 parameters"), "{many}");
    }

    #[test]
    fn what_writes_is_known_to() {
        let forms = parsed(Product::Sqlite, &["SELECT 1", "DELETE FROM t"]).expect("two forms");
        assert_eq!((forms[0].writes, forms[1].writes), (false, true));
    }
}
