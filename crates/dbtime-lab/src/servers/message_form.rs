//! Forms of a server's own messages: a text is of the server where the whole of it has one.
//!
//! A statement or a RAISE may begin as a message does, or have one in a literal behind a line
//! break. What stands in a form word by word tells nothing; all else is masked but for numbers.
//!
//! ```text
//!   #   numbers, with what may stand between them, or a place in the log
//!   *   any text, which is left out
//!   ~   words that servers have for kinds, causes and signals; any other text is left out
//!   @   such words and numbers
//!   ^   the name of a setting, whose words are known; another name is left out
//! ```

/// What stands for numbers, any text, known words, these with numbers, and names of settings.
const NUMBERS: char = '#';
const TEXT: char = '*';
const WORDS: char = '~';
const WORDS_AND_NUMBERS: char = '@';
const SETTING: char = '^';
const PLACES: [char; 5] = [NUMBERS, TEXT, WORDS, WORDS_AND_NUMBERS, SETTING];

/// What stands for what is left out.
const LEFT_OUT: char = '?';

/// What ends the subject of a form, by which alone a text is known to be meant to have it.
const BEHIND_SUBJECT: &str = ": ";

/// Words of the system's errors and signals, of locks, of reasons for a checkpoint, of kinds of
/// objects, of types, and of statements in PL/pgSQL.
const KNOWN_WORDS: &str = "a aborted accessexclusivelock accesssharelock address advisory \
    allocate already an argument array assert assign assignment authentication available b bad \
    bigint boolean broken bus by bytea call cannot case class cleanup close closed column commit \
    communication connect connection continue core cursor database date denied descriptor device \
    diagnostics directory disk do double dumped during end-of-recovery entry error exceeded \
    exclusivelock execute execution exists exit extension fast fault fetch file files flush-all \
    for force foreach foreign function get got hangup host if illegal immediate in inet \
    initialization inlining input/output instruction integer interrupted interval invalid is json \
    jsonb killed language large left limit local lock loop memory move network next no normally \
    not numeric object of oid on open operation or out over packet packets page peer perform \
    permission permitted pipe precision procedure query quit quota raise read-only reading real \
    refused relation requested reset resource return rollback route rowexclusivelock rows \
    rowsharelock schema segmentation select sequence sharelock sharerowexclusivelock \
    shareupdateexclusivelock shutdown smallint space sql startup statement storing such supported \
    system table tablespace temporarily terminated text this time timed timeout timestamp to too \
    transaction tuple type unavailable unreachable use utc uuid variable variables view virtual \
    wait wal while with without writing xlog yes zone";

/// Words of the names of PostgreSQL's settings, which the server's own messages have.
const SETTING_WORDS: &str = "access age allow analyze application archive array async \
    authentication autovacuum backend background backslash bgwriter block bonjour buffer buffers \
    bypass bytea cache calls check checkpoint checkpoints checksum checksums ciphers client \
    cluster collapse collation column command commit completion compression config connection \
    connections conninfo constraint copy core cost count cpu create cursor data database \
    datestyle deadlock debug default deferrable delay destination directory disconnections dump \
    duration dynamic effective enable encoding encryption error escape event exclusion exit \
    extension external extra facility factor failed feedback file files float flush for force \
    format freeze from fsync full function functions gather geqo group hash hashagg hba hint \
    hostname hot huge idle ignore immediate in incremental index indexonlyscan indexscan insert \
    integer intervalstyle invalid io isolation jit join keepalives key krb lc length level \
    libraries library limit linear listen lo load local lock locks log logging logical lookups \
    lru lwlocks maintenance mapping max mem memory merge mergejoin message messages min minimum \
    mode monetary multiplier multixact nestloop notice numeric of on only operator options output \
    overwrite page pages parallel parameter partition partitions partitionwise password path per \
    pid plan planner port pred preload prepared primary privileges process protocol provider \
    query quote random rate recovery recycle references relation remote replacement replica \
    replication reserved restart restore restrict result retries role rotation row rows rule \
    sample scale scan schema search security segment send sender senders seq seqscan server \
    service session settings shared size sleep slot slots snapshot sort source ssl stack standby \
    start statement statements stats status streaming string superuser sync synchronize \
    synchronized synchronous syslog system table tablespaces target tcp temp text threshold \
    tidscan time timeout timezone timing track transaction transactions trigger truncate \
    truncation tuple type unix update user vacuum verbosity version wal warning work worker \
    workers write writer xid xmlbinary zero zone";

