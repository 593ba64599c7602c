//! The values that forms are executed with.

use super::dictionary::ValueDictionary;
use super::form_text::FormText;
use super::request::QueryRequest;
use super::session::QuerySession;
use crate::error::LabError;
use dbtime_load::program::SqlValue;
use dbtime_load::random::{RandomStream, draw};
use dbtime_model::near_names::hint;
use dbtime_model::query::{KeySource, KeySummary};

/// The keys of a request. A key has a value for each parameter of its forms, and is a pure function
/// of the seed and its number.
#[derive(Debug, Default)]
pub(crate) struct QueryKeys {
    parameters: Vec<String>,
    dictionaries: Vec<PlacedDictionary>,
    seed: u64,
}

/// A dictionary with the parameters that it is for.
#[derive(Debug)]
struct PlacedDictionary {
    dictionary: ValueDictionary,
    /// For each of its columns the index of its parameter.
    places: Vec<usize>,
}

/// Reads the dictionaries of a request, whose forms have one list of parameters.
///
/// # Errors
/// A parameter has no dictionary or two, a dictionary has no parameter, or cannot be read.
pub(crate) fn read_keys(
    request: &QueryRequest,
    forms: &[FormText],
    session: &mut QuerySession<'_>,
) -> Result<QueryKeys, LabError> {
    let parameters = forms.first().map(|form| form.parameters.clone()).unwrap_or_default();
    let places = places(request, &parameters)?;
    check_all_have_values(forms, &parameters, &places)?;
    let mut dictionaries = Vec::new();
    for (number, (given, places)) in (0u64..).zip(request.dictionaries.iter().zip(places)) {
        // Dictionaries of one seed are drawn from independently.
        let seed = draw(request.seed, RandomStream::Parameters, !number);
        let dictionary = ValueDictionary::read(given, seed, session)?;
        dictionaries.push(PlacedDictionary { dictionary, places });
    }
    Ok(QueryKeys { parameters, dictionaries, seed: request.seed })
}

impl QueryKeys {
    /// The key of this number.
    pub(crate) fn draw(&self, index: u64) -> Vec<SqlValue> {
        self.key(|dictionary| dictionary.draw(index))
    }

