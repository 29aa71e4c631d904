//! The signs that cue phrases stand for.

/// The meaning of a cue phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::llm::extractive) enum Sign {
    // ---- worth keeping
    /// A request to keep something: "remember", "from now on".
    Keep,
    /// A rule: "must", "never".
    Rule,
    /// A decision: "we decided".
    Decision,
    /// A cause: "the root cause".
    Cause,
    /// A finding: "known issue", "result:".
    Finding,
    /// A reason: "because".
    Because,
    /// A constraint: "at most", "otherwise", "don't".
    Limit,
    /// A requirement of something: "only accepts".
    Requirement,
    /// A personal circumstance: "allergic", "prefers".
    Personal,
    /// A change: "now", "moved", "correction".
    Change,
    /// The text after it does not hold any more: "not from", "instead of".
    Old,
    /// The text before it does not hold any more.
    OldBefore,
    /// "from": precedes the old value if "to" and a sign of change follow.
    From,
    /// The text after it is not used any more: "no longer use".
    Retired,
    /// "is obsolete".
    Obsolete,
    /// "moved".
    Moved,
    /// A place: "lives in", "address".
    Place,
    /// "not finished": a record that waits for an end.
    Waiting,

    // ---- not worth keeping
    /// Uncertainty: "maybe".
    Hedge,
    /// "I thought".
    Hearsay,
    /// "if we", "would".
    Hypothesis,
    /// "haha".
    Joke,
    /// "seriously": the text after it is not a joke.
    Serious,
    /// Contradiction: "no", "still fails".
    Denial,
    /// Refutation: "is fine", "that was wrong".
    Refuted,
    /// A problem: "fails".
    Trouble,
    /// Talk about instructions found in a text.
    Meta,
    /// An instruction in a text that is directed at its reader.
    Injection,
    /// "it says": a quotation follows.
    Says,
    /// A wish or an intention: "hope", "going to".
    Wish,

    /// Temporary: "tonight", "for the time being".
    Passing,
    /// The time of an event: "yesterday".
    Moment,
    /// Talk about the assistant: "you keep telling me".
    Listener,
    /// A feeling: "I can't believe".
    Feeling,
    /// "I am": a feeling may follow.
    Speaker,
    /// Wishes, opinions or statements of others: "she thinks".
    Others,
    /// Past tense: "was".
    Past,
    /// An addition that replaces nothing: "also".
    Also,

    /// A changed amount: "lowered".
    Amount,
    /// "comes from": in a record an explanation; in a sentence it may be a place.
    ComesFrom,
    /// "was never the cause": the text before it is not the cause.
    NotCause,
    /// A partial negation: "not only".
    Partly,
    /// Exclusiveness: "only".
    Only,
    /// Unnecessary work: "no longer needed".
    Needless,
    /// "I'll check again": not work.
    Waits,
    /// "I", "already": the report is about the speaker or new.
    Own,
    /// "before I …": a negated request is due at that time.
    Before,
    /// "we": a verb follows.
    Person,
    /// "from": precedes a date from which something holds.
    Since,
    /// A day relative to today: "today".
    Day,
    /// "is too hot": an unsuitable value.
    Excess,
    /// "cancelled them": ends the subject of the clause before.
    EndsIt,
    /// "took over": a change of responsibility.
    Hands,
    /// "as planned": nothing changed.
    Confirming,
    /// "until": limits a duration; a temporary state contradicts nothing.
    Lasting,
    /// "find out why": work that is done when the cause is known.
    Seek,
    /// A conclusion: "therefore".
    Hence,
    /// "between us", "don't write that down": must not be recorded.
    Private,
    /// "never mind him": dismisses the previous statement.
    Dismissal,
    /// "now": implies that it was different before.
    Now,
    /// "word for word": a text is needed verbatim.
    Exact,
    /// "it's not": the text after it is denied.
    IsNot,
    /// "any more": with a negation the text before it does not hold any more.
    AnyMore,
    /// The end of a business or of its opening hours: "cierra".
    Shuts,

    /// "by the way": not about the current topic.
    Aside,
    /// "if": the text after it is conditional.
    Condition,
    /// "you are right": retracts the previous statement.
    Concession,

    // ---- work
    /// "is done".
    Done,
    /// An auxiliary before a participle: "have", "is".
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
    /// "done." on its own.
    Closing,

    // ---- form
    /// A filler at the beginning: "okay".
    Filler,
    /// A back-reference: "it".
    Anaphor,
    /// Function words, which identify a language and are not content.
    Small,
    /// Names of months.
    Month,
}

impl Sign {
    /// The bit of this sign in a bit set.
    pub(in crate::llm::extractive) fn bit(self) -> u128 {
        1 << self as u8
    }

    /// Whether its words describe a state of a thing rather than the thing.
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
