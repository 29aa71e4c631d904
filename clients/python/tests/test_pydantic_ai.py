"""The memory store beside the framework's own, and under an agent of the framework."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness import Memory
from pydantic_ai_harness.memory import (
    InMemoryStore,
    MemoryConflictError,
    MemoryOperation,
    MemoryOperationConflictError,
    MemoryStore,
    MetadataMemoryStore,
)
from service import Service

from working_memory_client import AsyncClient, Client
from working_memory_client._pydantic_ai_files import DELETED, File, file
from working_memory_client.pydantic_ai import WorkingMemoryStore

Play = Callable[[Any], Coroutine[Any, Any, Any]]
OPERATION = MemoryOperation("op-1", "f-1")
TEXTS = [
    "",
    "\n",
    "- tea",
    "tea\r\n\ttabs \n\n",
    "<!-- deleted -->\n",
    "é\u2028 ```\n# Key Learnings\n- x",
    "a\0".replace("\0", ""),
]
TEXTS += [File("a", "nested").document(), File("a", "x", "o", "f").document() + "behind"]


def run(service: Service, vault: str, play: Play) -> Any:
    """What comes of it in our store."""

    async def scenario() -> Any:
        async with AsyncClient(service.url) as client:
            return await play(WorkingMemoryStore(client.vault(vault)))

    return asyncio.run(scenario())


def both(service: Service, vault: str, play: Play) -> Any:
    """What comes of it in our store, and is the same in the framework's."""
    ours, theirs = run(service, vault, play), asyncio.run(play(InMemoryStore()))
    assert ours == theirs
    return ours


def test_it_is_a_store_of_the_framework(service: Service, vault: str) -> None:
    async def play(store: Any) -> None:
        assert isinstance(store, MemoryStore)
        assert isinstance(store, MetadataMemoryStore)
        assert "secret" not in repr(store)

    run(service, vault, play)


def test_files_are_written_read_listed_and_deleted(service: Service, vault: str) -> None:
    async def play(store: Any) -> Any:
        said: list[Any] = []
        assert await store.read("u/main/MEMORY.md", max_chars=10) is None
        for path in ("u/main/b.md", "u/main/MEMORY.md", "u/other/x", "u2/main/a", "u/main/" + "long" * 40):
            said.append((await store.write(path, f"text of {path}", expected_version=None)).existed)
        first = await store.read("u/main/b.md", max_chars=100)
        said.append((first.content, first.truncated, first.operation_id, first.metadata))
        again = await store.write("u/main/b.md", "other", expected_version=first.version)
        said.append((again.existed, again.replayed, again.version != first.version))
        short = await store.read("u/main/b.md", max_chars=3)
        said.append((short.content, short.truncated, short.version == again.version))
        for prefix in ("", "u/", "u/main/", "u/main/b", "nobody/"):
            said.append(await store.list_paths(prefix, limit=100))
        said.append(await store.list_paths("", limit=2))
        gone = await store.delete("u/main/b.md", expected_version=again.version)
        said += [gone, await store.read("u/main/b.md", max_chars=9), await store.list_paths("u/main/", limit=9)]
        said.append(await store.delete("u/main/b.md", expected_version=None))
        said.append((await store.write("u/main/b.md", "reborn", expected_version=None)).existed)
        said.append((await store.read("u/main/b.md", max_chars=9)).content)
        return said

    both(service, vault, play)


def test_stale_versions_are_conflicts(service: Service, vault: str) -> None:
    async def play(store: Any) -> Any:
        first = await store.write("a/b", "1", expected_version=None)
        second = await store.write("a/b", "2", expected_version=first.version)
        for expected in (None, first.version, "999999"):
            with pytest.raises(MemoryConflictError):
                await store.write("a/b", "3", expected_version=expected)
            with pytest.raises(MemoryConflictError):
                await store.delete("a/b", expected_version=expected)
        with pytest.raises(MemoryConflictError):
            await store.write("a/c", "1", expected_version="1")
        await store.delete("a/b", expected_version=second.version)
        with pytest.raises(MemoryConflictError):
            await store.write("a/b", "3", expected_version=second.version)
        return (await store.write("a/b", "3", expected_version=None)).existed

    assert both(service, vault, play) is False


