//! How severe a message is, by the word that stands before it.

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
    /// Portuguese, Russian or Japanese.
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
            "ОШИБКА" | "エラー" => Self::Failure("ERROR"),
            "ВАЖНО" | "致命的" | "致命的エラー" => Self::Failure("FATAL"),
            "ПАНИКА" | "パニック" | "PÁNICO" | "PÂNICO" => Self::Failure("PANIC"),
            "ОПЕРАТОР" | "COMANDO" | "文" => Self::Statement,
            "СООБЩЕНИЕ" | "REGISTRO" | "ログ" => Self::Log,
            "TIPP"
            | "KONTEXT"
            | "ANFRAGE"
            | "ORT"
            | "WARNUNG"
            | "HINWEIS"
            | "DÉTAIL"
            | "ASTUCE"
            | "CONTEXTE"
            | "REQUÊTE"
            | "EMPLACEMENT"
            | "ATTENTION"
            | "DETALLE"
            | "SUGERENCIA"
            | "CONTEXTO"
            | "CONSULTA"
            | "UBICACIÓN"
            | "ADVERTENCIA"
            | "DETTAGLI"
            | "SUGGERIMENTO"
            | "CONTESTO"
            | "QUERY INTERNA"
            | "ATTENZIONE"
            | "NOTIFICA"
            | "DETALHE"
            | "DICA"
            | "LOCALIZAÇÃO"
            | "AVISO"
            | "NOTA"
            | "ПОДРОБНОСТИ"
            | "ПОДСКАЗКА"
            | "КОНТЕКСТ"
            | "ЗАПРОС"
            | "ПОЛОЖЕНИЕ"
            | "ПРЕДУПРЕЖДЕНИЕ"
            | "ЗАМЕЧАНИЕ"
            | "詳細"
            | "ヒント"
            | "コンテキスト"
            | "問い合わせ"
            | "場所"
            | "警告" => Self::Aside,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::MessageSeverity;

    #[test]
    fn words_are_known_in_several_languages() {
        assert_eq!(MessageSeverity::of(b"LOG"), Some(MessageSeverity::Log));
        for error in ["ERROR", "FEHLER", "ERREUR", "ERRO", "ОШИБКА", "エラー"] {
            let severity = MessageSeverity::of(error.as_bytes());
            assert_eq!(severity, Some(MessageSeverity::Failure("ERROR")), "{error}");
        }
        assert_eq!(MessageSeverity::of("DÉTAIL".as_bytes()), Some(MessageSeverity::Aside));
        assert_eq!(MessageSeverity::of(b"select"), None);
        assert_eq!(MessageSeverity::of(b"\xff"), None);
    }
}
