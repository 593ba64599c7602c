//! A digest of logs as a file of Apache Parquet: a row for each class. The command line puts the
//! bytes where they are wanted.

use dbtime_model::Part;
use dbtime_model::log_digest::{DigestClass, DigestTimes, LogDigest, LogFigure, LogFigureUnit};
use parquet::basic::{Compression, GzipLevel, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// The version of the meaning of the columns, in the file's own metadata.
const SCHEMA: &str = "1";

/// The parts that logs divide durations into.
const PARTS: [Part; 4] = [Part::Lock, Part::IoRead, Part::Cpu, Part::Other];

/// A column: its name, and where its values come from; `None` is null.
struct DigestColumn {
    name: String,
    value: ClassValue,
}

enum ClassValue {
    Text(fn(&DigestClass) -> Option<&str>),
    Whole(fn(&DigestClass) -> Option<i64>),
    Time(fn(&DigestTimes) -> f64),
    /// The total of a part. Unit: microseconds.
    Part(Part),
    /// The total of a figure; times are microseconds.
    Figure(LogFigure),
}

/// The file, whole: the classes in the order of the digest, behind them what was merged for want of
/// room.
///
/// Shape: times are microseconds and end in `_us`; figures and parts are totals. Errors: values
/// that the format has no room for.
pub fn class_rows(digest: &LogDigest) -> Result<Vec<u8>, ParquetError> {
    let classes: Vec<&DigestClass> = digest.classes.iter().chain(&digest.others).collect();
    let columns = columns();
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema(&columns)?, Arc::new(properties(digest)?))?;
    let mut group = file.next_row_group()?;
    for column in &columns {
        let Some(mut writer) = group.next_column()? else { break };
        write_column(&mut writer, &column.value, &classes)?;
        writer.close()?;
    }
    group.close()?;
    file.into_inner()
}

fn columns() -> Vec<DigestColumn> {
    let named = |name: &str, value| DigestColumn { name: name.to_owned(), value };
    let mut columns = vec![
        named("id", ClassValue::Text(|class| Some(class.id.as_str()))),
        named("kind", ClassValue::Text(|class| Some(class.kind.noun()))),
        named("text", ClassValue::Text(|class| Some(class.text.as_str()))),
        named("percona_id", ClassValue::Text(|class| class.percona_id.as_deref())),
        named("count", ClassValue::Whole(|class| Some(signed(class.count)))),
        named("logged", ClassValue::Whole(|class| Some(signed(class.logged)))),
        named("errors", ClassValue::Whole(|class| class.errors.map(signed))),
        named("first_us", ClassValue::Whole(|class| class.first_us)),
        named("last_us", ClassValue::Whole(|class| class.last_us)),
        named("total_us", ClassValue::Time(|times| times.total_us)),
        named("mean_us", ClassValue::Time(|times| times.mean_us)),
        named("min_us", ClassValue::Time(|times| times.min_us)),
        named("p50_us", ClassValue::Time(|times| times.p50_us)),
        named("p90_us", ClassValue::Time(|times| times.p90_us)),
        named("p95_us", ClassValue::Time(|times| times.p95_us)),
        named("p99_us", ClassValue::Time(|times| times.p99_us)),
        named("p999_us", ClassValue::Time(|times| times.p999_us)),
        named("max_us", ClassValue::Time(|times| times.max_us)),
    ];
    let part = |part: Part| named(&format!("{}_us", part.name()), ClassValue::Part(part));
    columns.extend(PARTS.map(part));
    columns.extend(LogFigure::ALL.map(|figure| {
        let unit = if figure.unit() == LogFigureUnit::Time { "_us" } else { "" };
        named(&format!("{}{unit}", figure.name()), ClassValue::Figure(figure))
    }));
    columns
}

