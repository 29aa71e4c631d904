//! Keyset pagination: `limit` and an opaque `cursor`, the same for every list.

use crate::fair;
use crate::http::extract::headers::Representation;
use crate::http::extract::params::{list_of, read_query, within};
use crate::http::problem::Problem;
use crate::storage::Rows;
use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::HeaderValue;
use axum::http::header::LINK;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The default number of entries on a page.
pub(crate) const DEFAULT_LIMIT: u32 = 50;

/// The maximum number of entries on a page.
pub(crate) const MAX_LIMIT: u32 = 500;

/// Which page of a list a client asks for.
#[derive(Debug, Clone, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Page {
    /// How many entries the page has at most.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 500, default = 50)]
    limit: Option<String>,
    /// Where the page begins: `next_cursor` of the page before.
    #[param(min_length = 1)]
    cursor: Option<String>,
    /// The list with all its filters: [`list_of`].
    #[serde(skip)]
    list: String,
    /// `limit`, or [`DEFAULT_LIMIT`].
    #[serde(skip)]
    most: u32,
}

impl<S: Send + Sync> FromRequestParts<S> for Page {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let page: Self = read_query(&parts.uri)?;
        let limit = within("limit", page.limit.as_ref(), 1..=MAX_LIMIT)?;
        Ok(Self {
            most: limit.unwrap_or(DEFAULT_LIMIT),
            list: list_of(&parts.uri),
            ..page
        })
    }
}

impl Page {
    /// The number of rows to read: one more than are returned, to detect whether there is a next page.
    pub(crate) fn fetch(&self) -> i64 {
        i64::from(self.most) + 1
    }

    /// The key after which the page begins; `None` for the first page.
    ///
    /// # Errors
    /// 400 if the cursor does not belong to this list.
    pub(crate) fn after<K: DeserializeOwned>(&self) -> Result<Option<K>, Problem> {
        let Some(cursor) = &self.cursor else {
            return Ok(None);
        };
        // Without escaped backslashes, `\u0000` is NUL, which no text of the database can hold.
        let key = open(cursor, &self.list).filter(|key| !key.replace(r"\\", "").contains(r"\u0000"));
        let key = key.and_then(|key| serde_json::from_str(&key).ok());
        key.map(Some).ok_or_else(|| {
            Problem::malformed(
                "cursor",
                "cursor is not one that this list gave: take next_cursor as it is, with the same filters",
            )
        })
    }

    /// Builds a page from entries that were read with [`Self::fetch`]; `show` converts them. There may be fewer, because large
    /// rows limit a page.
    pub(crate) fn of<E, T, K: Serialize>(
        &self,
        rows: impl Into<Rows<E>>,
        key: impl Fn(&E) -> K,
        show: impl Fn(E) -> T,
    ) -> List<T> {
        let Rows { mut items, is_cut } = rows.into();
        let most = self.most as usize;
        let more = is_cut || items.len() > most;
        items.truncate(most);
        let last = items.last().filter(|_| more);
        let next_cursor = last.map(|last| seal(&self.list, &key(last)));
        List {
            items: items.into_iter().map(show).collect(),
            next_cursor,
        }
    }
}

/// Entries of a list that is not limited in bytes.
impl<E> From<Vec<E>> for Rows<E> {
    fn from(items: Vec<E>) -> Self {
        let is_cut = false;
        Self { items, is_cut }
    }
}

/// What an entry has at least, about.
const ENTRY_BYTES: usize = 256;

/// One page of a list.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct List<T> {
    /// The entries, in the order of the list.
    #[schema(max_items = 500)]
    pub(crate) items: Vec<T>,
    /// What to send as `cursor` for the next page; null on the last one.
    pub(crate) next_cursor: Option<String>,
}

impl<T: Serialize> List<T> {
    /// The response, serialized now: under the turn of its request, and if it is long while other threads take over this
    /// thread's tasks.
    pub(crate) fn answer(self) -> Response {
        let bytes = self.items.len() * ENTRY_BYTES;
        fair::run_blocking_if_long(bytes, || Json(self).into_response())
    }

    /// The page as JSON, or as `text`. `Link` names the next page.
    pub(crate) fn represented(
        self,
        representation: Representation,
        page: &Page,
        text: impl Fn(&[T]) -> String,
    ) -> Result<Response, Problem> {
        let next = self.next_cursor.as_ref().map(|cursor| {
            let (list, limit) = (&page.list, page.most);
            let joint = if list.ends_with('?') { "" } else { "&" };
            let next = format!("<{list}{joint}limit={limit}&cursor={cursor}>; rel=\"next\"");
            // Ids and cursors contain only characters that are allowed in a header.
            Ok::<_, Problem>([(LINK, HeaderValue::try_from(next).map_err(Problem::internal)?)])
        });
        let next = next.transpose()?;
        Ok(match representation {
            Representation::Json => (representation, next, Json(self)).into_response(),
            _ => (representation, next, text(&self.items)).into_response(),
        })
    }
}

/// Builds a cursor: a checksum of the list as eight hexadecimal digits, then the key as JSON in hexadecimal.
fn seal(list: &str, key: &impl Serialize) -> String {
    // Serializing texts, numbers and times cannot fail.
    let key = serde_json::to_vec(key).unwrap_or_default();
    format!("{:08x}{}", check(list), hex::encode(key))
}

fn open(cursor: &str, list: &str) -> Option<String> {
    let digits = cursor.strip_prefix(&format!("{:08x}", check(list)))?;
    // Only lower-case digits: each key has exactly one cursor.
    let key = hex::decode(digits)
        .ok()
        .filter(|key| hex::encode(key) == digits)?;
    String::from_utf8(key).ok()
}

/// FNV-1a. It distinguishes lists and is no protection: a cursor contains only what the list returns.
fn check(list: &str) -> u32 {
    list.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
