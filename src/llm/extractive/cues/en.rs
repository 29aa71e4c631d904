//! English.

use super::super::listed::{Listed, split};
use super::sign::Sign;
use super::words::Words;

pub(super) const WORDS: Words = Words {
    cues: CUES,
    states: STATES,
    rivals: RIVALS,
    numbers: "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
    weekdays: "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    connectors: " is are was | at in on by under behind near inside beside above next | with | to into | from | via through | for | uses use runs drives lives ",
    pronouns: "it|it's|its|they|they're|he|he's|she|she's|that's",
    expletives: "",
    denying: "no",
    yes: "yes|yep|yeah",
    others: "he|she|they",
    separable: "",
    belonging: "of|for",
    circumstances: "in|at|for|from|on|last|this|after|before|when|today|yesterday|and|with",
    new_begins: "but|to|because|as|any|than|can|is|are|since|now|anymore",
    to: "to",
    joins: "and|but",
    is_done,
    needs_no_auxiliary: |_| false,
    is_imperative,
};

/// Opposite states, one axis per line.
const STATES: &str = "open|opened|reopened|open again / closed|closed down|shut|shut down|locked|boarded up|closed off\n\
    in service|back in service|in use|in operation|works|works again|working|is up|are up|back up|back online|online|repaired|mended|in working order|usable|is back|are back|runs again|is running / \
    out of service|out of use|out of order|out of action|broken|broken down|defective|is down|are down|offline|does not work|doesn't work|not working|unusable|is dead|not running|kaput\n\
    enabled|activated|switched on|turned on|is on|are on|is active / disabled|deactivated|switched off|turned off|is off|are off|is inactive\n\
    allowed|permitted|is okay|are okay|is fine|are fine|legal|is welcome|are welcome / forbidden|not allowed|prohibited|banned|illegal|off limits|no longer allowed|not permitted\n\
    supports|supported|able to|possible|can handle / does not support|doesn't support|unsupported|unable to|impossible|cannot handle|can't handle|not supported\n\
    required|mandatory|compulsory|needed|necessary|obligatory / optional|not required|no longer required|not needed|no longer needed|voluntary|unnecessary\n\
    available|in stock|back in stock|vacant / unavailable|sold out|out of stock|taken|occupied|fully booked|booked out|not available\n\
    approved|granted|signed off / rejected|declined|refused|denied|turned down\n\
    valid|in force / invalid|expired|void|lapsed|not valid|no longer valid\n\
    public / private|confidential\n\
    safe|harmless / unsafe|dangerous\n\
    blocked|stuck / unblocked|cleared|freed\n\
    vegetarian|vegan / eats meat|eats meat again\n\
    on leave|on holiday|away|off sick|on parental leave|on maternity leave / back at work|back from leave|back from holiday|back from parental leave|back in the office";

/// Mutually exclusive words, one group per line.
const RIVALS: &str = "staging|production|prod|test|testing|dev|development|local|sandbox|qa|preview|canary\n\
    morning|evening|afternoon|night|noon|lunch\n\
    weekday|weekdays|weekend|weekends\n\
    summer|winter|spring|autumn\n\
    left|right\n\
    upstairs|downstairs\n\
    north|south|east|west|northern|southern|eastern|western\n\
    adult|adults|child|children|kids\n\
    read|write\n\
    minimum|maximum|min|max\n\
    client|server\n\
    frontend|backend\n\
    mother|father|mum|dad|sister|brother|wife|husband|son|daughter|aunt|uncle|grandma|grandpa\n\
    arrival|departure\n\
    upper|lower\n\
    small|large|big";

