//! French.

use super::super::listed::{Listed, split};
use super::sign::Sign;
use super::words::Words;

pub(super) const WORDS: Words = Words {
    cues: CUES,
    states: STATES,
    rivals: RIVALS,
    numbers: "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    weekdays: "lundi mardi mercredi jeudi vendredi samedi dimanche lundis mardis mercredis jeudis vendredis samedis dimanches",
    connectors: " est sont | chez en dans à au aux sur sous derrière | avec | par via | de du des | s'appelle | utilise ",
    pronouns: "il|elle|ils|elles|ça|cela|c'est",
    expletives: "il y|il faut",
    denying: "pas|plus",
    yes: "oui|ouais",
    others: "il|elle|ils|elles",
    separable: "",
    belonging: "du|de|des|d'|pour",
    circumstances: "en|à|depuis|hier|pour|parce|et|dans|chez|la|semaine",
    new_begins: "mais|comme",
    to: "à|au",
    joins: "et|mais",
    is_done,
    needs_no_auxiliary: |_| false,
    is_imperative,
};

/// Opposite states, one axis per line.
const STATES: &str = "ouvert|ouverte|ouverts|ouvertes|rouvert|rouverte|de nouveau ouvert|de nouveau ouverte / fermé|fermée|fermés|fermées|barré|barrée|clos\n\
    en service|de nouveau en service|fonctionne|fonctionne de nouveau|remarche|marche|marche de nouveau|réparé|réparée|en ligne|en état|de retour|remis en service|remise en service|rétabli|rétablie / \
    hors service|hors d'usage|en panne|ne marche pas|ne marche plus|ne fonctionne pas|ne fonctionne plus|cassé|cassée|hors ligne|défectueux|défectueuse|indisponible\n\
    activé|activée|allumé|allumée|actif|active / désactivé|désactivée|éteint|éteinte|coupé|coupée|inactif|inactive\n\
    autorisé|autorisée|autorisés|permis|permise|accepté|acceptée|toléré / interdit|interdite|interdits|défendu|proscrit|plus autorisé|pas autorisé\n\
    possible / impossible|pas possible\n\
    obligatoire|nécessaire|requis|requise|exigé|exigée / facultatif|facultative|pas nécessaire|plus nécessaire|plus obligatoire|pas obligatoire|inutile\n\
    disponible|en stock|libre / épuisé|épuisée|en rupture|complet|complète|occupé|occupée|plus disponible\n\
    validé|validée|accordé|accordée / refusé|refusée|rejeté|rejetée\n\
    valable|valide|en vigueur / périmé|périmée|expiré|expirée|caduc|plus valable\n\
    public|publique / privé|privée|confidentiel|confidentielle\n\
    en congé|en vacances|en arrêt|absent|absente / de retour|revenu|revenue|rentré|rentrée|a repris";

/// Mutually exclusive words, one group per line.
const RIVALS: &str = "préproduction|production|prod|recette|test|développement|local\n\
    matin|soir|midi|nuit|après-midi\n\
    semaine|week-end\n\
    été|hiver|printemps|automne\n\
    gauche|droite\n\
    nord|sud|est|ouest\n\
    adultes|adulte|enfants|enfant\n\
    minimum|maximum\n\
    mère|père|sœur|frère|fille|fils|femme|mari|tante|oncle\n\
    arrivée|départ";

