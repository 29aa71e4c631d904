//! Content words, by which texts are compared: those of [`words`](super::words) that mean something.
//!
//! A content word has at least three characters or a digit. Function words and keywords of the DSL are none
//! (`function_words`). In scripts without blanks between words, and in Hangul, whose words include their particles,
//! every pair of neighbouring characters counts as a word instead.
//!
//! Two words match if their first six characters are equal, without accents and case; these are the word's [`Key`].

use super::words::{fold_char, folded_word, words};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

/// Number of leading characters in which two words must be equal.
const KEY_CHARS: usize = 6;

/// Minimum number of characters of a word without a digit.
const LEAST_CHARS: usize = 3;

/// The comparison key of a word: up to six folded characters, 21 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::domain) struct Key(u128);

/// A word of a text. Function words are included: see [`Word::is_content`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::domain) struct Word {
    pub(in crate::domain) key: Key,
    /// Its byte range in the text; for a pair the two characters.
    pub(in crate::domain) range: Range<usize>,
    /// The scripts of its letters; none for a number.
    pub(in crate::domain) scripts: Scripts,
}

impl Word {
    /// Whether it is not a function word.
    pub(in crate::domain) fn is_content(&self, text: &str) -> bool {
        !is_function_word(&folded_word(&text[self.range.clone()]))
    }
}

/// The word of a range without characters that are compared by pairs; `None` if it is too short to mean something.
fn word_at(text: &str, range: Range<usize>) -> Option<Word> {
    let (mut key, mut chars) = (0_u128, 0);
    let mut has_digit = false;
    let mut scripts = 0;
    for c in text[range.clone()].chars() {
        has_digit |= c.is_numeric();
        scripts |= script_of(c);
        fold_char(c, |c| {
            if chars < KEY_CHARS {
                key = (key << 21) | u128::from(u32::from(c));
            }
            chars += 1;
        });
    }
    (chars >= LEAST_CHARS || has_digit).then_some(Word {
        key: Key(key),
        range,
        scripts,
    })
}

/// A token found by a scan.
pub(in crate::domain) enum Token {
    Word(Word),
    /// The byte offset of the end of a sentence.
    SentenceEnd(usize),
}

/// The content words of a short text in order, without duplicate keys.
pub(in crate::domain) fn content_words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut seen: HashSet<Key, RandomState> = HashSet::default();
    scan(text, |token| {
        if let Token::Word(word) = token
            && word.is_content(text)
            && seen.insert(word.key)
        {
            words.push(word);
        }
    });
    words
}

/// Calls `visit` for the words and sentence ends of a text, in order. Linear.
pub(in crate::domain) fn scan(text: &str, mut visit: impl FnMut(Token)) {
    let mut end = 0;
    // The last character of a script that is compared by pairs, and its range.
    let mut before: Option<(char, Range<usize>)> = None;
    for range in words(text) {
        sentence_ends(text, end..range.start, &mut visit);
        end = range.end;
        let mut at = range.start;
        while let Some(c) = text[at..range.end].chars().next() {
            let start = at;
            if !compared_by_pairs(c) {
                let rest = &text[start..range.end];
                at += rest.find(compared_by_pairs).unwrap_or(rest.len());
                if let Some(word) = word_at(text, start..at) {
                    visit(Token::Word(word));
                }
                continue;
            }
            at += c.len_utf8();
            let neighbour = before.replace((c, start..at));
            if let Some((first, place)) = neighbour.filter(|(_, before)| before.end == start) {
                visit(Token::Word(Word {
                    key: Key((u128::from(u32::from(first)) << 21) | u128::from(u32::from(c))),
                    range: place.start..at,
                    scripts: script_of(first) | script_of(c),
                }));
            }
        }
    }
    sentence_ends(text, end..text.len(), &mut visit);
}

/// The ends of sentences between two words: line ends, and marks that a blank follows.
fn sentence_ends(text: &str, gap: Range<usize>, visit: &mut impl FnMut(Token)) {
    for (at, c) in text[gap.clone()].char_indices() {
        let next = gap.start + at + c.len_utf8();
        let ends = match c {
            ' ' => false,
            '\n' | '。' | '！' | '？' | '｡' | '।' => true,
            '.' | '!' | '?' => text[next..].chars().next().is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            visit(Token::SentenceEnd(next));
        }
    }
}

