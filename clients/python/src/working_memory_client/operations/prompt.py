"""Operations on prompt.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from .. import models
from .._call import NOT_GIVEN, Call, Listing, NotGiven, entity_tag, members


def get_guidance(*, if_match: str | None = None, if_none_match: str | None = None) -> Call[str]:
    """Instructions for agents.

    For the prompt of an agent that writes the document itself and puts it as a whole: what to keep, in which
    sections, and how to answer.
    """
    return Call(
        operation="GetGuidance",
        method="GET",
        path="/v1/guidance",
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        answers="text",
    )


def list_vault_items(
    vault_id: str, *, category: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Listing[models.PromptItem, models.PromptItemList]:
    """List the items of a vault.

    Those that belong to all of its memories, by category and then as they were added, without those that have
    expired. A vault that nothing was put into has none.

    Args:
        category: Only this category.
    """
    return Listing(
        operation="ListVaultItems",
        method="GET",
        path="/v1/vaults/{}/items",
        ids=(vault_id,),
        query={"category": category, "limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def add_vault_item(
    vault_id: str,
    *,
    content: str,
    category: str,
    metadata: Mapping[str, Any] | NotGiven | None = NOT_GIVEN,
    expires_at: datetime | str | NotGiven | None = NOT_GIVEN,
    actor: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.PromptItem]:
    """Add an item to the prompts of all memories of a vault.

    Behind those of its category. The category `rules` needs the role admin.

    Args:
        content: Its text: not blank, no NUL, at most `prompt.item_bytes` (65,536) bytes.
        category: Its category: letters of any script, blanks and other visible characters but commas, with no blank
            at its ends.
        metadata: Any JSON object of at most 8,192 bytes.
        expires_at: From when on it is never shown, a time in the future.
    """
    return Call(
        operation="AddVaultItem",
        method="POST",
        path="/v1/vaults/{}/items",
        ids=(vault_id,),
        headers={"X-Actor-Id": actor, "Idempotency-Key": idempotency_key},
        body=members(content=content, category=category, metadata=metadata, expires_at=expires_at),
        accept="application/json",
        answers="json",
    )


def remove_vault_items(vault_id: str, *, category: str) -> Call[models.RemovedItems]:
    """Remove a category of a vault's items.

    `rules` need the role admin.

    Args:
        category: All items of this category.
    """
    return Call(
        operation="RemoveVaultItems",
        method="DELETE",
        path="/v1/vaults/{}/items",
        ids=(vault_id,),
        query={"category": category},
        accept="application/json",
        answers="json",
    )


def get_vault_item(vault_id: str, item: str) -> Call[models.PromptItem]:
    """Read an item of a vault.

    By its item_id.

    Args:
        item: A prompt item by its item_id.
    """
    return Call(
        operation="GetVaultItem",
        method="GET",
        path="/v1/vaults/{}/items/{}",
        ids=(vault_id, item),
        accept="application/json",
        answers="json",
    )


def put_vault_items(
    vault_id: str,
    item: str,
    items: str | Sequence[models.ItemOfCategory],
    *,
    actor: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.ReplacedItems]:
    """Replace a category of a vault's items.

    All at once: nobody sees the category without the old or the new items. The place in the path holds the category.
    `rules` need the role admin.

    Args:
        item: A prompt item by its item_id.
        items: The items in their order.
    """
    return Call(
        operation="PutVaultItems",
        method="PUT",
        path="/v1/vaults/{}/items/{}",
        ids=(vault_id, item),
        headers={"X-Actor-Id": actor, "Idempotency-Key": idempotency_key},
        body=items,
        accept="application/json",
        answers="json",
    )


def remove_vault_item(vault_id: str, item: str) -> Call[None]:
    """Remove an item of a vault.

    By its item_id. The category `rules` needs the role admin.

    Args:
        item: A prompt item by its item_id.
    """
    return Call(
        operation="RemoveVaultItem",
        method="DELETE",
        path="/v1/vaults/{}/items/{}",
        ids=(vault_id, item),
        answers="none",
    )


def list_items(
    vault_id: str, memory_id: str, *, category: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Listing[models.PromptItem, models.PromptItemList]:
    """List the items of a memory.

    Its own, by category and then as they were added, without those that have expired; those of the vault are listed
    there. A memory that nothing was put into has none.

    Args:
        category: Only this category.
    """
    return Listing(
        operation="ListItems",
        method="GET",
        path="/v1/vaults/{}/memories/{}/items",
        ids=(vault_id, memory_id),
        query={"category": category, "limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def add_item(
    vault_id: str,
    memory_id: str,
    *,
    content: str,
    category: str,
    metadata: Mapping[str, Any] | NotGiven | None = NOT_GIVEN,
    expires_at: datetime | str | NotGiven | None = NOT_GIVEN,
    actor: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.PromptItem]:
    """Add an item to the prompts of a memory.

    Behind those of its category. The memory need not have a document. The category `rules` needs the role admin.

    Args:
        content: Its text: not blank, no NUL, at most `prompt.item_bytes` (65,536) bytes.
        category: Its category: letters of any script, blanks and other visible characters but commas, with no blank
            at its ends.
        metadata: Any JSON object of at most 8,192 bytes.
        expires_at: From when on it is never shown, a time in the future.
    """
    return Call(
        operation="AddItem",
        method="POST",
        path="/v1/vaults/{}/memories/{}/items",
        ids=(vault_id, memory_id),
        headers={"X-Actor-Id": actor, "Idempotency-Key": idempotency_key},
        body=members(content=content, category=category, metadata=metadata, expires_at=expires_at),
        accept="application/json",
        answers="json",
    )


def remove_items(vault_id: str, memory_id: str, *, category: str) -> Call[models.RemovedItems]:
    """Remove a category of a memory's items.

    `rules` need the role admin.

    Args:
        category: All items of this category.
    """
    return Call(
        operation="RemoveItems",
        method="DELETE",
        path="/v1/vaults/{}/memories/{}/items",
        ids=(vault_id, memory_id),
        query={"category": category},
        accept="application/json",
        answers="json",
    )


def get_item(vault_id: str, memory_id: str, item: str) -> Call[models.PromptItem]:
    """Read an item of a memory.

    By its item_id.

    Args:
        item: A prompt item by its item_id.
    """
    return Call(
        operation="GetItem",
        method="GET",
        path="/v1/vaults/{}/memories/{}/items/{}",
        ids=(vault_id, memory_id, item),
        accept="application/json",
        answers="json",
    )


def put_items(
    vault_id: str,
    memory_id: str,
    item: str,
    items: str | Sequence[models.ItemOfCategory],
    *,
    actor: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.ReplacedItems]:
    """Replace a category of a memory's items.

    All at once: nobody sees the category without the old or the new items. The place in the path holds the category.
    The memory need not have a document. `rules` need the role admin.

    Args:
        item: A prompt item by its item_id.
        items: The items in their order.
    """
    return Call(
        operation="PutItems",
        method="PUT",
        path="/v1/vaults/{}/memories/{}/items/{}",
        ids=(vault_id, memory_id, item),
        headers={"X-Actor-Id": actor, "Idempotency-Key": idempotency_key},
        body=items,
        accept="application/json",
        answers="json",
    )


def remove_item(vault_id: str, memory_id: str, item: str) -> Call[None]:
    """Remove an item of a memory.

    By its item_id. The category `rules` needs the role admin.

    Args:
        item: A prompt item by its item_id.
    """
    return Call(
        operation="RemoveItem",
        method="DELETE",
        path="/v1/vaults/{}/memories/{}/items/{}",
        ids=(vault_id, memory_id, item),
        answers="none",
    )


def get_prompt(
    vault_id: str,
    memory_id: str,
    *,
    include: str | Iterable[str] | None = None,
    timezone: str | None = None,
    as_of: datetime | str | None = None,
    max_tokens: int | None = None,
    exclude: str | Iterable[str] | None = None,
    query: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
) -> Call[models.Prompt]:
    """Assemble a prompt.

    Items of the vault and of the memory, and the document's sections, what changes least first, with one empty line
    between two parts: `rules`, `user_information`, `tool_guidance`, other categories by name, `free` (what the
    document says outside the managed sections), `key_learnings`, `verbatim_context`, `decisions`, `active_context`,
    `recent_tasks`, `workflow`, `current_progress`, `datetime`. The same state gives the same bytes; the time is told
    to the minute, unless items of the category `datetime` tell it otherwise. Of a memory without a document and
    without items, also of one that was never written, it is empty. With `max_tokens` this is left out until the rest
    fits: records of `recent_tasks`, `decisions`, `verbatim_context` and `key_learnings`, in this order and in each
    from the oldest on; `free`; other categories, the last by name first; `active_context`, `current_progress`,
    `workflow`, `datetime`, `tool_guidance`, `user_information`. Never `rules`. With `query` records that have none of
    its words go before those that have some; where embeddings are configured, the ten records nearest in meaning
    count as having some.

    Args:
        include: Only these parts: names separated by commas.
        timezone: The IANA time zone of the date and time, such as `Europe/Berlin`.
        as_of: The document as it was at this time, which must not lie in the future.
        max_tokens: How many tokens the prompt may have (vocabulary `cl100k_base`).
        exclude: None of these parts: names separated by commas.
        query: What the prompt is for, at most 1,000 bytes.
    """
    return Call(
        operation="GetPrompt",
        method="GET",
        path="/v1/vaults/{}/memories/{}/prompt",
        ids=(vault_id, memory_id),
        query={
            "include": include,
            "timezone": timezone,
            "as_of": as_of,
            "max_tokens": max_tokens,
            "exclude": exclude,
            "query": query,
        },
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="application/json",
        answers="json",
    )


def get_prompt_text(
    vault_id: str,
    memory_id: str,
    *,
    include: str | Iterable[str] | None = None,
    timezone: str | None = None,
    as_of: datetime | str | None = None,
    max_tokens: int | None = None,
    exclude: str | Iterable[str] | None = None,
    query: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
) -> Call[str]:
    """Assemble a prompt, as text."""
    return Call(
        operation="GetPrompt",
        method="GET",
        path="/v1/vaults/{}/memories/{}/prompt",
        ids=(vault_id, memory_id),
        query={
            "include": include,
            "timezone": timezone,
            "as_of": as_of,
            "max_tokens": max_tokens,
            "exclude": exclude,
            "query": query,
        },
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="text/plain",
        answers="text",
    )
