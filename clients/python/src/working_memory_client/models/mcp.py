"""Models of the operations on mcp.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, TypedDict


class _McpMessageRequired(TypedDict):
    jsonrpc: str
    """`2.0`."""


class McpMessage(_McpMessageRequired, total=False):
    """A message of the Model Context Protocol."""

    id: Any
    """Names the request; missing in a notification."""
    method: str | None
    """What is asked for, such as `tools/call`."""
    params: Any
    """Its arguments."""
    result: Any
    """The answer."""
    error: Any
    """Or what went wrong."""
