//! German.

use super::de_verbs::{is_done, is_imperative};
use super::sign::Sign;
use super::words::Words;

pub(super) const WORDS: Words = Words {
    cues: CUES,
    states: STATES,
    rivals: RIVALS,
    numbers: "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn",
    weekdays: "montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs donnerstags freitags samstags sonntags",
    connectors: " ist sind | bei in im an am auf unter hinter neben über aus | mit | nach zu zur zum | von | heißt | nutzt liefert fährt ",
    pronouns: "er|es|das ist|das sind|das hat|das war|das wird|das geht|sie ist|sie sind|sie hat|sie war|sie wird|sie geht",
    expletives: "es gibt|es geht|es ist|es sind",
    denying: "kein|keine|keinen",
    yes: "ja|jep",
    others: "er|sie",
    separable: SEPARABLE,
    belonging: "für|von",
    circumstances: "in|im|am|an|bei|seit|nach|vor|weil|heute|gestern|und|mit",
    new_begins: "sondern|weil|wie|mehr|nach|auf",
    to: "auf|zu|nach",
    joins: "und|aber",
    is_done,
    needs_no_auxiliary: |_| false,
    is_imperative,
};

/// Opposite states, one axis per line.
const STATES: &str = "offen|geöffnet|wieder offen|wieder geöffnet|ist auf|sind auf|wieder auf / geschlossen|gesperrt|zu gemacht|dicht|ist zu|sind zu|verschlossen|abgeschlossen\n\
    in betrieb|wieder in betrieb|läuft wieder|läuft|funktioniert|funktioniert wieder|geht wieder|online|repariert|ist ganz|wieder da|im einsatz|einsatzbereit|wieder heil / \
    außer betrieb|defekt|kaputt|funktioniert nicht|geht nicht|läuft nicht|offline|ausgefallen|stillgelegt|unbrauchbar|abgeschaltet\n\
    eingeschaltet|aktiviert|aktiv|ist an|sind an|angeschaltet / ausgeschaltet|deaktiviert|inaktiv|ist aus|sind aus|abgestellt\n\
    erlaubt|zugelassen|gestattet|genehmigt|in ordnung / verboten|untersagt|nicht erlaubt|nicht zugelassen|nicht gestattet|nicht mehr erlaubt\n\
    möglich|unterstützt|geht jetzt / unmöglich|nicht möglich|unterstützt kein*|unterstützt nicht\n\
    pflicht|nötig|erforderlich|notwendig|vorgeschrieben|verpflichtend / freiwillig|optional|nicht nötig|nicht mehr nötig|nicht erforderlich|überflüssig|nicht notwendig\n\
    verfügbar|lieferbar|auf lager|vorrätig|noch frei|wieder frei / ausverkauft|vergriffen|nicht verfügbar|nicht lieferbar|belegt|ausgebucht|vergeben\n\
    angenommen|bewilligt|zugesagt / abgelehnt|abgesagt|verweigert|zurückgewiesen\n\
    gültig|in kraft / ungültig|abgelaufen|nicht gültig|außer kraft|verfallen\n\
    öffentlich / vertraulich|geheim|nicht öffentlich\n\
    ungefährlich|sicher / gefährlich|unsicher\n\
    im urlaub|in elternzeit|krankgeschrieben|krank / wieder im büro|wieder da|wieder gesund|zurück aus";

/// Verbs of giving something up, and their separable prefixes: "wir lassen Budapest weg".
const SEPARABLE: &str = "lassen|lasse|lass|lasst / weg|aus|bleiben|fallen\nschaffen|schaffe|schafft / ab\n\
    geben|gebe|gib / auf|ab|weg\nstellen|stelle / ein\nnehmen|nehme|nimm / raus|heraus\n\
    werfen|werfe|wirf|schmeißen|schmeiße|schmeiß / raus|weg|um\n\
    melden|melde|bestellen|bestelle / ab\nhören|höre|hör / auf";

/// Mutually exclusive words, one group per line.
const RIVALS: &str = "staging|produktion|produktiv|test|testsystem|entwicklung|lokal|sandbox|vorschau\n\
    morgens|abends|mittags|nachts|vormittags|nachmittags\n\
    werktags|wochenende|wochenends\n\
    sommer|winter|frühling|herbst|frühjahr\n\
    links|rechts|linke|rechte|linken|rechten\n\
    oben|unten|obere|untere|oberen|unteren\n\
    norden|süden|osten|westen|südseite|nordseite|ostseite|westseite\n\
    erwachsene|kinder|kind\n\
    mindestens|höchstens\n\
    mutter|vater|mama|papa|schwester|bruder|frau|mann|sohn|tochter|oma|opa|tante|onkel\n\
    ankunft|abfahrt|anreise|abreise\n\
    voll|ermäßigt\n\
    erdgeschoss|keller|dachboden|obergeschoss";