def test_of_two_writers_at_once_one_wins(service: Service, vault: str) -> None:
    async def play(store: Any) -> Any:
        first = await store.write("a/b", "0", expected_version=None)
        writes = (store.write("a/b", str(n), expected_version=first.version) for n in range(1, 9))
        outcomes = await asyncio.gather(*writes, return_exceptions=True)
        assert all(isinstance(one, MemoryConflictError) for one in outcomes if isinstance(one, Exception))
        return sum(not isinstance(one, Exception) for one in outcomes)

    assert both(service, vault, play) == 1


def test_an_operation_is_carried_out_once(service: Service, vault: str) -> None:
    async def play(store: Any) -> Any:
        assert await store.get_operation(OPERATION) is None
        first = await store.write("a/b", "1", expected_version=None, operation=OPERATION)
        again = await store.write("a/b", "1", expected_version=None, operation=OPERATION)
        known = await store.get_operation(OPERATION)
        assert first.version == again.version == known.version
        assert await store.list_paths("", limit=9) == ["a/b"]
        # Also behind the writes of others.
        moved = await store.write("a/b", "2", expected_version=first.version)
        late = await store.write("a/b", "1", expected_version=None, operation=OPERATION)
        with pytest.raises(MemoryOperationConflictError):
            await store.get_operation(MemoryOperation("op-1", "other"))
        with pytest.raises(MemoryOperationConflictError):
            await store.write("a/b", "9", expected_version=moved.version, operation=MemoryOperation("op-1", "other"))
        removal = MemoryOperation("op-2", "f-2")
        gone = await store.delete("a/b", expected_version=moved.version, operation=removal)
        gone_again = await store.delete("a/b", expected_version=moved.version, operation=removal)
        flags = [(one.replayed, one.existed) for one in (first, again, known, late, gone, gone_again)]
        return flags, gone.version, gone_again.version, await store.read("a/b", max_chars=9)

    flags, *_ = both(service, vault, play)
    assert flags == [(False, False), (True, False), (True, False), (True, False), (False, True), (True, True)]


def test_an_operation_that_failed_may_be_tried_on_what_is_there(service: Service, vault: str) -> None:
    async def play(store: Any) -> Any:
        first = await store.write("a/b", "1", expected_version=None)
        with pytest.raises(MemoryConflictError):
            await store.write("a/b", "2", expected_version=None, operation=OPERATION)
        assert await store.get_operation(OPERATION) is None
        second = await store.write("a/b", "2", expected_version=first.version, operation=OPERATION)
        found = await store.read("a/b", max_chars=9)
        return second.replayed, found.operation_id, found.content

    assert both(service, vault, play) == (False, "op-1", "2")


def test_metadata_belong_to_the_write(service: Service, vault: str) -> None:
    async def play(store: Any) -> Any:
        said = []
        by = {"by": "ui --> x", "ü": "é"}
        first = await store.write_with_metadata("a/b", "1", expected_version=None, metadata=by)
        said.append((await store.read("a/b", max_chars=9)).metadata)
        second = await store.write_with_metadata("a/b", "2", expected_version=first.version, metadata={})
        said.append((await store.read("a/b", max_chars=9)).metadata)
        third = await store.write_with_metadata("a/b", "3", expected_version=second.version, metadata=by)
        await store.write("a/b", "4", expected_version=third.version)
        said.append((await store.read("a/b", max_chars=9)).metadata)
        for bad, kind in (({"a": 1}, TypeError), ({"a": "\0"}, ValueError), ({"a": "x" * 5000}, ValueError)):
            with pytest.raises(kind):
                await store.write_with_metadata("a/c", "1", expected_version=None, metadata=bad)
        return said

    assert both(service, vault, play) == [{"by": "ui --> x", "ü": "é"}, None, None]