const CUES: &[(Sign, &str)] = &[
    (
        Sign::Keep,
        "remember|keep in mind|bear in mind|note that|please note|for the record|for your information|fyi|don't forget that|never forget that|important|from now on|as of now|from today on|going forward|house rule|rule :|our rule|as a rule|the rule is|policy :|for future reference|for next time|lesson learned|lesson learnt|the lesson|learned that|we learned|keep this in mind|make a note|take note|memo :|watch out|be aware|beware|heads up|heads-up|mind that|mind you",
    ),
    (
        Sign::Rule,
        "everything has to|everything must|everyone has to|nothing gets|nothing goes|nothing leaves|, ever|must|mustn't|never|always|may not|may only|must not|not allowed|is forbidden|are forbidden|only ever|is required|are required|is mandatory|are mandatory|a must|under no circumstances|without exception|no one may|nobody may|is off limits|is a contract with|every time|has to be a|have to be in|need to be in|a no-go|no-go|out of the question|not up for debate|strictly|is not to|are not to|he's not to|she's not to|they're not to|no matter what|banned|is to be|are to be|must stay|has to stay|have to stay|only when|only once",
    ),
    (
        Sign::Limit,
        "at most|at least|no more than|no less than|no later than|no earlier than|not above|not below|in any case|don't|do not|otherwise|or else|else|for every|for each|only if|can only|cannot|can't|can not|not before|not after|without|only|need|needs|max|maximum|minimum|until|no|matter|matters|because they|so cap|break the",
    ),
    (
        Sign::Passing,
        "gotta run|got to run|have to run|i'm off|today only|just today|only today|just for today|for today|this week|this weekend|this time|this once|tonight|this evening|this night|this afternoon|right now|at the moment|for the moment|temporarily|for now|for the time being|meanwhile|in the meantime|as an exception|exceptionally|until tomorrow|until tonight|until noon|all day|all night|all morning|since this morning|since last night|since yesterday",
    ),
    (
        Sign::Moment,
        "just checked|just looked|just tried|just counted|i just|we just|today|yesterday|last night|last week|the other day|just now|a moment ago|an hour ago|minutes ago|hours ago|days ago|this morning",
    ),
    (
        Sign::Listener,
        "you have been|you've been|you keep|you kept|you are|you're|you were|you just|you always|you never|you seem|you sound|your answer|your last|your reply|your idea|your suggestion|your message|you wrote|you gave|you suggested|talking to you|ask you|asking you|tell you|telling you|told you|telling me|bother you|you can see|as you know|you know",
    ),
    (
        Sign::Feeling,
        "i'm tired|i'm so|i am so|i'm exhausted|i'm happy|i'm glad|i'm sad|i'm annoyed|i'm angry|i'm worried|i'm excited|i'm proud|i feel|i'm feeling|i'm bored|i'm nervous|i miss|i'm sick of|fed up|drives me|can't believe|can't wait|what a|how nice|how lovely|how typical|makes me|ugh|sigh|damn|argh|phew|just what i needed|just great|what a surprise|tell me about it|wow|oh my|good grief|jeez|blimey|my goodness|knackered|exhausted|i'm starving|shattered|sleepy|worn out|is killing me|is spinning|my head hurts|headache|i'm hungry|running on fumes|dead on my feet|i'm beat|freezing here",
    ),
    (
        Sign::Others,
        "writes that|wrote that|is sure|she's sure|he's sure|she's read|he's read|has read|read somewhere|he wants|she wants|they want|everyone wants|everybody wants|wants me|wants us|wishes|would love|thinks|believes|hopes|is considering|complained|suggested|suggests|recommended|reportedly|word is|rumour has it|rumor has it|tells me|tells us|told me|told us|keeps saying|is convinced|guesses|mentioned|mentions|says|said|according to him|according to her|according to my|keeps telling|telling everyone|tells everyone|telling everybody|telling people|somebody claimed|someone claimed|rang to say|was told she|was told he|were told they|have been told|has been told",
    ),
    (
        Sign::Past,
        "was|were|had|did|saw|felt|kept|fell|broke|spent|ate|slept|drove|woke|began|stood|ran|heard|knew|used to|been",
    ),
    (
        Sign::Also,
        "also|too|as well|additionally|besides|in addition|on top|another|one more|an extra|a second|extra|plus",
    ),
    (
        Sign::Amount,
        "lowered|lower|lowers|raised|raises|halved|halve|doubled|increased|reduced|upped|bumped|went up|went down|gone up|gone down|cut|cuts|slashed|trimmed|capped|topped up|tightened|loosened",
    ),
    (
        Sign::Hands,
        "took over|takes over|taking over|taken over|handed over|hands over|passed on to|is replaced by|was replaced by",
    ),
    (
        Sign::Confirming,
        "as it is|as it was|as planned|still the same|unchanged|stays the same",
    ),
    (Sign::Lasting, "until|till|today only|for an hour|for now"),
    (
        Sign::IsNot,
        "never was the|was never the|it's not|it is not|it isn't|it wasn't|it was not|is not|isn't|was not|wasn't|that's not",
    ),
    (Sign::AnyMore, "any more|anymore|any longer"),
    (
        Sign::Private,
        "just between us|stays between us|between us .|between us ,|between you and me|off the record|don't write that down|don't write it down|do not write that down|don't note that|don't note it|don't keep that .|don't keep that ,|don't keep that !|don't keep it .|don't keep it ,|don't keep it !|do not keep that .|do not keep that ,|do not keep that !|don't save that .|don't save that ,|don't save that !|don't save it .|don't save it ,|don't save it !|don't store that .|don't store that ,|don't store that !|don't store it .|don't store it ,|don't store it !|don't record that .|don't record that ,|don't record that !|don't keep that anywhere|don't keep it anywhere|don't save that anywhere|don't save it anywhere|don't store that anywhere|don't store it anywhere|don't put that in the minutes|don't put that in the notes|don't put that in the file|don't put that in writing|don't put it in the minutes|don't put it in writing|keep that to yourself|keep it to yourself|keep this to yourself|not for the minutes|not for the file|not for the notes|not for the record|leave that out of the notes|leave that out of the minutes|stays in this room|you didn't hear that from me|no need to note that|no need to write that down",
    ),
    (Sign::Speaker, "i'm|i am|am|i feel|feeling"),
    (
        Sign::EndsIt,
        "cancelled them|canceled them|cancelled it|canceled it|cancelled him|cancelled her|dropped them|dropped it|scrapped it|scrapped them|scrapped that|dropped that|ditched it|ditched them|got rid of it|got rid of them|let her go|let him go|let them go|replaced it|replaced them|replaced him|replaced her|sold it|sold them|gave it up|gave that up|gave it away|threw it out|threw them out|took it down|took it out|switched it off for good|double-booked us|let us down|backed out|no longer use it|no longer use them|don't use it any more|don't use them any more|stopped it|she's stopped it|he's stopped it|they've stopped it|deleted it|deleted them|removed it|removed them",
    ),
    (
        Sign::NotCause,
        "was never the cause|never was the cause|never the culprit|never was the culprit|was never the culprit|isn't the cause|is not the cause|wasn't the cause|was not the cause|not to blame|isn't to blame|wasn't to blame|wasn't the culprit|isn't the culprit|is innocent|are innocent|was innocent|had nothing to do with it|has nothing to do with it|was never the problem|isn't the problem|wasn't the problem|is in the clear|are in the clear|is off the hook|off the hook",
    ),
    (
        Sign::Partly,
        "not only|not just|not always|not all|not every|not everyone|not everything|not entirely|not quite|not necessarily|not until|not before|not after|not more than|not less than|no more than|no less than|not sure|no doubt|no problem|no idea|no wonder|not bad|no later than",
    ),
    (
        Sign::Excess,
        "is too|are too|was too|were too|is way too|is far too",
    ),
    (
        Sign::ComesFrom,
        "is down to|are down to|results from|is the result of",
    ),
    (Sign::Only, "only|just the"),
    (Sign::Since, "from|as of|starting|starting on|since|effective"),
    (Sign::Day, "today|yesterday|this morning"),
    (Sign::Person, "i|we|they|you|he|she"),
    (
        Sign::Needless,
        "no longer needed|no longer necessary|not needed|drop",
    ),
    (
        Sign::Waits,
        "look again|check again|check back|wait|keep an eye|let you know|keep you posted",
    ),
    (Sign::Own, "i|i've|we|we've|already"),
    (Sign::Before, "before i|before we|until i|until we"),
    (
        Sign::Exact,
        "exactly this|exactly that|exactly so|that's the one|don't want to lose|keep that|keep this|save that|save this|as it is|as it stands|word for word|verbatim|to the letter|same text|unchanged|don't change a word|without changing a word|exact wording|exact words",
    ),
    (Sign::Now, "now"),
    (
        Sign::Dismissal,
        "ignore him|ignore her|ignore that|ignore them|never mind him|never mind her|don't mind him|don't mind her|bless her|bless him|grain of salt|spoon of salt|pinch of salt|take no notice|make that up|makes that up|made that up|that was his line|that was her line|that was their line|that's his line|that's her line|that's their line|i don't buy it|i don't buy that|don't buy a word|don't believe it|don't believe that|don't believe him|don't believe her|don't believe them|don't believe a word|so he says|so she says|so they say|or so he says|or so she says|or so they say|that's what he says|that's what she says|that's what they say|that's his version|that's her version|that's their version|his words , not mine|her words , not mine|their words , not mine|take that as you will|make of that what you will|nothing behind it|nonsense , of course|which is nonsense|which is rubbish|complete nonsense",
    ),
    (Sign::Hence, "so|therefore|hence|that's why|which means"),
    (
        Sign::Seek,
        "find the cause|find out why|find out what|find why|why|track down|investigate|diagnose|root cause|cause of",
    ),
    (Sign::Aside, "by the way|btw|incidentally"),
    (
        Sign::Condition,
        "if|when|once|unless|as soon as|in case|should you",
    ),
    (
        Sign::Concession,
        "you are right|you're right|right , it|correct , the|my mistake|sorry|indeed|my bad|i was wrong|apologies|good point|true , it",
    ),
    (
        Sign::Decision,
        "we've chosen|we have chosen|i've chosen|that's settled|that is settled|it's settled|that's agreed|that's final|we decided|i decided|we've decided|we have decided|decision :|decision by|was decided|is decided|that's decided|decided :|decided to|we agreed|agreed :|agreed to|agreed on|we settled on|settled :|let's go with|we go with|we'll go with|we will go with|going with|we went with|i go with|we chose|we choose|we picked|we opted for|it is , |it is .|it is !|we're keeping|we keep|we stay with|we stick with|we take|i take|i'll take|the plan is|then raise|then set|then use|the decision|approved :|board approved|resolved :|we are staying with|we're staying with|we're sticking|staying at|stay at|staying with|sticking with|go with|settling on|settle on|signed off on|we settle for|final answer",
    ),
    (
        Sign::Cause,
        "root cause|the cause|cause :|caused by|was caused|the reason for|the reason was|the reason is|turned out|turns out|found it|found the cause|found the reason|found the bug|it was the|it was our|it was a missing|it was only|it was just|the culprit|the problem was|the bug was|the issue was|the fault was|to blame|due to|comes from|come from|came from|stems from|it's because|that's because|this is because|was because|is because|reason :|the explanation|that was it|i see why|now i see|i see the problem|i see what happens|that explains it|there it is|here is why|here's why",
    ),
    (
        Sign::Finding,
        "known issue|known problem|known bug|is known|workaround|key result|result :|results :|finding :|the result is|the result was|conclusion :|in conclusion|we measured|as it happens|the trick is|the catch is|confirmed that|it confirms|found them :|found her :|found him :|found out|i found that|we found that|key finding|key insight|insight :|takeaway",
    ),
    (
        Sign::Because,
        "because|since it|since they|that's why|so that|which is why",
    ),
    (
        Sign::Requirement,
        "only accepts|only accept|only reads|only read|only supports|only works|only takes|does not support|doesn't support|requires|expects|wants|only knows|insists on|depends on|depend on|bills by|waits for a|limited to|is limited to|runs at|refuses|rejects",
    ),
    (
        Sign::Personal,
        "i prefer|we prefer|prefers|i like|i love|i hate|hates|dislikes|i dislike|i can't stand|i'd rather|i live|we live|lives in|i work|works for|works at|works as|my name is|i'm called|my wife|my husband|my partner|my daughter|my son|my sister|my brother|my mother|my father|my mum|my mom|my dad|my boss|my doctor|allergic|allergy|intolerant|intolerance|vegetarian|vegan|vegans|diabetic|coeliac|celiac|asthma|pregnant|left-handed|right-handed|dyslexic|colour-blind|color-blind|deaf|blind|wheelchair|can't eat|doesn't eat|don't eat|can't drink|doesn't drink|can't walk|had an operation|operation|surgery|disease|is afraid of|gets sick|get sick|i'm a beginner|i teach|i'm used to|my favourite|my favorite|birthday is|was born|i speak|speaks|only speaks|i have no|my budget|our budget|kosher|halal|lactose|gluten|takes medication|tablets|seasick|carsick|motion sick*|i'm from|years old",
    ),
    (
        Sign::Change,
        "now|no longer|any more|anymore|instead|instead of|rather than|changed|change of plan|changes to|correction|corrected|moved|has moved|moves to|was wrong|is wrong|were wrong|my mistake|i was mistaken|replaced|replaces|switched|renamed|cancelled|canceled|obsolete|outdated|went up|went down|rose from|fell from|raised from|goes from|go from|went from|dropped from|my new|our new|new number|new address|new phone|the new|postponed|brought forward|rescheduled|since today|with immediate effect|as of|we have left|we've left|we left|left the|retired|superseded|extended to|extended until|shortened to|raised to|lowered to|increased to|reduced to|updated to|is called|not from|actually|is over|shut down|no more|staying at|we're staying with|halved|doubled|took over|went bust|back in service|is back|we're out of|we are out of|goes down to|goes up to|drops to|dropped to|rises to|becomes|became|from monday on|from tuesday on|from wednesday on|from thursday on|from friday on|starting monday|starting tomorrow|effective|turned into|is now|are now|was lifted|is lifted|reverted|reverting|in place of|reopened|reopens|swapped|turns out|turned out|new date|new time|new venue|new deadline|new place|new supplier|raised the|lowered the|cut the|migrated",
    ),
    (
        Sign::Old,
        "instead of|rather than|not from|not on|not at|not in|not to|not until|, not|and not|no longer on|no longer at|no longer in|no longer with|no longer from|no longer by|no longer takes|no longer take|no longer uses|no longer use|no longer needs|no longer the|no longer|not any more|not the|in place of|previously|formerly|used to be|it was|no more|we're out of|we are out of",
    ),
    (
        Sign::OldBefore,
        "is cancelled|is canceled|was cancelled|was canceled|is gone|is obsolete|is outdated|is history|has been replaced|was replaced|is off since|is dead|went bust|has closed|closed down|closed in|is uninstalled|is off the table|was dropped|got dropped|is scrapped|was scrapped|is called off|was called off|was removed|has been removed|is retired|was retired|was decommissioned|is decommissioned|is no more|went out of business|is withdrawn|was withdrawn|was revoked|is revoked|is lifted|was lifted|has been lifted|no longer applies|no longer exists|is dropped|is sold|was sold|got sold|has been sold|has left|is leaving|passed away|has died|has retired|was fired|was let go|resigned|stepped down|was discontinued|is discontinued|has been discontinued|was shut down|has been shut down|was taken down|fell through|was torn down|closed for good|has lapsed|has been phased out|is phased out|was axed|got axed|got cancelled|got canceled|has been cancelled|has been canceled|are cancelled|are canceled|are gone|are dead|doesn't exist|does not exist|has gone bust|gone bust|has gone out of business|gone under|is bankrupt|is insolvent|has folded|is broken for good|is closing down|are closing down|closes for good|is closing for good|closes down|is shutting down|shuts down|are shutting down|is deleted|are deleted|was deleted|were deleted|is out of the plot|are out of the plot|is out for good|is off for good|is out of the question now|has gone for good|is done for|is no longer with us|is dissolved|was dissolved|has ended|came to an end|comes to an end|is over and done|was abandoned|is abandoned|was thrown out|is thrown out|got thrown out|were replaced|are replaced|have been replaced|were removed|have been removed|were dropped|was turned down at last|has run out|ran out|backed out|pulled out|double-booked us|let us down|doesn't matter any more|no longer matters|no longer counts|doesn't count any more|was stopped|has been stopped|is stopped for good",
    ),
    (Sign::From, "from"),
    (
        Sign::Retired,
        "killed|got rid|axed|no longer use|no longer using|we have left|we've left|we left|stopped using|don't use|do not use|got rid of|moved away from|moved off|dropped|abandoned|have on|know about|know on|noted about|noted on|forget everything about|forget what i said about|forget about|retired|removed support for|migrated off|migrated away from|switched off|sold|sold off|gave away|gave up|given up|threw out|threw away|cancelled|canceled|quit|stopped taking|stopped eating|stopped paying|ditched|scrapped|discontinued|terminated|broke up with|dismantled|took down|tore down|killed off|phased out|finished with|done with|unsubscribed from|pulled out of|resigned from|cut out|replaced|swapped out|traded in|uninstalled|do without|doing without|no longer have|no longer need|no longer want|no longer go to|no longer eat|no longer work with|no longer work at|no longer pay|drop the|drop that|scrap the|skip the|leave out|ditch|lose the|, drop|: drop|and drop|then drop|so drop|we drop|can drop|please drop|just drop|we dropped|we've dropped|we scrapped|we've scrapped|we cancelled|we've cancelled|we canceled|we abandoned|we've abandoned|we gave up|we've given up|we got rid of|have done away with|did away with|do away with|we moved off|we're moving off|we are moving off|we're dropping|we are dropping|we stopped|we've stopped|has stopped|i stopped|i've stopped|i quit|i gave up|i've given up|called off|backed out of|pulled the plug on|turned off for good|we took out|we've taken out|took off the menu|no more of the|took him off|took her off|taken him off|taken her off|took me off|came off the",
    ),
    (
        Sign::Obsolete,
        "obsolete|outdated|out of date|no longer valid|no longer true|no longer applies|no longer correct|not true any more|not valid any more|is wrong|are wrong|was wrong|can go|forget|is void|superseded|is history|does not apply|doesn't apply|delete that|archive|is stale|incorrect|not correct|not true|isn't right any more|aren't right any more|isn't true|isn't right|aren't right|is not right|no longer right|don't hold any more|doesn't hold any more|is out of date",
    ),
    (
        Sign::Moved,
        "moved|has moved|have moved|moves|relocated|new address|moving to|migrated|moved over|switched over|switched to",
    ),
    (
        Sign::Place,
        "lives|live|address|located|office is|office in|office at|home is|resides|stays at|based in|sits in|practice is|room|is stored|are stored|stored on|stored in|kept in|kept on|hosted on|hosted at|lives on|live on|runs on|run on|is hosted|are hosted|deployed on|deployed to|is parked|stands in|stand in|is kept|are kept",
    ),
    (
        Sign::Waiting,
        "not finished|not yet|unfinished|pending|is broken|are broken|not done|is missing|are missing|still open|not working|does not work|doesn't work|unconfirmed|undecided|not decided|waiting for|is blocked|blocked by|not complete|incomplete|is failing|still fails|to be confirmed|may lack|unknown|not known|not installed|not available",
    ),
    (
        Sign::Hedge,
        "maybe|perhaps|might|i was thinking|we were thinking|pretty sure|probably|possibly|presumably|likely|i think|i guess|i believe|i suspect|i suppose|i assume|not sure|unsure|could be|may be|seems|seem|looks like|looks as if|apparently|my guess|my suspicion|my theory|suspicion :|a theory|my first thought|first thought|i wonder|wondering|unclear|it appears|hopefully|could it|one idea|an idea|ideally|would guess|i'd guess|suspect|rumour|rumor|who knows|my money is on|my bet is|i bet|i'd bet|fingers crossed",
    ),
    (
        Sign::Hearsay,
        "i thought|we thought|i believed|i assumed|we assumed|was told|were told|i was told|heard that|i heard|they say|people say|supposedly|allegedly|rumours|claims that|claims to|claimed|at first|first i thought|he says|she says|says that|said that|dreamed|dreamt|in the movie|in the film|in the novel|in the book|in the game|swears|swore|insists that|insist that|has it from|have it from|nobody has that in writing|nothing in writing|jokes|joked|reckons|wanted to know|asked if|asked whether|you said|you told me|you claimed|announced that",
    ),
    (
        Sign::Hypothesis,
        "if we|if i|if you|if they|if he|if she|if there|if that|if it were|what if|suppose|supposing|imagine|assuming|would|wouldn't|we'd|i'd|could have|should have|were to|had we|in theory|theoretically|hypothetically|let's say|let's pretend|pretend|say we|in case we|one could|we could|you could|it could|might have|unless we",
    ),
    (
        Sign::Joke,
        "haha|hahaha|hehe|lol|lmao|rofl|just kidding|only kidding|kidding|joking|jk|a joke|my joke|oh sure|yeah right|what could go wrong|: )|; )|😂|🤣|😜|😉|😄|😅|😆|🙃|: d|: - )|; - )|: p|/ s|i wish|in my dreams|as if i|obviously not|sarcasm|irony|wink",
    ),
    (
        Sign::Serious,
        "seriously|no , really|no really|jokes aside|joking aside|all jokes aside|kidding aside|but really|in earnest|on a serious note|to be serious|for real",
    ),
    (
        Sign::Denial,
        "no no|no|nope|not really|not true|wrong|it still fails|still fails|still failing|still broken|still there|still happens|still crashes|still hangs|still the same|same error|does not work|doesn't work|didn't work|did not work|isn't fixed|is not fixed|not fixed|not solved|isn't solved|it fails|fails again|broke again|is back|are you sure|did it|that's not|that is not|it isn't|it is not|is empty|are empty|isn't it|wasn't it|that's wrong|not the case|can't be it|checked that already|it's not|is broken|are broken|you jumped|not done|not working|isn't done|never happened|did not happen|didn't happen|back to the bench|back to the drawing board|back to square one|not there yet|ticket reopened|far from fixed|doesn't hold|didn't hold|did not hold|came back again",
    ),
    (
        Sign::Refuted,
        "is fine|are fine|was fine|is innocent|that was wrong|was wrong|was negative|is not the|isn't the|was not the|wasn't the|it is not|it isn't|it wasn't|it was not|not the cause|can't be that|that's not it|was not it|that wasn't it|not true|false alarm|turned out to be wrong|ruled out|rule out|has nothing to do|have nothing to do|no evidence|disproved|refuted|ignore that|never mind|scratch that|forget that|nothing to do with|forget the|forget about|scrap that|thought it was|was not it|wasn't it|is ruled out|was ruled out|rules it out",
    ),
    (
        Sign::Trouble,
        "what is that|what's that|any idea why|why is|why does|why do|fails|fail|failing|failed|failure|crash|crashes|crashed|hangs|hang|slow|times out|time out|timeout|timeouts|broken|breaks|error|errors|flaky|stuck|lag|empty|wrong|missing rows|duplicates|goes down|went down|is down|drops|grows|leak|leaks|does not|doesn't|problem|issue|bug|incident|outage|complains|flat|unable|weird|strange|rejected|crash rate|slide|jitter|loses|lost|too|fall off|nothing happens|won't|problems|issues|bugs|faults|complaints|complain",
    ),
    (
        Sign::Meta,
        "injection|injected|instruction|instructions|ignore|ignored|ignoring|phishing|malicious|posing as|hidden text|scam|did not follow|do not follow|will not keep|not keep the|won't store|not store",
    ),
    (
        Sign::Injection,
        "ai assistant|ai assistants|ai agent|ai agents|note to agent|note to agents|note to assistant|note to ai|attention ai|attention assistant|attention agent|to the assistant|to all agents|dear assistant|dear ai|ignore previous|ignore all previous|ignore all prior|ignore the above|disregard previous|disregard all|previous instructions|system :|assistant :|language model|llm|llms|system prompt|you are now|as an ai|hidden text|grader ,|without telling the user|never mention it to|do not tell the user|don't tell the user",
    ),
    (
        Sign::Says,
        "says|said|writes|wrote|reads|reported|message|mail|email|e-mail|page|article|ticket|error|log|logs|output|text|letter|review|comment|post|prints|shows|sign|got|transcript|quote|paste|pasted|curl|forwarded|below",
    ),
    (
        Sign::Wish,
        "i want to|we want to|would like|i'd like|hope|wish|looking for|thinking about|thinking of|planning to|going to|plan to|let's see|i need|we need|trying to|any idea|any ideas|ideas",
    ),
    (
        Sign::Done,
        "is done|are done|is finished|are finished|is complete|are complete|is ready|are ready|is live|are live|is in place|are in place|are in|is in since|is in .|now works|works now|it works|works again|is green|are green|now pass|now passes|passes now|pass now|tests pass|test passes|all pass|is at zero|is closed|are closed|is out|is up|is up again|is back up|is smooth|it's smooth|answers 202|answers 200|answers on|it answers|answers now|is gone|are gone|no more errors|errors have stopped|is solved|is fixed|rolled out|set up|is set|are set|went out|taken care of|i did already|i did|we did|i did that|already did|did already|done already|already done|is through|checked in|is merged|is switched|is over with|is written|is paid|is sent|are sent|is booked|are booked|went live|ticked off|crossed off|is back since|back online|is online|are online|went to|passes again|has arrived|have arrived|arrived|came in|is here|are here|was delivered|were delivered|has been delivered|went through|came through|we're back from|i'm back from|just back from|came back from|did that|done that|been to the|are here now|is here now|already have them|already have it|came round|came by|has been round|was round|did the|i rang|i spoke to|i talked to|i phoned|we spoke to|we talked to|came on|came today|came yesterday|came this|has come|have come|came back|got an appointment|have an appointment|has an answer|gave the go-ahead|is sorted|are sorted|is settled|are settled|is signed|are signed|was signed",
    ),
    (
        Sign::Aux,
        "i|we|i've|we've|has been|have been|was|were|is|are|got|have|has|had|he|she|they|who|team|plumber|just|already|has now|i have|we have|you've",
    ),
    (
        Sign::Negation,
        "not|n't|isn't|aren't|wasn't|weren't|haven't|hasn't|didn't|don't|doesn't|won't|cannot|can't|never|no|nothing|nobody|without|neither|nor|couldn't",
    ),
    (
        Sign::NotYet,
        "not yet|n't yet|yet|still not|still isn't|still aren't|still hasn't|still haven't|not been|hasn't been|haven't been|not installed|not written|not booked|not finished|not started|isn't ready|is not ready|are not switched|have not booked|not coded|not sent|not done|not answered",
    ),
    (
        Sign::Doing,
        "i'm now|i am now|now i'm|now i am|i'm currently|i am currently|currently|i'm still|i am still|we're now|now we're|i am starting|i'm starting|i begin|i start with|i start on|i do now|i'm on it|i'm working on|i am working on|working on|in progress|under way|underway|is running|i am|i'm|being built|being written|wip|now the|now i|i'll start|i continue with|at the moment|right now|starting on|starting with|begun with|have started|i started|i've started|i've begun|we've started|we've begun|started with|i'm building|i'm adding|i'm writing",
    ),
    (
        Sign::Next,
        "next|next :|next up|next step|next steps|then|after that|afterwards|and then|later|later on|finally|comes next|comes the|comes a|come the|follows|to follow|will follow|tomorrow|next week|next is|next one is|after the|in the end|subsequently|thereafter|goes next|once that is|is scheduled|are scheduled|is due",
    ),
    (
        Sign::Open,
        "left for you|left for me|left for us|still open|still missing|still to|still needs|still need|still has to|still have to|remains|remaining|left to do|is left|are left|what's left|what is left|left :|left is|left are|open :|open point|open points|to do|todo|to-do|tbd|is missing|are missing|needs to|need to|has to be|have to be|must be|needs a|needs the|needs an|should|should be|should get|outstanding|pending|to be done|follow-up|don't forget to|remember to|not yet|must also|also must|has to renew|yet to|awaiting|is open|are open|still fails|remains to|to be replaced|remind me|tell me when|let me know when|due|had better|can wait|may wait|would have to|has to|have to|only the",
    ),
    (
        Sign::Request,
        "please|can you|could you|would you|go ahead and|i want you to|i'd like you to|make sure|you should|you can|kindly|let's|yes please|do the same|your task|feel free to|next i want|i'd like|i want to try|pls|plz",
    ),
    (
        Sign::Plan,
        "i'll|we'll|i will|we will|i'm going to|we're going to|i am going to|we are going to|i see it|i see him|i see her|i'm planning to|you'll|he'll|she'll|they'll|will be|goes to|comes on|has an appointment|is coming|i can|let me",
    ),
    (
        Sign::Closing,
        "done|all done|finished|task complete|task completed|task done|completed|everything is done|that's done|it's done|this is done|we're done|i'm done|the task is done|the task is complete|the task is finished|merged|fixed|solved|it works|works|all set|shipped|deployed",
    ),
    (
        Sign::Filler,
        "ok|okay|yes|yep|yeah|no|right|sure|thanks|thank you|great|good|perfect|excellent|nice|alright|well|so|and|also|but|oh|ah|exactly|correct|understood|noted|got it|fine|cool|by the way|btw|hi|hello|hey|please|sorry|done|anyway|actually|wonderful|awesome|super|agreed|of course|hm|hmm|indeed|careful|great catch|good catch|perfect thanks|in that case|will do|you are right|you're right|then|listen|look|works|hmm ok|wow|ah yes|for the record|oh and|however|though|finally|haha yes|haha|seriously|no really|now|after that|afterwards|at last|merged|done|fixed|question|update|excellent|lovely|brilliant|too much|sounds good|makes sense|no problem|no worries|no rush|no hurry",
    ),
    (
        Sign::Anaphor,
        "it|this|that|these|those|they|them|he|she|its|the same|there|both|one|so",
    ),
    (
        Sign::Small,
        "a|an|the|and|or|but|of|to|in|on|at|for|from|by|with|without|as|is|are|was|were|be|been|being|am|it|its|it's|this|that|these|those|i|i'm|i've|i'll|we|we're|we've|we'll|you|you're|your|my|our|us|me|he|she|they|them|his|her|their|him|so|then|than|now|also|just|all|still|not|no|do|does|did|done|don't|doesn't|didn't|isn't|has|have|had|will|would|can|can't|could|should|shall|must|may|might|into|out|up|down|over|under|about|after|before|again|yet|only|more|most|some|any|each|every|both|there|here|what|which|who|whom|whose|when|where|why|how|if|because|since|until|while|though|yes|ok|okay|please|thanks|get|got|make|made|let|let's|very|too|much|many|well|same|other|others|another|one|such|per|via|between|through|during|against|off|right|good|great|never|always|today|yesterday|tomorrow|already|instead|new|old|first|last|next|let|go|goes|going|went|need|needs|want|wants|use|uses|used|say|says|said|put|take|takes|took|give|given|keep|keeps|kept|longer|nothing|anything|everything|others|something|thing|things|way|really|exactly|remember|important|else|once|says|like|back|o'clock|pm",
    ),
    (
        Sign::Month,
        "january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec",
    ),
];