    /// Keys at the edges, each once: of each dictionary values that are not in it, NULL, the least,
    /// the greatest, the most and the least frequent, beside values from the middle of the others.
    /// None where there are no parameters.
    pub(crate) fn edges(&self) -> Vec<Vec<SqlValue>> {
        let middle = self.key(ValueDictionary::middle);
        let mut keys: Vec<Vec<SqlValue>> = Vec::new();
        for placed in &self.dictionaries {
            for values in placed.dictionary.edges() {
                let mut key = middle.clone();
                placed.put(values, &mut key);
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        keys
    }

    /// The names of the parameters, in the order of a key's values.
    pub(crate) fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// Where values come from, after so many keys were executed.
    pub(crate) fn summary(&self, drawn: u64) -> KeySummary {
        let source = |(at, parameter): (usize, &String)| {
            let placed = self.dictionaries.iter().find(|placed| placed.places.contains(&at));
            let dictionary = placed.map(|placed| &placed.dictionary);
            KeySource {
                parameter: parameter.clone(),
                source: dictionary.map_or_else(String::new, |one| one.source().to_owned()),
                values: dictionary.map(ValueDictionary::distinct),
            }
        };
        let sources = self.parameters.iter().enumerate().map(source).collect();
        KeySummary { sources, seed: self.seed, drawn }
    }

    /// A key of these values of each dictionary.
    fn key(&self, values: impl Fn(&ValueDictionary) -> Vec<SqlValue>) -> Vec<SqlValue> {
        let mut key = vec![SqlValue::Null; self.parameters.len()];
        for placed in &self.dictionaries {
            placed.put(values(&placed.dictionary), &mut key);
        }
        key
    }
}

impl PlacedDictionary {
    fn put(&self, values: Vec<SqlValue>, key: &mut [SqlValue]) {
        for (place, value) in self.places.iter().zip(values) {
            key[*place] = value;
        }
    }
}

/// For each dictionary the indexes of its parameters.
fn places(request: &QueryRequest, parameters: &[String]) -> Result<Vec<Vec<usize>>, LabError> {
    let mut seen = vec![false; parameters.len()];
    let mut place = |name: &String| {
        let Some(at) = parameters.iter().position(|parameter| parameter == name) else {
            let near = hint(name, parameters.iter().map(String::as_str));
            let text = format!("--dict {name}: the statement has no such parameter{near}");
            return Err(LabError::Usage(text));
        };
        match std::mem::replace(&mut seen[at], true) {
            false => Ok(at),
            true => {
                let text = format!("--dict {name} is given twice: leave one of them out");
                Err(LabError::Usage(text))
            }
        }
    };
    let given = request.dictionaries.iter();
    given.map(|given| given.parameters.iter().map(&mut place).collect()).collect()
}

/// Checks that each parameter is one of a dictionary.
fn check_all_have_values(
    forms: &[FormText],
    parameters: &[String],
    places: &[Vec<usize>],
) -> Result<(), LabError> {
    let is_given = |at: &usize| places.iter().any(|places| places.contains(at));
    let Some(without) = (0..parameters.len()).find(|at| !is_given(at)) else { return Ok(()) };
    let form = forms.iter().find(|form| form.order.contains(&without));
    let source = form.map_or("the statement", |form| form.source.as_str());
    let name = &parameters[without];
    let written = match name.parse::<u32>() {
        Ok(number) => format!("parameter {number}"),
        Err(_) => format!("parameter `:{name}`"),
    };
    Err(LabError::Usage(format!(
        "{source} has a {written} of which no values are known: give them with --dict {name}=FILE, \
         one a line, or --dict {name}='SELECT …'"
    )))
}

#[cfg(test)]
mod tests {
    use super::super::planned_place::{PlannedPlace, request_with};
    use super::*;
    use dbtime_model::Product;
    use dbtime_sql::LexicalRules;
    use std::fs;

    fn keys_of(sql: &str, dictionaries: &[(&str, &str)]) -> Result<QueryKeys, LabError> {
        let request = request_with(sql, dictionaries);
        let rules = LexicalRules::defaults(Product::Sqlite.dialect());
        let forms = FormText::parse_all(&request.forms, Product::Sqlite, &rules)?;
        let place = PlannedPlace::default();
        place.answer("SELECT id, name FROM t", &["id", "name"], &["1 ann", "2 bob", "2 bob"]);
        place.answer("SELECT id FROM t WHERE id < 0", &["id"], &[]);
        let mut session = place.session();
        read_keys(&request, &forms, &mut session)
    }

    fn refusal(sql: &str, dictionaries: &[(&str, &str)]) -> String {
        keys_of(sql, dictionaries).expect_err(sql).to_string()
    }

    #[test]
    fn draws_are_functions_of_seed_and_number() {
        let dictionaries = [("id", "range:1..1000"), ("name", "template:u%03d:1..50:unique")];
        let [one, other] = [0, 1].map(|_| keys_of("SELECT :id, :name", &dictionaries));
        let (one, other) = (one.expect("keys"), other.expect("keys"));
        let drawn: Vec<_> = (0..100).map(|at| one.draw(at)).collect();
        assert_eq!(drawn, (0..100).map(|at| other.draw(at)).collect::<Vec<_>>());
        let names = drawn[..50].iter().map(|key| format!("{:?}", key[1]));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 50);
        let in_range = |value: &SqlValue| matches!(value, SqlValue::Integer(1..=1000));
        assert!(drawn.iter().all(|key| in_range(&key[0])));
        let ids: Vec<&SqlValue> = drawn.iter().map(|key| &key[0]).collect();
        assert!(ids.windows(2).any(|two| two[0] != two[1]));
    }

    #[test]
    fn edges_are_taken_one_at_a_time() {
        let dictionaries = [("id", "range:1..9"), ("name", "template:u%d:1..3")];
        let edges = keys_of("SELECT :id, :name", &dictionaries).expect("keys").edges();
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let integer = SqlValue::Integer;
        let expected = [
            (integer(10), text("u2")),
            (SqlValue::Null, text("u2")),
            (integer(1), text("u2")),
            (integer(9), text("u2")),
            (integer(5), text("u4")),
            (integer(5), SqlValue::Null),
            (integer(5), text("u1")),
            (integer(5), text("u3")),
        ];
        assert_eq!(edges, expected.map(|(id, name)| vec![id, name]));
        assert!(keys_of("SELECT 1", &[]).expect("keys").edges().is_empty());
        assert!(keys_of("SELECT 1", &[]).expect("keys").draw(7).is_empty());
    }

    #[test]
    fn rows_of_a_query_are_keys() {
        let keys = keys_of("SELECT :name, :id", &[("id,name", "SELECT id, name FROM t")]);
        let keys = keys.expect("keys");
        let ann = vec![SqlValue::Text("ann".to_owned()), SqlValue::Integer(1)];
        assert!((0..50).any(|at| keys.draw(at) == ann));
        let summary = keys.summary(9);
        assert_eq!((summary.drawn, summary.sources[0].values), (9, Some(2)));
        assert_eq!(summary.sources[0].source, "rows of a query, at random");
        assert_eq!(keys.parameters(), ["name", "id"]);
    }

    #[test]
    fn lines_of_a_file_are_keys() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ids.txt");
        fs::write(&path, "\u{feff}7\n\n\\N\n9\n").expect("a file");
        let from = format!("{}:seq", path.display());
        let keys = keys_of("SELECT ?", &[("1", from.as_str())]).expect("keys");
        let drawn: Vec<SqlValue> = (0..4).flat_map(|at| keys.draw(at)).collect();
        let integer = SqlValue::Integer;
        assert_eq!(drawn, [integer(7), SqlValue::Null, integer(9), integer(7)]);
        let columns = refusal("SELECT ?, ?", &[("1,2", from.as_str())]);
        assert!(columns.contains("line 1 of") && columns.ends_with("each column"), "{columns}");
        fs::write(&path, "\n").expect("a file");
        let empty = refusal("SELECT ?", &[("1", from.as_str())]);
        assert!(empty.contains("has no values: write one a line"), "{empty}");
    }

