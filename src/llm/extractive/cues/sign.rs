//! What phrases are signs of.

/// What a phrase is a sign of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::llm::extractive) enum Sign {
    // ---- what is worth keeping
    /// Somebody asks to keep it: "remember", "from now on".
    Keep,
    /// How things have to be: "must", "never".
    Rule,
    /// "we decided".
    Decision,
    /// "the root cause".
    Cause,
    /// "known issue", "result:".
    Finding,
    /// "because".
    Because,
    /// A bound in passing: "at most", "otherwise", "don't".
    Limit,
    /// What something asks for: "only accepts".
    Requirement,
    /// Of a person's life: "allergic", "prefers".
    Personal,
    /// "now", "moved", "correction".
    Change,
    /// What stands behind it is no longer so: "not from", "instead of".
    Old,
    /// What stands before it is no longer so.
    OldBefore,
    /// "from": the old value, if "to" and a change follow.
    From,
    /// Behind it stands what is no longer used: "no longer use".
    Retired,
    /// "is obsolete".
    Obsolete,
    /// "moved".
    Moved,
    /// "lives in", "address".
    Place,
    /// "not finished": a record that waits for its end.
    Waiting,

    // ---- what makes it worthless
    /// "maybe".
    Hedge,
    /// "I thought".
    Hearsay,
    /// "if we", "would".
    Hypothesis,
    /// "haha".
    Joke,
    /// "seriously": what was said before was none.
    Serious,
    /// "no", "still fails".
    Denial,
    /// "is fine", "that was wrong".
    Refuted,
    /// "fails".
    Trouble,
    /// Talk about instructions that were found in a text.
    Meta,
    /// An instruction in a text, to whoever reads it.
    Injection,
    /// "it says": a text follows.
    Says,
    /// What passes: "this week".
    Wish,

    /// What holds for now: "tonight", "for the time being".
    Passing,
    /// When something happened: "yesterday".
    Moment,
    /// Talk about whoever listens: "you keep telling me".
    Listener,
    /// How somebody feels: "I can't believe".
    Feeling,
    /// "I am": what follows may be how somebody feels.
    Speaker,
    /// What others want, think or say: "she thinks".
    Others,
    /// "was": of the past.
    Past,
    /// What comes in addition and replaces nothing: "also".
    Also,

    /// "lowered": some amount is another one.
    Amount,
    /// "comes from": of a record, by what it explains something; of a sentence it may tell a place.
    ComesFrom,
    /// "was never the cause": what stands before it did not do it.
    NotCause,
    /// "not only": what is denied only in part.
    Partly,
    /// "only": no others than these.
    Only,
    /// "no longer needed": of a piece of work.
    Needless,
    /// "I'll check again": no piece of work.
    Waits,
    /// "I", "already": what is reported is the speaker's own, or new.
    Own,
    /// "before I …": what is not to be done until then is to be done then.
    Before,
    /// "we": behind it stands a verb.
    Person,
    /// "from": of a date from which something holds.
    Since,
    /// "today": a day by its distance.
    Day,
    /// "is too hot": a value that will not do.
    Excess,
    /// "cancelled them": what the clause before speaks of is no more.
    EndsIt,
    /// "took over": a thing passes to somebody else.
    Hands,
    /// "as planned": all is as it was.
    Confirming,
    /// "until": how long something lasts; what passes makes nothing wrong.
    Lasting,
    /// "find out why": work that is done when a cause is known.
    Seek,
    /// "therefore": what follows from what was told.
    Hence,
    /// "between us", "don't write that down": it is said, and not to be kept.
    Private,
    /// "never mind him": what was just told is not to be taken up.
    Dismissal,
    /// "now": so it was not before.
    Now,
    /// "word for word": a text is needed as it stands.
    Exact,
    /// "it's not": what stands behind it is not so.
    IsNot,
    /// "any more": what stands before it was so, if it is denied.
    AnyMore,
    /// Of the end of a business, and of the end of its day: "cierra".
    Shuts,

    /// "by the way": no part of the matter in hand.
    Aside,
    /// "if": what follows holds only then.
    Condition,
    /// "you are right": what was said before is taken back.
    Concession,

    // ---- work
    /// "is done".
    Done,
    /// What comes before a participle: "have", "is".
    Aux,
    /// "not".
    Negation,
    /// "not yet".
    NotYet,
    /// "I am now".
    Doing,
    /// "next".
    Next,
    /// "still open".
    Open,
    /// "please".
    Request,
    /// "I'll".
    Plan,
    /// "done." alone.
    Closing,

    // ---- form
    /// What may stand at the beginning without meaning anything: "okay".
    Filler,
    /// What points back: "it".
    Anaphor,
    /// Small words, by which a language is known and which are no content.
    Small,
    /// Names of months.
    Month,
}

impl Sign {
    /// One bit for each sign.
    pub(in crate::llm::extractive) fn bit(self) -> u128 {
        1 << self as u8
    }

    /// Whether its words say how a thing stands, and not which thing.
    pub(in crate::llm::extractive) fn is_of_form(self) -> bool {
        matches!(
            self,
            Self::Keep
                | Self::Rule
                | Self::Decision
                | Self::Cause
                | Self::Change
                | Self::Retired
                | Self::Done
                | Self::NotYet
                | Self::Doing
                | Self::Next
                | Self::Open
                | Self::Request
                | Self::Plan
                | Self::Closing
                | Self::Filler
                | Self::Denial
                | Self::Refuted
                | Self::Concession
                | Self::Hedge
                | Self::Aux
        )
    }
}
