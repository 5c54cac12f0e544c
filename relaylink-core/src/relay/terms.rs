//! The words by which text is found. Made here and not by an engine, so that every engine finds the
//! same, and so that a person's text is never an engine's query language.
//!
//! A term is one of
//! - a word: a run of letters, digits and their marks, without case and accents;
//! - two neighbours of a run in a script that puts no spaces between words (Chinese, Japanese,
//!   Korean, Thai and their like), and the run's last character alone;
//! - one pictograph.
//!
//! Each begins with the number of the account that may find it: `42~invoice`. So a search costs what
//! the account holds, and cannot touch what another one holds.

use std::{collections::BTreeSet, fmt::Write as _};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::limits::{SEARCH_TERMS_MAX, TERM_MAX};

/// The terms of a text that this account may find, apart by spaces: what the index is given.
pub(crate) fn index(account: i64, text: &str) -> String {
    let mut found = BTreeSet::new();
    each_run(text, |kind, run| {
        if kind == Kind::Solid {
            found.extend(pairs(run).map(str::to_owned));
            found.extend(run.chars().next_back().map(String::from));
        } else {
            found.insert(run.to_owned());
        }
    });
    let mut terms = String::new();
    for term in found {
        let gap = if terms.is_empty() { "" } else { " " };
        let _ = write!(terms, "{gap}{account}~{term}");
    }
    terms
}

/// A search for all words of a text in what one account holds.
pub(crate) struct Search {
    /// What the index is asked: nothing of the text but letters, digits and marks goes in.
    pub(crate) asked: String,
    /// The terms that the index is not asked, for there are too many.
    rest: Vec<(String, bool)>,
}

/// A search for all words of `text`; `None` where it has no word.
pub(crate) fn search(account: i64, text: &str) -> Option<Search> {
    let mut wanted = BTreeSet::new();
    each_run(text, |kind, run| {
        if kind != Kind::Solid {
            wanted.insert((run.to_owned(), false));
        } else if run.chars().nth(1).is_none() {
            wanted.insert((run.to_owned(), true));
        } else {
            wanted.extend(pairs(run).map(|pair| (pair.to_owned(), false)));
        }
    });
    let mut wanted: Vec<_> = wanted.into_iter().collect();
    if wanted.len() > SEARCH_TERMS_MAX {
        // Long words are rare ones.
        wanted.sort_by_key(|(term, _)| std::cmp::Reverse(term.len()));
    }
    let rest = wanted.split_off(wanted.len().min(SEARCH_TERMS_MAX));
    let mut asked = String::new();
    for (term, prefix) in wanted {
        let and = if asked.is_empty() { "" } else { " AND " };
        let star = if prefix { "*" } else { "" };
        let _ = write!(asked, "{and}\"{account}~{term}\"{star}");
    }
    (!asked.is_empty()).then_some(Search { asked, rest })
}

