//! CSV: a header, then a row for each repetition.
//!
//! The column `name` has the names, or else the first one with texts; columns of numbers are
//! figures, whose headings are their units. `block` has the turn in which a row was measured, and
//! [`NUMBERING`] only counts rows. Cells may be empty.

use super::sample::{ForeignValue, SampleKey};
use super::{ForeignError, ForeignFile, ForeignFormat};

/// What may stand between cells; that which the header has first does.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// Headings of columns that number rows, and measure nothing.
const NUMBERING: [&str; 5] = ["run", "repetition", "iteration", "index", "seed"];

const NAME: &str = "name";
const BLOCK: &str = "block";

const MOST_COLUMNS: usize = 1_000;

/// What a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnRole {
    Name,
    Block,
    Figure,
    Other,
}

/// Whether a text has a header and a separator in it, or a number below its one heading.
pub(super) fn is_table(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).skip(1);
    let is_number = |line: &str| line.trim().parse::<f64>().is_ok();
    separator(text).is_some() || lines.next().is_some_and(is_number)
}

fn separator(text: &str) -> Option<u8> {
    let header = text.lines().find(|line| !line.trim().is_empty())?;
    let mut is_quoted = false;
    header.bytes().find(|byte| {
        is_quoted ^= *byte == b'"';
        !is_quoted && SEPARATORS.contains(byte)
    })
}

pub(super) fn read(text: &str) -> Result<ForeignFile, ForeignError> {
    let header = reader(text).headers().map_err(refused)?.clone();
    check_header(&header)?;
    let roles = roles(text, &header)?;
    let mut file = ForeignFile::new(ForeignFormat::Csv);
    for row in reader(text).records() {
        let row = row.map_err(refused)?;
        let line = row.position().map_or(0, csv::Position::line);
        add(&mut file, &header, &roles, &row).map_err(|text| ForeignError::at(line, text))?;
    }
    Ok(file)
}

fn reader(text: &str) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .delimiter(separator(text).unwrap_or(SEPARATORS[0]))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes())
}

fn refused(error: csv::Error) -> ForeignError {
    let text = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the header has {expected_len} columns and this row {len}")
        }
        _ => error.to_string(),
    };
    ForeignError { line: error.position().map(csv::Position::line), text }
}

/// Refuses a header that is none, or that names two columns alike.
fn check_header(header: &csv::StringRecord) -> Result<(), ForeignError> {
    let refuse = |text: String| Err(ForeignError::at(1, text));
    if header.len() > MOST_COLUMNS {
        return refuse(format!("{} columns; at most {MOST_COLUMNS}", header.len()));
    }
    if let Some(at) = header.iter().position(|cell| cell.parse::<f64>().is_ok()) {
        return refuse(format!(
            "a number heads column {}: begin with a row that names the columns",
            at + 1
        ));
    }
    let mut names: Vec<&str> = header.iter().collect();
    names.sort_unstable();
    match names.windows(2).find(|two| two[0] == two[1]) {
        Some(two) => refuse(format!("two columns are called {:?}: rename one", two[0])),
        None => Ok(()),
    }
}

/// What each column has, by its heading and its first cell that is not empty.
fn roles(text: &str, header: &csv::StringRecord) -> Result<Vec<ColumnRole>, ForeignError> {
    let is = |name: &str, heading: &str| heading.eq_ignore_ascii_case(name);
    let mut are_numbers: Vec<Option<bool>> = vec![None; header.len()];
    for row in reader(text).records() {
        let row = row.map_err(refused)?;
        for ((is_number, cell), heading) in are_numbers.iter_mut().zip(row.iter()).zip(header) {
            if is_number.is_some() || cell.is_empty() {
                continue;
            }
            if has_comma(cell) && !is(NAME, heading) {
                let line = row.position().map_or(0, csv::Position::line);
                return Err(ForeignError::at(line, no_number(heading)));
            }
            *is_number = Some(cell.parse::<f64>().is_ok());
        }
        if are_numbers.iter().all(Option::is_some) {
            break;
        }
    }
    let text_column = are_numbers.iter().position(|is_number| *is_number == Some(false));
    let names = header.iter().position(|heading| is(NAME, heading)).or(text_column);
    let role = |(at, heading): (usize, &str)| match are_numbers[at] {
        _ if names == Some(at) => ColumnRole::Name,
        _ if is(BLOCK, heading) => ColumnRole::Block,
        Some(true) if !NUMBERING.iter().any(|name| is(name, heading)) => ColumnRole::Figure,
        _ => ColumnRole::Other,
    };
    Ok(header.iter().enumerate().map(role).collect())
}

