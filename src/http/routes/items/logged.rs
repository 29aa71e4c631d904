//! The request log of item routes: the action and the ids; never the category or the content, which are texts of a body.

use crate::domain::ids::ItemId;
use crate::http::middleware::observe::Detail;
use crate::http::problem::Problem;
use axum::response::{IntoResponse, Response};

/// The maximum number of ids in a log line.
const NAMED: usize = 20;

/// The change that a request makes to items.
#[derive(Debug)]
pub(super) struct Change {
    /// `added`, `replaced` or `removed`.
    verb: &'static str,
    ids: Vec<ItemId>,
    /// The number of items, if their ids are not known.
    count: Option<u64>,
}

impl Change {
    /// A change without details.
    pub(super) fn new(verb: &'static str) -> Self {
        Self {
            verb,
            ids: Vec::new(),
            count: None,
        }
    }

    /// Adds the id of an item.
    pub(super) fn names(&mut self, id: &ItemId) {
        self.ids.push(id.clone());
    }

    /// Sets the number of items.
    pub(super) fn counts(&mut self, count: u64) {
        self.count = Some(count);
    }

    /// The response, with the details for the request's log line.
    pub(super) fn answer(self, result: Result<impl IntoResponse, Problem>) -> Response {
        let verb = match &result {
            Ok(_) => self.verb,
            Err(_) => "refused",
        };
        let mut response = result.into_response();
        response.extensions_mut().insert(Detail(self.words(verb).into()));
        response
    }

    fn words(&self, verb: &str) -> String {
        let mut words = format!("items {verb}");
        if let Some(count) = self.count {
            words.push_str(&format!(": {count}"));
        }
        if !self.ids.is_empty() {
            let ids: Vec<&str> = self.ids.iter().take(NAMED).map(ItemId::as_str).collect();
            words.push_str(&format!(": {}", ids.join(" ")));
            if self.ids.len() > NAMED {
                words.push_str(&format!(" and {} more", self.ids.len() - NAMED));
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_ids_and_no_text_of_the_body() {
        let mut change = Change::new("added");
        assert_eq!(change.words("refused"), "items refused");
        change.names(&"i-1".parse().unwrap());
        assert_eq!(change.words("added"), "items added: i-1");
        for _ in 0..NAMED {
            change.names(&"i-2".parse().unwrap());
        }
        assert!(change.words("added").ends_with(" and 1 more"));
    }
}
