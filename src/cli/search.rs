//! `working-memory search`: the memories of a vault that say something.

use super::client::{Failure, List, Look, Method, Output, PageArgs, Service, ServiceArgs, one_line};
use clap::Args;
use serde::Deserialize;

/// Arguments of `search`.
#[derive(Debug, Args)]
pub struct Search {
    /// Words that must be there; `-word`: one that must not; `"two words"`: side by side.
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    query: String,
    /// Search also what was written just now and is not indexed yet.
    #[arg(long)]
    consistent: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Deserialize)]
struct Found {
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
        let list: List<Found> = answer.json()?;
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
        list.tell_rest();
        Ok(())
    }
}

/// The pieces of an extract, which is HTML with nothing in it but `<mark>` and five entities, as text.
fn marked(html: &str) -> Vec<(bool, String)> {
    let mut pieces = Vec::new();
    for (index, piece) in html.split("<mark>").enumerate() {
        let (inside, behind) = match piece.split_once("</mark>") {
            Some(pair) if index > 0 => pair,
            _ => ("", piece),
        };
        pieces.push((true, unescaped(inside)));
        pieces.push((false, unescaped(behind)));
    }
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

/// `&amp;` last: what it brings forth is text, not another entity.
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
    fn an_extract_becomes_text_with_its_marks_told() {
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
