//! `[keys]` and `[[operation]]`: what a transaction draws, and the statements it executes.

use super::key::{self, KeyContext, KeyScope};
use super::{distinct, identifier, limits, order};
use crate::session::RetryPolicy;
use crate::statement::{Statement, StatementKind};
use crate::think::ThinkTime;
use crate::workload::document::{DocumentNode, DocumentResult, DocumentSection, abridged};
use crate::workload::script::{ScriptDocument, ScriptKey, ScriptStep, WorkloadScripts};
use crate::workload::{Operation, sql};
use dbtime_model::{ErrorClass, OperationId, StatementId};
use std::collections::BTreeMap;

/// What this part of the file says.
pub(super) struct OperationProgram {
    pub(super) operations: Vec<Operation>,
    pub(super) statements: Vec<Statement>,
    pub(super) scripts: WorkloadScripts,
}

/// Statements, the boundaries of transactions included: a [`StatementId`] has 16 bits.
const STATEMENTS_MAX: usize = 65_535;
const OPERATIONS_MAX: usize = 1000;
const KEYS_MAX: usize = 2000;
const REPEAT_MAX: i64 = 10_000;

pub(super) fn read(
    root: &DocumentSection<'_, '_>,
    things: &KeyContext<'_>,
) -> DocumentResult<OperationProgram> {
    root.need("operation", "at least one [[operation]]")?;
    let sections = root.sections("operation")?;
    if sections.is_empty() || sections.len() > OPERATIONS_MAX {
        let found = format!("{} operations", sections.len());
        return Err(root.unexpected(found, "1 to 1000 of them"));
    }
    let keys = OperationKeys::read(root, &sections, things)?;
    let mut builder =
        OperationBuilder { keys: &keys, used: vec![false; keys.keys.len()], statements: vec![] };
    let mut operations: Vec<Operation> = Vec::new();
    let mut scripts = Vec::new();
    for (position, section) in sections.into_iter().enumerate() {
        let operation = operation(root, &section, &operations)?;
        scripts.push(builder.script(position, &section, &operation.name)?);
        operations.push(operation);
    }
    if let Some(unused) = builder.used.iter().position(|used| !used) {
        let name = &keys.keys[unused].name;
        return Err(keys.nodes[unused]
            .refuse(format!("key `{name}`, which no statement uses"), "every key to be used"));
    }
    let statements = builder.statements;
    Ok(OperationProgram {
        operations,
        statements,
        scripts: WorkloadScripts { keys: keys.keys, operations: scripts },
    })
}

fn operation(
    root: &DocumentSection<'_, '_>,
    section: &DocumentSection<'_, '_>,
    earlier: &[Operation],
) -> DocumentResult<Operation> {
    let name_node = section.need("name", "the operation's name in quotes")?;
    let name = identifier(&name_node)?.to_owned();
    let mut section = section.clone();
    section.title = format!("operation `{name}`");
    section.allow(&[
        "name",
        "weight",
        "transaction",
        "think",
        "retry",
        "limits",
        "keys",
        "statement",
    ])?;
    distinct(&name_node, "operation", &name, earlier.iter().map(|op| op.name.as_str()))?;
    let weight = section.get("weight").map_or(Ok(1.0), |node| key::weight(&node))?;
    let think = section.get("think").or_else(|| root.get("think"));
    let retry = section.get("retry").or_else(|| root.get("retry"));
    Ok(Operation {
        name,
        weight,
        think: think.map(|node| pause(&node)).transpose()?,
        retry: retry.map_or(Ok(RetryPolicy::default()), |node| read_retry(&node))?,
        limits: limits(&section)?,
    })
}

fn pause(node: &DocumentNode<'_, '_>) -> DocumentResult<ThinkTime> {
    let forms = "a pause such as 10ms, exp:10ms or uniform:5ms..15ms";
    // A bare number is seconds, with quotes around it or without.
    let written = match node.number() {
        Ok(seconds) => seconds.to_string(),
        Err(_) => node.text()?.to_owned(),
    };
    written.parse().map_err(|_| node.unexpected(forms))
}

fn read_retry(node: &DocumentNode<'_, '_>) -> DocumentResult<RetryPolicy> {
    let section = node.section("retry")?;
    section.allow(&["on", "max_tries", "backoff"])?;
    let list = section.need("on", "a list of error classes, such as [\"conflict\"]")?;
    let class = |node: DocumentNode<'_, '_>| {
        let name = node.text()?;
        let known = ErrorClass::ALL.iter().map(|class| class.name());
        let found = ErrorClass::ALL.iter().find(|class| class.name() == name);
        found.copied().ok_or_else(|| node.unknown("error class", name, known))
    };
    let on: Vec<ErrorClass> = list.list()?.into_iter().map(class).collect::<DocumentResult<_>>()?;
    if on.is_empty() {
        return Err(list.unexpected("a list of at least one error class"));
    }
    let tries = section.need("max_tries", "attempts in all, the first included")?;
    let max_tries = tries.integer(1..=1_000_000)? as u32;
    let backoff = section.get("backoff").map(|node| pause(&node)).transpose()?;
    Ok(RetryPolicy { on, max_tries, backoff })
}