/// Number of these words that a text contains.
pub(in crate::domain) fn shared(words: &[Word], others: &HashSet<Key, RandomState>) -> usize {
    words.iter().filter(|word| others.contains(&word.key)).count()
}

/// The keys of a text's content words.
pub(in crate::domain) fn keys(text: &str) -> impl Iterator<Item = Key> {
    content_words(text).into_iter().map(|word| word.key)
}

/// Whether a text shares a content word with one of the others. A text without content words, or in scripts
/// that none of the others uses, cannot be compared and is accepted.
#[must_use]
pub fn shares_a_word<'t>(text: &str, others: impl IntoIterator<Item = &'t str>) -> bool {
    let (words, known) = (content_words(text), KnownWords::of(others));
    let can_be_compared = words.iter().any(|word| word.scripts & known.scripts != 0);
    !can_be_compared || shared(&words, &known.keys) > 0
}

/// The content words of texts, and the scripts that they are in.
#[derive(Debug, Default)]
pub(in crate::domain) struct KnownWords {
    pub(in crate::domain) keys: HashSet<Key, RandomState>,
    pub(in crate::domain) scripts: Scripts,
}

impl KnownWords {
    pub(in crate::domain) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut known = Self::default();
        for word in texts.into_iter().flat_map(content_words) {
            known.keys.insert(word.key);
            known.scripts |= word.scripts;
        }
        known
    }
}

/// A set of scripts, one bit each; 0 if it is empty.
pub(in crate::domain) type Scripts = u32;

/// The script of a character; none for digits and symbols.
fn script_of(c: char) -> Scripts {
    let script = match u32::from(c) {
        _ if !c.is_alphabetic() => return 0,
        ..=0x2AF | 0x1D00..=0x1EFF | 0x2C60..=0x2C7F | 0xA720..=0xA7FF | 0xFF21..=0xFF5A => 0,
        code if is_hangul(code) => 1,
        code if is_kana(code) => 2,
        code if is_han(code) => 3,
        // Other scripts have pages of 128 characters of their own, a few of them two.
        code => 4 + (code >> 7) % 28,
    };
    1 << script
}

/// Han, Hiragana, Katakana, Thai and Hangul are compared by pairs of characters.
fn compared_by_pairs(c: char) -> bool {
    let code = u32::from(c);
    code >= 0xE00 && ((0xE01..=0xE4E).contains(&code) || is_hangul(code) || is_kana(code) || is_han(code))
}

fn is_hangul(code: u32) -> bool {
    matches!(code, 0x1100..=0x11FF | 0x3131..=0x318E | 0xA960..=0xA97F | 0xAC00..=0xD7FB | 0xFFA0..=0xFFDC)
}

fn is_kana(code: u32) -> bool {
    matches!(code, 0x3041..=0x3096 | 0x3099..=0x309A | 0x309D..=0x309F | 0x30A1..=0x30FA | 0x30FC..=0x30FF
        | 0x31F0..=0x31FF | 0xFF66..=0xFF9F | 0x1_B000..=0x1_B16F)
}

fn is_han(code: u32) -> bool {
    matches!(code, 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF
        | 0x2_0000..=0x3_23AF)
}

/// Words of headers and of item syntax.
const DSL: &str = "because current progress completed remaining key learnings verbatim context add archive none change \
    changes current_progress key_learnings verbatim_context in_progress";

