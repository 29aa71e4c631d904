//! Markdown of memories as HTML: Markdown is rendered, raw HTML of a document is shown as text. It loads
//! nothing, and its links allow only http, https and mail, without sending a referrer.

use askama::filters::{Html, escape};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// A Markdown text as HTML. `above` is the level of the heading before it: no heading of a text is more than one level
/// deeper than the one before, whatever its author wrote.
pub(super) fn render(text: &str, above: &mut usize) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut links = Vec::new();
    let events = Parser::new_ext(text, options).flat_map(|event| safe(event, &mut links, above));
    let mut written = String::with_capacity(text.len() * 2);
    html::push_html(&mut written, events);
    written
}

/// One event, without what a document must not contain. `links` has for each open link whether it is rendered as one.
fn safe<'t>(event: Event<'t>, links: &mut Vec<bool>, above: &mut usize) -> Vec<Event<'t>> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => vec![Event::Text(text)],
        Event::Start(Tag::HtmlBlock) => vec![Event::Start(Tag::Paragraph)],
        Event::End(TagEnd::HtmlBlock) => vec![Event::End(TagEnd::Paragraph)],
        Event::Start(Tag::Heading { level, .. }) => {
            // The first level is the title of the page.
            *above = (level as usize + 1).min(*above + 1).min(6);
            vec![own(format!("<h{above}>"))]
        }
        Event::End(TagEnd::Heading(_)) => vec![own(format!("</h{above}>\n"))],
        Event::Start(Tag::Link { dest_url, .. }) => {
            let leads_away = may_be_followed(&dest_url);
            links.push(leads_away);
            if leads_away {
                let href = escaped(&dest_url);
                vec![own(format!(
                    r#"<a href="{href}" rel="noreferrer noopener nofollow">"#
                ))]
            } else {
                Vec::new()
            }
        }
        Event::End(TagEnd::Link) => match links.pop() {
            Some(true) => vec![own("</a>".to_owned())],
            _ => Vec::new(),
        },
        Event::Start(Tag::Image { dest_url, .. }) => {
            let address = escaped(&dest_url);
            vec![own(format!(
                r#"<span class="muted">[image <bdi>{address}</bdi>: "#
            ))]
        }
        Event::End(TagEnd::Image) => vec![own("]</span>".to_owned())],
        Event::Start(Tag::Table(columns)) => vec![
            own(
                r#"<div class="scroll" role="region" aria-label="Table of the document" tabindex="0">"#
                    .to_owned(),
            ),
            Event::Start(Tag::Table(columns)),
        ],
        Event::End(TagEnd::Table) => vec![Event::End(TagEnd::Table), own("</div>".to_owned())],
        other => vec![other],
    }
}

fn escaped(text: &str) -> String {
    let Ok(escaped) = escape(text, Html);
    escaped.to_string()
}

/// HTML generated in this file, in which all text of a document is escaped.
fn own(text: String) -> Event<'static> {
    Event::InlineHtml(CowStr::from(text))
}

fn may_be_followed(address: &str) -> bool {
    let scheme = address
        .split_once(':')
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https" | "mailto"))
}

#[cfg(test)]
mod tests {

    fn render(text: &str) -> String {
        super::render(text, &mut 1)
    }

    #[test]
    fn markdown_is_shown() {
        let shown = render("# One\n\n* *a* `b`\n\n[x](https://e.org/?a=1&b=2)\n");
        let link = r#"<a href="https://e.org/?a=1&#38;b=2" rel="noreferrer noopener nofollow">x</a>"#;
        for part in ["<h2>One</h2>", "<em>a</em> <code>b</code>", link] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn what_a_document_says_in_html_stays_text() {
        for hostile in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<div>\n\n<style>*{}</style>\n</div>",
            "<!-- x --><iframe src=//e.org></iframe>",
            "[a](javascript:alert(1))",
            "[a](JAVASCRIPT:alert(1))",
            "[a](data:text/html,x)",
            "![a\"><script>](https://e.org/x.png\"onload=x)",
            "[a](https://e.org/\"onmouseover=\"x)",
            "```\"><script>\n<b>\n```",
            "| a |\n|---|\n| <b>x</b> |",
        ] {
            let shown = render(hostile);
            let tags = "<script|<img|<style|<iframe|<b>|<!--|href=\"javascript|href=\"data|<input|\"onmouseover|\"onload";
            for tag in tags.split('|') {
                assert!(!shown.to_lowercase().contains(tag), "{hostile}: {shown}");
            }
        }
    }

    #[test]
    fn every_tag_that_is_opened_is_closed() {
        for text in [
            "[a](b",
            "> - [x](https://e.org) **b",
            "| a\n|--\n| [c](x:y) |",
            "<div",
            "a<b>c</d>",
        ] {
            let shown = render(text);
            for tag in ["a", "div", "p", "strong", "table"] {
                let count = |form: String| shown.matches(&form).count();
                let opened = count(format!("<{tag}>")) + count(format!("<{tag} "));
                assert_eq!(opened, count(format!("</{tag}>")), "{text}: {shown}");
            }
        }
    }
}