@pytest.mark.parametrize("path", ["", "/", "a//b", "../a", "a/..", "a/./b", "a b", "ü", "a/b/", "a\n"])
def test_paths_that_lead_elsewhere_are_refused(path: str, service: Service, vault: str) -> None:
    async def play(store: Any) -> None:
        with pytest.raises(ValueError, match="invalid memory path"):
            await store.read(path, max_chars=9)
        with pytest.raises(ValueError, match="invalid memory path"):
            await store.write(path, "x", expected_version=None)

    both(service, vault, play)


@pytest.mark.parametrize("text", TEXTS)
def test_contents_are_kept_to_the_byte(text: str, service: Service, vault: str) -> None:
    made = File("a/b", text, "op", "f", {"k": "-->"})
    assert file(made.document()) == made
    assert len(made.document()) > len(DELETED)

    async def play(store: Any) -> Any:
        await store.write("a/b", text, expected_version=None)
        return (await store.read("a/b", max_chars=10_000)).content

    assert both(service, vault, play) == text


def test_every_write_is_a_version_and_others_may_write_too(service: Service, client: Client, vault: str) -> None:
    async def play(store: Any) -> Any:
        first = await store.write("u/main/MEMORY.md", "- likes tea\n", expected_version=None)
        memory = client.memory(vault, "notes.u:main:MEMORY.md")
        assert memory.versions.get(1)["context"].startswith("- likes tea\n")
        memory.put("- likes coffee\n")
        with pytest.raises(MemoryConflictError):
            await store.write("u/main/MEMORY.md", "x", expected_version=first.version)
        found = await store.read("u/main/MEMORY.md", max_chars=100)
        memory.put("- tea for two --\n")  # as long as the document of a deleted file
        return found.content, found.operation_id, await store.list_paths("u/", limit=9)

    assert run(service, vault, play) == ("- likes coffee\n", None, ["u/main/MEMORY.md"])


def calls(*steps: tuple[str, dict[str, Any]]) -> FunctionModel:
    """A model that calls these tools, one after another."""

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        done = sum(isinstance(message, ModelResponse) for message in messages)
        if done < len(steps):
            name, arguments = steps[done]
            return ModelResponse(parts=[ToolCallPart(name, arguments, tool_call_id=f"call-{done}")])
        return ModelResponse(parts=[TextPart("done")])

    return FunctionModel(answer)


def test_an_agent_keeps_its_notebook_there(service: Service, client: Client, vault: str) -> None:
    steps = [
        ("write_memory", {"content": "- The user likes tea."}),
        ("write_memory", {"content": "coffee", "old_text": "tea"}),
        ("write_memory", {"content": "Details on drinks.", "file": "drinks.md"}),
        ("read_memory", {"file": "drinks.md"}),
        ("search_memory", {"query": "coffee"}),
        ("delete_memory", {"file": "drinks.md"}),
    ]

    async def play(store: Any) -> Any:
        agent = Agent(calls(*steps), capabilities=[Memory(store, namespace="user-1")])
        result = await agent.run("Remember what I drink.")
        parts = [part for message in result.new_messages() for part in message.parts]
        returned: list[Any] = [part.content for part in parts if part.part_kind == "tool-return"]
        for one in returned:
            if isinstance(one, dict):
                one.pop("version", None)  # each store has its own
        later = await Agent(calls(), capabilities=[Memory(store, namespace="user-1")]).run("What do I drink?")
        return returned, "coffee" in str(later.all_messages()), await store.list_paths("user-1/", limit=9)

    returned, injected, paths = both(service, vault, play)
    assert len(returned) == len(steps)
    assert injected, "the next run begins with the notebook"
    assert len(paths) == 1
    memory = client.memory(vault, f"notes.{paths[0].replace('/', ':')}")
    assert [version["version"] for version in memory.versions.list()] == [2, 1]
