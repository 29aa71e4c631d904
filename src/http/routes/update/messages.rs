//! The schema of a request's messages; [`crate::pipeline::history`] parses them.

use crate::http::problem::Problem;
use crate::pipeline::history::InvalidMessage;

/// One message of the conversation, as the APIs of OpenAI and Anthropic have it. Members that are not named here are
/// passed over. What is kept is the text form.
#[derive(utoipa::ToSchema)]
#[schema(as = Message)]
#[expect(dead_code, reason = "documents what the pipeline reads")]
pub(super) struct MessageBody {
    /// Who says it: `user`, `assistant`, `system`, `developer`, `tool`, `function`, or anything.
    #[schema(
        min_length = 1,
        pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$",
        example = "user"
    )]
    role: String,
    /// What is said: a text, parts, or null. A message with `tool_calls` may leave it out.
    content: Option<Content>,
    /// Tools that an assistant calls (OpenAI). Kept as `[tool call NAME] {arguments}` in its message.
    tool_calls: Option<Vec<ToolCall>>,
    /// The one tool that an assistant calls, in the old form.
    function_call: Option<Called>,
    /// Why an assistant says nothing else.
    refusal: Option<String>,
}

/// What a message says.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[schema(as = MessageContent)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents what the pipeline reads")]
enum Content {
    Text(String),
    Parts(Vec<PartBody>),
}

/// A part of a message. By its type it needs `text`, `refusal`, or `name` and `input`.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[schema(as = MessagePart)]
#[expect(dead_code, reason = "documents what the pipeline reads")]
struct PartBody {
    /// What it is.
    r#type: PartType,
    /// For a text.
    text: Option<String>,
    /// For a refusal.
    refusal: Option<String>,
    /// For a call: the name of the tool.
    name: Option<String>,
    /// For a call: the arguments of the tool.
    input: Option<serde_json::Value>,
    /// For a result: a text or parts. It becomes a separate message with the role `tool`.
    content: Option<serde_json::Value>,
    /// For a result: whether the tool failed.
    is_error: Option<bool>,
    /// For a document or a search result.
    title: Option<String>,
}

/// The types of parts. Images, sounds and files are kept as `[image]`, `[audio]`, `[video]` and `[file NAME]`, without
/// their bytes; what a model thinks is left out.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = MessagePartType)]
enum PartType {
    Text,
    InputText,
    OutputText,
    Refusal,
    Image,
    ImageUrl,
    InputImage,
    Audio,
    InputAudio,
    Video,
    VideoUrl,
    File,
    InputFile,
    Document,
    ContainerUpload,
    SearchResult,
    ToolUse,
    ServerToolUse,
    McpToolUse,
    ToolResult,
    McpToolResult,
    WebSearchToolResult,
    WebFetchToolResult,
    CodeExecutionToolResult,
    BashCodeExecutionToolResult,
    TextEditorCodeExecutionToolResult,
    Thinking,
    RedactedThinking,
    Reasoning,
}

/// A call of a tool.
#[derive(utoipa::ToSchema)]
#[schema(as = MessageToolCall)]
#[expect(dead_code, reason = "documents what the pipeline reads")]
struct ToolCall {
    /// `function` without it.
    r#type: Option<ToolCallType>,
    /// With the type `function`.
    function: Option<Called>,
    /// With the type `custom`.
    custom: Option<Called>,
}

/// The kinds of calls.
#[derive(utoipa::ToSchema)]
#[schema(as = MessageToolCallType, rename_all = "lowercase")]
#[expect(dead_code, reason = "documents what the pipeline reads")]
enum ToolCallType {
    Function,
    Custom,
}

/// What is called.
#[derive(utoipa::ToSchema)]
#[schema(as = MessageCalled)]
#[expect(dead_code, reason = "documents what the pipeline reads")]
struct Called {
    /// The tool.
    name: String,
    /// What it is given: JSON as text.
    arguments: Option<String>,
    /// What a custom tool is given.
    input: Option<String>,
}

impl From<InvalidMessage> for Problem {
    fn from(error: InvalidMessage) -> Self {
        Self::invalid(&error.field, error.to_string())
    }
}
