"""Models of the operations on prompt.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class _ItemOfCategoryRequired(TypedDict):
    content: str
    """Its text: not blank, no NUL, at most `prompt.item_bytes` (65,536) bytes."""


class ItemOfCategory(_ItemOfCategoryRequired, total=False):
    """An item of a category that is named elsewhere."""

    metadata: dict[str, Any] | None
    """Any JSON object of at most 8,192 bytes."""
    expires_at: str | None
    """From when on it is never shown, a time in the future."""


class CategoryObject(TypedDict):
    """The items of a category, in their order."""

    items: list[ItemOfCategory]
    """None removes all that are there."""


CategoryItems = CategoryObject | list[ItemOfCategory]
"""The items of a category, in their order."""


PromptPartSource = Literal["items", "document", "clock"]
"""What a part can be made of."""


class DroppedPart(TypedDict):
    """What was left out of one part."""

    name: str
    """Its name."""
    source: PromptPartSource
    """What it is made of."""
    whole: bool
    """Whether nothing of it is left."""
    items: list[str]
    """The ids of the items that are left out."""
    records: list[str]
    """The ids of the records that are left out."""


ItemText = str
"""The text of the only item of a category."""


class PromptItem(TypedDict):
    """A part of a system prompt that a component owns."""

    item_id: str
    """Its id, made by the service."""
    vault_id: str
    """The vault."""
    memory_id: str | None
    """The memory; null for an item of the vault, which belongs to all of its memories."""
    category: str
    """Its category."""
    content: str
    """Its text."""
    metadata: dict[str, Any]
    """What its component keeps with it."""
    expires_at: str | None
    """From when on it is never shown."""
    created_at: str
    """When it was added."""
    created_by: str
    """Who added it."""


class PromptItemList(TypedDict):
    """A page of a list."""

    items: list[PromptItem]
    """The entries."""
    next_cursor: str | None
    """Where the next page begins; null on the last one."""


class _NewPromptItemRequired(TypedDict):
    content: str
    """Its text: not blank, no NUL, at most `prompt.item_bytes` (65,536) bytes."""
    category: str
    """Its category: letters of any script, blanks and other visible characters but commas, with no blank at its
    ends.
    """


class NewPromptItem(_NewPromptItemRequired, total=False):
    """An item to be added."""

    metadata: dict[str, Any] | None
    """Any JSON object of at most 8,192 bytes."""
    expires_at: str | None
    """From when on it is never shown, a time in the future."""


class PromptPart(TypedDict):
    """One part of a prompt."""

    name: str
    """The category of its items, or which part of the document it is, or `datetime`."""
    source: PromptPartSource
    """What it is made of."""
    tokens: int
    """Its tokens, with those of the empty line behind it."""
    items: list[str]
    """The ids of its items, in order."""
    records: list[str]
    """The ids of its records, in order."""


class Prompt(TypedDict):
    """A prompt with what it was made of."""

    text: str
    """The prompt."""
    tokens: int
    """Its tokens, by the vocabulary `cl100k_base`."""
    parts: list[PromptPart]
    """Its parts, in order."""
    dropped: list[DroppedPart]
    """What `max_tokens` left out, in the order of the parts."""
    scores: dict[str, float]
    """With `query`, how much each record of these parts matters to it, also of those left out."""
    degraded: str | None
    """Why `query` counted by its words alone although embeddings are configured."""
    version: int | None
    """The version of the document."""
    context_id: str | None
    """Its id."""
    prefix_hash: str
    """The SHA-256, in hexadecimal, of what `rules`, `user_information` and `tool_guidance` are in this prompt."""
    max_tokens: int | None
    """As it was asked for."""


class RemovedItems(TypedDict):
    """What was removed."""

    removed: int
    """How many items there were."""


class ReplacedItems(TypedDict):
    """The items of a category."""

    items: list[PromptItem]
    """In their order."""
    unchanged: bool
    """Whether they were these already, so that nothing was written and they keep their ids."""
