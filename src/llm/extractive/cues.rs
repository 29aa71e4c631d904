//! The words by which work is recognised. Each list is one text, its entries divided by `|`, in small letters.
//! Lines are looked at with their ASCII letters made small, so that what is found stands at the same bytes in the
//! original.

/// What may stand before a report: "Great, now I …".
pub(super) const FILLERS: &str = "\
    ok|yes|right|sure|thanks|no|okay|great|good|perfect|alright|so|and|also|then|finally|first|\
    second|just|now|done|update|status|✅|✔|-|–|—|with|that|all|today";

/// Who reports.
pub(super) const SUBJECTS: &str = "i|we|i've|we've";

/// What may stand between subject and verb.
pub(super) const ADVERBS: &str = "just|now|also|already|successfully|then|finally|have|has|both";

/// Verbs that begin a report without a subject: "Fixed the parser".
pub(super) const DONE_VERBS: &str = "\
    added|adjusted|applied|benchmarked|built|bumped|changed|cleaned|committed|completed|\
    configured|confirmed|converted|created|deleted|deployed|disabled|documented|dropped|enabled|\
    exposed|extended|extracted|finished|fixed|implemented|imported|improved|indexed|installed|\
    integrated|introduced|merged|measured|migrated|moved|optimised|optimized|patched|published|\
    pushed|rebased|rebuilt|recorded|reduced|refactored|released|removed|renamed|replaced|\
    reproduced|resolved|restored|reverted|rewrote|rewritten|scaffolded|sent|shipped|simplified|\
    solved|split|stored|switched|tested|tightened|updated|upgraded|validated|verified|wired|\
    wrapped|written|wrote";

/// Past forms that, with a subject, tell no piece of work: "I noticed", "we wanted".
pub(super) const IDLE_VERBS: &str = "\
    asked|assumed|believed|checked|considered|decided|discovered|expected|explored|figured|\
    guessed|hoped|learned|learnt|liked|listed|looked|meant|missed|needed|noticed|opened|planned|\
    preferred|realised|realized|remembered|searched|seemed|started|suggested|supposed|thought|\
    tried|turned|used|viewed|waited|wanted|wondered|worried";

/// What a passive says when work is done: "the parser is wired", "the tests now pass".
pub(super) const DONE_STATES: &str = "\
    done|complete|finished|fixed|implemented|merged|deployed|resolved|released|shipped|green|\
    passing|in place|migrated|wired|completed|pushed|committed|\
    updated|working|added|removed|built|tested|documented|set up|ready|live|passed";

/// Beginnings of a plan. The longest that fits is taken off.
pub(super) const PLAN_OPENINGS: &str = "\
    next steps:|next steps are to|next step:|the next step is to|next step is to|next up:|next up,|\
    next up is|next:|next,|next i'll|next we'll|next i will|next we will|next we|next i|next is to|\
    next is|next|then i'll|then we'll|after that, i'll|after that i'll|afterwards";

/// Beginnings of something left open; unlike a plan they hold until the end of the session.
pub(super) const OPEN_OPENINGS: &str = "\
    todo:|todo|to do:|remaining:|remaining work:|left:|left to do:|still open:|still to do:|open:|\
    follow-up:|we still need to|i still need to|we still have to|i still have to|still need to|\
    still have to|we need to|i need to|we have to|i have to|need to|we must still|please also|\
    also please|don't forget to|what remains is to|what's left is to|it remains to";

/// Marks, as whole words, of something left open anywhere in a sentence; the sentence is kept as it is.
pub(super) const OPEN_MARKS: &str = "still needs|still need|still missing|remains to|left to do|not yet|is todo|to be done|\
    still to be|still fails|is still failing|are still failing";

/// Beginnings of work that is being done.
pub(super) const CURRENT_OPENINGS: &str = "\
    currently:|current:|in progress:|wip:|doing:|i'm now|i am now|now i'm|now i am|i'm currently|\
    i am currently|currently|i'm still|we're now|now we're|still";

/// Steps of looking around are no work worth a line.
pub(super) const LOOKING: &str = "look|looking|check|checking|read|reading|run|running|start|starting|see|explore|exploring|\
    inspect|open|search|find|try|ask|think|investigate";

/// Sentences that say, alone, that the task is finished.
pub(super) const CLOSING: &str = "done|all done|finished|task complete|task completed|task done|complete|completed|\
    the task is done|the task is complete|the task is completed|the task is finished|\
    everything is done|this is done|this is complete|that's done|it's done|we're done|i'm done|\
    all work is complete|the work is complete|the work is done";

/// What stands before the verb of a plan.
pub(super) const PLANNERS: &str = "i'll|we'll|i will|we will|i'm going to|we're going to|i am going to|we should|i should|\
    let's|let me|we can|i can|we need to|i need to|we have to|i have to|will be to";

/// Words before a passive that make it a wish, a condition or an explanation.
pub(super) const WISHES: &str =
    "if|once|when|until|after|should|must|will|would|not|unless|before|never|could|can|reason|cause|that|why";

/// What tests and programs do when work is done.
pub(super) const PASSING: &str = "tests pass|tests now pass|now passes|now pass|now works|tests passed";

/// What may follow "next" without being a plan.
pub(super) const NEXT_NOUNS: &str =
    "week|month|year|day|sprint|release|version|time|one|page|line|step|iteration|meeting|to|is|was";

/// Whether a word or phrase is an entry of a list.
pub(super) fn is_one_of(list: &str, entry: &str) -> bool {
    list.split('|').any(|listed| listed == entry)
}

/// The entry that a line begins with, as whole words with something behind it; of several the longest.
pub(super) fn opening<'l>(lower: &str, list: &'l str) -> Option<&'l str> {
    let opens = |entry: &&str| {
        let rest = lower.strip_prefix(*entry);
        rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(char::is_alphanumeric))
    };
    list.split('|').filter(opens).max_by_key(|entry| entry.len())
}

/// Where the blank before an entry stands, in a line that has a blank at both ends.
pub(super) fn place(padded: &str, list: &str) -> Option<usize> {
    let is_blank = |byte: Option<&u8>| byte == Some(&b' ');
    list.split('|').find_map(|entry| {
        let whole = |at: &usize| {
            let bytes = padded.as_bytes();
            *at > 0 && is_blank(bytes.get(at - 1)) && is_blank(bytes.get(at + entry.len()))
        };
        padded
            .match_indices(entry)
            .map(|(at, _)| at)
            .find(whole)
            .map(|at| at - 1)
    })
}
