//! Tables of requests and of what answers them.

use super::{Answer, Memory, Service, has, holds};
use reqwest::Method;
use serde_json::Value;
use std::time::Duration;

impl Service {
    /// Sends one request a line, `METHOD /path | Header: value < body → status`, and returns the last answer.
    ///
    /// - A body in brackets is JSON, any other is text, in which `\n`, `\r`, `\t` and `\0` are what they name, and `(x×3)` is `xxx`.
    /// - The status may be followed by headers, `200 | etag: "x"`, of which `-` is none; that of a problem by its name, and by the field
    ///   that it is about.
    /// - Then, `=text` is the whole answer, `^text` its beginning, `~text` a part of it, and `{…}` has members of its JSON, named as [`has`] takes them.
    /// - At the end, `⇒ id=/update_id` keeps a member of the answer, `⇒ tag=etag` a header and `⇒ all==` all of it, for `$id`, `$tag`
    ///   and `$all` in this line and later ones.
    ///
    /// Other lines are `§ name`, from which on the requests are below a new memory of the vault `acme`, `$memory`, at the time when the
    /// first one began; `+60`, which is a minute later; `¶ name`, another rule about the same memory; `ROWS records 2`,
    /// which a table then has of this memory; and `HOLDING secret: events updates`, the tables that a text is in.
    pub(crate) async fn requests(&self, table: &str) -> Answer {
        self.requests_below(String::new(), table).await
    }

    async fn requests_below(&self, mut base: String, table: &str) -> Answer {
        let (mut last, mut story, mut of_it, mut later) =
            (None, String::new(), String::new(), Duration::ZERO);
        let memory = base.trim_end_matches('/').rsplit('/').next();
        let mut kept = vec![("$memory".to_owned(), memory.unwrap_or_default().to_owned())];
        let lines = table.lines().map(str::trim).filter(|row| !row.is_empty());
        for (number, row) in lines.enumerate() {
            let row = with(row, &kept);
            if let Some(name) = row.strip_prefix("§ ") {
                name.clone_into(&mut story);
                let memory = format!("story-{number}");
                base = format!("/v1/vaults/acme/memories/{memory}/");
                of_it = format!(" WHERE memory_id = '{memory}'");
                kept = vec![("$memory".to_owned(), memory)];
                self.clock.set_back(std::mem::take(&mut later));
            } else if let Some(name) = row.strip_prefix("¶ ") {
                name.clone_into(&mut story);
            } else if let Some(seconds) = row.strip_prefix('+') {
                let time = Duration::from_secs(seconds.parse().unwrap());
                self.clock.advance(time);
                later += time;
            } else if let Some((text, tables)) =
                row.strip_prefix("HOLDING ").and_then(|held| held.split_once(':'))
            {
                assert_eq!(
                    self.tables_that_hold(text).await.join(" "),
                    tables.trim(),
                    "{story}: {row}"
                );
            } else if let Some((table, count)) =
                row.strip_prefix("ROWS ").and_then(|rows| rows.rsplit_once(' '))
            {
                let found = self.count(&format!("{table}{of_it}")).await.to_string();
                assert_eq!(found, count, "{story}: rows of {table}");
            } else {
                let (asked, expected) = row.split_once(" → ").unwrap_or_else(|| panic!("no arrow: {row}"));
                let (expected, keep) = expected.split_once(" ⇒ ").unwrap_or((expected, ""));
                let (status, expected) = expected.split_once(' ').unwrap_or((expected, ""));
                let answer = self.asked(&base, asked).await;
                let (found, text) = (answer.status.to_string(), answer.text());
                assert_eq!(found, status, "{story}: {row}: {text}");
                for (name, place) in keep.split(' ').filter_map(|keep| keep.split_once('=')) {
                    kept.push((format!("${name}"), answer.part(place).replace('\n', "\\n")));
                }
                is_expected(&format!("{story}: {row}"), &answer, &with(expected, &kept));
                last = Some(answer);
            }
        }
        last.expect("a request")
    }