const ENGLISH: &str = "the and for are but not you all any can had her was one our out has him his how its may new now \
    old see two way who did yet get use used uses using let put say she too own off per via also about above after again \
    against ago almost along already always although among and another are around away back became become been before \
    behind being below between both came cannot come could didn didn't does doesn't doesn doing don don't done down \
    during each either else enough even ever every few first from further gave give given gives goes going gone got has \
    hasn't have haven't having here hers herself himself however i'll i'm i've into isn't it's it'll itself just keep kept \
    last least less like made make makes making many might mine more most much must myself need needs neither never next \
    nor nothing often once only onto other others otherwise ours over perhaps quite rather really said same shall should \
    since some something soon still such take taken takes than that that's their theirs them themselves then there \
    there's therefore these they they're this those though through thus till together took toward towards under \
    unless until upon very want wants was wasn't we'll we're we've well went were weren't what when where whether which \
    while whom whose why will with within without won't would wouldn't yes you'll you're you've your yours yourself";

const GERMAN: &str = "aber alle allem allen aller alles als also am ans auch auf aus bei beim bereits bin bis bist bzw \
    damit dann darauf daraus darf darin das dass dasselbe dem den denn der deren des dessen die dies diese dieselbe \
    diesem diesen dieser dieses dir doch dort durch ein eine einem einen einer eines einige einmal er erst es etwa etwas \
    euch euer für ganz gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem \
    ihren ihrer immer ins ist jede jedem jeden jeder jedes jedoch jene jetzt kann kein keine keinem keinen keiner können \
    könnte lassen man manche mehr mein meine meinem meinen meiner mich mir mit muss müssen nach nachdem nicht nichts noch \
    nun nur oben ober oder ohne schon sehr sein seine seinem seinen seiner seit selbst sich sie sind sogar soll sollen \
    sollte sollten sondern sonst sowie statt um und uns unser unsere unter viel vom von vor wann war waren warum was \
    wegen weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird wirst wo wollen \
    worden wurde wurden würde würden zum zur zwar zwischen über";

const FRENCH: &str = "afin ainsi alors après aucun aucune aussi autre autres avait avant avec avez avoir avons ayant c'est \
    car cela celle celles celui ces cet cette ceux chaque chez comme comment contre d'un d'une dans depuis des deux \
    devant dit doit doivent donc dont déjà elle elles encore entre est et étaient était été être eux faire fait faut fois \
    font ici ils jamais jusqu l'on les leur leurs lors lorsque lui mais même mêmes mes moins mon n'est non nos notre nous \
    ont par parce pas pendant peu peut peuvent plus pour pourquoi puis qu'il qu'elle qu'un quand que quel quelle quelles \
    quels qui quoi sans sauf selon sera sera seront ses seulement son sont sous suis sur tandis tant tel telle tes toi \
    ton toujours tous tout toute toutes très trop une vers voici voilà vos votre vous";

const SPANISH: &str = "algo alguna algunas alguno algunos ante antes aquel aquella aquellos aquí así aún aunque bajo bien \
    cada casi como con contra cual cuales cuando cuál de del desde después donde dos durante él ella ellas ellos embargo \
    en entonces entre era eran eres esa esas ese eso esos esta estaba están estar estas este esto estos está fue fueron \
    ha había han hasta hay hace hacer las les los luego más me mediante menos mientras mis misma mismo mucho muchos muy \
    nada ni ninguna ninguno nos nosotros nuestra nuestro nunca otra otras otro otros para pero poco por porque puede \
    pueden pues que quien quién qué se sea según ser será si sido siempre sin sino sobre solo son su sus sólo también \
    tampoco tan tanto te tiene tienen toda todas todavía todo todos tras tu tus un una unas uno unos usted ustedes ya";

const OTHERS: &str = "alla alle anche ancora avere che chi come con cosa così cui dagli dai dal dalla delle degli dei del \
    della dello dopo dove essere fare gli hanno il loro ma mentre molto nei nel nella nelle non ogni per perché però più \
    poi prima qual quale quando quella quello questa questo quindi sempre senza sia sono solo sono stato sul sulla suo \
    tra tutti tutto una uno ainda ao aos até cada com como da das de depois dos ela elas ele eles em entre era essa esse \
    esta está este eu foi foram há isso isto já mais mas mesmo muito na nas nem no nos não num numa ou para pela pelo por \
    porque quando que quem se sem ser seu seus só sua são também tem tudo um uma umas você aan aber als bij dan dat deze \
    dit door een geen haar heb heeft het hij hun iets ik kan maar meer met mijn moet naar niet nog ook onder over te toch \
    uit van veel voor waar wat wel werd wij worden zal zich zij zijn zonder \
    без был была были было быть вас вот все всё для его если есть еще ещё или как когда кто между меня мне может \
    надо нас него нет них она они оно перед под после потому при про раз так также там тебя тем теперь тогда того тоже \
    только том три тут уже хотя чего чем что чтобы эта эти это этого этом этот";

