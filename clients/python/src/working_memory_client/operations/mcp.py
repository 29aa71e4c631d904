"""Operations on mcp.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import models
from .._call import Call


def speak_mcp(
    message: Mapping[str, Any], *, vault: str | None = None, memory: str | None = None
) -> Call[models.McpMessage]:
    """Speak the Model Context Protocol.

    One JSON-RPC message of streamable HTTP, without sessions: tools, resources, prompts and completion over memories,
    of protocol version 2026-07-28 and the older ones. Tools do what the routes do, with the same key, role, vaults
    and limits; what fails there is a tool error here.

    Args:
        message:
        vault: The vault that all calls are about.
        memory: The same for the memory.
    """
    return Call(
        operation="SpeakMcp",
        method="POST",
        path="/mcp",
        query={"vault": vault, "memory": memory},
        body=message,
        accept="application/json, text/event-stream",
        answers="json",
    )
