//! The dashboard over HTTP: what a browser sends and gets, without one.

mod forms;
mod headers;
mod pages;
mod records;
mod roles;
mod search;
mod sessions;

use crate::harness::{Answer, Service};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder};
use serde_json::json;

/// A browser that follows no redirects, and stores its session cookie.
struct Browser<'s> {
    service: &'s Service,
    client: reqwest::Client,
    cookie: Option<String>,
}

impl<'s> Browser<'s> {
    fn new(service: &'s Service) -> Self {
        let client = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .redirect(Policy::none())
            .build()
            .unwrap();
        Self {
            service,
            client,
            cookie: None,
        }
    }

    /// A browser that has signed in.
    async fn signed_in(service: &'s Service, key: &str) -> Self {
        let mut browser = Self::new(service);
        browser.sign_in(key).await.is(303);
        browser
    }

    /// Signs in and stores the session cookie, if there is one.
    async fn sign_in(&mut self, key: &str) -> Answer {
        self.visit("/ui/sign-in").await;
        let answer = self.send("/ui/sign-in", &[("key", key)]).await;
        self.keep_cookie(&answer);
        answer
    }

    /// A request with its cookie, to be extended.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let address = format!("http://{}{path}", self.service.socket_address());
        let request = self.client.request(method, address);
        match &self.cookie {
            Some(cookie) => request.header("Cookie", format!("wm_session={cookie}")),
            None => request,
        }
    }

    async fn get(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::GET, path)).await
    }

    /// GET, storing the cookies of the response.
    async fn visit(&mut self, path: &str) -> Answer {
        let answer = self.get(path).await;
        self.keep_cookie(&answer);
        answer
    }

    fn keep_cookie(&mut self, answer: &Answer) {
        let set = answer.headers.get("set-cookie");
        let pair = set.and_then(|value| value.to_str().unwrap().split(';').next());
        if let Some((_, value)) = pair.and_then(|pair| pair.split_once('=')) {
            self.cookie = Some(value.to_owned());
        }
    }

    /// The CSRF token of this browser's forms.
    fn token(&self) -> String {
        let session = working_memory::domain::access::SessionToken::parse(self.cookie.as_deref().unwrap());
        session.unwrap().form_token()
    }

    /// A form with its token, to be extended.
    fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let token = self.token();
        let mut all = vec![("form_token", token.as_str())];
        all.extend(fields);
        self.request(Method::POST, path).form_of(&all)
    }

    async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        Answer::to(self.form(path, fields)).await
    }

    /// Pages and forms, one a line: `GET /ui/keys → 200 part | !part` and `SEND ./edit < name=value&name=value → 303 place`.
    ///
    /// What begins with `.` is below the memory `agent` of `acme`. A part is shown by the page, or, behind `!`, is not; behind `=`
    /// it is written in it like this. The last answer is returned.
    async fn session(&mut self, table: &str) -> Answer {
        let mut last = None;
        for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
            let (asked, expected) = row.split_once(" → ").unwrap();
            let (status, parts) = expected.split_once(' ').unwrap_or((expected, ""));
            let answer = match asked.strip_prefix("SEND ") {
                Some(form) => {
                    let (path, fields) = form.split_once(" < ").unwrap_or((form, ""));
                    let fields = fields.replace("\\n", "\n").replace("\\r", "\r");
                    self.send(&here(path), &entries(&fields)).await
                }
                None => self.visit(&here(asked.strip_prefix("GET ").unwrap())).await,
            };
            assert_eq!(answer.status.to_string(), status, "{row}: {}", answer.text());
            for part in parts.split(" | ").filter(|part| !part.is_empty()) {
                let is_met = match (status, part.split_at(1)) {
                    ("303", _) => place(&answer) == here(part),
                    (_, ("!", part)) => !shows(&answer, part) && !answer.text().contains(part),
                    (_, ("=", part)) => answer.text().contains(part),
                    _ => shows(&answer, part),
                };
                assert!(is_met, "{part} of {row}: {:?} {}", answer.headers, answer.text());
            }
            last = Some(answer);
        }
        last.expect("a page")
    }
}

