//! What a session is set to when it begins.

use super::url_values::UrlValues;

/// Settings of the session that the environment alone names; `default` is the server's own.
const SETTINGS: [(&str, &str); 3] =
    [("datestyle", "PGDATESTYLE"), ("timezone", "PGTZ"), ("geqo", "PGGEQO")];

/// Settings of the session.
pub(super) fn settings(
    given: &mut UrlValues,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let fallback = given.take("fallback_application_name");
    let name = given.take("application_name").or(fallback);
    let name = ("application_name", name.unwrap_or_else(|| "dbtime".to_owned()));
    let mut own = |name: &'static str| given.take(name).map(|value| (name, value));
    let of_target = [own("options"), own("client_encoding")].into_iter().flatten();
    let is_set = |value: &String| !value.is_empty() && !value.eq_ignore_ascii_case("default");
    let of_variables = SETTINGS
        .into_iter()
        .filter_map(|(name, from)| Some((name, variable(from).filter(is_set)?)));
    let all = std::iter::once(name).chain(of_target).chain(of_variables);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}
