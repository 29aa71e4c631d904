"""Models of the operations on messages.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class _MessageCalledRequired(TypedDict):
    name: str
    """The tool."""


class MessageCalled(_MessageCalledRequired, total=False):
    """What is called."""

    arguments: str | None
    """What it is given: JSON as text."""
    input: str | None
    """What a custom tool is given."""


MessagePartType = Literal[
    "text",
    "input_text",
    "output_text",
    "refusal",
    "image",
    "image_url",
    "input_image",
    "audio",
    "input_audio",
    "video",
    "video_url",
    "file",
    "input_file",
    "document",
    "container_upload",
    "search_result",
    "tool_use",
    "server_tool_use",
    "mcp_tool_use",
    "tool_result",
    "mcp_tool_result",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "thinking",
    "redacted_thinking",
    "reasoning",
]
"""The types of parts. Images, sounds and files are kept as `[image]`, `[audio]`, `[video]` and `[file NAME]`,
without their bytes.
"""


class _MessagePartRequired(TypedDict):
    type: MessagePartType
    """What it is."""


class MessagePart(_MessagePartRequired, total=False):
    """A part of a message. By its type it needs `text`, `refusal`, or `name` and `input`."""

    text: str | None
    """Of a text."""
    refusal: str | None
    """Of a refusal."""
    name: str | None
    """Of a call: the tool."""
    input: Any
    """Of a call: what the tool is given."""
    content: Any
    """Of a result: a text or parts."""
    is_error: bool | None
    """Of a result: the tool failed."""
    title: str | None
    """Of a document or a search result."""


MessageContent = str | list[MessagePart]
"""What a message says."""


MessageToolCallType = Literal["function", "custom"]
"""The kinds of calls."""


class MessageToolCall(TypedDict, total=False):
    """A call of a tool."""

    type: MessageToolCallType | None
    function: MessageCalled | None
    custom: MessageCalled | None


class _MessageRequired(TypedDict):
    role: str
    """Who says it: `user`, `assistant`, `system`, `developer`, `tool`, `function`, or anything."""


class Message(_MessageRequired, total=False):
    """One message of the conversation, as the APIs of OpenAI and Anthropic have it. Members that are not named
    here are passed over. What is kept is the text form.
    """

    content: MessageContent | None
    tool_calls: list[MessageToolCall] | None
    """Tools that an assistant calls (OpenAI)."""
    function_call: MessageCalled | None
    refusal: str | None
    """Why an assistant says nothing else."""
