//! Variables as parameters of statements.

use super::value::ScriptValue;
use dbtime_load::program::SqlValue as Parameter;
use dbtime_model::SqlDialect;

/// A parameter as the original sends it: everything is a text to PostgreSQL, a NULL too. The
/// others are told of types, for they do not look into texts.
pub(super) fn parameter(
    shown: Option<Result<ScriptValue, &str>>,
    dialect: SqlDialect,
) -> Parameter {
    let value = match shown {
        None => return Parameter::Null,
        Some(Ok(ScriptValue::Int(value))) => return Parameter::Integer(value),
        Some(Err(text)) if dialect == SqlDialect::Postgres => {
            return Parameter::Text(text.to_owned());
        }
        Some(Ok(value)) if dialect == SqlDialect::Postgres => {
            let mut text = String::new();
            value.write(&mut text);
            return Parameter::Text(text);
        }
        Some(Err(text)) => match text.parse::<i64>().map(ScriptValue::Int) {
            Ok(value) => Ok(value),
            Err(_) => text.parse::<f64>().map(ScriptValue::Double).map_err(|_| text),
        },
        Some(Ok(value)) => Ok(value),
    };
    match value {
        Err(text) => Parameter::Text(text.to_owned()),
        Ok(ScriptValue::Null) => Parameter::Null,
        Ok(ScriptValue::Bool(value)) => Parameter::Integer(i64::from(value)),
        Ok(ScriptValue::Int(value)) => Parameter::Integer(value),
        Ok(ScriptValue::Double(value)) => Parameter::Real(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgres_is_told_texts_and_the_others_are_told_values() {
        let (double, text) =
            (Some(Ok(ScriptValue::Double(0.5))), |text: &str| Parameter::Text(text.into()));
        let of =
            |shown| (parameter(shown, SqlDialect::Postgres), parameter(shown, SqlDialect::Mysql));
        assert_eq!(of(None), (Parameter::Null, Parameter::Null));
        assert_eq!(of(Some(Ok(ScriptValue::Null))), (text("NULL"), Parameter::Null));
        assert_eq!(
            of(Some(Ok(ScriptValue::Int(7)))),
            (Parameter::Integer(7), Parameter::Integer(7))
        );
        assert_eq!(of(Some(Ok(ScriptValue::Bool(true)))), (text("true"), Parameter::Integer(1)));
        assert_eq!(of(double), (text("0.5"), Parameter::Real(0.5)));
        assert_eq!(of(Some(Err("10"))), (text("10"), Parameter::Integer(10)));
        assert_eq!(of(Some(Err("1.5"))), (text("1.5"), Parameter::Real(1.5)));
        assert_eq!(of(Some(Err("it's"))), (text("it's"), text("it's")));
    }
}