/// A text that has one of these forms as a whole, without what stands in its places; `None`: it has
/// none.
pub(super) fn of_form(forms: &[&str], text: &str) -> Option<String> {
    let begun = forms.iter().filter(|form| is_begun(form, text));
    begun.filter_map(|form| walk(form, text).ok()).max_by_key(String::len)
}

/// A text as far as it has one of these forms, from where it departs on masked; `None`: it does not
/// begin as any.
pub(super) fn as_far_as_of_form(forms: &[&str], text: &str) -> Option<String> {
    let departed = || {
        let begun = forms.iter().filter(|form| is_begun(form, text));
        begun.filter_map(|form| walk(form, text).err()).max_by_key(String::len)
    };
    of_form(forms, text).or_else(departed)
}

/// Whether a text begins as this form does: up to its first place, or with its subject.
fn is_begun(form: &str, text: &str) -> bool {
    let place = form.find(PLACES).unwrap_or(form.len());
    let subject = form[..place].find(BEHIND_SUBJECT).map(|at| at + BEHIND_SUBJECT.len());
    let words = &form[..subject.unwrap_or(place)];
    let has_number = subject.is_none() && form[place..].starts_with(NUMBERS);
    let rest = text.strip_prefix(words);
    rest.is_some_and(|rest| !has_number || numbers_length(rest) > 0)
}

/// What is shown of a text of this form. The error has what is where it departs.
fn walk(form: &str, text: &str) -> Result<String, String> {
    let (mut shown, mut form, mut rest) = (String::new(), form, text);
    while let Some(at) = form.find(PLACES) {
        let words = &form[..at];
        let place = form[at..].chars().next().unwrap_or(TEXT);
        form = &form[at + place.len_utf8()..];
        let Some(behind) = rest.strip_prefix(words) else {
            return Err(departed(shown, words, rest));
        };
        shown.push_str(words);
        let Some(length) = place_length(place, form, behind) else {
            return Err(departed(shown, "", behind));
        };
        let (found, behind) = behind.split_at(length);
        match is_shown(place, found) {
            true => shown.push_str(found),
            false => shown.push(LEFT_OUT),
        }
        rest = behind;
    }
    if rest == form { Ok(shown + form) } else { Err(departed(shown, form, rest)) }
}

/// What is shown up to where a text departs, in whole words.
fn departed(shown: String, words: &str, rest: &str) -> String {
    // Forms are ASCII.
    let same = words.bytes().zip(rest.bytes()).take_while(|(of_form, byte)| of_form == byte);
    let same = &words[..same.count()];
    let end = same.rfind(' ').map_or(0, |at| at + 1);
    format!("{shown}{}{LEFT_OUT}", &same[..end])
}

/// How much of a text is in a place that the rest of a form stands behind; `None`: it departs here.
fn place_length(place: char, behind: &str, text: &str) -> Option<usize> {
    if place == NUMBERS {
        return Some(numbers_length(text)).filter(|length| *length > 0);
    }
    let next = &behind[..behind.find(PLACES).unwrap_or(behind.len())];
    match (next.is_empty(), next.len() == behind.len()) {
        (true, _) => Some(text.len()),
        (false, true) => text.strip_suffix(next).map(str::len),
        (false, false) => text.find(next),
    }
}

/// The length of the numbers that a text begins with, such as `7`, `(0,1)` without its parentheses,
/// `2026-11-30 10:00:00` or `0/15A3B40`.
fn numbers_length(text: &str) -> usize {
    let is_of_place = |sign: char| sign.is_ascii_digit() || matches!(sign, 'A'..='F' | '/');
    let end = text.find(|sign: char| !is_of_place(sign)).unwrap_or(text.len());
    let place = text[..end].split_once('/');
    if place.is_some_and(|(segment, byte)| !segment.is_empty() && !byte.is_empty()) {
        return end;
    }
    if !text.starts_with(|sign: char| sign.is_ascii_digit()) {
        return 0;
    }
    let is_of_numbers = |sign: char| sign.is_ascii_digit() || " ,.:/-".contains(sign);
    let end = text.find(|sign: char| !is_of_numbers(sign)).unwrap_or(text.len());
    text[..end].trim_end_matches(|sign: char| !sign.is_ascii_digit()).len()
}

