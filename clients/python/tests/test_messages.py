"""Histories as the SDKs of OpenAI and Anthropic have them, their objects too."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageFunctionToolCall
from openai.types.chat.chat_completion_message_function_tool_call import Function

from working_memory_client import Memory
from working_memory_client._wire import encoded


def kept(memory: Memory, messages: list[Any]) -> list[tuple[str, str]]:
    """The text form of a history that the service keeps."""
    done = memory.finish("Look at the weather", messages, handoff=False)
    request = memory.updates.get(done["update_id"])["request"]
    return [(message["role"], message["content"]) for message in request["messages"]]


def test_openais_dictionaries_and_objects(memory: Memory) -> None:
    call = ChatCompletionMessageFunctionToolCall(
        id="call_1", type="function", function=Function(name="weather", arguments='{"city": "Ulm"}')
    )
    history = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Weather in Ulm?"}]},
        ChatCompletionMessage(role="assistant", content=None, tool_calls=[call]),
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
        ChatCompletionMessage(role="assistant", content="It rains."),
    ]
    assert kept(memory, history) == [
        ("developer", "Be brief."),
        ("user", "Weather in Ulm?"),
        ("assistant", '[tool call weather] {"city": "Ulm"}'),
        ("tool", "rain"),
        ("assistant", "It rains."),
    ]


def test_anthropics_dictionaries_and_objects(memory: Memory) -> None:
    use = ToolUseBlock(id="toolu_1", type="tool_use", name="weather", input={"city": "Ulm"})
    answer = Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude",
        content=[TextBlock(type="text", text="It rains.")],
        stop_reason="end_turn",
        usage=Usage(input_tokens=1, output_tokens=1),
    )
    history = [
        {"role": "user", "content": "Weather in Ulm?"},
        {"role": "assistant", "content": [TextBlock(type="text", text="I look."), use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"}]},
        {"role": "assistant", "content": answer.content},
        answer,
    ]
    found = kept(memory, history)
    assert found[1][0] == "assistant"
    assert found[1][1].startswith("I look.\n[tool call weather]")
    assert found[2] == ("tool", "rain")
    assert found[3:] == [("assistant", "It rains.")] * 2


@dataclass
class Turn:
    role: str
    content: str


def test_dataclasses_and_generators(memory: Memory) -> None:
    turns = (Turn("user", text) for text in ("one", "two"))
    done = memory.update("Count", turns)
    request = memory.updates.get(done["update_id"])["request"]
    assert [message["content"] for message in request["messages"]] == ["one", "two"]


@pytest.mark.parametrize("value", [object(), {"a": {1: object()}}, float("nan"), "\ud800", b"text"])
def test_what_is_no_json_is_refused_here(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        encoded({"messages": [value]})


def test_texts_of_all_kinds_are_sent_as_they_are() -> None:
    text = 'é\u2028\x85\0"\\ 🫖'
    assert json.loads(encoded({"text": text})) == {"text": text}