/// Whether it is a number whose digits are behind a comma, or that has one between them.
fn has_comma(cell: &str) -> bool {
    cell.contains(',') && cell.replace(',', "").parse::<f64>().is_ok()
}

/// What is said of a cell, of which nothing is repeated: whatever stands there may be secret.
fn no_number(heading: &str) -> String {
    format!(
        "column {heading:?} has no number here: write numbers with a decimal point and without a \
         unit, and leave out what was not measured"
    )
}

fn add(
    file: &mut ForeignFile,
    header: &csv::StringRecord,
    roles: &[ColumnRole],
    row: &csv::StringRecord,
) -> Result<(), String> {
    let cell = |role: ColumnRole| {
        let at = roles.iter().position(|one| *one == role)?;
        row.get(at).filter(|cell| !cell.is_empty())
    };
    let name = cell(ColumnRole::Name).unwrap_or_default();
    let block = cell(ColumnRole::Block).map(|cell| {
        cell.parse::<u64>().map_err(|_| format!("column {BLOCK:?} has no whole number here"))
    });
    let block = block.transpose()?;
    for ((unit, role), cell) in header.iter().zip(roles).zip(row.iter()) {
        if *role != ColumnRole::Figure || cell.is_empty() {
            continue;
        }
        let value: f64 = cell.parse().map_err(|_| no_number(unit))?;
        let key =
            SampleKey { name: name.to_owned(), unit: unit.to_owned(), ..SampleKey::default() };
        let added = file.samples.add(key, ForeignValue { value, block });
        added.map_err(|text| format!("column {unit:?}: {text}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(String, String, Vec<f64>)> {
        assert!(is_table(text), "{text}");
        let file = read(text).unwrap_or_else(|error| panic!("{error}"));
        let samples = file.samples.samples().iter().map(|sample| {
            let values = sample.values.iter().map(|one| one.value).collect();
            (sample.key.name.clone(), sample.key.unit.clone(), values)
        });
        samples.collect()
    }

    fn sample(name: &str, unit: &str, values: &[f64]) -> (String, String, Vec<f64>) {
        (name.to_owned(), unit.to_owned(), values.to_vec())
    }

    #[test]
    fn names_are_those_of_their_column_and_numbers_are_figures() {
        let text = "run,what,name,latency (ms),tps\n1,x,a,2.5,100\n2,y,a,2.6,\n3,z,b,1e1,7\n";
        let wanted = [
            sample("a", "latency (ms)", &[2.5, 2.6]),
            sample("a", "tps", &[100.0]),
            sample("b", "latency (ms)", &[10.0]),
            sample("b", "tps", &[7.0]),
        ];
        assert_eq!(shown(text), wanted);
        let first_text = "ms; what; more\n 1; a; x\n 2; a; y\n";
        assert_eq!(shown(first_text), [sample("a", "ms", &[1.0, 2.0])]);
        assert_eq!(shown("ms\n1\n\n2\n"), [sample("", "ms", &[1.0, 2.0])]);
        let quoted = "\"name, of it\";\"a \"\"ms\"\"\"\n\"x;y\";\"1.5\"\n1,2;2\n";
        let wanted = [sample("x;y", "a \"ms\"", &[1.5]), sample("1,2", "a \"ms\"", &[2.0])];
        assert_eq!(shown(quoted), wanted);
    }

    #[test]
    fn blocks_are_those_of_their_column() {
        let file = read("block\tms\n7\t1\n9\t2\n").expect("a table");
        let blocks: Vec<_> =
            file.samples.samples()[0].values.iter().map(|value| value.block).collect();
        assert_eq!(blocks, [Some(7), Some(9)]);
    }

    #[test]
    fn a_damaged_row_is_named() {
        for (text, wanted) in [
            ("name,ms\na,1\nb\n", "line 3: the header has 2 columns and this row 1"),
            ("name,ms\na,1\nb,2 s\n", "line 3: column \"ms\" has no number here"),
            ("name,ms\na,-1\n", "line 2: column \"ms\": -1 is no value"),
            ("name,ms\na,inf\n", "line 2: column \"ms\": inf is no value"),
            ("name,ms,block\na,1,x\n", "line 2: column \"block\" has no whole number here"),
            ("run;ms\n1;\n2;2,5\n", "line 3: column \"ms\" has no number here"),
            ("name;ms\na;3\na;2,5\n", "line 3: column \"ms\" has no number here"),
            ("user,pin\nsam,1\nkim,hush\n", "line 3: column \"pin\" has no number here"),
            ("a,1\nb,2\n", "line 1: a number heads column 2"),
            ("ms,ms\n1,2\n", "line 1: two columns are called \"ms\""),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with(wanted) && !error.contains("hush"), "{error}");
        }
    }
}