/// Every key of the file, the shared ones first.
struct OperationKeys<'t, 'd> {
    keys: Vec<ScriptKey>,
    nodes: Vec<DocumentNode<'t, 'd>>,
    /// What each operation can name: its own keys, then the shared ones.
    scopes: Vec<BTreeMap<&'t str, u16>>,
}

impl<'t, 'd> OperationKeys<'t, 'd> {
    fn read(
        root: &DocumentSection<'t, 'd>,
        operations: &[DocumentSection<'t, 'd>],
        things: &KeyContext<'_>,
    ) -> DocumentResult<Self> {
        let mut nodes: Vec<(&str, DocumentNode<'t, 'd>)> = Vec::new();
        let shared = Self::collect(root, &BTreeMap::new(), &mut nodes)?;
        // Which scope a key reads in: none of the operations for a shared one.
        let mut owners = vec![None; nodes.len()];
        let mut scopes = Vec::new();
        for (position, section) in operations.iter().enumerate() {
            scopes.push(Self::collect(section, &shared, &mut nodes)?);
            owners.resize(nodes.len(), Some(position));
        }
        let mut keys = Vec::new();
        for ((name, node), owner) in nodes.iter().zip(owners) {
            let names = owner.map_or(&shared, |owner: usize| &scopes[owner]);
            keys.push(Self::key(name, node, &KeyScope { things, names })?);
        }
        let nodes = nodes.into_iter().map(|(_, node)| node).collect();
        let mut keys = Self { keys, nodes, scopes };
        keys.check_reads()?;
        Ok(keys)
    }

    /// Gives the keys of a section slots, and returns what can be named there.
    fn collect(
        section: &DocumentSection<'t, 'd>,
        shared: &BTreeMap<&'t str, u16>,
        nodes: &mut Vec<(&'t str, DocumentNode<'t, 'd>)>,
    ) -> DocumentResult<BTreeMap<&'t str, u16>> {
        let mut names = shared.clone();
        let Some(table) = section.get("keys") else { return Ok(names) };
        for (name, node) in table.section("keys")?.entries() {
            let reserved = matches!(name, "scale" | "min" | "max");
            if reserved || !super::is_sql_name(name) {
                return Err(node.refuse(
                    format!("key name `{}`", abridged(name)),
                    "a name of ASCII letters, digits and `_`, not scale, min or max",
                ));
            }
            if nodes.len() == KEYS_MAX {
                return Err(node.refuse("a key too many", format!("at most {KEYS_MAX} keys")));
            }
            names.insert(name, nodes.len() as u16);
            nodes.push((name, node));
        }
        Ok(names)
    }

    fn key(
        name: &str,
        node: &DocumentNode<'_, '_>,
        scope: &KeyScope<'_>,
    ) -> DocumentResult<ScriptKey> {
        let title = format!("key `{name}`");
        let spec = key::spec(node, &title, &["draw"], scope)?;
        let draw = node.section(&title).ok().and_then(|section| section.get("draw"));
        let per_statement = match draw {
            None => false,
            Some(draw) => match draw.text()? {
                "transaction" => false,
                "statement" => true,
                _ => return Err(draw.unexpected("\"transaction\" or \"statement\"")),
            },
        };
        Ok(ScriptKey { name: name.to_owned(), spec, per_statement })
    }

    /// Refuses circles and formulas over texts; what reads a key that is drawn per statement is
    /// drawn per statement itself.
    fn check_reads(&mut self) -> DocumentResult<()> {
        let mut sorted = Vec::new();
        for (slot, key) in self.keys.iter().enumerate() {
            let node = &self.nodes[slot];
            key::integers_only(node, &key.spec, |other| {
                let other = &self.keys[other as usize];
                (other.name.as_str(), other.spec.kind())
            })?;
            order::after_reads(slot as u16, &|key| self.reads(key), &mut sorted).map_err(|_| {
                node.refuse(
                    format!("key `{}` that depends on itself", key.name),
                    "keys that are computed from others",
                )
            })?;
        }
        for slot in sorted {
            let promoted =
                self.reads(slot).iter().any(|&key| self.keys[key as usize].per_statement);
            self.keys[slot as usize].per_statement |= promoted;
        }
        Ok(())
    }

    fn reads(&self, key: u16) -> Vec<u16> {
        self.keys[key as usize].spec.slots()
    }
}

/// Builds scripts and numbers their statements.
struct OperationBuilder<'k, 't, 'd> {
    keys: &'k OperationKeys<'t, 'd>,
    used: Vec<bool>,
    statements: Vec<Statement>,
}

