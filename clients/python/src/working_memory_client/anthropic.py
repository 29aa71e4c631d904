"""Anthropic's memory tool (`memory_20250818`) over the service: `pip install "working-memory-client[anthropic]"`.

    tool = WorkingMemoryTool(Client().vault("acme"), root="agent-1")
    runner = anthropic.Anthropic().beta.messages.tool_runner(tools=[tool], ...)

Each file of the model is a memory with its history. The service returns the same results as the SDK's implementation
on the local file system.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.types.beta import BetaCacheControlEphemeralParam, BetaToolResultBlockParam, BetaToolUseBlock

from ._client import AsyncVault, Vault
from .errors import WorkingMemoryError
from .types import MemoryToolAnswer

__all__ = ["AsyncWorkingMemoryTool", "WorkingMemoryTool"]


class WorkingMemoryTool(BetaAbstractMemoryTool):
    """Sends the model's commands to the service.

    Args:
        vault: The vault of the files.
        root: The tree of files, for example one per agent, user or project. A vault can have any number of them.
        cache_control: A cache breakpoint of the prompt, as in every tool of the SDK.
    """

    def __init__(self, vault: Vault, root: str, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._vault = vault
        self._root = root

    def call(self, input: object) -> str:  # noqa: A002
        """Executes a command as the model wrote it."""
        return self._relay(input)

    def run(self, tool_use: BetaToolUseBlock) -> BetaToolResultBlockParam:
        """Executes a `tool_use` block, once however often it is passed, and returns the block with its result."""
        try:
            return _result(tool_use, self._relay(tool_use.input, f"tool-use-{tool_use.id}"))
        except ToolError as refused:
            return _refusal(tool_use, refused)

    def _relay(self, command: object, key: str | None = None) -> str:
        try:
            answer = self._vault.files.run(_members(command), root=self._root, idempotency_key=key)
        except WorkingMemoryError as failure:
            raise _unreachable(failure) from failure
        except ValueError as fault:  # A text that no request can contain, such as half of a surrogate pair.
            raise ToolError(str(fault)) from fault
        return _content(answer)

    def view(self, command: object) -> str:
        """Shows a file or a directory."""
        return self._relay(command)

    def create(self, command: object) -> str:
        """Creates a file."""
        return self._relay(command)

    def str_replace(self, command: object) -> str:
        """Replaces a passage."""
        return self._relay(command)

    def insert(self, command: object) -> str:
        """Inserts lines."""
        return self._relay(command)

    def delete(self, command: object) -> str:
        """Removes a file or a directory from the tree. The memories of the files stay."""
        return self._relay(command)

    def rename(self, command: object) -> str:
        """Renames a file or a directory, which keeps its history."""
        return self._relay(command)


class AsyncWorkingMemoryTool(BetaAsyncAbstractMemoryTool):
    """`WorkingMemoryTool` for the SDK's asynchronous client."""

    def __init__(
        self, vault: AsyncVault, root: str, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._vault = vault
        self._root = root

    async def call(self, input: object) -> str:  # noqa: A002
        """Executes a command as the model wrote it."""
        return await self._relay(input)

    async def run(self, tool_use: BetaToolUseBlock) -> BetaToolResultBlockParam:
        """Executes a `tool_use` block, once however often it is passed, and returns the block with its result."""
        try:
            return _result(tool_use, await self._relay(tool_use.input, f"tool-use-{tool_use.id}"))
        except ToolError as refused:
            return _refusal(tool_use, refused)

    async def _relay(self, command: object, key: str | None = None) -> str:
        try:
            answer = await self._vault.files.run(_members(command), root=self._root, idempotency_key=key)
        except WorkingMemoryError as failure:
            raise _unreachable(failure) from failure
        except ValueError as fault:  # A text that no request can contain, such as half of a surrogate pair.
            raise ToolError(str(fault)) from fault
        return _content(answer)

    async def view(self, command: object) -> str:
        """Shows a file or a directory."""
        return await self._relay(command)

    async def create(self, command: object) -> str:
        """Creates a file."""
        return await self._relay(command)

    async def str_replace(self, command: object) -> str:
        """Replaces a passage."""
        return await self._relay(command)

    async def insert(self, command: object) -> str:
        """Inserts lines."""
        return await self._relay(command)

    async def delete(self, command: object) -> str:
        """Removes a file or a directory from the tree. The memories of the files stay."""
        return await self._relay(command)

    async def rename(self, command: object) -> str:
        """Renames a file or a directory, which keeps its history."""
        return await self._relay(command)


def _members(command: object) -> Mapping[str, Any]:
    """A command in JSON: what the model wrote, or the SDK's class of it."""
    dump = getattr(command, "model_dump", None)
    found = dump(mode="json", exclude_unset=True) if callable(dump) else command
    if not isinstance(found, Mapping):
        raise ToolError(f"a command is an object, not {type(command).__name__}")
    return found


def _content(answer: MemoryToolAnswer) -> str:
    if answer["is_error"]:
        raise ToolError(answer["content"])
    return answer["content"]


def _unreachable(failure: WorkingMemoryError) -> ToolError:
    return ToolError(f"The memory cannot be used at the moment: {failure}")


def _result(tool_use: BetaToolUseBlock, content: str) -> BetaToolResultBlockParam:
    return {"type": "tool_result", "tool_use_id": tool_use.id, "content": content}


def _refusal(tool_use: BetaToolUseBlock, refused: ToolError) -> BetaToolResultBlockParam:
    content = cast("str", refused.content)
    return {"type": "tool_result", "tool_use_id": tool_use.id, "content": content, "is_error": True}
