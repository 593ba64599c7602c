//! CSV: a header, then a row for each repetition.
//!
//! The column `name` has the names, or else all columns of texts have a part of them; a column with
//! a number is a figure, whose heading is its unit. `block` has the turn in which a row was
//! measured, and [`NUMBERING`] only counts rows. Cells may be empty.

use super::sample::{ForeignValue, SampleKey};
use super::{ForeignError, ForeignFile, ForeignFormat};

/// What may stand between cells; that which the header has first does.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// Headings of columns that number rows, and measure nothing.
const NUMBERING: [&str; 5] = ["run", "repetition", "iteration", "index", "seed"];

const NAME: &str = "name";
const BLOCK: &str = "block";

/// How headings begin that hyperfine writes of parameters, whose values tell commands apart.
const PARAMETER: &str = "parameter_";

const MOST_COLUMNS: usize = 1_000;

/// What is said of a table that has rows.
const NO_FIGURE: &str = "no column has a number, in this row or below: write numbers with a \
                         decimal point and without a unit";

/// What a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnRole {
    Name,
    Block,
    Figure,
    /// It only counts rows.
    Numbering,
    Other,
}

/// What the cells of a column are, as far as they are not empty.
#[derive(Clone, Copy, Debug, Default)]
struct ColumnCells {
    has_number: bool,
    has_text: bool,
    /// The line of the first number with a comma in it.
    comma_line: Option<u64>,
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
    let roles = roles(&header, &cells(text, &header)?)?;
    let mut file = ForeignFile::new(ForeignFormat::Csv);
    let headings = header.iter().zip(&roles);
    let left_out = headings.filter(|(_, role)| **role == ColumnRole::Other);
    file.columns_left_out = left_out.map(|(heading, _)| heading.to_owned()).collect();
    let has_figure = roles.contains(&ColumnRole::Figure);
    for row in reader(text).records() {
        let row = row.map_err(refused)?;
        let line = line_of(&row);
        if !has_figure {
            return Err(ForeignError::at(line, NO_FIGURE));
        }
        add(&mut file, &header, &roles, &row).map_err(|text| ForeignError::at(line, text))?;
    }
    Ok(file)
}

fn line_of(row: &csv::StringRecord) -> u64 {
    row.position().map_or(0, csv::Position::line)
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

/// What the cells of each column are.
fn cells(text: &str, header: &csv::StringRecord) -> Result<Vec<ColumnCells>, ForeignError> {
    let mut all = vec![ColumnCells::default(); header.len()];
    for row in reader(text).records() {
        let row = row.map_err(refused)?;
        for (column, cell) in all.iter_mut().zip(row.iter()).filter(|(_, cell)| !cell.is_empty()) {
            match cell.parse::<f64>() {
                Ok(_) => column.has_number = true,
                Err(_) if has_comma(cell) => {
                    column.comma_line.get_or_insert_with(|| line_of(&row));
                }
                Err(_) => column.has_text = true,
            }
        }
    }
    Ok(all)
}

/// What each column has, by its heading and its cells.
///
/// Errors: a column of numbers has none that can be read.
fn roles(
    header: &csv::StringRecord,
    cells: &[ColumnCells],
) -> Result<Vec<ColumnRole>, ForeignError> {
    let is = |name: &str, heading: &str| heading.eq_ignore_ascii_case(name);
    let has_name = header.iter().any(|heading| is(NAME, heading));
    let role = |(heading, column): (&str, &ColumnCells)| match column {
        _ if is(NAME, heading) => Ok(ColumnRole::Name),
        _ if is(BLOCK, heading) => Ok(ColumnRole::Block),
        _ if NUMBERING.iter().any(|name| is(name, heading)) => Ok(ColumnRole::Numbering),
        _ if heading.starts_with(PARAMETER) => Ok(ColumnRole::Name),
        ColumnCells { has_number: true, .. } => Ok(ColumnRole::Figure),
        ColumnCells { has_text: true, .. } if has_name => Ok(ColumnRole::Other),
        ColumnCells { has_text: true, .. } => Ok(ColumnRole::Name),
        ColumnCells { comma_line: Some(line), .. } => {
            Err(ForeignError::at(*line, no_number(heading)))
        }
        _ => Ok(ColumnRole::Other),
    };
    header.iter().zip(cells).map(role).collect()
}

/// Whether it is a number whose digits are behind a comma, or that has one between them.
fn has_comma(cell: &str) -> bool {
    cell.contains(',') && cell.replace(',', "").parse::<f64>().is_ok()
}

/// What is said of a cell, of which nothing is repeated: whatever stands there may be secret.
fn no_number(heading: &str) -> String {
    format!(
        "column {heading:?} has no number here: write numbers with a decimal point and without a \
         unit, and leave out what was not measured; names stand in a column {NAME:?}"
    )
}

fn add(
    file: &mut ForeignFile,
    header: &csv::StringRecord,
    roles: &[ColumnRole],
    row: &csv::StringRecord,
) -> Result<(), String> {
    let cells = |role: ColumnRole| {
        let all = roles.iter().zip(row.iter()).filter(move |(one, _)| **one == role);
        all.map(|(_, cell)| cell).filter(|cell| !cell.is_empty())
    };
    let name = cells(ColumnRole::Name).collect::<Vec<_>>().join("/");
    let block = cells(ColumnRole::Block).next().map(|cell| {
        cell.parse::<u64>().map_err(|_| format!("column {BLOCK:?} has no whole number here"))
    });
    let block = block.transpose()?;
    for ((unit, role), cell) in header.iter().zip(roles).zip(row.iter()) {
        if *role != ColumnRole::Figure || cell.is_empty() {
            continue;
        }
        let value: f64 = cell.parse().map_err(|_| no_number(unit))?;
        let key = SampleKey { name: name.clone(), unit: unit.to_owned(), ..SampleKey::default() };
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
        assert_eq!(read(text).expect("a table").columns_left_out, ["what"]);
        let texts = "ms; what; more; none\n 1; sort; small;\n 9; sort; big;\n 2; sort; small;\n";
        let wanted = [sample("sort/small", "ms", &[1.0, 2.0]), sample("sort/big", "ms", &[9.0])];
        assert_eq!(shown(texts), wanted);
        assert_eq!(read(texts).expect("a table").columns_left_out, ["none"]);
        let parameters = "command,mean,parameter_size\na,1.5,10\na,2.5,20\n";
        let wanted = [sample("a/10", "mean", &[1.5]), sample("a/20", "mean", &[2.5])];
        assert_eq!(shown(parameters), wanted);
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
            ("name,ms,ops\nx,-,1\nx,5,1\n", "line 2: column \"ms\" has no number here"),
            ("name,ms\nx,0x10\nx,5\n", "line 2: column \"ms\" has no number here"),
            ("name,ms\nx,hush\n", "line 2: no column has a number, in this row or below"),
            ("a,1\nb,2\n", "line 1: a number heads column 2"),
            ("ms,ms\n1,2\n", "line 1: two columns are called \"ms\""),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with(wanted) && !error.contains("hush"), "{error}");
        }
    }
}