/// Character pairs in endings, particles and pronouns.
const PAIRS: &str = "です ます した して てい いる いた する ない から まで こと もの ため これ それ あれ この その ある あり ので のは のが \
    のを のに には では とは での との など とき さい くだ ださ まし ませ せん れる られ たら なら って った んで にす がい をし れた \
    我们 你们 他们 她们 这个 那个 这些 那些 一个 一些 因为 所以 但是 如果 可以 没有 什么 已经 还是 就是 不是 以及 或者 并且 我們 你們 他們 這個 \
    這些 個人 因為 沒有 什麼 已經 還是 \
    합니 니다 습니 입니 있습 없습 하는 하고 에서 으로 에게 까지 부터 그리 리고 하지 지만 때문 문에 것이 것은 것을 이다 있다 한다 했다 된다 되는 \
    และ ของ ที่ ใน การ ความ ไม่ ได้ ให้ เป็ ป็น จะ มี ว่า กับ";

static WORDS: LazyLock<HashSet<String, RandomState>> = LazyLock::new(|| {
    let lists = [DSL, ENGLISH, GERMAN, FRENCH, SPANISH, OTHERS];
    let parts = lists
        .into_iter()
        .flat_map(|list| words(list).map(|place| folded_word(&list[place])));
    parts.chain(PAIRS.split_whitespace().map(folded_word)).collect()
});

/// Whether a folded word or pair is a function word.
fn is_function_word(folded: &str) -> bool {
    WORDS.contains(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Vec<String> {
        content_words(text)
            .into_iter()
            .map(|word| folded_word(&text[word.range]))
            .collect()
    }

    fn matches(one: &str, other: &str) -> bool {
        content_words(one)[0].key == content_words(other)[0].key
    }

    #[test]
    fn words_have_three_characters_or_a_digit_and_mean_something() {
        assert_eq!(
            words_of("The render_page of v2 isn't in std::fs, KL-3 is 1,000.5 because"),
            ["render", "page", "v2", "std", "3", "1", "000", "5"]
        );
        assert_eq!(words_of("__ -- .. ''"), Vec::<String>::new());
    }

    #[test]
    fn words_match_in_their_first_six_characters() {
        assert!(matches("parser", "parsers") && matches("migrations", "migrating"));
        assert!(!matches("parse", "parser") && !matches("cache", "caches"));
        assert!(matches("STRASSE", "Straße") && matches("ﬁnder", "finder") && matches("ＡＢＣ", "abc"));
        assert!(matches("Zürich", "Zu\u{308}rich"));
    }

    #[test]
    fn runs_without_blanks_are_pairs() {
        assert_eq!(words_of("東京タワー"), ["東京", "京タ", "タワ", "ワー"]);
        assert_eq!(words_of("서울 API"), ["서울", "api"]);
        assert_eq!(words_of("ภาษา").len(), 3);
        assert_eq!(words_of("猫"), Vec::<String>::new());
    }

    #[test]
    fn a_text_shares_a_word_or_cannot_be_compared() {
        assert!(shares_a_word(
            "Retries were added",
            ["a retry", "Added: retries with back-off"]
        ));
        assert!(!shares_a_word("The whale sings", ["retries with back-off"]));
        assert!(shares_a_word("パーサーを書いた", ["wrote the parser"]));
        assert!(shares_a_word("so it is", ["wrote the parser"]));
    }

    #[test]
    fn function_words_of_several_languages_are_known() {
        for word in "because with don weil pour también чтобы です".split(' ') {
            assert!(is_function_word(&folded_word(word)), "{word}");
        }
        assert!(!is_function_word("parser") && !is_function_word("数据"));
    }
}