/// A count as the format has numbers.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    value: &ClassValue,
    classes: &[&DigestClass],
) -> Result<(), ParquetError> {
    match value {
        ClassValue::Text(of) => {
            let (values, levels) = filled(classes, |class| of(class).map(ByteArray::from));
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
        ClassValue::Whole(of) => {
            let (values, levels) = filled(classes, of);
            writer.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        value => {
            let (values, levels) = filled(classes, |class| real(class, value));
            writer.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    Ok(())
}

/// A value of a column of real numbers.
fn real(class: &DigestClass, value: &ClassValue) -> Option<f64> {
    match value {
        ClassValue::Time(of) => class.times.as_ref().map(of),
        ClassValue::Part(part) => class.parts_us.get(part.name()).copied(),
        ClassValue::Figure(figure) => Some(class.figures.get(figure.name())?.total),
        ClassValue::Text(_) | ClassValue::Whole(_) => None,
    }
}

/// The values of classes that have one, and for each class whether it has.
fn filled<T>(
    classes: &[&DigestClass],
    value: impl Fn(&DigestClass) -> Option<T>,
) -> (Vec<T>, Vec<i16>) {
    let values: Vec<Option<T>> = classes.iter().map(|class| value(class)).collect();
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (values.into_iter().flatten().collect(), levels)
}

fn schema(columns: &[DigestColumn]) -> Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(|column| field(column).map(Arc::new));
    let fields = fields.collect::<Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder("classes").with_fields(fields).build()?))
}

fn field(column: &DigestColumn) -> Result<Type, ParquetError> {
    let field = match column.value {
        ClassValue::Text(_) => Type::primitive_type_builder(&column.name, PhysicalType::BYTE_ARRAY)
            .with_logical_type(Some(LogicalType::String)),
        ClassValue::Whole(_) => Type::primitive_type_builder(&column.name, PhysicalType::INT64),
        _ => Type::primitive_type_builder(&column.name, PhysicalType::DOUBLE),
    };
    field.with_repetition(Repetition::OPTIONAL).build()
}

fn properties(digest: &LogDigest) -> Result<WriterProperties, ParquetError> {
    let note = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
    let notes = vec![
        note("dbtime.version", &digest.dbtime),
        note("dbtime.schema", SCHEMA),
        note("dbtime.basis", &digest.basis),
    ];
    let properties = WriterProperties::builder()
        .set_compression(Compression::GZIP(GzipLevel::try_new(4)?))
        .set_key_value_metadata(Some(notes));
    Ok(properties.build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::log_digest::{ClassGrouping, DigestTimeline};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::collections::HashMap;
    use std::os::unix::fs::FileExt;

    fn digest(classes: Vec<DigestClass>) -> LogDigest {
        LogDigest {
            schema: 1,
            dbtime: "0.1.0".to_owned(),
            command: "dbtime log x".to_owned(),
            inputs: Vec::new(),
            grouping: ClassGrouping::Fingerprint,
            basis: "each statement".to_owned(),
            assumed_weight: 1.0,
            first_us: None,
            last_us: None,
            total: DigestClass::default(),
            classes,
            others: Some(DigestClass { count: 9, errors: Some(2), ..DigestClass::default() }),
            other_classes: 3,
            timeline: DigestTimeline::default(),
            events: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn there_is_a_row_for_each_class() {
        let class = DigestClass {
            id: "A1".to_owned(),
            text: "SELECT ?".to_owned(),
            count: 7,
            parts_us: [("lock".to_owned(), 1.5)].into(),
            ..DigestClass::default()
        };
        let file = tempfile::tempfile().expect("a file");
        let bytes = class_rows(&digest(vec![class])).expect("rows");
        file.write_all_at(&bytes, 0).expect("written");
        let reader = SerializedFileReader::new(file).expect("Parquet");
        let rows: Vec<HashMap<String, Field>> = reader
            .get_row_iter(None)
            .expect("rows")
            .map(|row| row.expect("a row").into_columns().into_iter().collect())
            .collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0]["text"], Field::Str("SELECT ?".to_owned()));
        assert_eq!((&rows[0]["count"], &rows[1]["count"]), (&Field::Long(7), &Field::Long(9)));
        assert_eq!((&rows[0]["lock_us"], &rows[0]["p99_us"]), (&Field::Double(1.5), &Field::Null));
        assert_eq!((&rows[0]["errors"], &rows[1]["errors"]), (&Field::Null, &Field::Long(2)));
    }
}