impl OperationBuilder<'_, '_, '_> {
    fn script(
        &mut self,
        position: usize,
        section: &DocumentSection<'_, '_>,
        name: &str,
    ) -> DocumentResult<ScriptDocument> {
        let operation = OperationId(position as u16);
        let transaction = match section.get("transaction") {
            None => None,
            Some(node) => match node.text()? {
                "none" => None,
                "read" => Some(false),
                "write" => Some(true),
                _ => return Err(node.unexpected("\"none\", \"read\" or \"write\"")),
            },
        };
        let list = section.need("statement", "at least one [[operation.statement]]")?;
        let entries = section.sections("statement")?;
        // BEGIN, COMMIT and ROLLBACK need numbers too.
        if entries.is_empty() || self.statements.len() + entries.len() + 3 > STATEMENTS_MAX {
            let found = format!("{} statements in operation `{name}`", entries.len());
            return Err(list.refuse(found, "at least one, and at most 65535 in the file"));
        }
        let first = self.statements.len();
        let mut script = ScriptDocument::default();
        if let Some(write) = transaction {
            let begin = self.number(operation, "begin", StatementKind::Begin { write });
            script.steps.push(ScriptStep::plain(begin));
        }
        for entry in entries {
            self.statement(operation, first, entry, &mut script)?;
        }
        if transaction.is_some() {
            let commit = self.number(operation, "commit", StatementKind::Commit);
            script.steps.push(ScriptStep::plain(commit));
            // Executed by the session when something fails, hence no step.
            self.number(operation, "rollback", StatementKind::Rollback);
        }
        Ok(script)
    }

    fn number(&mut self, operation: OperationId, name: &str, kind: StatementKind) -> StatementId {
        self.statements.push(Statement { operation, name: name.to_owned(), kind });
        StatementId((self.statements.len() - 1) as u16)
    }

    /// Reads one entry; statements from `first` on belong to the same operation.
    fn statement(
        &mut self,
        operation: OperationId,
        first: usize,
        mut section: DocumentSection<'_, '_>,
        script: &mut ScriptDocument,
    ) -> DocumentResult<()> {
        let text = section.need("sql", "the SQL in quotes")?;
        let compiled =
            sql::compile(text.text()?).map_err(|error| text.refuse(error.found, error.expected))?;
        let name = match section.get("name") {
            None => default_name(&compiled.text, &self.statements[first..]),
            Some(node) => {
                let name = identifier(&node)?.to_owned();
                if matches!(name.as_str(), "begin" | "commit" | "rollback") {
                    return Err(node.unexpected("a name other than those of the boundaries"));
                }
                let earlier = self.statements[first..].iter().map(|s| s.name.as_str());
                distinct(&node, "statement", &name, earlier)?;
                name
            }
        };
        section.title = format!("statement `{name}`");
        section.allow(&["name", "sql", "repeat", "pause"])?;
        let repeat = section.get("repeat").map_or(Ok(1), |node| node.integer(1..=REPEAT_MAX))?;
        let scope = &self.keys.scopes[operation.0 as usize];
        let slot = |name: &String| {
            let unknown = || text.unknown("parameter key", name, scope.keys().copied());
            scope.get(name.as_str()).copied().ok_or_else(unknown)
        };
        let parameters: Vec<u16> =
            compiled.names.iter().map(slot).collect::<DocumentResult<_>>()?;
        let draws = self.draws(&parameters, &mut script.start);
        let statement = self.number(operation, &name, StatementKind::Sql(compiled.text));
        let pause = section.get("pause").map(|node| pause(&node)).transpose()?;
        script.steps.push(ScriptStep {
            statement,
            draws,
            parameters,
            repeat: repeat as u32,
            pause,
        });
        Ok(())
    }

    /// The keys to draw before each execution; those drawn once per transaction go to `start`.
    fn draws(&mut self, parameters: &[u16], start: &mut Vec<u16>) -> Vec<u16> {
        let mut needed = Vec::new();
        for &parameter in parameters {
            // Circles were refused when the keys were read.
            let _ = order::after_reads(parameter, &|key| self.keys.reads(key), &mut needed);
        }
        let per_statement = |key: &u16| self.keys.keys[*key as usize].per_statement;
        needed.iter().for_each(|&key| self.used[key as usize] = true);
        let (draws, once): (Vec<u16>, Vec<u16>) = needed.into_iter().partition(per_statement);
        for key in once {
            if !start.contains(&key) {
                start.push(key);
            }
        }
        draws
    }
}

/// `select 2`: the statement's first word, and which statement of the operation it is.
fn default_name(sql: &str, earlier: &[Statement]) -> String {
    let word: String = sql.chars().take_while(char::is_ascii_alphabetic).take(20).collect();
    let word = if word.is_empty() { "statement".to_owned() } else { word.to_ascii_lowercase() };
    let mut number = earlier.iter().filter(|s| matches!(s.kind, StatementKind::Sql(_))).count() + 1;
    let taken = |name: &String| earlier.iter().any(|s| s.name == *name);
    let mut name = format!("{word} {number}");
    while taken(&name) {
        number += 1;
        name = format!("{word} {number}");
    }
    name
}