const CUES: &[(Sign, &str)] = &[
    (
        Sign::Keep,
        "retiens|retenez|à retenir|souviens-toi|souvenez-vous|rappelle-toi|n'oublie pas :|n'oublie pas que|n'oubliez pas que|note bien|notez bien|notez que|note que|important|à partir de maintenant|dorénavant|désormais|à l'avenir|règle :|la règle|c'est le règlement|pour mémoire|garde en tête|en règle générale|fais attention|faites attention|attention :|gare à|pense bien que|n'oublie pas non plus",
    ),
    (
        Sign::Rule,
        "doit|doivent|ne doit pas|ne doivent pas|il faut toujours|jamais|toujours|interdit|interdite|obligatoire|en aucun cas|ne veut plus|il ne faut pas|tous les ans|n'a pas le droit|\
        hors de question|c'est non|tabou|il faut rester|doit rester|doivent rester|seulement si|seulement quand|uniquement si",
    ),
    (
        Sign::Limit,
        "pour chaque|à chaque|au plus|au maximum|maximum|au moins|au minimum|pas plus de|plus de plus de|uniquement|aucun|aucune|sinon|ne veut pas|ne pas|au plus tard|pas de|seulement|avant le|sans|ne touche pas|ne touchez pas|ne change pas|ne changez pas|on ne touche",
    ),
    (
        Sign::Passing,
        "je file|je dois filer|je me sauve|aujourd'hui seulement|seulement aujourd'hui|juste aujourd'hui|cette semaine|ce week-end|cette fois|ce soir|cette nuit|cet après-midi|en ce moment|pour l'instant|pour le moment|actuellement|temporairement|provisoirement|exceptionnellement|jusqu'à demain|jusqu'à ce soir|toute la journée|toute la nuit|depuis ce matin|depuis hier",
    ),
    (
        Sign::Moment,
        "je viens de|on vient de|tout juste|aujourd'hui|hier|avant-hier|tout à l'heure|l'autre jour|la semaine dernière|hier soir|ce matin",
    ),
    (
        Sign::Listener,
        "tu as|tu es|tu étais|tu m'as|tu me|vous avez|vous êtes|vous m'avez|ta réponse|ton idée|votre réponse|te dire|t'ai dit|tu parles|tu racontes|tu sais|comme tu",
    ),
    (
        Sign::Feeling,
        "je suis fatigué|je suis fatiguée|je suis contente|je suis content|je suis triste|je suis ravie|je suis ravi|je suis énervé|je suis énervée|j'en ai marre|ça m'énerve|quelle horreur|quelle journée|quel bonheur|quel dommage|je me sens|j'ai hâte|pff|ouf|hélas|ras le bol|quelle surprise|manquait plus que ça|oh là là|dis donc|purée|ma parole|crevé|crevée|épuisé|épuisée|claqué|claquée|vanné|vannée|j'ai faim|mal à la tête|mal de tête|mort de fatigue|morte de fatigue|j'ai froid|sur les rotules",
    ),
    (
        Sign::Others,
        "écrit que|écrit qu'*|il veut|elle veut|ils veulent|elles veulent|veut que|pense que|croit que|trouve que|raconte|a dit|m'a dit|a raconté|selon lui|selon elle|d'après lui|d'après elle|d'après ma|d'après mon|selon ma|selon mon|paraît-il|paraît que|dit-on|on dit|aimerait|voudrait|souhaite|espère|propose|a proposé|suggère|se demande|est persuadé|est persuadée|raconte partout|raconte à tout|quelqu'un a dit|prétendait|on lui a dit|on leur a dit|il paraît que|on m'a raconté|on dit que",
    ),
    (
        Sign::Past,
        "était|étaient|avait|avaient|fut|allait|faisait|pouvait|voulait|fallait",
    ),
    (
        Sign::Also,
        "aussi|également|en plus|en outre|de plus|un autre|une autre|encore un|encore une|deuxième|second|seconde",
    ),
    (
        Sign::Amount,
        "baissé*|augmenté*|réduit|réduite|doublé*|diminué*|relevé|relevée|porté à|portée à|ramené à|ramenée à|rabaissé",
    ),
    (Sign::Hands, "reprend|a repris|prend la suite"),
    (Sign::Confirming, "comme prévu|inchangé*|ne change pas"),
    (Sign::Lasting, "jusqu'*"),
    (Sign::Shuts, "ferme|ferment"),
    (Sign::IsNot, "n'est pas|n'était pas|ce n'est pas|ce n'était pas"),
    (
        Sign::Private,
        "reste entre nous|entre nous ,|entre nous .|ne le note pas|ne note pas ça|ne le notez pas|ne note pas cela|ne l'écris pas|ne l'écris nulle part|ne le garde nulle part|ne le gardez nulle part|ne le garde pas en mémoire|ne le garde pas .|ne le garde pas ,|ne le garde pas !|ne le gardez pas .|ne le gardez pas ,|ne le gardez pas !|ne l'enregistre pas .|ne l'enregistre pas ,|ne l'enregistre pas !|ne le répète pas|ne le répétez pas|ne le dis à personne|à ne pas noter|pas besoin de le noter|n'en parle à personne",
    ),
    (Sign::Speaker, "je suis|chuis"),
    (
        Sign::EndsIt,
        "on le retire|on la retire|on les retire|on le remplace|on la remplace|on les remplace|on l'a annulé|on l'a annulée|on les a annulés|on l'a vendu|on l'a vendue|on l'a remplacé|on l'a remplacée|on l'a supprimé|on l'a supprimée|on l'abandonne|on les abandonne|je l'ai arrêté|il l'a arrêté|elle l'a arrêté|nous a lâchés|on ne l'utilise plus|on ne les utilise plus|on n'en veut plus",
    ),
    (
        Sign::NotCause,
        "n'y est pour rien|n'y était pour rien|n'y sont pour rien|n'est pas en cause|n'est pas la cause|n'était pas la cause|n'est pas le coupable|n'était pas le coupable|est innocent|est innocente|est hors de cause|mis hors de cause|mise hors de cause|ne vient pas de là",
    ),
    (
        Sign::Partly,
        "pas seulement|pas toujours|pas tous|pas toutes|pas tout|pas forcément|pas avant|pas après|pas plus de|pas moins de|pas sûr|pas de problème|pas mal|pas que|pas encore|pas partout",
    ),
    (
        Sign::Excess,
        "c'est trop|est trop|sont trop|était trop|c'est trop peu|ne suffit pas|ne suffisent pas",
    ),
    (
        Sign::ComesFrom,
        "vient de|viennent de|vient du|viennent du|vient des|viennent des|proviennent de",
    ),
    (Sign::Only, "seulement|uniquement|rien que|plus que"),
    (
        Sign::Since,
        "à partir du|dès le|depuis le|à compter du|dès|depuis",
    ),
    (Sign::Day, "aujourd'hui|hier|ce matin"),
    (Sign::Person, "je|nous|on|ils|elles|tu|vous|il|elle"),
    (Sign::Needless, "plus nécessaire|n'est plus nécessaire"),
    (Sign::Waits, "attends|reviens vers"),
    (Sign::Own, "j'ai|nous|on a|déjà"),
    (Sign::Before, "avant que"),
    (
        Sign::Exact,
        "garde-moi|garde cette|garde ce|exactement ça|tel quel|telle quelle|mot pour mot|au mot près|à la lettre|à la virgule près|sans rien changer",
    ),
    (Sign::Now, "maintenant|désormais"),
    (
        Sign::Dismissal,
        "n'en tient pas compte|n'en tiens pas compte|ne tiens pas compte|ne l'écoute pas|à prendre avec des pincettes|n'y fais pas attention|bref , non|c'est ce qu'il dit|c'est ce qu'elle dit|c'est ce qu'ils disent|c'est sa version|c'est leur version|je n'y crois pas|j'y crois pas|je n'en crois pas un mot|je ne le crois pas|je ne la crois pas|à l'en croire|à l'entendre|c'est lui qui le dit|c'est elle qui le dit|voilà ce qu'il m'a dit|ce sont ses mots|n'importe quoi",
    ),
    (Sign::Hence, "alors|du coup|donc|c'est pourquoi|si bien que"),
    (
        Sign::Seek,
        "la cause|les causes|pourquoi|trouver d'où|diagnostiquer",
    ),
    (Sign::Aside, "au fait|soit dit en passant"),
    (Sign::Condition, "si|quand|lorsque|dès que|à condition"),
    (
        Sign::Concession,
        "tu as raison|vous avez raison|en effet|désolé|désolée|mon erreur|pardon|effectivement",
    ),
    (
        Sign::Decision,
        "on a choisi|nous avons choisi|c'est acté|c'est entendu|décidé|décision|nous avons décidé|on a décidé|on garde|on prend|nous prenons|nous gardons|on reste sur|convenu|on choisit|nous choisissons|c'est décidé|adopté|validé par|approuvé|opté pour|\
        on reste à|je reste à|on s'arrête sur|on part sur|va pour|on opte pour",
    ),
    (
        Sign::Cause,
        "la cause|cause :|cause racine|la raison|était dû|est dû|dû à|due à|provient de|provient du|provient des|venait de|venait du|venait des|vient du fait|il s'avère|s'est avéré|finalement , c'était|c'était le|c'était la|c'était l'*|c'est à cause|à cause de|à cause du|coupable|le problème était|le problème venait|trouvé :|j'ai trouvé|\
        c'était ça|c'est ça :|c'était bien|je vois pourquoi|voilà pourquoi|je vois le problème|ça explique|voilà l'explication",
    ),
    (
        Sign::Finding,
        "problème connu|bug connu|connu :|est connu|contournement|résultat :|le résultat|conclusion :|constat :|nous avons mesuré",
    ),
    (
        Sign::Because,
        "parce que|parce qu'*|car|puisque|c'est pourquoi|donc",
    ),
    (
        Sign::Requirement,
        "n'accepte que|n'acceptent que|ne prend que|exige|exigent|attend des|nécessite|requiert|ne supporte pas|ne lit que|ne fonctionne qu'*|limité à",
    ),
    (
        Sign::Personal,
        "je préfère|nous préférons|préfère|j'aime|j'adore|je déteste|déteste|je n'aime pas|n'aime pas|j'habite|nous habitons|habite|je travaille|travaille chez|je m'appelle|mon nom|ma femme|mon mari|ma fille|mon fils|ma mère|mon père|ma sœur|mon frère|mon médecin|allergique|allergiques|allergie|intolérant|\
        intolérance|végétarien|végétarienne|végétariens|végan|diabétique|cœliaque|coeliaque|asthme|asthmatique|enceinte|gaucher|gauchère|dyslexique|fauteuil roulant|ne mange pas|ne mange jamais|ne mange plus|ne boit pas|opéré|opérée|opération|maladie|peur de|anniversaire|né le|née le|je parle|mon budget|notre budget|j'ai mal|mal au|mal de mer|mal des transports|sans gluten|lactose",
    ),
    (
        Sign::Change,
        "maintenant|désormais|ne plus|n'est plus|n'a plus|au lieu de|au lieu du|plutôt que|changé|change|changement|correction|corrigé|déménagé|déplacé|avancé|avancée|reporté|reportée|repoussé|était faux|est faux|c'est faux|remplacé|remplace|annulé|annulée|obsolète|périmé|renommé|passe de|passé de|augmenté|baissé|nouveau|nouvelle|nouvel|à compter de|et non|et plus|finalement|passe à|passent à|passe au|on avait dit|\
        à partir de|à partir du|dès lundi|passera à|passera chez|remplacera|baisse à|monte à|descend à|passé à|rouvert|rouverte|rouvre|de retour|levé|levée|on repasse|on revient",
    ),
    (
        Sign::Old,
        "et non|non pas|et pas|pas le|pas à|pas la|au lieu de|au lieu du|au lieu des|plutôt que|n'est plus|ne prend plus|n'utilise plus|n'est pas|à la place de|à la place du|auparavant|avant c'était|et plus|on avait dit",
    ),
    (
        Sign::OldBefore,
        "est annulé|est annulée|est obsolète|est périmé|n'est plus valable|est supprimé|est supprimée|est fini|est caduc|\
        est levé|est levée|tombe à l'eau|est abandonné|est abandonnée|a été supprimé|a été supprimée|a été retiré|n'existe plus|est désinstallé|est désinstallée|a fait faillite|a fermé|est enterré|ne tient plus|\
        est vendu|est vendue|a été vendu|a été vendue|est résilié|a été résilié|est parti|est partie|a démissionné|a pris sa retraite|est décédé|est décédée|est mort|est morte|a été remplacé|a été remplacée|est remplacé|est remplacée|s'est arrêté|s'est arrêtée|a été démoli|a été démolie|ont été supprimés|ont été supprimées|sont annulés|sont annulées|a été annulé|a été annulée|en faillite|a mis la clé sous la porte|ferme|ferment|ferme définitivement|cesse son activité|part à la retraite|est fichu|est fichue|sont fichus|sont fichues|est foutu|est mort et enterré|est hors jeu|s'est désisté|s'est désistée|a lâché|nous a lâchés|a disparu|n'est plus là|est retiré|est retirée|ont été retirés|est écarté|est écartée|a été abandonné|a été abandonnée|tombe|a capoté|est rayé|est rayée|disparaît|disparaissent|est terminé depuis|a pris fin|prend fin|est passé de mode|a sauté|saute|ne compte plus|ne comptent plus|n'a plus d'importance|a été arrêté|est arrêté|a été suspendu|est suspendu",
    ),
    (Sign::From, "de|du|d'*"),
    (
        Sign::Retired,
        "n'utilise plus|n'utilisons plus|on n'utilise plus|nous avons quitté|on a quitté|abandonné|abandonnée|oublie tout sur|ce que tu as sur|ce que tu sais sur|fini avec|\
        avons vendu|j'ai vendu|on a vendu|j'ai résilié|on a résilié|avons résilié|j'ai arrêté|on a arrêté|avons arrêté|renoncé à|on a jeté|j'ai jeté|on a remplacé|avons remplacé|j'ai remplacé|on a supprimé|désabonné de|plus besoin de|plus besoin du|plus besoin des|on a annulé|j'ai annulé|avons annulé|on laisse tomber|laisse tomber|on supprime|supprime|on se passe de|on abandonne|nous abandonnons|j'abandonne|on arrête|nous arrêtons|j'arrête|on a abandonné|avons abandonné|j'ai abandonné|on se débarrasse de|on s'est débarrassé de|on raye|on retire|nous retirons|on enlève|adieu|on vire|on a viré|on tourne la page de|on ne veut plus de|on ne veut plus du",
    ),
    (
        Sign::Obsolete,
        "obsolète|périmé|périmée|n'est plus valable|n'est plus vrai|est faux|est fausse|était faux|est erroné|est erronée|n'est plus d'actualité|caduc|caduque|à supprimer|peut partir|oublie|incorrect|ne tient plus|n'est plus bon|n'est plus bonne|ne sont plus bons|n'est pas exact|ne sont plus valables|sont faux|sont périmés|n'est plus le bon|n'est plus la bonne",
    ),
    (
        Sign::Moved,
        "déménagé|a déménagé|ont déménagé|nouvelle adresse|emménagé|migré|migrée|basculé|basculée|transféré|transférée|passé chez|passée chez",
    ),
    (
        Sign::Place,
        "habite|habitent|adresse|bureau|situé|située|réside|rue|avenue|chambre|cabinet|\
        se trouve|se trouvent|stocké|stockée|stockés|hébergé|hébergés|hébergée|tourne sur|tournent sur",
    ),
    (
        Sign::Waiting,
        "pas fini|pas terminé|pas encore|inachevé|en attente|en panne|manque|manquent|incomplet|à confirmer|non confirmé|bloqué|cassé|inconnu",
    ),
    (
        Sign::Hedge,
        "peut-être|probablement|sans doute|je pense|je crois|je suppose|je soupçonne|il se peut|on dirait|il semble|semble|semblerait|sûrement|pas sûr|pas sûre|éventuellement|j'imagine|apparemment|à mon avis|mon hypothèse|pourrait|pourraient|j'espère|je parie|je mise sur|à tous les coups",
    ),
    (
        Sign::Hearsay,
        "je pensais|je croyais|on pensait|on m'a dit|il paraît|soi-disant|prétend|il dit que|elle dit que|dit que|dans le film|dans le roman|dans le jeu|j'ai rêvé|\
        dit qu'*|jure|affirme|a demandé si|voulait savoir|plaisante|se vante|tu as dit|tu avais dit|vous avez dit|vous aviez dit|tu disais|le tient de|de seconde main|par ouï-dire",
    ),
    (
        Sign::Hypothesis,
        "si j'étais|si nous|si on|si j'*|si je|si tu|si vous|si jamais|imagine|imaginons|imaginez|supposons|suppose que|et si|serait|seraient|serais|aurait|auraient|aurais|*erait|*irait|*drait|*erais|*irais|*drais|*eraient|*iraient|*draient|par exemple|en théorie",
    ),
    (
        Sign::Joke,
        "haha|ha ha|mdr|lol|ptdr|je blague|je plaisante|c'est une blague|une blague|je rigole|: )|; )|😂|🤣|😜|😉|😄|😅|😆|quelle bonne idée|bien sûr , et|ironie|dans tes rêves|c'est une plaisanterie|pour rire|pour rigoler|pour plaisanter",
    ),
    (
        Sign::Serious,
        "sérieusement|plus sérieusement|blague à part|non , vraiment|trêve de plaisanterie|pour de vrai",
    ),
    (
        Sign::Denial,
        "non|faux|toujours pas|ne marche pas|ne marche plus|ne fonctionne pas|ça ne marche|encore en panne|échoue encore|même erreur|pas corrigé|pas réglé|pas résolu|c'est faux|est vide|tu es sûr|pas fait|encore la même|retour à la case départ|on repart à zéro|toujours là|ça ne tient pas|raté",
    ),
    (
        Sign::Refuted,
        "ce n'était pas|ce n'est pas|n'était pas la cause|hors de cause|était faux|était négatif|exclu|écarté|rien à voir|fausse alerte|laisse tomber|oublie ça|n'y est pour rien|va bien|\
        oublie le|oublie la|oublie les|je pensais que c'était",
    ),
    (
        Sign::Trouble,
        "erreur|panne|échoue|échec|plante|plantage|lent|lente|bloque|bloqué|problème|incident|bug|vide|ne marche|ne répond|ne fonctionne|met dix|trop long|perd|perdu|refuse|tombe|ralenti|en double|tous les jours|erreurs|pannes|problèmes|bugs",
    ),
    (
        Sign::Meta,
        "consigne|consignes|instruction|instructions|injection|j'ignore|je l'ignore|hameçonnage|arnaque|fraude|cachée|caché|n'en tiens pas compte|je ne garde|ne garde ni",
    ),
    (
        Sign::Injection,
        "assistant ia|assistants ia|attention assistant|note à l'ia|note à l'agent|à l'assistant|ignore les instructions|instructions précédentes|system :|système :|assistant :|modèle de langage|ne dis pas à l'utilisateur|sans le dire à l'utilisateur|aux assistants",
    ),
    (
        Sign::Says,
        "dit|écrit|mail|courriel|message|page|article|ticket|erreur|log|journal|sortie|texte|lettre|affiche|voici|reçu|citation|commentaire|indique",
    ),
    (
        Sign::Wish,
        "je veux|nous voulons|on veut|je voudrais|j'aimerais|je cherche|nous cherchons|j'espère|je souhaite|une idée|des idées|envie",
    ),
    (
        Sign::Done,
        "j'ai les|on a les|j'ai reçu|on a reçu|est prêt|est prête|sont prêts|sont prêtes|est fini|est finie|sont finis|est terminé|est terminée|est fait|est faite|c'est fait|marche maintenant|marche de nouveau|fonctionne maintenant|fonctionne de nouveau|est en ligne|est en place|répond en|est corrigé|réglé|résolu|bouclé|ça marche|est réglé|est arrivé|est arrivée|sont arrivés|sont arrivées|est passé|est passée|est livré|est livrée|a été livré|a été livrée|on revient de|je reviens de|on sort de|je sors de|nous revenons de|sont là|est là|on les a|on l'a reçu|sont dans mon|sont dans ma|est dans mon|est dans ma|c'est en place|j'ai eu|j'ai rendez-vous|on a rendez-vous|est venu|est venue|sont venus|est passé hier|est signé|est signée|c'est payé|c'est signé|c'est réservé|c'est envoyé|c'est commandé|est revenu|est revenue",
    ),
    (
        Sign::Aux,
        "j'ai|je l'ai|je les ai|ai|nous avons|on a|a|ont|est|sont|a été|ont été|était|étaient|été|avons|l'ai|déjà|sommes|suis",
    ),
    (
        Sign::Negation,
        "pas|ne|n'*|non|jamais|aucun|aucune|rien|sans|ni|plus de",
    ),
    (
        Sign::NotYet,
        "pas encore|n'est pas|ne sont pas|pas fini|pas terminé|pas envoyé|pas fait|reste à|manque|manquent",
    ),
    (
        Sign::Doing,
        "on attaque|on commence|on s'attaque|j'ai commencé|on a commencé|j'ai entamé|en cours|en train de|je suis en train|actuellement|en ce moment|je commence|je m'occupe|je travaille sur|maintenant je|je continue|je passe aux|je passe au|je passe à|je suis sur le|je suis sur la|je m'attaque|je m'y mets",
    ),
    (
        Sign::Next,
        "ensuite|puis|après|après cela|prochaine étape|prochaines étapes|étape suivante|plus tard|demain|la semaine prochaine|enfin|par la suite|suivant|il restera",
    ),
    (
        Sign::Open,
        "reste à|reste|restent|il reste|à faire|manque|manquent|manquent encore|pas encore|en attente|encore à|il faut encore|il faut|faut|je dois|je dois encore|doit encore|doivent encore|dois|à trouver|à finir|en suspens|à commander|todo|n'oublie pas de|rappelle-moi|préviens-moi|devrait|devraient|doit être|à venir|peut attendre|peuvent attendre",
    ),
    (
        Sign::Request,
        "s'il te plaît|s'il vous plaît|stp|svp|peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|merci de|il faudrait que tu|veuillez|tu peux|occupe-toi",
    ),
    (
        Sign::Plan,
        "je vais|nous allons|on va|va le|va la|va être|*erai|*irai|je le ferai|je m'en occupe|demain|renouvelle demain|je prends",
    ),
    (
        Sign::Closing,
        "fait|c'est fait|terminé|tout est terminé|fini|réglé|résolu|ça marche|livré",
    ),
    (
        Sign::Filler,
        "ok|d'accord|oui|non|bien|très bien|parfait|super|merci|merci beaucoup|entendu|compris|noté|c'est noté|exact|exactement|bon|alors|et|mais|donc|ah|oh|au fait|bonjour|salut|s'il te plaît|s'il vous plaît|désolé|en effet|voilà|génial|excellent|correction|bien sûr|à propos|pardon|sérieusement|\
        pas de problème|pas de souci|aucun souci|ben|bah|euh|ma foi|coucou",
    ),
    (
        Sign::Anaphor,
        "il|elle|ils|elles|ça|cela|ceci|c'est|c'était|ce|ces|cette|le|la|les|l'*|lui|y|en|celui-ci|celle-ci",
    ),
    (
        Sign::Small,
        "le|la|les|l|un|une|des|de|du|d|et|ou|mais|à|au|aux|en|dans|sur|pour|par|avec|sans|sous|ce|cet|cette|ces|c'est|c|est|sont|était|être|été|suis|es|sommes|ai|as|a|avons|avez|ont|j'ai|je|j|tu|il|elle|on|nous|vous|ils|elles|me|te|se|s|mon|ma|mes|ton|ta|tes|son|sa|ses|notre|nos|votre|vos|leur|leurs|\
        ne|n|pas|plus|que|qu|qui|quoi|dont|où|quand|comment|pourquoi|si|y|lui|même|aussi|très|bien|tout|tous|toute|toutes|autre|autres|comme|donc|car|puis|alors|encore|déjà|toujours|jamais|oui|non|merci|fait|faire|va|vais|faut|doit|peut|chez|entre|avant|après|depuis|jusqu|vers|ça|cela|ici|là|hier|demain|aujourd'hui|maintenant|parce|peu|trop|chaque|quelque",
    ),
    (
        Sign::Month,
        "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre",
    ),
];

