"""The memory tool beside the SDK's own on the local file system, and in the SDK's tool runner."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    BetaLocalFilesystemMemoryTool,
)
from anthropic.types.beta import BetaToolUseBlock
from service import Service
from stub import Seen, Stub

from working_memory_client import AsyncClient, Client
from working_memory_client.anthropic import AsyncWorkingMemoryTool, WorkingMemoryTool

COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/p/tea.md", "file_text": "green\nblack\n"},
    {"command": "view", "path": "/memories/p/tea.md", "view_range": [1, 2]},
    {"command": "str_replace", "path": "/memories/p/tea.md", "old_str": "black", "new_str": "white"},
    {"command": "str_replace", "path": "/memories/p/tea.md", "old_str": "black", "new_str": "white"},
    {"command": "insert", "path": "/memories/p/tea.md", "insert_line": 1, "insert_text": "oolong"},
    {"command": "view", "path": "/memories/p/tea.md"},
    {"command": "create", "path": "/memories/p/tea.md", "file_text": ""},
    {"command": "rename", "old_path": "/memories/p", "new_path": "/memories/drinks"},
    {"command": "view", "path": "/memories/drinks/tea.md"},
    {"command": "delete", "path": "/memories/drinks/tea.md"},
    {"command": "delete", "path": "/memories/drinks/tea.md"},
]


@pytest.fixture
def theirs(tmp_path: Path) -> list[tuple[bool, str]]:
    """What the SDK's own tool says."""
    tool = BetaLocalFilesystemMemoryTool(str(tmp_path))
    told = [_told(lambda command=command: tool.call(command)) for command in COMMANDS]
    # A directory exists by the files below it, so it has no size of its own.
    return [(refused, text.replace("4K\t/memories", "0B\t/memories")) for refused, text in told]


def _told(call: Any) -> tuple[bool, str]:
    try:
        return False, call()
    except ToolError as refused:
        return True, str(refused)


def blocks() -> Iterator[BetaToolUseBlock]:
    for number, command in enumerate(COMMANDS):
        yield BetaToolUseBlock(id=f"toolu_{number}", type="tool_use", name="memory", input=command)