const CUES: &[(Sign, &str)] = &[
    (
        Sign::Keep,
        "merk dir|merke dir|merken sie sich|bitte merken|zu merken|denk daran|denke daran|denk dran|nicht vergessen , dass|nicht vergessen :|vergiss nicht , dass|wichtig|wichtig :|ab jetzt|ab sofort|von nun an|von jetzt an|künftig|in zukunft|\
        grundsätzlich|regel :|als regel|hausregel|beachte|bitte beachten|zur info|zur erinnerung :|gilt ab|merkregel|notiere|pass auf|passt auf|pass bitte auf|achte darauf|denk bitte daran|behalte im kopf|behalt im kopf|denkt dran|denkt daran",
    ),
    (
        Sign::Rule,
        "muss|müssen|darf nicht|dürfen nicht|darf nie|dürfen nie|darf nur|dürfen nur|darf kein*|nie|niemals|immer|stets|keinesfalls|auf keinen fall|unter keinen umständen|verboten|pflicht|vorgeschrieben|niemand darf|ausschließlich|\
        no-go|kommt nicht infrage|kommt nicht in frage|tabu|ausgeschlossen ist|nichts darf|egal was|ist tabu|nix mehr|muss bleiben|müssen bleiben|erst , wenn|erst wenn|nur wenn",
    ),
    (
        Sign::Limit,
        "für jede|für jeden|für jedes|bei jeder|bei jedem|höchstens|mindestens|maximal|nicht mehr als|spätestens|frühestens|nur noch|sonst|andernfalls|erst nach|soll nicht|sollen nicht|nicht vor|nicht nach|nur|ohne|kein|keine|keinen|braucht|brauchen|bis|nicht anfassen|finger weg|fass nicht|lass die finger",
    ),
    (
        Sign::Passing,
        "ich muss los|muss los|bin dann mal weg|nur heute|heute nur|diese woche|dieses wochenende|dieses mal|diesmal|heute abend|heute nacht|heute nachmittag|im moment|momentan|zurzeit|zur zeit|vorübergehend|vorerst|fürs erste|einstweilen|ausnahmsweise|bis morgen|bis heute|den ganzen tag|die ganze nacht|seit heute früh|seit heute morgen|seit gestern",
    ),
    (
        Sign::Moment,
        "eben noch|gerade eben|ich komme gerade|heute|gestern|vorgestern|vorhin|eben|letzte woche|neulich|gestern abend|vor einer stunde|heute früh|heute morgen",
    ),
    (
        Sign::Listener,
        "du hast|du bist|du warst|du wirst|du willst|du sagst|du meinst|du schreibst|du erzählst|du redest|du klingst|sie haben mir|deine antwort|dein vorschlag|deine idee|deine nachricht|dir sagen|dich|du weißt|wie du",
    ),
    (
        Sign::Feeling,
        "ich bin müde|ich bin so|bin müde|ich freue|freut mich|ich ärgere|nervt|ich fühle|ich bin froh|ich bin gespannt|ich bin sauer|ich bin stolz|unglaublich|wahnsinn|puh|seufz|ach je|oh je|was für ein|was für eine|wie schön|na toll|na super|na prima|na klasse|ich hab's satt|ich habe es satt|meine güte|du liebe|donnerwetter|krass|herrje|platt|todmüde|hundemüde|so einen hunger|hab hunger|habe hunger|kopfweh|kopfschmerzen|fix und fertig|mir ist flau|mir ist schlecht|mir ist kalt|mir raucht der kopf|mir brummt|ich frier*",
    ),
    (
        Sign::Others,
        "schreibt ,|schrieb ,|behauptet ,|er will|sie will|sie wollen|er möchte|sie möchte|will unbedingt|meint|glaubt|erzählt|erzählte|hat gesagt|hat gemeint|sagte|sagt|soll angeblich|soll wohl|will wissen|wünscht sich|wünschen sich|hätte gern|schlägt vor|schlug vor|hofft|überlegt|denkt|ist überzeugt|erzählt allen|erzählt überall|tippte|behauptete|jemand meinte|hat man gesagt|wurde gesagt|erzählt man|angeblich",
    ),
    (
        Sign::Past,
        "war|waren|hatte|hatten|wurde|wurden|ging|kam|gab|fand|stand|lag|blieb|sah|ließ|nahm|lief|wollte|konnte|musste|durfte",
    ),
    (
        Sign::Also,
        "auch|ebenfalls|zusätzlich|außerdem|dazu|noch ein|noch eine|noch einen|weiterer|weitere|weiteres|zweiter|zweite|zweites",
    ),
    (
        Sign::Amount,
        "erhöht*|gesenkt*|reduziert|verringert|halbiert|verdoppelt|angehoben|heraufgesetzt|herabgesetzt|gekürzt|gesenkt|aufgestockt|hochgesetzt|runtergesetzt",
    ),
    (Sign::Hands, "übernimmt|übernommen|übergeben|übergibt"),
    (Sign::Confirming, "wie geplant|unverändert|wie gehabt|bleibt so"),
    (Sign::Lasting, "bis|nur heute|vorerst"),
    (Sign::Shuts, "macht zu|machen zu"),
    (
        Sign::IsNot,
        "ist nicht|ist kein*|war nicht|war kein*|sind nicht|sind kein*|ist es nicht|war es nicht|ist das nicht",
    ),
    (
        Sign::Private,
        "bleibt unter uns|unter uns gesagt|ganz unter uns|nur unter uns|schreib das nirgends|schreib's nirgends|schreib das nicht auf|schreib das bitte nicht auf|nicht aufschreiben|nirgends aufschreiben|nicht notieren|notier das nicht|notiere das nicht|speicher das nicht .|speicher das nicht ,|speicher das nicht !|speichere das nicht .|speichere das nicht ,|speichere das nicht !|das nicht speichern .|das nicht speichern ,|das nicht speichern !|nirgends speichern|nirgendwo speichern|nicht ins protokoll|nicht fürs protokoll|nicht für die akten|nicht weitersagen|sag's nicht weiter|sag das nicht weiter|behalt das für dich|behalte das für dich|muss nicht festgehalten werden|merk dir das nicht|das bleibt hier im raum",
    ),
    (Sign::Speaker, "ich bin|bin"),
    (
        Sign::EndsIt,
        "haben ihnen gekündigt|haben ihm gekündigt|haben ihr gekündigt|haben wir gekündigt|haben sie gekündigt|haben es gekündigt|haben ihnen abgesagt|haben ihm abgesagt|haben ihr abgesagt|haben sie storniert|haben es storniert|haben ihn ersetzt|haben sie ersetzt|haben es ersetzt|haben ihn verkauft|haben sie verkauft|haben es verkauft|haben es aufgegeben|haben das gestrichen|haben wir gestrichen|haben wir verworfen|haben wir abgeschafft|haben wir rausgeworfen|haben wir abbestellt|hat uns abgesagt|haben uns abgesagt|nutzen wir nicht mehr|nehmen wir nicht mehr|brauchen wir nicht mehr|gilt damit nicht mehr|entfällt damit",
    ),
    (
        Sign::NotCause,
        "war's nicht|war es nicht|war es aber nicht|waren es nicht|waren's nicht|war nicht die ursache|ist nicht die ursache|nicht die ursache|nicht schuld|ist unschuldig|war unschuldig|unschuldig|ist raus aus dem schneider|ist aus dem schneider|scheidet aus|scheiden aus|liegt es nicht|lag es nicht|lag's nicht|liegt's nicht|hat nichts damit zu tun|hatte nichts damit zu tun",
    ),
    (
        Sign::Partly,
        "nicht nur|nicht immer|nicht alle|nicht jeder|nicht jede|nicht jedes|nicht ganz|nicht unbedingt|nicht vor|nicht nach|nicht mehr als|nicht weniger als|nicht sicher|kein problem|keine ahnung|kein wunder|nicht schlecht|nicht erst|nicht überall",
    ),
    (
        Sign::Excess,
        "ist zu hoch|ist zu heiß|ist zu viel|ist zu wenig|ist zu niedrig|ist zu kurz|ist zu lang|ist zu knapp|ist zu klein|ist zu groß|sind zu viel|sind zu viele|sind zu wenig|war zu hoch|war zu viel|war zu wenig|war zu knapp",
    ),
    (
        Sign::ComesFrom,
        "kommt von|kommen von|kommt vom|kommen vom|stammt von|stammen von|rührt von|liegt am",
    ),
    (Sign::Only, "nur noch|nur|ausschließlich"),
    (Sign::Since, "ab|seit|ab dem"),
    (Sign::Day, "heute|gestern|heute früh"),
    (Sign::Person, "ich|wir|sie|er|du|ihr"),
    (Sign::Needless, "nicht mehr nötig|entfällt"),
    (Sign::Waits, "melde mich|schaue wieder|warte"),
    (Sign::Own, "ich|wir|schon|bereits"),
    (Sign::Before, "bevor ich|bevor wir"),
    (
        Sign::Exact,
        "genau das|genau diese*|heb das auf|heb die|heb den|behalte|genau so|wortwörtlich|unverändert|wort für wort|im wortlaut|aufheben|kein wort ändern",
    ),
    (Sign::Now, "jetzt|nun"),
    (
        Sign::Dismissal,
        "nicht ernst nehmen|nicht ernst zu nehmen|hör nicht auf|ignorieren wir|ignorier das|mit vorsicht zu genießen|halb so wild|na ja|geschenkt|sagt er jedenfalls|sagt sie jedenfalls|sagen sie jedenfalls|behauptet er|behauptet sie|behaupten sie|glaube ich ihm nicht|glaub ich ihm nicht|glaube ich ihr nicht|glaub ich ihr nicht|glaube ich nicht|glaub ich nicht|glaube ich kein wort|kaufe ich ihm nicht ab|kauf ich ihm nicht ab|kaufe ich denen nicht ab|nehme ich ihm nicht ab|nehm ich ihm nicht ab|das war seine aussage|das war ihre aussage|so seine worte|so seine version|so ihre version|das ist seine version|nichts dahinter|was natürlich quatsch ist|was natürlich unsinn ist",
    ),
    (Sign::Hence, "deshalb|daher|darum|damit|dadurch|deswegen|weil"),
    (
        Sign::Seek,
        "ursache|ursachen|herausfinden|warum|wieso|auslöser|fehler suchen|klären",
    ),
    (Sign::Aside, "übrigens|nebenbei bemerkt|nebenbei"),
    (Sign::Condition, "wenn|falls|sobald|sofern"),
    (
        Sign::Concession,
        "du hast recht|sie haben recht|stimmt ,|stimmt .|mein fehler|entschuldigung|tut mir leid|das war falsch",
    ),
    (
        Sign::Decision,
        "das steht fest|steht fest|dabei bleibt es|wir haben entschieden|haben entschieden|entschieden|entscheidung :|beschlossen|beschluss|wir nehmen|wir bleiben bei|wir behalten|festgelegt|abgemacht|vereinbart|wir einigen uns|geeinigt|wir setzen auf|die wahl fiel|wir schalten|entschluss|\
        bleibe bei|bleiben bei|wir einigen|dann nehmen wir|ich nehme|wird es",
    ),
    (
        Sign::Cause,
        "ursache|die ursache|der grund|grund dafür|grund war|lag an|es lag|liegt an|liegt daran|lag daran|schuld war|schuld ist|stellte sich heraus|hat sich herausgestellt|herausgestellt|gefunden :|verursacht|sondern an|auslöser|das problem war|der fehler war|es war der|es war die|es war nur|\
        das war es|das war's|daran lag es|ich sehe , warum|ich sehe das problem|jetzt sehe ich|da haben wir's|da haben wir es|das erklärt es",
    ),
    (
        Sign::Finding,
        "bekanntes problem|bekannter fehler|ist bekannt|workaround|abhilfe|umgehung|ergebnis :|das ergebnis|fazit|erkenntnis|gemessen",
    ),
    (Sign::Because, "weil|deshalb|daher|darum|damit"),
    (
        Sign::Requirement,
        "akzeptiert nur|nimmt nur|unterstützt nur|unterstützt kein*|liest nur|verlangt|erwartet|braucht die|setzt voraus|funktioniert nur|wird zurückgesetzt|wird jeden|zurückgesetzt",
    ),
    (
        Sign::Personal,
        "*allergie|*unverträglichkeit|*intoleranz|ich bevorzuge|bevorzugt|ich mag|mag kein*|mag keine|ich hasse|hasst|lieber|ich wohne|wir wohnen|wohnt|ich arbeite|arbeitet bei|ich heiße|mein name|meine frau|mein mann|meine tochter|mein sohn|meine mutter|mein vater|meine schwester|mein bruder|mein arzt|allergisch|allergie|\
        verträgt|unverträglich|vegetarisch|vegetarier|vegetarierin|vegan|veganer|diabetiker|diabetes|zöliakie|asthma|schwanger|linkshänder|rechtshänder|legasthen*|rollstuhl|isst kein*|trinkt kein*|operiert|operation|krankheit|angst vor|geburtstag|geboren|wird krank|seekrank|reisekrank|ich spreche|lieblings*|mein budget|unser budget|jahre alt|ich lerne|gluten*|laktose*",
    ),
    (
        Sign::Change,
        "jetzt|nicht mehr|statt|anstatt|anstelle|sondern|geändert|ändert sich|neu ist|neue|neuer|neues|korrektur|berichtigung|umgezogen|verschoben|verlegt|falsch|war falsch|ersetzt|abgelöst|umgestellt|umbenannt|abgesagt|storniert|gekündigt|veraltet|überholt|hinfällig|\
        gestiegen|gesunken|erhöht|steigt von|sinkt von|seit heute|ab heute|heißt jetzt|doch nicht|inzwischen|mittlerweile|gewechselt|wechselt|ab sofort|ab januar|ab februar|ab märz|ab april|ab mai|ab juni|ab juli|ab august|ab september|ab oktober|ab november|ab dezember|ist raus|ist zu|\
        ab montag|ab dienstag|ab mittwoch|ab donnerstag|ab freitag|ab samstag|ab sonntag|ab morgen|runter auf|hoch auf|stattdessen|wird zu|wurde zu|wieder offen|wieder auf|aufgehoben|umgestiegen|wechseln|bleiben bei|bleibe bei|doch kein|doch keine|zurückgenommen",
    ),
    (
        Sign::Old,
        "nicht mehr|nicht am|nicht um|nicht an|nicht von|nicht ab|nicht in|nicht bei|, nicht|und nicht|statt|anstatt|anstelle von|anstelle der|anstelle des|früher|bisher|nicht erst",
    ),
    (
        Sign::OldBefore,
        "ist abgesagt|ist storniert|ist hinfällig|ist veraltet|ist überholt|gilt nicht mehr|ist weg|ist abgeschafft|ist gekündigt|ist raus|ist aufgelöst|ist geschlossen|\
        ist vom tisch|fällt weg|entfällt|ist gestrichen|wurde gestrichen|ist aufgehoben|wurde aufgehoben|gibt es nicht mehr|gibt's nicht mehr|ist deinstalliert|wurde entfernt|ist entfernt|wurde abgeschafft|ist vorbei|ist pleite|hat zugemacht|zurückgezogen|ist abgeschaltet|wurde abgeschaltet|ist außer dienst|\
        verkauft|gekündigt|abgemeldet|aufgegeben|verschenkt|abgebaut|abgerissen|zurückgetreten|in rente|nicht mehr da|ausgezogen|ausgeschieden|stillgelegt|abbestellt|aufgelöst|gestorben|verstorben|ausgetauscht|storniert|abgesagt|weggefallen|ausgemustert|weggegeben|ist abgelöst|wurde abgelöst|wurde ersetzt|ist ersetzt|ist insolvent|pleite gegangen|hat dichtgemacht|macht dicht|schließt für immer|macht zu|machen zu|schließt endgültig|hört auf|hören auf|fliegt raus|fliegen raus|flog raus|ist rausgeflogen|ist gestorben|ist dicht|ist geplatzt|hat sich erledigt|haben sich erledigt|hat abgesagt|haben abgesagt|ist zu ende|ist damit zu ende|ging zu ende|läuft aus|ist ausgelaufen|ist nicht mehr im rennen|ist abgelehnt|wird abgeschafft|wird eingestellt|wurde eingestellt|ist eingestellt|wird ersetzt|werden ersetzt|sind abgeschafft|sind gestrichen|sind raus|sind weg|ist gelöscht|sind gelöscht|wurde gelöscht|ist ausgefallen|springt ab|ist abgesprungen|zieht sich zurück|steht auf dem wertstoffhof|ist verschrottet|ist durch|spielt keine rolle mehr|ist egal geworden|zählt nicht mehr|interessiert nicht mehr|abgesetzt|abgestellt|eingestellt worden",
    ),
    (Sign::From, "von|vom"),
    (
        Sign::Retired,
        "nicht mehr mit|wir nutzen kein*|wir benutzen kein*|wir verwenden kein*|verabschiedet von|abgeschafft|abgelöst durch|weg von|alles über|alles zu|was du über|was du zu|vergiss alles|streich|streiche|streichen wir|lass weg|lassen wir weg|verzichten auf|verzichte auf|brauchen kein*|wir brauchen kein*|verzichten wir auf|haben uns getrennt von|trennen uns von|steigen aus|haben aufgehört mit|höre auf mit|aufgehört mit|schluss mit",
    ),
    (
        Sign::Obsolete,
        "veraltet|überholt|hinfällig|ungültig|gilt nicht mehr|stimmt nicht mehr|ist falsch|war falsch|kann weg|vergiss|nicht mehr gültig|nicht mehr aktuell|stimmt nicht|trifft nicht mehr zu|löschen|stimmen nicht|stimmt so nicht|stimmen so nicht|gelten nicht mehr|nicht mehr richtig|sind falsch|sind veraltet",
    ),
    (
        Sign::Moved,
        "umgezogen|zieht um|ziehen um|gezogen|neue adresse|neue anschrift|migriert|umgestellt auf|gewechselt zu|gewechselt nach|umgestiegen auf",
    ),
    (
        Sign::Place,
        "wohnt|wohne|wohnen|adresse|anschrift|büro ist|büro in|liegt in|zimmer|sitz in|straße|praxis|\
        liegen auf|liegt auf|liegen in|liegen bei|gespeichert auf|gespeichert in|läuft auf|läuft bei|laufen auf|laufen bei|gehostet",
    ),
    (
        Sign::Waiting,
        "nicht fertig|noch nicht|unfertig|steht aus|ausstehend|kaputt|fehlt noch|fehlen noch|fehlt|unbestätigt|ungeklärt|wartet auf|warten auf|unvollständig|noch offen|läuft noch|nicht abgeschlossen|unbekannt",
    ),
    (
        Sign::Hedge,
        "vielleicht|möglicherweise|eventuell|vermutlich|wahrscheinlich|womöglich|ich glaube|ich denke|ich vermute|ich nehme an|wohl|könnte|könnten|scheint|scheinbar|anscheinend|sieht so aus|sieht aus|unklar|nicht sicher|mein verdacht|verdacht :|hoffentlich|dürfte|dürften|ich tippe|tippe auf|tippte auf|ich wette|wette",
    ),
    (
        Sign::Hearsay,
        "ich dachte|dachte zuerst|wir dachten|zuerst dachte|hieß es|angeblich|man sagt|habe gehört|wurde mir gesagt|behauptet|er sagt|sie sagt|sagt , dass|im film|im roman|im spiel|geträumt|\
        verkündet|schwört|schwor|meint|wollte wissen|fragt , ob|gefragt , ob|scherzt|prahlt|du hast gesagt|du sagtest|du meintest|du hattest gesagt|hat das von|aus zweiter hand|vom hörensagen|weiß ich nur vom",
    ),
    (
        Sign::Hypothesis,
        "wenn wir|wenn ich|falls wir|falls ich|angenommen|stell dir vor|stellen wir uns vor|nehmen wir an|was wäre|was wenn|würde|würden|würdest|wäre|wären|hätte|hätten|bräuchte|bräuchten|müsste|müssten|könnten wir|dazunähmen|theoretisch|hypothetisch|im prinzip könnte|zum beispiel",
    ),
    (
        Sign::Joke,
        "haha|hahaha|hihi|lol|scherz|nur spaß|war ein witz|ein witz|scherz beiseite|nur ein scherz|: )|; )|😂|🤣|😜|😉|😄|😅|😆|na klar , und|ja klar , und|ironie|schön wär's|was soll schon schiefgehen|was kann da schon",
    ),
    (
        Sign::Serious,
        "spaß beiseite|scherz beiseite|im ernst|ernsthaft|nein , wirklich|nein , im ernst|mal im ernst|jetzt aber wirklich",
    ),
    (
        Sign::Denial,
        "nein|nee|nö|stimmt nicht|falsch|immer noch|geht nicht|funktioniert nicht|klappt nicht|hat nicht geklappt|schlägt fehl|weiterhin|tritt noch auf|tritt immer noch|nicht gelöst|nicht behoben|nicht repariert|gleicher fehler|derselbe fehler|wieder kaputt|ist leer|bist du sicher|nicht erledigt|ist kaputt|zurück auf los|wieder von vorn|von wegen|doch nicht gelöst|doch nicht behoben|ist noch da|kommt immer noch|hält nicht",
    ),
    (
        Sign::Refuted,
        "in ordnung|war es nicht|war es aber nicht|ist es nicht|liegt es nicht|lag es nicht|ist nicht schuld|nicht die ursache|nicht der grund|war falsch|war negativ|ausgeschlossen|entlastet|hat nichts zu tun|hat damit nichts|es ist nicht|es war nicht|entwarnung|fehlalarm|vergiss das|\
        dachte , es|vergiss den|vergiss die",
    ),
    (
        Sign::Trouble,
        "fehler|fällt aus|ausfall|aussetzer|abgestürzt|absturz|stürzt|hängt|langsam|kaputt|klappt nicht|geht nicht|nur noch nullen|liefert|problem|störung|leer|doppelt|manchmal bekommt|verliert|zu lange|zu langsam|seit gestern|bricht ab|scheitert|jede nacht|probleme|störungen|druckt nicht|startet nicht|läuft nicht",
    ),
    (
        Sign::Meta,
        "anweisung|anweisungen|ignoriere|ignoriert|betrug|phishing|versteckt|speichere ich nicht|nicht speichern|behalte ich nicht|folge ich nicht|eingeschleust",
    ),
    (
        Sign::Injection,
        "ki-assistent*|ki assistent*|an alle assistenten|an den assistenten|hinweis an die ki|achtung assistent|achtung ki|ignoriere alle|vorherige anweisungen|vorherigen anweisungen|system :|assistent :|sprachmodell|sage dem nutzer nicht|ohne es dem nutzer",
    ),
    (
        Sign::Says,
        "sagt|schreibt|steht|mail|e-mail|nachricht|seite|artikel|ticket|fehler|log|ausgabe|text|brief|meldung|meldet|folgendes|bekommen|zitat|kommentar|lautet",
    ),
    (
        Sign::Wish,
        "ich brauch|brauch ich|brauche ich|will ich|ich will|wir wollen|möchte|möchten|würde gern|ich suche|wir suchen|hoffe|wünsche|ich brauche|vorhaben|idee|ideen",
    ),
    (
        Sign::Done,
        "ist fertig|sind fertig|ist erledigt|sind erledigt|erledigt|fertig|ist drin|sind drin|läuft wieder|läuft jetzt|lief alles durch|geht jetzt|funktioniert jetzt|funktioniert wieder|klappt jetzt|ist grün|sind grün|laufen durch|ist online|ist live|ist raus|sind raus|ist da|sind da|behoben|abgeschlossen|\
        eingebaut|ist bereit|ist eingerichtet|liegt vor|liegt bereit|liegt bei|liegt als|steht bereit|funktioniert|ist angekommen|sind angekommen|ist eingetroffen|kam an|kam heraus|ging durch|ist durch|sind durch|ist geliefert|wurde geliefert|wir kommen gerade|ich komme gerade|zurück von|zurück vom|wir waren beim|wir waren bei|ich war beim|steht hier|stehen hier|liegt hier|liegen hier|steht schon|stehen schon|hängt schon|hängen schon|war da|war hier|waren da|war gestern da|war heute da|habe einen termin|hab einen termin|haben einen termin|ist unterschrieben|sind unterschrieben|ist überwiesen|sind überwiesen|ist bezahlt|sind bezahlt|ist gekommen|sind gekommen|kam gestern|kam heute|ist unter dach und fach|ist geritzt|ist geklärt|ist gebucht|steht fest gebucht",
    ),
    (
        Sign::Aux,
        "habe|haben|hab|hat|ist|sind|wurde|wurden|worden|bin|schon|bereits",
    ),
    (
        Sign::Negation,
        "nicht|kein|keine|keinen|keinem|keiner|nie|niemals|ohne|nichts|niemand|weder|noch|nix",
    ),
    (
        Sign::NotYet,
        "noch nicht|noch kein|noch keine|noch keinen|nicht fertig|nicht eingerichtet|nicht gebucht|nicht verschickt|fehlt|fehlen",
    ),
    (
        Sign::Doing,
        "ich bin dabei|bin gerade|gerade|derzeit|momentan|zurzeit|zur zeit|im moment|läuft gerade|in arbeit|ich arbeite an|jetzt rechne|jetzt mache|jetzt schreibe|jetzt baue|jetzt prüfe|ich beginne|ich fange|beginne mit|fange mit|jetzt bin ich|jetzt|nun|habe begonnen|habe angefangen|hab angefangen|fange an|bin dran|sitze an|ich gerade|bin schon dabei|ich bin jetzt bei",
    ),
    (
        Sign::Next,
        "als nächstes|als nächster schritt|nächster schritt|nächste schritte|danach|dann|anschließend|später|zum schluss|zuletzt|morgen|nächste woche|daraufhin|kommt der|kommt die|kommt das|folgt|im anschluss|darauf folgt",
    ),
    (
        Sign::Open,
        "noch offen|offen|offen ist|offen sind|noch zu|steht noch|stehen noch|steht aus|stehen aus|fehlt noch|fehlen noch|fehlt nur|fehlt|fehlen|es bleibt|bleibt noch|bleiben noch|übrig|muss noch|müssen noch|muss ich noch|müssen wir noch|müsst ihr noch|müssen sie noch|muss man noch|kann warten|können warten|muss bis|müssen bis|noch nicht|todo|to-do|zu tun|ausstehend|wartet|warten|wartet auf|warten noch|nicht vergessen zu|erinnere mich|sag bescheid|sollte|sollten|muss ersetzt|braucht die|braucht den|braucht das|braucht noch|brauchen noch|bis dahin|machen wir|noch verschickt",
    ),
    (
        Sign::Request,
        "bitte|kannst du|könntest du|könnten sie|können sie|würdest du|mach|schau|ja bitte|du kannst|lass uns|sorg dafür|ich möchte , dass du|\
        fragst du|machst du|schickst du|rufst du|buchst du|bestellst du|prüfst du|schreibst du|kümmerst du|trägst du|stellst du|holst du|suchst du|planst du|erstellst du|änderst du|sagst du",
    ),
    (
        Sign::Plan,
        "ich werde|wir werden|werde ich|werden wir|ich mache|mache ich|kümmere mich|wir machen|kommt am|trage ich|ich trage|wir ziehen|kommt der|kommt die|kommt das|baue ich|ich baue|rechne ich",
    ),
    (
        Sign::Closing,
        "erledigt|fertig|alles erledigt|alles fertig|gemerged|behoben|gelöst|abgeschlossen|es funktioniert|funktioniert|die aufgabe ist erledigt|das ist erledigt",
    ),
    (
        Sign::Filler,
        "ok|okay|ja|nein|gut|sehr gut|perfekt|prima|super|danke|vielen dank|klar|genau|richtig|stimmt|verstanden|notiert|und|aber|also|oh|ach|ach ja|übrigens|hallo|hi|bitte|so|alles klar|schön|toll|wunderbar|gut gefunden|dann|einverstanden|moment|jetzt|korrekt|sorry|ach so|na gut|ja bitte|mach ich|mache ich|geht klar|\
        kein problem|keine sorge|keine eile|keine ahnung|nee|nö|tja|na ja|naja|guten tag|moin|servus|aha",
    ),
    (
        Sign::Anaphor,
        "die sind|die ist|die haben|die hat|den hab|den habe|die hab|die habe|der ist|es|das|dies|diese|dieser|dieses|er|sie|ihn|ihm|dort|da|beide|beides|dasselbe",
    ),
    (
        Sign::Small,
        "der|die|das|den|dem|des|ein|eine|einen|einem|einer|eines|und|oder|aber|von|vom|zu|zum|zur|in|im|an|am|auf|für|aus|bei|mit|ohne|als|ist|sind|war|waren|sein|bin|bist|es|dies|diese|dieser|dieses|ich|wir|du|sie|er|ihr|ihm|ihn|mir|mich|uns|dir|dich|sich|mein|meine|unser|unsere|dein|deine|sein|seine|\
        so|dann|jetzt|nun|auch|nur|noch|schon|alle|alles|nicht|kein|keine|keinen|hat|habe|haben|hatte|wird|werden|wurde|würde|kann|können|könnte|soll|sollen|muss|müssen|darf|über|unter|nach|vor|wieder|bis|mehr|einige|jede|jeder|jedes|jeden|beide|da|dort|hier|was|welche|wer|wann|wo|warum|wie|wenn|weil|seit|ja|nein|bitte|danke|\
        sehr|viel|gut|gleich|andere|um|ab|durch|gegen|statt|sondern|dass|daß|nie|immer|heute|gestern|morgen|bereits|neu|neue|alt|erst|ersten|machen|macht|mach|mache|gemacht|später|geht|gibt|ganz|doch|mal|etwa|damit|daran|davon|danach|sonst|wichtig|uhr|uhrzeit",
    ),
    (
        Sign::Month,
        "januar|jänner|februar|märz|mai|juni|juli|oktober|dezember",
    ),
];