/// Whether what is in such a place tells nothing.
fn is_shown(place: char, found: &str) -> bool {
    let is_between = |sign: char| sign.is_whitespace() || "()[],".contains(sign);
    let is_number = |word: &str| numbers_length(word) == word.len();
    let is_known = |word: &str| {
        let mut known = KNOWN_WORDS.split_ascii_whitespace();
        let is_word = known.any(|known| word.eq_ignore_ascii_case(known));
        is_word || (place == WORDS_AND_NUMBERS && is_number(word))
    };
    let is_of_setting = |word: &str| {
        let mut known = SETTING_WORDS.split_ascii_whitespace();
        known.any(|known| word.eq_ignore_ascii_case(known))
    };
    match place {
        NUMBERS => true,
        TEXT => false,
        SETTING => found.split(['_', '.']).all(is_of_setting),
        _ => found.split(is_between).all(|word| word.is_empty() || is_known(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [&str; 7] = [
        "all done",
        "set \"^\" to \"*\"",
        "wrote # buffers (#%); longest=# s",
        "could not open file \"*\": ~",
        "begun at #",
        "waits for ~ on @ after # ms",
        "starting: ~",
    ];

    #[test]
    fn a_text_of_a_form_stays_but_for_texts_in_its_places() {
        for (text, expected) in [
            ("all done", "all done"),
            ("wrote 3 buffers (0.5%); longest=0.001 s", "wrote 3 buffers (0.5%); longest=0.001 s"),
            (
                "could not open file \"hush\": Permission denied",
                "could not open file \"?\": Permission denied",
            ),
            ("could not open file \"hush\": bad hush", "could not open file \"?\": ?"),
            ("could not open file \"a\": hush\": hush", "could not open file \"?\": ?"),
            ("begun at 0/15A3B40", "begun at 0/15A3B40"),
            ("begun at 2026-11-30 10:00:00.123", "begun at 2026-11-30 10:00:00.123"),
            (
                "waits for ShareLock on tuple (0,1) of relation 7 after 1.5 ms",
                "waits for ShareLock on tuple (0,1) of relation 7 after 1.5 ms",
            ),
            ("waits for hush on hush after 1.5 ms", "waits for ? on ? after 1.5 ms"),
            ("starting: immediate force wait", "starting: immediate force wait"),
            ("starting: hush", "starting: ?"),
            ("starting: 4711", "starting: ?"),
            ("set \"Work_Mem\" to \"hush\"", "set \"Work_Mem\" to \"?\""),
            ("set \"work_hush\" to \"hush\"", "set \"?\" to \"?\""),
        ] {
            assert_eq!(of_form(&FORMS, text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn another_text_is_masked_from_where_it_departs() {
        for (text, expected) in [
            ("all done hush", Some("all ?")),
            ("wrote 3 buffers (hush", Some("wrote 3 buffers (?")),
            ("wrote 3 buffers (1%); longest=1 s hush", Some("wrote 3 buffers (1%); longest=1 ?")),
            ("wrote hush", None),
            ("begun at 5 hush", Some("begun at 5?")),
            ("begun at 0/1G", Some("begun at 0/1?")),
            ("could not open hush", None),
            ("hush", None),
            ("", None),
        ] {
            assert_eq!(of_form(&FORMS, text), None, "{text}");
            assert_eq!(as_far_as_of_form(&FORMS, text).as_deref(), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_word_that_is_not_of_a_form_is_left(
            before in "(all done|wrote 3 b|could not open file \"|starting: |[ \":;0-9é]){0,4}",
            after in "(%\\); longest=1 s|\": Permission denied| after 1 ms|[ \":;0-9表]){0,4}",
        ) {
            let shown = as_far_as_of_form(&FORMS, &format!("{before}hush{after}"));
            proptest::prop_assert!(!shown.unwrap_or_default().contains("hush"));
        }
    }
}
