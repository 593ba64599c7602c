//! Rows to groups of rows in the format of Apache Parquet.
//!
//! Numbers are split into their bytes, and gzip packs the streams of equal bytes: of a duration the
//! upper ones are nearly all zero. That takes half of what plain numbers take, and every reader of
//! the format knows both.

use super::columns::{COLUMNS, ColumnValue, StatementColumn, part_ns};
use super::execution_row::ExecutionRow;
use super::statement_names::StatementNames;
use parquet::basic::{
    Compression, Encoding, GzipLevel, LogicalType, Repetition, Type as PhysicalType,
};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::io::Write;
use std::sync::Arc;

/// The version of the meaning of the columns, in the file's own metadata.
const SCHEMA: &str = "1";

/// Writes groups of rows to a file.
pub(super) struct RowGroupWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    names: StatementNames,
    /// Kept for their memory.
    numbers: Vec<i64>,
    texts: Vec<ByteArray>,
    /// Of each row 1, or 0 where its value is null.
    levels: Vec<i16>,
}

impl<W: Write + Send> RowGroupWriter<W> {
    pub(super) fn new(out: W, names: StatementNames) -> Result<Self, ParquetError> {
        let file = SerializedFileWriter::new(out, schema()?, Arc::new(properties()?))?;
        let (numbers, texts, levels) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { file, names, numbers, texts, levels })
    }

    /// Writes a group of rows; `pause` is called between its columns.
    pub(super) fn write(
        &mut self,
        rows: &[ExecutionRow],
        mut pause: impl FnMut(),
    ) -> Result<(), ParquetError> {
        let Self { file, names, numbers, texts, levels } = self;
        names.learn(rows);
        let mut group = file.next_row_group()?;
        for StatementColumn { value, .. } in &COLUMNS {
            let Some(mut column) = group.next_column()? else { break };
            pause();
            numbers.clear();
            texts.clear();
            levels.clear();
            match *value {
                ColumnValue::Number(value) => fill(rows, value, numbers, levels),
                ColumnValue::Part(part) => fill(rows, |row| part_ns(row, part), numbers, levels),
                ColumnValue::Text(value) => {
                    let bytes = |row: &ExecutionRow| Some(ByteArray::from(&*value(row, names)?));
                    fill(rows, bytes, texts, levels);
                    write_texts(&mut column, texts, levels)?;
                    column.close()?;
                    continue;
                }
            }
            column.typed::<Int64Type>().write_batch(numbers, Some(levels), None)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the file's end, without which it is none, and returns what it was written to.
    pub(super) fn finish(self) -> Result<W, ParquetError> {
        self.file.into_inner()
    }
}

fn write_texts(
    column: &mut SerializedColumnWriter<'_>,
    texts: &[ByteArray],
    levels: &[i16],
) -> Result<(), ParquetError> {
    column.typed::<ByteArrayType>().write_batch(texts, Some(levels), None).map(drop)
}

/// Adds the values of rows that have one, and for each row whether it has.
fn fill<T>(
    rows: &[ExecutionRow],
    value: impl Fn(&ExecutionRow) -> Option<T>,
    values: &mut Vec<T>,
    levels: &mut Vec<i16>,
) {
    for row in rows {
        let value = value(row);
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
}

fn schema() -> Result<TypePtr, ParquetError> {
    let fields = COLUMNS.iter().map(|column| field(column).map(Arc::new));
    let fields = fields.collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("statements").with_fields(fields).build()?;
    Ok(Arc::new(schema))
}

fn field(column: &StatementColumn) -> Result<Type, ParquetError> {
    let field = match column.value {
        ColumnValue::Text(_) => Type::primitive_type_builder(column.name, PhysicalType::BYTE_ARRAY)
            .with_logical_type(Some(LogicalType::String)),
        _ => Type::primitive_type_builder(column.name, PhysicalType::INT64),
    };
    field.with_repetition(Repetition::OPTIONAL).build()
}

fn properties() -> Result<WriterProperties, ParquetError> {
    let note = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
    let notes =
        vec![note("dbtime.version", env!("CARGO_PKG_VERSION")), note("dbtime.schema", SCHEMA)];
    let is_text = |column: &&StatementColumn| matches!(column.value, ColumnValue::Text(_));
    let path = |column: &StatementColumn| ColumnPath::from(column.name);
    let numbers = WriterProperties::builder()
        .set_compression(Compression::GZIP(GzipLevel::try_new(4)?))
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::BYTE_STREAM_SPLIT)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_key_value_metadata(Some(notes));
    let properties = COLUMNS.iter().filter(is_text).fold(numbers, |properties, column| {
        properties
            .set_column_dictionary_enabled(path(column), true)
            .set_column_encoding(path(column), Encoding::PLAIN)
    });
    Ok(properties.build())
}
