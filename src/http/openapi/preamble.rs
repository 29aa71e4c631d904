//! The static part of the document, before any route is registered.

use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Server};

const TAGS: &[(&str, &str)] = &[
    ("vaults", "The tenants."),
    ("memories", "The memories of a vault as a whole."),
    ("contexts", "The document of a memory and its versions."),
    ("updates", "Changes by models and by operations, and their runs."),
    ("records", "Single entries of documents, active and archived."),
    (
        "prompt",
        "Prompt items, and the system prompt assembled of them and the document.",
    ),
    (
        "window",
        "The living window: status, recent tasks, decisions, and the archive behind them.",
    ),
    ("handoff", "Views of recent changes for whoever continues."),
    ("search", "Full text of the newest documents."),
    ("mcp", "The same as tools of the Model Context Protocol."),
    ("keys", "API keys."),
    ("health", "The state of the service."),
];

/// The static part of the document.
pub(crate) fn preamble() -> OpenApi {
    let license = LicenseBuilder::new()
        .name(env!("CARGO_PKG_LICENSE"))
        .identifier(Some(env!("CARGO_PKG_LICENSE")))
        .build();
    let info = InfoBuilder::new()
        .title("working-memory")
        .version(env!("CARGO_PKG_VERSION"))
        .license(Some(license))
        .description(Some(
            "Keeps the working memory of agents: one plain-text document per memory, every change of it a new \
             immutable version.",
        ))
        .build();
    let tags = TAGS.iter().map(|(name, description)| {
        TagBuilder::new()
            .name(*name)
            .description(Some(*description))
            .build()
    });
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new("/")]))
        .tags(Some(tags))
        .build()
}
