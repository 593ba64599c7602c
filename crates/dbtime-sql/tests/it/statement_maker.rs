//! Statements of many forms by a seed, with what fingerprints get wrong most easily.

/// Values that are no plain numbers or strings.
const WORDS: [&str; 7] = ["NULL", "null", "TRUE", "false", "now()", "x'4D'", "_utf8'x'"];

/// Strings with something in them that may be taken for more.
const STRINGS: [&str; 6] = [r"'it\'s'", "'it''s'", r"'a\\'", "''", "'--'", "'/* a */'"];

/// Makes statements; the same seed makes the same ones.
pub(crate) struct StatementMaker {
    state: u64,
}

impl StatementMaker {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number below a limit (splitmix64).
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    /// The next statement.
    pub(crate) fn statement(&mut self) -> String {
        let text = match self.below(10) {
            0..=3 => self.select(),
            4 => self.union(),
            5 | 6 => self.insert(),
            7 => format!("UPDATE {} SET {} WHERE id = 5", self.table(), self.condition()),
            8 => format!("delete from {} where {}", self.table(), self.condition()),
            _ => self.rare(),
        };
        match self.below(12) {
            0 => format!("/* from page {} */ {text}", self.below(100)),
            1 => format!("{text} -- page {}", self.below(100)),
            2 => text.replacen(' ', "\n\t", 3),
            3 => text.replacen(' ', " # it is\n", 1),
            _ => text,
        }
    }

    fn select(&mut self) -> String {
        let columns = self.one_of(&["*", "a, b", "count(*)", "a-1, b + 2", "`c`, t.d"]);
        let (table, condition) = (self.table(), self.condition());
        let order = self.one_of(&["", " ORDER BY a ASC", " order by a asc, b desc", " GROUP BY a"]);
        let limit = match self.below(4) {
            0 => format!(" LIMIT {}", self.below(100)),
            1 => format!(" limit {}, {}", self.below(100), self.below(100)),
            2 => format!(" LIMIT {} OFFSET {}", self.below(100), self.below(100)),
            _ => String::new(),
        };
        format!("SELECT {columns} FROM {table} WHERE {condition}{order}{limit}")
    }

    fn union(&mut self) -> String {
        let (table, column) = (self.table(), self.one_of(&["a", "b"]));
        let selects: Vec<String> = (0..2 + self.below(4))
            .map(|_| format!("SELECT {column} FROM {table} WHERE a = {}", self.literal()))
            .collect();
        selects.join(self.one_of(&[" UNION ", " union all ", "\nUNION\n"]))
    }

    fn insert(&mut self) -> String {
        let verb = self.one_of(&["INSERT INTO", "insert ignore into", "REPLACE INTO", "INSERT"]);
        let rows: Vec<String> = (0..1 + self.below(5))
            .map(|_| format!("({}, {}, {})", self.literal(), self.literal(), self.literal()))
            .collect();
        let gap = self.one_of(&[",", ", ", " ,\n"]);
        let end = self.one_of(&["", "", " ON DUPLICATE KEY UPDATE a = 1"]);
        format!("{verb} {} (a, b, c) VALUES {}{end}", self.table(), rows.join(gap))
    }

    fn rare(&mut self) -> String {
        match self.below(6) {
            0 => format!("CALL add_rows({}, {})", self.literal(), self.literal()),
            1 => format!("call db{}.proc ({})", self.below(9), self.literal()),
            2 => format!("SHOW TABLES LIKE {}", self.literal()),
            3 => format!("create table tmp_{} (id int({}))", self.below(99), self.below(20)),
            4 => "COMMIT".to_owned(),
            _ => format!("SELECT /*!40001 SQL_NO_CACHE */ * FROM `t{}`", self.below(9)),
        }
    }

    fn condition(&mut self) -> String {
        match self.below(5) {
            0 => {
                let values: Vec<String> = (0..1 + self.below(6)).map(|_| self.literal()).collect();
                format!("a IN ({}) and b is not null", values.join(self.one_of(&[",", ", "])))
            }
            1 => format!("a between {} and {}", self.literal(), self.literal()),
            2 => format!("a = {} OR (b >= {} AND c <> 7)", self.literal(), self.literal()),
            3 => format!("a in (select b from {} where c = {})", self.table(), self.literal()),
            _ => format!("id={}", self.literal()),
        }
    }

    fn table(&mut self) -> String {
        match self.below(4) {
            0 => format!("t{}", self.below(9)),
            1 => format!("db{}.account_{}", self.below(9), self.below(9)),
            2 => self.one_of(&["`my-table`", "`order`", "page_view"]).to_owned(),
            _ => format!("log_2024_{}_x", self.below(12)),
        }
    }

    fn literal(&mut self) -> String {
        match self.below(8) {
            0 => self.below(100_000).to_string(),
            1 => format!("-{}.{}", self.below(100), self.below(100)),
            2 => format!("0x{:X}", self.below(100_000)),
            3 => format!("'text {}'", self.below(100)),
            4 => format!("\"{}\"", self.below(100)),
            5 => self.one_of(&WORDS).to_owned(),
            6 => self.one_of(&STRINGS).to_owned(),
            _ => format!("'2024-01-{:02} 12:00:00'", 1 + self.below(28)),
        }
    }
}
