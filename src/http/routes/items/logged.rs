//! The request log of item routes: the action, the category and the ids; never the content.

use crate::domain::ids::{Category, ItemId};
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
    category: Option<Category>,
    ids: Vec<ItemId>,
    /// The number of items, if their ids are not known.
    count: Option<u64>,
}

impl Change {
    /// A change without details.
    pub(super) fn new(verb: &'static str) -> Self {
        Self {
            verb,
            category: None,
            ids: Vec::new(),
            count: None,
        }
    }

    /// Sets the category.
    pub(super) fn in_category(&mut self, category: &Category) {
        self.category = Some(category.clone());
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
        if let Some(category) = &self.category {
            words.push_str(&format!(" in {:?}", category.as_str()));
        }
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
    fn a_line_names_category_and_ids() {
        let mut change = Change::new("added");
        assert_eq!(change.words("refused"), "items refused");
        change.in_category(&"user notes".parse().unwrap());
        change.names(&"i-1".parse().unwrap());
        assert_eq!(change.words("added"), "items added in \"user notes\": i-1");
        for _ in 0..NAMED {
            change.names(&"i-2".parse().unwrap());
        }
        assert!(change.words("added").ends_with(" and 1 more"));
    }
}