static IDLE: Listed = Listed::new(|| {
    split(
        " pensé cru voulu attendu espéré dit demandé regardé semblé décidé prévu tenté essayé préféré oublié vu su pu dû eu été allé arrivé venu resté connu reconnu remarqué compris noté répété né âgé \
    côté santé qualité été fidélité société marché clé idée année journée soirée entrée durée musée lycée café thé pré blé côtés réunion-é cassé bloqué limité échoué planté opéré situé avancé reporté changé coûté duré expiré retenu commencé entamé attaqué ",
    )
});
static STRONG: Listed = Listed::new(|| {
    split(
        " fait faits faite faites mis mise mises écrit écrite écrits pris prise ouvert ouverte offert construit construite produit traduit réduit fini finie finis terminé rempli choisi choisie fourni vendu rendu reçu répondu résolu résolue \
    refait refaite prévenu prévenus prévenue prévenues obtenu obtenue revu revue relu relue lu lus appris repris remis remise permis promis acquis peint peinte joint jointe découvert couvert suivi suivie inscrit inscrite détruit établi établie rétabli ",
    )
});
static IMPERATIVES: Listed = Listed::new(|| {
    split(
        " ajoute envoie corrige change vérifie écris prépare commande réserve achète appelle supprime mets fais lance teste compare résume cherche trouve regarde déplace copie crée modifie termine continue classe imprime relis prends demande organise envoyez ajoutez corrigez vérifiez préparez \
    traite traduis calcule ",
    )
});

fn is_done(word: &str) -> bool {
    if STRONG.has(word) {
        return true;
    }
    let long = word.chars().count() >= 5;
    long && !IDLE.has(word)
        && ["é", "ée", "és", "ées"]
            .iter()
            .any(|ending| word.ends_with(ending))
}

fn is_imperative(word: &str) -> bool {
    let bare = word
        .split_once('-')
        .filter(|(_, object)| " le la les lui leur moi nous ".contains(&format!(" {object} ")))
        .map_or(word, |(verb, _)| verb);
    IMPERATIVES.has(bare)
}