    #[test]
    fn what_is_wrong_with_a_dictionary_is_clear() {
        let none = refusal("SELECT $1", &[]);
        assert!(none.contains("A.sql has a parameter 1"), "{none}");
        assert!(none.contains("--dict 1=FILE"), "{none}");
        let slip = refusal("SELECT :user_id", &[("usr_id", "range:1..9")]);
        assert!(slip.contains("no such parameter, did you mean `user_id`?"), "{slip}");
        let twice = refusal("SELECT :a", &[("a", "range:1..9"), ("a", "range:1..9")]);
        assert_eq!(twice, "--dict a is given twice: leave one of them out");
        for (text, why) in [
            ("/none/such.txt", "a dictionary is a file, a SELECT"),
            ("range:9..1", "range:1..1000"),
            ("range:x", "range:1..1000"),
            ("template:user:1..9", "conversion"),
            ("template:u%d", "template:user%05d:1..5000"),
            ("SELECT id, name FROM t", "columns of its query: 2"),
            ("SELECT id FROM t WHERE id < 0", "returns no rows"),
            ("SELECT id FROM nowhere", "its query fails"),
            ("with x as (delete from t returning id) select id from x", "only reads"),
        ] {
            let refusal = refusal("SELECT :a", &[("a", text)]);
            assert!(refusal.starts_with("--dict a: ") && refusal.contains(why), "{refusal}");
        }
        let wide = refusal("SELECT :a, :b", &[("a,b", "range:1..9")]);
        assert!(wide.contains("it has 1 column, and parameters are named: 2"), "{wide}");
    }
}
