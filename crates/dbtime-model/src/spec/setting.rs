//! Runs that differ from another one by some of their flags.

use super::{FlagError, RunSpec};

/// A flag of a run with its value, `true` or `false` where the flag has none: `connections=16`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlagSetting {
    /// The flag's long name without dashes.
    pub name: String,
    /// Its value, which may hold a secret.
    pub value: String,
}

/// A setting that a run cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--{}: {cause}", .setting.name)]
pub struct SettingError {
    /// Which.
    pub setting: FlagSetting,
    /// Why not.
    pub cause: FlagError,
}

impl FlagSetting {
    /// This value of the flag of this name.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }

    /// What its value means: one text for all notations of it, such as `4` and `04`, `1s` and
    /// `1000ms`, `sqlite` and `sqlite:`. Of what is no flag of a run, and no value of it, that is
    /// the value itself.
    pub fn meaning(&self) -> String {
        let set = RunSpec::default().with(std::slice::from_ref(self));
        let written = set.ok().map(RunSpec::in_one_notation);
        let written = written.and_then(|spec| serde_json::to_string(&spec).ok());
        written.unwrap_or_else(|| self.value.clone())
    }
}

impl RunSpec {
    /// The same run with these settings. Each replaces the value that the run had, or adds to them
    /// where its flag can be repeated.
    ///
    /// # Errors
    /// The first that cannot be.
    pub fn with(&self, settings: &[FlagSetting]) -> Result<Self, SettingError> {
        let mut spec = self.clone();
        for setting in settings {
            let set = spec.set(&setting.name, &setting.value);
            set.map_err(|cause| SettingError { setting: setting.clone(), cause })?;
        }
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_make_another_run_and_leave_the_first() {
        let first = [FlagSetting::new("workers", "4"), FlagSetting::new("server-set", "a=1")];
        let first = RunSpec::default().with(&first).expect("a run");
        let other = [FlagSetting::new("workers", "8"), FlagSetting::new("server-set", "a=2")];
        let other = first.with(&other).expect("a run");
        assert_eq!((first.load.workers, other.load.workers), (Some(4), Some(8)));
        assert_eq!(other.target.server_set, ["a=1", "a=2"]);
        assert_eq!(first.with(&[]), Ok(first));
    }

    #[test]
    fn a_value_means_the_same_in_each_notation() {
        let means = |name: &str, value: &str| FlagSetting::new(name, value).meaning();
        for (name, same, other) in [
            ("workers", ["4", "04"], "40"),
            ("rate", ["100", "100.0/s"], "100.5"),
            ("time", ["1s", "1000ms"], "1ms"),
            ("limit", ["p90<=5ms", "p90 <= 5000us"], "p90<=5s"),
            ("limit", ["avg<=1s", "mean ≤ 1000ms"], "max<=1s"),
            ("target", ["sqlite", "sqlite:"], "sqlite:x.db"),
            ("target", ["sqlite:./x.db", "sqlite:x.db"], "sqlite:../x.db"),
            ("target", ["null?service=1ms", "null:?service=1ms"], "null:"),
            ("target", ["postgres://h/d", "postgresql://h/d"], "postgres://h/e"),
            ("server-set", ["innodb_x=1G", "innodb-x=1024M"], "innodb_x=1"),
            ("server-set", ["shared_buffers=1GB", "shared_buffers=1024MB"], "shared_buffers=1"),
            ("server-set", ["a=ON", "a=on"], "a=OFF"),
            ("server-cpus", ["0-1", "1,0"], "0"),
            ("script", ["./a.sql", "a.sql"], "../a.sql"),
        ] {
            let [one, again] = same.map(|value| means(name, value));
            assert_eq!(one, again, "{name}");
            assert_ne!(one, means(name, other), "{name}");
        }
        assert_ne!(means("workload", "./atm"), means("workload", "atm"), "a file, and shipped");
        assert_eq!(means("innodb_x", "04"), "04", "a setting of a server");
        assert_eq!(means("workers", "many"), "many");
    }

    #[test]
    fn a_setting_that_cannot_be_is_named() {
        let settings = [FlagSetting::new("workers", "4"), FlagSetting::new("rate", "fast")];
        let error = RunSpec::default().with(&settings).expect_err("no rate");
        assert_eq!(error.setting, settings[1]);
        assert!(error.to_string().starts_with("--rate: `fast` is no rate"), "{error}");
    }
}