/// Words in `-ed` that do not report finished work.
static IDLE: Listed = Listed::new(|| {
    split(
        " need needed expected supposed called named based related interested tired worried allowed required limited planned blocked wanted noticed \
    failed delayed suspected used looked checked asked assumed believed considered discovered explored figured guessed hoped learned liked listed meant \
    missed opened preferred realised realized remembered searched seemed started suggested thought tried turned viewed waited wondered decided agreed \
    indeed speed feed bed red seed exceed proceed excited pleased bored confused concerned prepared involved located dated united advanced complicated \
    detailed aged gifted naked sacred wicked hundred allergic crashed dropped happened occurred appeared existed lived loved hated stayed died depended \
    contained included served belonged denied refused rejected lasted affected shared fixed-width ignored scheduled due supported recommended forbidden \
    stuck married retired embed embedded unlimited outdated unexpected undecided unfinished broken dyslexic lowered talked told said observed reported \
    claimed complained mentioned wished dreamed repeated continued anonymised anonymized logged deployed-by posed mistaken noted understood found jumped promised \
    ",
    )
});
/// Past forms of irregular verbs that report finished work.
static STRONG: Listed = Listed::new(|| {
    split(
        " done built made sent set written wrote rewritten rewrote bought paid rebuilt sold taken drawn drew chosen left dug laid swept fed ran brought cut split \
    shut put hung begun overhauled rerun reran redone rewrote undone withdrawn redrawn rewound resent ",
    )
});
/// Verbs used to request work.
static IMPERATIVES: Listed = Listed::new(|| {
    split(
        " add adjust apply archive arrange ask assign attach backup bake book build bump buy call cancel change chase check choose clean clear close code collect combine compare \
    compute configure confirm connect continue convert cook copy correct count cover create cut debug delete deploy design disable document double-check download draft draw drop edit enable enter estimate \
    evaluate exclude export extend extract file fill find finish fix format forward generate get give grade handle hire implement import improve include increase index inform insert inspect install investigate \
    invite iron keep label launch limit list load lock log look lower mail make map mark measure merge migrate monitor move name narrow note notify open optimise optimize order organise organize pack paint park patch pay phone pick \
    plan plant plot port post prepare print publish pull push put raise read rebase rebuild recheck record redo reduce refactor register release reload remind remove rename renew repair repeat replace reply report reproduce request reschedule \
    reserve reset rerun restart restore retry return review revert rewrite roll rotate run save scan schedule screen search sell send set ship shorten shrink show simplify sketch skip solve sort split start stop store submit summarise summarize \
    switch take tell test tidy transcribe transfer translate trim try turn undo update upgrade upload use validate verify visit wait wash water wire work wrap write ",
    )
});

fn is_done(word: &str) -> bool {
    STRONG.has(word) || (word.len() > 4 && word.ends_with("ed") && !IDLE.has(word) && !word.ends_with("eed"))
}

fn is_imperative(word: &str) -> bool {
    word.len() > 2 && IMPERATIVES.has(word)
}
