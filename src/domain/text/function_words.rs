//! Words without meaning of their own: function words of several languages, and the keywords of the DSL.

use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::sync::LazyLock;

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
    のを のに には では とは での との など とき さい くだ ださ まし ませ せん れる られ たら なら って った んで にす がい をし は、 れた \
    我们 你们 他们 她们 这个 那个 这些 那些 一个 一些 因为 所以 但是 如果 可以 没有 什么 已经 还是 就是 不是 以及 或者 并且 我們 你們 他們 這個 \
    這些 個人 因為 沒有 什麼 已經 還是 \
    합니 니다 습니 입니 있습 없습 하는 하고 에서 으로 에게 까지 부터 그리 리고 하지 지만 때문 문에 것이 것은 것을 이다 있다 한다 했다 된다 되는 \
    และ ของ ที่ ใน การ ความ ไม่ ได้ ให้ เป็ ป็น จะ มี ว่า กับ";

static WORDS: LazyLock<HashSet<&str, RandomState>> = LazyLock::new(|| {
    [DSL, ENGLISH, GERMAN, FRENCH, SPANISH, OTHERS, PAIRS]
        .into_iter()
        .flat_map(str::split_whitespace)
        .collect()
});

/// Whether a normalised word or pair is a function word.
pub(super) fn is_function_word(folded: &str) -> bool {
    WORDS.contains(folded)
        // Both apostrophes are equivalent.
        || folded.contains('\u{2019}') && WORDS.contains(folded.replace('\u{2019}', "'").as_str())
}

#[cfg(test)]
mod tests {
    use super::super::content_words::comparable;
    use super::*;

    #[test]
    fn the_lists_are_folded_themselves() {
        for word in WORDS.iter() {
            assert_eq!(comparable(word), **word);
        }
    }

    #[test]
    fn function_words_of_several_languages_are_known() {
        for word in [
            "because",
            "with",
            "weil",
            "pour",
            "también",
            "чтобы",
            "です",
            "don\u{2019}t",
        ] {
            assert!(is_function_word(word), "{word}");
        }
        assert!(!is_function_word("parser") && !is_function_word("数据"));
    }
}