def model(told: list[tuple[bool, str]]) -> Stub:
    """A model that asks for one command after another."""

    def reply(seen: Seen) -> dict[str, Any]:
        last = json.loads(seen.body)["messages"][-1]["content"]
        if isinstance(last, list):
            told.extend((block.get("is_error", False), block["content"]) for block in last)
        place = len(told)
        content: list[Any] = [{"type": "text", "text": "done"}]
        if place < len(COMMANDS):
            content = [{"type": "tool_use", "id": f"toolu_{place}", "name": "memory", "input": COMMANDS[place]}]
        message = {
            "id": f"msg_{place}",
            "type": "message",
            "role": "assistant",
            "model": "stub",
            "content": content,
            "stop_reason": "tool_use" if place < len(COMMANDS) else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return {"json": message}

    return Stub([reply])


def test_the_tool_runner_is_told_what_the_sdks_own_tool_says(
    client: Client, vault: str, theirs: list[tuple[bool, str]]
) -> None:
    told: list[tuple[bool, str]] = []
    with model(told) as stub, anthropic.Anthropic(api_key="x", base_url=stub.url, max_retries=0) as api:
        runner = api.beta.messages.tool_runner(
            model="stub",
            max_tokens=100,
            tools=[WorkingMemoryTool(client.vault(vault), root="agent-1")],
            messages=[{"role": "user", "content": "Remember what I drink."}],
        )
        runner.until_done()
        assert json.loads(stub.seen[0].body)["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert told == theirs


def test_so_is_the_asynchronous_one(service: Service, vault: str, theirs: list[tuple[bool, str]]) -> None:
    told: list[tuple[bool, str]] = []

    async def run(url: str) -> None:
        async with (
            AsyncClient(service.url) as client,
            anthropic.AsyncAnthropic(api_key="x", base_url=url, max_retries=0) as api,
        ):
            runner = api.beta.messages.tool_runner(
                model="stub",
                max_tokens=100,
                tools=[AsyncWorkingMemoryTool(client.vault(vault), root="agent-1")],
                messages=[{"role": "user", "content": "Remember what I drink."}],
            )
            await runner.until_done()

    with model(told) as stub:
        asyncio.run(run(stub.url))
    assert told == theirs


def test_a_block_is_carried_out_once_however_often_it_is_handed_in(
    client: Client, vault: str, theirs: list[tuple[bool, str]]
) -> None:
    tool = WorkingMemoryTool(client.vault(vault), root="agent-1")
    first = [tool.run(block) for block in blocks()]
    assert [(result.get("is_error", False), result.get("content")) for result in first] == theirs
    assert [tool.run(block) for block in blocks()] == first, "the answers of the first time"
    assert [result["tool_use_id"] for result in first] == [block.id for block in blocks()]
    log = list(client.vault(vault).memories.list())
    assert len(log) == 1
    assert log[0]["version"] == 3, "create, str_replace and insert were done once"


def test_a_block_of_the_asynchronous_tool_too(service: Service, vault: str, theirs: list[tuple[bool, str]]) -> None:
    async def run() -> list[Any]:
        async with AsyncClient(service.url) as client:
            tool = AsyncWorkingMemoryTool(client.vault(vault), root="agent-1")
            return [await tool.run(block) for block in blocks()]

    assert [(result.get("is_error", False), result["content"]) for result in asyncio.run(run())] == theirs


def test_the_classes_of_the_sdk_are_taken_as_well(client: Client, vault: str) -> None:
    tool = WorkingMemoryTool(client.vault(vault), root="agent-1")
    direct = anthropic.types.beta
    create = direct.BetaMemoryTool20250818CreateCommand(command="create", path="/memories/a", file_text="tea")
    assert "created" in tool.execute(create)
    view = direct.BetaMemoryTool20250818ViewCommand(command="view", path="/memories/a")
    assert "tea" in tool.execute(view)
    assert tool.view(view) == tool.execute(view)


def test_a_service_that_is_away_is_an_error_of_the_tool() -> None:
    lines: list[dict[str, Any]] = [{"cut": 1}, {"status": 503, "problem": "unavailable"}]
    for line in lines:
        with Stub([line]) as stub, Client(stub.url, retries=1) as client:
            result = WorkingMemoryTool(client.vault("v"), root="r").run(next(blocks()))
            assert result.get("is_error") is True
            keys = {seen.headers["idempotency-key"] for seen in stub.seen}
            assert (len(stub.seen), keys) == (2, {"tool-use-toolu_0"})
    create: dict[str, object] = {"command": "create", "path": "/memories/a", "file_text": "\ud83d"}
    half = BetaToolUseBlock(id="toolu_9", input=create, name="memory", type="tool_use")
    result = WorkingMemoryTool(Client("http://localhost:1").vault("v"), root="r").run(half)
    assert result.get("is_error") is True
    assert "surrogate" in str(result.get("content"))
    with pytest.raises(ToolError, match="object"):
        WorkingMemoryTool(Client("http://localhost:1").vault("v"), root="r").call("view")


@pytest.mark.parametrize(
    ("ours", "abstract"),
    [(WorkingMemoryTool, BetaAbstractMemoryTool), (AsyncWorkingMemoryTool, BetaAsyncAbstractMemoryTool)],
)
def test_every_abstract_method_is_there_under_the_same_arguments(ours: type, abstract: type) -> None:
    names = abstract.__abstractmethods__  # type: ignore[attr-defined]
    assert names == {"view", "create", "str_replace", "insert", "delete", "rename"}
    for name in names:
        one, other = getattr(ours, name), getattr(abstract, name)
        assert list(inspect.signature(one).parameters) == list(inspect.signature(other).parameters)
        assert inspect.iscoroutinefunction(one) == inspect.iscoroutinefunction(other)
