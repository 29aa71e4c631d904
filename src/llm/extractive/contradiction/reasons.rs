//! The reasons for archiving outdated records.

pub(super) const NAMED: &str = "the user said that it no longer holds";
pub(super) const REPLACED: &str = "the user gave what holds instead";
pub(super) const OPPOSITE: &str = "the opposite holds now";
pub(super) const GIVEN_UP: &str = "the user said that it is no longer used";
pub(super) const REFUTED: &str = "it was found not to be so";
pub(super) const ENDED: &str = "what it waits for was reported";
