//! `working-memory search`: searches the memories of a vault.

use super::client::{Failure, List, Look, Method, Output, PageArgs, Service, ServiceArgs, one_line};
use clap::Args;
use serde::Deserialize;

/// Arguments of `search`.
#[derive(Debug, Args)]
pub struct Search {
    /// Required words; `-word`: excluded; `"two words"`: next to each other.
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    query: String,
    /// Index pending versions first, so that recent writes are found too.
    #[arg(long)]
    consistent: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Hit {
    memory_id: String,
    version: i64,
    extract: String,
}

impl Search {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = service
            .of_vault(Method::GET, &["search"])?
            .query("q", &self.query)
            .flag("consistent", self.consistent);
        let answer = self.page.of(call).send().await?;
        if self.service.is_raw() {
            return answer.print_json();
        }
        let list: List<Hit> = answer.json()?;
        let mut out = Output::new();
        for found in &list.items {
            out.styled(Look::Id, &found.memory_id)
                .styled(Look::Dim, &format!(" version {}", found.version))
                .end()
                .text("  ");
            for (marked, text) in marked(&one_line(&found.extract)) {
                match marked {
                    true => out.styled(Look::Strong, &text),
                    false => out.text(&text),
                };
            }
            out.end();
        }
        out.write()?;
        list.print_rest();
        Ok(())
    }
}

/// The pieces of an extract as text. An extract is HTML that contains only `<mark>` and five entities.
fn marked(html: &str) -> Vec<(bool, String)> {
    let mut pieces = Vec::new();
    for (index, piece) in html.split("<mark>").enumerate() {
        let (inside, after) = match piece.split_once("</mark>") {
            Some(pair) if index > 0 => pair,
            _ => ("", piece),
        };
        pieces.push((true, unescaped(inside)));
        pieces.push((false, unescaped(after)));
    }
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

/// `&amp;` is replaced last: the result is text, not another entity.
fn unescaped(html: &str) -> String {
    html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extract_becomes_text_with_its_marks() {
        let pieces = marked("the <mark>parser</mark> &amp;lt; <mark>a&#39;b</mark> &lt;mark&gt;");
        let pieces: Vec<_> = pieces
            .iter()
            .map(|(marked, text)| (*marked, text.as_str()))
            .collect();
        assert_eq!(
            pieces,
            [
                (false, "the "),
                (true, "parser"),
                (false, " &lt; "),
                (true, "a'b"),
                (false, " <mark>")
            ]
        );
        assert!(marked("").is_empty());
    }
}