/// The path of a page, which may be one of the memory `agent` of `acme`.
fn here(path: &str) -> String {
    path.strip_prefix('.').map_or_else(
        || path.to_owned(),
        |below| format!("/ui/vaults/acme/memories/agent{below}"),
    )
}

trait Form {
    fn form_of(self, fields: &[(&str, &str)]) -> Self;
}

impl Form for RequestBuilder {
    fn form_of(self, fields: &[(&str, &str)]) -> Self {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        self.header("Content-Type", "application/x-www-form-urlencoded")
            .body(body.finish())
    }
}

/// Whether a page contains a text, in either of the forms in which it is escaped.
fn shows(page: &Answer, text: &str) -> bool {
    let named = text.replace('<', "&lt;").replace('>', "&gt;");
    let numbered = text.replace('<', "&#60;").replace('>', "&#62;");
    page.text().contains(&named) || page.text().contains(&numbered)
}

/// The `Location` of a response.
fn place(answer: &Answer) -> &str {
    answer.header("location")
}

/// The fields of a form, written as `name=value&name=value`.
fn entries(form: &str) -> Vec<(&str, &str)> {
    let entries = form.split('&').filter(|entry| !entry.is_empty());
    entries.map(|entry| entry.split_once('=').unwrap()).collect()
}

/// A memory with versions, records, a task, a decision, a run, two proposals and a handoff. Returns the ids of the proposals.
async fn furnish(service: &Service, key: Option<&str>, vault: &str) -> [String; 2] {
    let path = |below: &str| format!("/v1/vaults/{vault}/memories/agent/{below}");
    let with_key = |request: RequestBuilder| match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    for text in [
        "# Notes\nfirst\n",
        "# Notes\nsecond\n\n# Key Learnings\n- KL-1 because a: b\n",
    ] {
        let put = service.request(Method::PUT, &path("context"));
        let put = put.header("Content-Type", "text/plain").body(text);
        Answer::to(with_key(put)).await.is(201);
    }
    let mut runs = Vec::new();
    let proposal = |contents: &[&str]| {
        let add = |content: &&str| json!({"op": "add", "section": "learnings", "reason": "a test", "content": content});
        json!({ "operations": contents.iter().map(add).collect::<Vec<_>>() })
    };
    for (below, body) in [
        ("tasks", json!({"intent": "Read", "summary": "Done"})),
        ("decisions", json!({"decision": "Go on"})),
        ("update", json!({"task": "Go on", "messages": []})),
        (
            "operations?mode=propose",
            proposal(&["one is proposed", "two is proposed"]),
        ),
        ("operations?mode=propose", proposal(&["three is proposed"])),
        ("handoff/refresh", json!({})),
    ] {
        let request = service.request(Method::POST, &path(below)).json(&body);
        let answer = Answer::to(with_key(request)).await;
        assert!(answer.status < 300, "{below}: {}", answer.text());
        if below.ends_with("propose") {
            runs.push(answer.json()["update_id"].as_str().unwrap().to_owned());
        }
    }
    runs.try_into().unwrap()
}

/// All pages of a vault and of its memory `agent`.
fn pages(vault: &str, run: &str) -> Vec<String> {
    let mut pages = Vec::new();
    for below in ["", "/search?q=notes", "/inbox", "/usage", "/events"] {
        pages.push(format!("/ui/vaults/{vault}{below}"));
    }
    let all = "|/raw|/timeline|/versions/1|/diff?base=1&to=2|/diff?base=1&to=2&view=sides|/blame|\
            /records?status=all|/records/KL-1|/updates|/window|/prompt|/handoff";
    for below in all.split('|') {
        pages.push(format!("/ui/vaults/{vault}/memories/agent{below}"));
    }
    pages.push(format!("/ui/vaults/{vault}/memories/agent/updates/{run}"));
    pages
}
