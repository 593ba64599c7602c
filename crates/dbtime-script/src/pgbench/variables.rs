//! The variables of one client.

use super::names::{self, NameSlot, NameTable};
use super::value::ScriptValue;
use std::sync::Arc;

/// What a variable holds.
#[derive(Clone, Debug, Default)]
enum VariableValue {
    /// It was never set.
    #[default]
    Unset,
    /// A text from outside, and what it stands for once somebody has asked.
    Text(String, Option<ScriptValue>),
    /// A computed value.
    Value(ScriptValue),
}

/// The variables of one client, by [`NameSlot`].
#[derive(Clone, Debug)]
pub(crate) struct ClientVariables {
    names: Arc<NameTable>,
    held: Vec<VariableValue>,
}

impl ClientVariables {
    /// None of them is set.
    pub(crate) fn new(names: Arc<NameTable>) -> Self {
        let held = vec![VariableValue::Unset; names.len()];
        Self { names, held }
    }

    /// A variable's name.
    pub(crate) fn name(&self, slot: NameSlot) -> &str {
        self.names.name(slot)
    }

    /// Whether a variable is set.
    pub(crate) fn is_set(&self, slot: NameSlot) -> bool {
        !matches!(self.held[slot.0 as usize], VariableValue::Unset)
    }

    /// Its value in an expression.
    ///
    /// # Errors
    /// It is not set, or its text stands for nothing.
    #[inline]
    pub(crate) fn value(&mut self, slot: NameSlot) -> Result<ScriptValue, String> {
        match &mut self.held[slot.0 as usize] {
            VariableValue::Value(value) | VariableValue::Text(_, Some(value)) => Ok(*value),
            VariableValue::Unset => {
                Err(format!("undefined variable \"{}\"", self.names.name(slot)))
            }
            VariableValue::Text(text, parsed) => {
                let value = ScriptValue::parse(text, self.names.name(slot))?;
                *parsed = Some(value);
                Ok(value)
            }
        }
    }

    /// The computed value, or the text.
    pub(crate) fn shown(&self, slot: NameSlot) -> Option<Result<ScriptValue, &str>> {
        match &self.held[slot.0 as usize] {
            VariableValue::Unset => None,
            VariableValue::Text(text, _) => Some(Err(text)),
            VariableValue::Value(value) => Some(Ok(*value)),
        }
    }

    /// Writes it as it goes into SQL; says whether it is set.
    #[inline]
    pub(crate) fn write(&self, slot: NameSlot, out: &mut String) -> bool {
        match &self.held[slot.0 as usize] {
            VariableValue::Unset => return false,
            VariableValue::Text(text, _) => out.push_str(text),
            VariableValue::Value(value) => value.write(out),
        }
        true
    }

    /// Sets it to a value; `by` is the command that does so.
    ///
    /// # Errors
    /// A name that no variable may have.
    #[inline]
    pub(crate) fn set(
        &mut self,
        by: &str,
        slot: NameSlot,
        value: ScriptValue,
    ) -> Result<(), String> {
        self.check(by, slot)?;
        self.held[slot.0 as usize] = VariableValue::Value(value);
        Ok(())
    }

    /// Sets it to a text.
    ///
    /// # Errors
    /// As for [`Self::set`].
    pub(crate) fn set_text(&mut self, by: &str, slot: NameSlot, text: &str) -> Result<(), String> {
        self.check(by, slot)?;
        match &mut self.held[slot.0 as usize] {
            VariableValue::Text(old, value) => {
                old.clear();
                old.push_str(text);
                *value = None;
            }
            other => *other = VariableValue::Text(text.to_owned(), None),
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
    fn check(&self, by: &str, slot: NameSlot) -> Result<(), String> {
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
        let mut names = NameTable::default();
        let (a, b) = (names.slot("a"), names.slot("1b"));
        let mut variables = ClientVariables::new(Arc::new(names));
        assert_eq!(variables.value(a).unwrap_err(), "undefined variable \"a\"");
        variables.set_text("gset", a, "007").expect("a good name");
        assert_eq!(variables.value(a), Ok(ScriptValue::Int(7)));
        let mut out = String::new();
        assert!(variables.write(a, &mut out) && !variables.write(b, &mut out));
        assert_eq!(out, "007");
        variables.set("set", a, ScriptValue::Double(0.5)).expect("a good name");
        assert_eq!(variables.shown(a), Some(Ok(ScriptValue::Double(0.5))));
        let error = variables.set("set", b, ScriptValue::Null).unwrap_err();
        assert_eq!(error, "set: invalid variable name: \"1b\"");
    }

    #[test]
    fn names_that_nobody_reads_are_only_checked() {
        let mut variables = ClientVariables::new(Arc::new(NameTable::default()));
        assert_eq!(variables.set_named("gset", "x", "1"), Ok(()));
        let error = variables.set_named("gset", "?column?", "1").unwrap_err();
        assert_eq!(error, "gset: invalid variable name: \"?column?\"");
    }
}