impl Search {
    /// Whether the index may answer more than is searched for, so that [`holds`](Self::holds) must be asked.
    pub(crate) fn is_coarse(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Whether a text that the index answered has the terms that the index was not asked.
    pub(crate) fn holds(&self, text: &str) -> bool {
        let index = if self.is_coarse() { index(0, text) } else { String::new() };
        let terms: BTreeSet<_> = index.split(' ').filter_map(|term| term.strip_prefix("0~")).collect();
        self.rest.iter().all(|(wanted, prefix)| {
            let mut from = terms.range(wanted.as_str()..);
            from.next().is_some_and(|term| term == wanted || *prefix && term.starts_with(wanted))
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Solid,
    Picture,
}

/// What a character is a part of, if it is searched for at all.
fn kind(c: char) -> Option<Kind> {
    if is_picture(c) {
        Some(Kind::Picture)
    } else if !c.is_alphanumeric() && !is_combining_mark(c) {
        None
    } else if is_solid(c) {
        Some(Kind::Solid)
    } else {
        Some(Kind::Word)
    }
}

/// Calls `take` with each run of the folded text; a word is cut to its first characters.
fn each_run(text: &str, mut take: impl FnMut(Kind, &str)) {
    let folded = fold(text);
    let mut run = String::new();
    let mut length = 0;
    let mut before = None;
    for c in folded.chars() {
        let now = kind(c);
        if now != before || now == Some(Kind::Picture) {
            if let Some(kind) = before {
                take(kind, &run);
            }
            run.clear();
            length = 0;
        }
        if now.is_some() && (now == Some(Kind::Solid) || length < TERM_MAX) {
            run.push(c);
            length += 1;
        }
        before = now;
    }
    if let Some(kind) = before {
        take(kind, &run);
    }
}

/// Each two neighbouring characters.
fn pairs(run: &str) -> impl Iterator<Item = &str> {
    let starts = || run.char_indices().map(|(at, _)| at);
    let ends = starts().skip(2).chain([run.len()]);
    starts().zip(ends).filter(|_| run.chars().nth(1).is_some()).map(|(from, to)| &run[from..to])
}

/// Without case, accents and differences of form. Marks that make another letter in their script,
/// as the Japanese voicing marks do, stay.
fn fold(text: &str) -> String {
    let bare: String = text.nfkd().filter(|&c| !is_accent(c)).collect();
    let folded = caseless::default_case_fold_str(&bare);
    folded.nfkd().filter(|&c| !is_accent(c)).nfkc().collect()
}

/// An accent, a vowel point or a joiner: what people leave out when they search.
fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{0300}'..='\u{036f}' | '\u{0483}'..='\u{0487}' | '\u{0591}'..='\u{05bd}'
        | '\u{05bf}' | '\u{05c1}' | '\u{05c2}' | '\u{05c4}' | '\u{05c5}' | '\u{05c7}'
        | '\u{0610}'..='\u{061a}' | '\u{0640}' | '\u{064b}'..='\u{065f}' | '\u{0670}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{200b}'..='\u{200f}'
        | '\u{20d0}'..='\u{20f0}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}'
        | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

/// A character of a script that puts no spaces between words, or, in Korean, none before particles.
fn is_solid(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'     // Thai, Lao
        | '\u{0f00}'..='\u{109f}'   // Tibetan, Burmese
        | '\u{1100}'..='\u{11ff}'   // Hangul letters
        | '\u{1780}'..='\u{17ff}'   // Khmer
        | '\u{1950}'..='\u{19df}'   // Tai Le, New Tai Lue
        | '\u{1a20}'..='\u{1aad}'   // Tai Tham
        | '\u{1b00}'..='\u{1b7f}'   // Balinese
        | '\u{2e80}'..='\u{2fdf}'   // radicals
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{303c}'
        | '\u{3041}'..='\u{30ff}'   // Hiragana, Katakana
        | '\u{3100}'..='\u{31ff}'   // Bopomofo, Hangul letters, small Katakana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' // Han
        | '\u{a000}'..='\u{a4cf}'   // Yi
        | '\u{a960}'..='\u{a9df}'   // Hangul letters, Javanese
        | '\u{aa60}'..='\u{aadf}'   // Burmese, Tai Viet
        | '\u{ac00}'..='\u{d7ff}'   // Hangul
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}') // Han
}

/// A pictograph: people do search for one.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the index of `text` answers `query`, by the law of the index: every quoted term is
    /// there, or where a star follows it, one that begins with it.
    fn finds(text: &str, query: &str) -> bool {
        let index = index(7, text);
        let terms: BTreeSet<_> = index.split_whitespace().collect();
        search(7, query).is_none_or(|search| {
            search.holds(text)
                && search.asked.split(" AND ").all(|part| match part.strip_suffix('*') {
                    Some(part) => terms.iter().any(|term| term.starts_with(part.trim_matches('"'))),
                    None => terms.contains(part.trim_matches('"')),
                })
        })
    }

    #[test]
    fn terms_of_a_text() {
        let terms = "42~2 42~204 42~invoice 42~it 42~rel 42~s 42~v1";
        assert_eq!(index(42, "Invoice INVOICE REL-204, it's v1.2"), terms);
        assert_eq!(index(1, "项目进度report"), "1~report 1~度 1~目进 1~进度 1~项目");
        assert_eq!(index(1, "- \" * ("), "");
        let search = |text| search(1, text).map(|search| search.asked);
        assert_eq!(search("  "), None);
        assert_eq!(search("a b A").as_deref(), Some("\"1~a\" AND \"1~b\""));
        assert_eq!(search("进").as_deref(), Some("\"1~进\"*"));
        assert_eq!(search("🎉🎉 x").as_deref(), Some("\"1~x\" AND \"1~🎉\""));
    }

    #[test]
    fn words_are_found_without_case_and_accents_and_all_must_occur() {
        for (text, query) in [
            ("Ärzte in Köln", "arzte KOLN"),
            ("arzte in koln", "ÄRZTE Köln"),
            ("Straße", "STRASSE"),
            ("İstanbul", "istanbul"),
            ("ﬁle ＡＢＣ", "FILE abc"),
            ("Москва", "МОСКВА"),
            ("e\u{301}te\u{301}", "ÉTÉ"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
            ("项目进度report-q3已更新", "进度"),
            ("项目进度report-q3已更新", "report"),
            ("项目进度report-q3已更新", "度"),
            ("项目进度report-q3已更新", "新"),
            ("会議メモdraft-v2共有済み", "会議メモ"),
            ("会議メモdraft-v2共有済み", "draft-v2"),
            ("회의록을 공유했습니다", "회의록"),
            ("ประชุมวันศุกร์", "วันศุกร์"),
            ("ガギグ", "ギ"),
            ("2026年12月", "2026年"),
        ] {
            assert!(finds(text, query), "{query} in {text}");
        }
        for (text, query) in [
            ("invoice", "invoices"),
            ("red blue", "red green"),
            ("项目", "目项"),
            ("か", "が"),
            ("日本", "本日"),
        ] {
            assert!(!finds(text, query), "{query} in {text}");
        }
    }

    #[test]
    fn a_long_word_counts_by_its_beginning_and_a_solid_run_whole() {
        let word = "x".repeat(TERM_MAX * 3);
        assert_eq!(index(1, &word).len(), "1~".len() + TERM_MAX);
        assert!(finds(&word, &word));
        let run: String = ('\u{4e00}'..).take(TERM_MAX * 3).collect();
        assert!(finds(
            &run,
            &run.chars().rev().take(2).collect::<Vec<_>>().into_iter().rev().collect::<String>()
        ));
    }

    #[test]
    fn of_many_words_the_last_must_occur_too() {
        let words =
            |range: std::ops::Range<usize>| range.map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
        let many = words(0..SEARCH_TERMS_MAX * 3);
        let search = search(1, &many).unwrap();
        assert!(search.is_coarse() && search.asked.split(" AND ").count() == SEARCH_TERMS_MAX);
        assert!(search.holds(&many));
        for left_out in 0..SEARCH_TERMS_MAX * 3 {
            let text = words(0..left_out) + " " + &words(left_out + 1..SEARCH_TERMS_MAX * 3);
            assert!(!finds(&text, &many), "{left_out}");
        }
        let singles: String = ('\u{4e00}'..).take(SEARCH_TERMS_MAX * 3).flat_map(|c| [c, ' ']).collect();
        assert!(finds(&singles, &singles));
        assert!(finds(&singles.replace(' ', "一"), &singles));
    }

    /// Texts of all kinds of characters, from a fixed seed.
    fn texts() -> impl Iterator<Item = String> {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let kinds: Vec<Vec<char>> = [
            "aZß\u{0130}éÉñ09 _-'\".*()^:~;%\\\u{0}\n\t ",
            "项目进度会議メモがか\u{3099}々ー공유ᄀ\u{1161}ประชุ\u{0e48}ม",
            "\u{301}\u{308}\u{200d}\u{fe0f}🎉👩‍👩‍👧☂\u{202e}\u{feff}ﬁⅧ½ͅΣςİ",
        ]
        .iter()
        .map(|kind| kind.chars().collect())
        .collect();
        (0..3_000).map(move |_| {
            let length = next() % 24;
            (0..length)
                .filter_map(|_| {
                    let roll = next();
                    let at = usize::try_from(roll >> 8).unwrap_or(0);
                    match roll % 8 {
                        0 => char::from_u32(u32::try_from(roll >> 32).unwrap() % 0x11_0000),
                        kind => {
                            let kind = &kinds[usize::try_from(kind).unwrap() % kinds.len()];
                            Some(kind[at % kind.len()])
                        }
                    }
                })
                .collect()
        })
    }

    #[test]
    fn every_text_finds_itself_and_each_of_its_words() {
        for text in texts() {
            assert!(finds(&text, &text), "{text:?}");
            for word in text.split_whitespace() {
                assert!(finds(&text, word), "{word:?} in {text:?}");
            }
        }
    }

    #[test]
    fn nothing_but_letters_digits_marks_and_pictographs_comes_through() {
        for text in texts() {
            for term in index(3, &text).split(' ').filter(|term| !term.is_empty()) {
                let bare = term.strip_prefix("3~").unwrap();
                assert!(!bare.is_empty() && bare.chars().all(|c| kind(c).is_some()), "{term:?} of {text:?}");
            }
            for part in search(3, &text).iter().flat_map(|search| search.asked.split(" AND ")) {
                let bare =
                    part.strip_prefix("\"3~").and_then(|part| part.trim_end_matches('*').strip_suffix('"'));
                assert!(
                    bare.is_some_and(|bare| bare.chars().all(|c| kind(c).is_some())),
                    "{part:?} of {text:?}"
                );
            }
        }
    }
}
