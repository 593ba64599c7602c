//! The variables of one client.

use super::names::{self, Names, Slot};
use super::value::Value;
use std::sync::Arc;

/// What a variable holds.
#[derive(Clone, Debug, Default)]
enum Held {
    /// It was never set.
    #[default]
    Unset,
    /// A text from outside, and what it stands for once somebody has asked.
    Text(String, Option<Value>),
    /// A computed value.
    Value(Value),
}

/// The variables of one client, by [`Slot`].
#[derive(Clone, Debug)]
pub struct Variables {
    names: Arc<Names>,
    held: Vec<Held>,
}

impl Variables {
    /// None of them is set.
    pub fn new(names: Arc<Names>) -> Self {
        let held = vec![Held::Unset; names.len()];
        Self { names, held }
    }

    /// A variable's name.
    pub fn name(&self, slot: Slot) -> &str {
        self.names.name(slot)
    }

    /// Whether a variable is set.
    pub fn is_set(&self, slot: Slot) -> bool {
        !matches!(self.held[slot.0 as usize], Held::Unset)
    }

    /// Its value in an expression.
    ///
    /// # Errors
    /// It is not set, or its text stands for nothing.
    #[inline]
    pub fn value(&mut self, slot: Slot) -> Result<Value, String> {
        match &mut self.held[slot.0 as usize] {
            Held::Value(value) | Held::Text(_, Some(value)) => Ok(*value),
            Held::Unset => Err(format!("undefined variable \"{}\"", self.names.name(slot))),
            Held::Text(text, parsed) => {
                let value = Value::parse(text, self.names.name(slot))?;
                *parsed = Some(value);
                Ok(value)
            }
        }
    }

    /// The computed value, or the text.
    pub fn shown(&self, slot: Slot) -> Option<Result<Value, &str>> {
        match &self.held[slot.0 as usize] {
            Held::Unset => None,
            Held::Text(text, _) => Some(Err(text)),
            Held::Value(value) => Some(Ok(*value)),
        }
    }

    /// Writes it as it goes into SQL; says whether it is set.
    #[inline]
    pub fn write(&self, slot: Slot, out: &mut String) -> bool {
        match &self.held[slot.0 as usize] {
            Held::Unset => return false,
            Held::Text(text, _) => out.push_str(text),
            Held::Value(value) => value.write(out),
        }
        true
    }

    /// Sets it to a value; `by` is the command that does so.
    ///
    /// # Errors
    /// A name that no variable may have.
    #[inline]
    pub fn set(&mut self, by: &str, slot: Slot, value: Value) -> Result<(), String> {
        self.check(by, slot)?;
        self.held[slot.0 as usize] = Held::Value(value);
        Ok(())
    }

    /// Sets it to a text.
    ///
    /// # Errors
    /// As for [`Self::set`].
    pub fn set_text(&mut self, by: &str, slot: Slot, text: &str) -> Result<(), String> {
        self.check(by, slot)?;
        match &mut self.held[slot.0 as usize] {
            Held::Text(old, value) => {
                old.clear();
                old.push_str(text);
                *value = None;
            }
            other => *other = Held::Text(text.to_owned(), None),
        }
        Ok(())
    }

    /// Sets the variable of that name, if any script has it: nobody could read it otherwise.
    ///
    /// # Errors
    /// As for [`Self::set`].
    pub(crate) fn set_named(&mut self, by: &str, name: &str, text: &str) -> Result<(), String> {
        match self.names.find(name) {
            Some(slot) => self.set_text(by, slot, text),
            None if names::is_valid(name) => Ok(()),
            None => Err(invalid(by, name)),
        }
    }

    /// Only what is not set yet can have a bad name.
    #[inline]
    fn check(&self, by: &str, slot: Slot) -> Result<(), String> {
        let name = self.names.name(slot);
        if self.is_set(slot) || names::is_valid(name) { Ok(()) } else { Err(invalid(by, name)) }
    }
}

fn invalid(by: &str, name: &str) -> String {
    format!("{by}: invalid variable name: \"{name}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_it_came_and_counted_as_what_it_means() {
        let mut names = Names::default();
        let (a, b) = (names.slot("a"), names.slot("1b"));
        let mut variables = Variables::new(Arc::new(names));
        assert_eq!(variables.value(a).unwrap_err(), "undefined variable \"a\"");
        variables.set_text("gset", a, "007").expect("a good name");
        assert_eq!(variables.value(a), Ok(Value::Int(7)));
        let mut out = String::new();
        assert!(variables.write(a, &mut out) && !variables.write(b, &mut out));
        assert_eq!(out, "007");
        variables.set("set", a, Value::Double(0.5)).expect("a good name");
        assert_eq!(variables.shown(a), Some(Ok(Value::Double(0.5))));
        let error = variables.set("set", b, Value::Null).unwrap_err();
        assert_eq!(error, "set: invalid variable name: \"1b\"");
    }

    #[test]
    fn names_that_nobody_reads_are_only_checked() {
        let mut variables = Variables::new(Arc::new(Names::default()));
        assert_eq!(variables.set_named("gset", "x", "1"), Ok(()));
        let error = variables.set_named("gset", "?column?", "1").unwrap_err();
        assert_eq!(error, "gset: invalid variable name: \"?column?\"");
    }
}
