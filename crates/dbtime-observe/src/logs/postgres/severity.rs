//! How severe a message is, by the word that stands before it.

/// Words beside a message, divided by bars, in other languages than English.
const ASIDE: &str = "\
    TIPP|KONTEXT|ANFRAGE|ORT|WARNUNG|HINWEIS|DÉTAIL|ASTUCE|CONTEXTE|REQUÊTE|EMPLACEMENT|\
    ATTENTION|DETALLE|SUGERENCIA|CONTEXTO|CONSULTA|UBICACIÓN|ADVERTENCIA|DETTAGLI|\
    SUGGERIMENTO|CONTESTO|QUERY INTERNA|ATTENZIONE|NOTIFICA|DETALHE|DICA|LOCALIZAÇÃO|AVISO|\
    NOTA|ПОДРОБНОСТИ|ПОДСКАЗКА|КОНТЕКСТ|ЗАПРОС|ПОЛОЖЕНИЕ|ПРЕДУПРЕЖДЕНИЕ|ЗАМЕЧАНИЕ|詳細|\
    ヒント|コンテキスト|問い合わせ|場所|警告|ZUSAMMENHANG|PILE D'APPEL|POSIZIONE|文脈|\
    バックトレース|情報|DETALJ|TIPS|FRÅGA|PLATS|VARNING|NOTIS|ВІДОМОСТІ|УКАЗІВКА|ЗАПИТ|\
    РОЗТАШУВАННЯ|ПОПЕРЕДЖЕННЯ|ПОВІДОМЛЕННЯ|ІНФОРМАЦІЯ|ИНФОРМАЦИЯ|СТЕК|ВІДСТЕЖУВАТИ|上下文|\
    位置|信息|提示|查询|注意|详细信息|경고|내용|상세정보|알림|역추적|위치|정보|쿼리|힌트|\
    გაფრთხილება|დეტალები";

/// The word before a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MessageSeverity {
    /// `LOG`: what was asked to be logged.
    #[default]
    Log,
    /// `ERROR`, `FATAL` or `PANIC`.
    Failure(&'static str),
    /// `STATEMENT`: what the message before it is about.
    Statement,
    /// Any other: notices, warnings, and details, which may have literals.
    Aside,
}

impl MessageSeverity {
    /// The severity of a word; `None`: it is none in English, German, French, Spanish, Italian,
    /// Portuguese, Russian, Japanese, Swedish, Ukrainian, Chinese, Korean or Georgian.
    pub(super) fn of(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"LOG" => Self::Log,
            b"ERROR" | b"FEHLER" | b"ERREUR" | b"ERRORE" | b"ERRO" => Self::Failure("ERROR"),
            b"FATAL" | b"FATALE" => Self::Failure("FATAL"),
            b"PANIC" | b"PANIK" | b"PANICO" => Self::Failure("PANIC"),
            b"STATEMENT" | b"ANWEISUNG" | b"INSTRUCTION" | b"SENTENCIA" | b"ISTRUZIONE" => {
                Self::Statement
            }
            b"DETAIL" | b"HINT" | b"CONTEXT" | b"QUERY" | b"LOCATION" | b"WARNING" | b"NOTICE"
            | b"INFO" | b"DEBUG" | b"DEBUG1" | b"DEBUG2" | b"DEBUG3" | b"DEBUG4" | b"DEBUG5"
            | b"BACKTRACE" => Self::Aside,
            _ => return Self::translated(word),
        })
    }

    fn translated(word: &[u8]) -> Option<Self> {
        Some(match std::str::from_utf8(word).ok()? {
            "ОШИБКА" | "エラー" | "FEL" | "ПОМИЛКА" | "错误" | "오류" | "შეცდომა" => {
                Self::Failure("ERROR")
            }
            "ВАЖНО"
            | "致命的"
            | "致命的エラー"
            | "FATALT"
            | "ФАТАЛЬНО"
            | "致命错误"
            | "치명적오류"
            | "ფატალური" => Self::Failure("FATAL"),
            "ПАНИКА"
            | "パニック"
            | "PÁNICO"
            | "PÂNICO"
            | "ПАНІКА"
            | "比致命错误还过分的错误"
            | "손상"
            | "პანიკა" => Self::Failure("PANIC"),
            "ОПЕРАТОР"
            | "COMANDO"
            | "文"
            | "SATS"
            | "ІНСТРУКЦІЯ"
            | "语句"
            | "명령 구문"
            | "ოპერატორი" => Self::Statement,
            "СООБЩЕНИЕ"
            | "REGISTRO"
            | "ログ"
            | "LOGG"
            | "ЗАПИСУВАННЯ"
            | "日志"
            | "로그"
            | "ჟურნალი" => Self::Log,
            other => return Self::further(other),
        })
    }
}

impl MessageSeverity {
    /// Words beside a message in the languages whose words are not among the above.
    fn further(word: &str) -> Option<Self> {
        ASIDE.split('|').any(|aside| aside == word).then_some(Self::Aside)
    }
}

#[cfg(test)]
mod tests {
    use super::MessageSeverity;

    #[test]
    fn words_are_known_in_several_languages() {
        assert_eq!(MessageSeverity::of(b"LOG"), Some(MessageSeverity::Log));
        for error in
            ["ERROR", "FEHLER", "ERREUR", "ERRO", "ОШИБКА", "エラー", "FEL", "错误", "오류"]
        {
            let severity = MessageSeverity::of(error.as_bytes());
            assert_eq!(severity, Some(MessageSeverity::Failure("ERROR")), "{error}");
        }
        assert_eq!(MessageSeverity::of("DÉTAIL".as_bytes()), Some(MessageSeverity::Aside));
        assert_eq!(MessageSeverity::of(b"select"), None);
        assert_eq!(MessageSeverity::of(b"\xff"), None);
    }
}
