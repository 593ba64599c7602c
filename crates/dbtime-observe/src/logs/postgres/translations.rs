//! Messages of statements in other languages (`lc_messages`), put into English. Those of waits,
//! files and checkpoints are read in English alone.

use memchr::memmem;

/// `duration`, without the colon and blanks behind it.
const DURATIONS: [&str; 14] = [
    "Dauer",
    "duración",
    "durée",
    "durata",
    "duração",
    "期間",
    "продолжительность",
    "тривалість",
    "varaktighet",
    "执行时间",
    "실행시간",
    "수행시간",
    "작업시간",
    "ხანგრძლივობა",
];

/// `ms`.
const UNITS: [&str; 5] = ["ms", "мс", "ミリ秒", "მწმs", "მწმ"];

/// Words before a statement, and the English ones.
const STATEMENTS: [(&str, &str); 29] = [
    ("Anweisung: ", "statement: "),
    ("sentencia: ", "statement: "),
    ("instruction : ", "statement: "),
    ("istruzione: ", "statement: "),
    ("comando: ", "statement: "),
    ("文: ", "statement: "),
    ("оператор: ", "statement: "),
    ("sats: ", "statement: "),
    ("语句: ", "statement: "),
    ("명령 구문: ", "statement: "),
    ("გამოსახულება: ", "statement: "),
    ("ოპერატორი: ", "statement: "),
    ("statement: ", "statement: "),
    ("Ausführen ", "execute "),
    ("ejecutar ", "execute "),
    ("exécute ", "execute "),
    ("esecuzione di ", "execute "),
    ("executar ", "execute "),
    ("実行 ", "execute "),
    ("取り出し実行 ", "execute "),
    ("выполнение ", "execute "),
    ("выборка из ", "execute "),
    ("виконувати ", "execute "),
    ("виконати ", "execute "),
    ("kör ", "execute "),
    ("쿼리실행 ", "execute "),
    ("자료뽑기 ", "execute "),
    ("გაშვება ", "execute "),
    ("execute ", "execute "),
];

/// Words before a step that is logged with its duration alone.
const STEPS: [(&str, &str); 20] = [
    ("Parsen ", "parse "),
    ("parse: ", "parse "),
    ("parse ", "parse "),
    ("analyse ", "parse "),
    ("analisi di ", "parse "),
    ("パース", "parse "),
    ("разбор ", "parse "),
    ("аналізування ", "parse "),
    ("解析 ", "parse "),
    ("Binden ", "bind "),
    ("bind ", "bind "),
    ("lien ", "bind "),
    ("バインド ", "bind "),
    ("сообщение Bind ", "bind "),
    ("повідомлення bind ", "bind "),
    ("绑定", "bind "),
    ("მიბმა ", "bind "),
    ("执行FETCH操作", "execute "),
    ("执行", "execute "),
    ("plan:", "plan:"),
];

/// Words that stand behind the name of a step's statement.
const BEHIND_NAMES: [(&str, &str); 3] =
    [(" 구문분석: ", "parse : "), ("-ის დამუშავება: ", "parse : "), (" 접속: ", "bind : ")];

/// How far those are looked for. Unit: bytes.
const MAX_NAME_BYTES: usize = 160;

/// A message about a statement in English; `None`: it is about something else, or is in a language
/// that is not known. A step that is not known is `?`.
pub(super) fn in_english(message: &[u8]) -> Option<Vec<u8>> {
    let Some((number, rest)) = timed(message) else {
        let (english, text) = begun(message, &STATEMENTS)?;
        return Some([english.as_bytes(), text].concat());
    };
    let duration = [&b"duration: "[..], number, b" ms"].concat();
    if rest.is_empty() {
        return Some(duration);
    }
    let step = begun(rest, &STATEMENTS).or_else(|| begun(rest, &STEPS));
    let (english, text) = step.or_else(|| named(rest)).unwrap_or(("?", b""));
    Some([&duration[..], b"  ", english.as_bytes(), text].concat())
}

/// The number of a duration, and what is behind its unit.
fn timed(message: &[u8]) -> Option<(&[u8], &[u8])> {
    let behind = DURATIONS.iter().find_map(|word| message.strip_prefix(word.as_bytes()))?;
    let lead = behind.iter().take_while(|byte| matches!(byte, b' ' | b':')).count();
    let number = &behind[lead..];
    let length = number.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let (number, unit) = number.split_at_checked(length).filter(|_| length > 0)?;
    let unit = unit.trim_ascii_start();
    let rest = UNITS.iter().find_map(|word| unit.strip_prefix(word.as_bytes()))?;
    Some((number, rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start()))
}

/// What a text begins with, in English, and what is behind that.
fn begun<'a>(
    text: &'a [u8],
    words: &[(&'static str, &'static str)],
) -> Option<(&'static str, &'a [u8])> {
    let of = |(word, english): &(&str, &'static str)| {
        text.strip_prefix(word.as_bytes()).map(|rest| (*english, rest))
    };
    words.iter().find_map(of)
}

/// The same of the languages that have the name first.
fn named(text: &[u8]) -> Option<(&'static str, &[u8])> {
    let head = &text[..text.len().min(MAX_NAME_BYTES)];
    BEHIND_NAMES.iter().find_map(|(word, english)| {
        let at = memmem::find(head, word.as_bytes())?;
        Some((*english, &text[at + word.len()..]))
    })
}

#[cfg(test)]
mod tests {
    use super::in_english;

    #[test]
    fn messages_of_statements_are_known_in_several_languages() {
        let english = |text: &str| {
            in_english(text.as_bytes()).map(|made| String::from_utf8_lossy(&made).into_owned())
        };
        for (text, expected) in [
            ("Dauer: 1.500 ms", "duration: 1.500 ms"),
            ("Dauer: 1.500 ms  Anweisung: SELECT 1", "duration: 1.500 ms  statement: SELECT 1"),
            ("Dauer: 1.500 ms  Ausführen a: SELECT", "duration: 1.500 ms  execute a: SELECT"),
            ("durée : 1.500 ms, instruction : SELECT", "duration: 1.500 ms  statement: SELECT"),
            ("durée : 1.500 ms, analyse a : SELECT", "duration: 1.500 ms  parse a : SELECT"),
            ("duración: 1.500 ms  parse: a: SELECT", "duration: 1.500 ms  parse a: SELECT"),
            ("продолжительность: 1.500 мс, оператор: S", "duration: 1.500 ms  statement: S"),
            ("продолжительность: 1.500 мс  выполнение a: S", "duration: 1.500 ms  execute a: S"),
            ("期間: 1.500 ミリ秒  パースa : S", "duration: 1.500 ms  parse a : S"),
            ("执行时间: 1.500 ms 语句: S", "duration: 1.500 ms  statement: S"),
            ("실행시간: 1.500 ms  a 구문분석: S", "duration: 1.500 ms  parse : S"),
            ("varaktighet 1.500 ms", "duration: 1.500 ms"),
            ("Dauer: 1.500 ms  Sonstiges: S", "duration: 1.500 ms  ?"),
            ("Anweisung: SELECT 1", "statement: SELECT 1"),
            ("exécute a : SELECT 1", "execute a : SELECT 1"),
        ] {
            assert_eq!(english(text).as_deref(), Some(expected), "{text}");
        }
        for other in ["", "Dauer: bald", "Dauerlauf", "checkpoint complete: x", "bind a: S"] {
            assert_eq!(english(other), None, "{other}");
        }
    }
}