    async fn asked(&self, base: &str, asked: &str) -> Answer {
        let (head, body) = match asked.split_once(" < ") {
            Some((head, body)) => (head, Some(body)),
            None => (asked, None),
        };
        let mut head = head.split(" | ");
        let (method, path) = head.next().and_then(|line| line.split_once(' ')).unwrap();
        let base = if path.starts_with('/') { "" } else { base };
        let url = match path.strip_prefix('.') {
            Some(query) => format!("{}{query}", base.trim_end_matches('/')),
            None => format!("{base}{path}"),
        };
        let mut request = self.request(method.parse::<Method>().unwrap(), &url);
        let mut is_typed = false;
        for (name, value) in head.filter_map(|header| header.split_once(": ")) {
            is_typed |= name == "Content-Type";
            request = request.header(name, value);
        }
        let request = match body {
            None => request,
            Some(body) if is_typed => request.body(plain(body)),
            Some(body) if body.starts_with(['{', '[']) => {
                let body = serde_json::from_str::<Value>(body);
                request.json(&body.unwrap_or_else(|error| panic!("{error}: {asked}")))
            }
            Some(body) => request.header("Content-Type", "text/plain").body(plain(body)),
        };
        Answer::to(request).await
    }
}

impl Memory {
    /// The same below this memory, as `METHOD path`; its own path is `.`.
    pub(crate) async fn requests(&self, table: &str) -> Answer {
        self.service().requests_below(self.path(""), table).await
    }
}

/// A text of a table with what its escapes name.
fn plain(text: &str) -> String {
    let text = text.replace("\\n", "\n").replace("\\r", "\r");
    text.replace("\\t", "\t").replace("\\0", "\0")
}

/// A line with what was kept in the place of the names, and with texts that are repeated.
fn with(line: &str, kept: &[(String, String)]) -> String {
    let mut line = kept
        .iter()
        .fold(line.to_owned(), |line, (name, value)| line.replace(name, value));
    while let Some((before, after)) = line.split_once('×') {
        let (before, text) = before.rsplit_once('(').unwrap();
        let (times, after) = after.split_once(')').unwrap();
        line = format!("{before}{}{after}", text.repeat(times.parse().unwrap()));
    }
    line
}

#[track_caller]
fn is_expected(row: &str, answer: &Answer, expected: &str) {
    let mut rest = expected;
    while let Some(headers) = rest.strip_prefix("| ") {
        let (header, more) = match headers.starts_with(['{', '=', '^', '~']) {
            true => ("", headers),
            false => headers
                .find(" | ")
                .map_or((headers, ""), |end| (&headers[..end], &headers[end + 1..])),
        };
        if let Some((name, value)) = header.split_once(": ") {
            let found = answer.headers.get(name).map(|found| found.to_str().unwrap());
            assert_eq!(found.unwrap_or("-"), value, "{row}: {name}");
        }
        rest = more;
    }
    let text = || answer.text();
    if let Some(whole) = rest.strip_prefix('=') {
        // A whole answer that was kept may have escapes of its own.
        let is_met = text() == whole || text() == plain(whole);
        assert!(is_met, "{row}: {}", text());
    } else if let Some(begin) = rest.strip_prefix('^') {
        assert!(text().starts_with(&plain(begin)), "{row}: {}", text());
    } else if let Some(part) = rest.strip_prefix('~') {
        holds(text(), &[&plain(part)]);
    } else {
        let (words, members) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
        let mut words = words.split_ascii_whitespace();
        let body = match words.next() {
            Some(name) => answer.clone().problem(answer.status, name, words.next()),
            None => serde_json::from_slice(&answer.body).unwrap_or_default(),
        };
        if !members.is_empty() {
            let members = serde_json::from_str(members);
            has(&body, members.unwrap_or_else(|error| panic!("{error}: {row}")));
        }
    }
}
