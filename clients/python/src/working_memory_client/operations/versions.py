"""Operations on versions.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from .. import models
from .._call import NOT_GIVEN, Call, Listing, NotGiven, entity_tag, members


def list_contexts(
    vault_id: str, memory_id: str, *, limit: int | None = None, cursor: str | None = None
) -> Listing[models.Context, models.ContextList]:
    """List the versions.

    The newest first, without their texts.
    """
    return Listing(
        operation="ListContexts",
        method="GET",
        path="/v1/vaults/{}/memories/{}/contexts",
        ids=(vault_id, memory_id),
        query={"limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def get_context(
    vault_id: str,
    memory_id: str,
    ref: str | int,
    *,
    section: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
) -> Call[models.Context]:
    """Read one version.

    By its number or its context_id, as text or as JSON.

    Args:
        ref: A version of the document.
        section: Only this section: `progress`, `learnings`, `verbatim`, `status`, `tasks`, `decisions`, the title of
            any section, or the path of titles to a heading of any level, such as `Facts/Network`.
    """
    return Call(
        operation="GetContext",
        method="GET",
        path="/v1/vaults/{}/memories/{}/contexts/{}",
        ids=(vault_id, memory_id, ref),
        query={"section": section},
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="application/json",
        answers="json",
    )


def get_context_text(
    vault_id: str,
    memory_id: str,
    ref: str | int,
    *,
    section: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
) -> Call[str]:
    """Read one version, as text."""
    return Call(
        operation="GetContext",
        method="GET",
        path="/v1/vaults/{}/memories/{}/contexts/{}",
        ids=(vault_id, memory_id, ref),
        query={"section": section},
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="text/plain",
        answers="text",
    )


def diff_contexts(
    vault_id: str,
    memory_id: str,
    ref: str | int,
    *,
    base: str | int | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
) -> Call[models.Diff]:
    """Compare two versions.

    As a unified diff with three lines of context, or as JSON that also tells the difference record by record.

    Args:
        ref: A version of the document.
        base: The version to compare with, by its number or its context_id.
    """
    return Call(
        operation="DiffContexts",
        method="GET",
        path="/v1/vaults/{}/memories/{}/contexts/{}/diff",
        ids=(vault_id, memory_id, ref),
        query={"base": base},
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="application/json",
        answers="json",
    )


def diff_contexts_text(
    vault_id: str,
    memory_id: str,
    ref: str | int,
    *,
    base: str | int | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
) -> Call[str]:
    """Compare two versions, as text."""
    return Call(
        operation="DiffContexts",
        method="GET",
        path="/v1/vaults/{}/memories/{}/contexts/{}/diff",
        ids=(vault_id, memory_id, ref),
        query={"base": base},
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="text/plain",
        answers="text",
    )


def redact_context(
    vault_id: str,
    memory_id: str,
    ref: str | int,
    *,
    reason: str,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.Context]:
    """Redact a version.

    Takes the text of a version out for good, with everything that quotes it: its log and operations, the runs that
    made it, started from it or repeat it, and what records say that no other version holds. The version stays in
    lists, with who redacted it, when and why, and the SHA-256 of the text. The newest version cannot be redacted.
    Redacting a version again changes nothing.

    Args:
        ref: A version of the document.
        reason: Shown in place of the text, so it must not repeat what is taken out.
    """
    return Call(
        operation="RedactContext",
        method="POST",
        path="/v1/vaults/{}/memories/{}/contexts/{}/redact",
        ids=(vault_id, memory_id, ref),
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=members(reason=reason),
        accept="application/json",
        answers="json",
    )


def restore_context(
    vault_id: str,
    memory_id: str,
    ref: str | int,
    *,
    reason: str | NotGiven | None = NOT_GIVEN,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.PutAnswer]:
    """Restore a version.

    Makes a new version with the text of an older one, unless the newest has that text already. Records that were
    archived meanwhile are active again under their ids; numbers given meanwhile are not given again. Active records
    that do not stand in that text are archived, as left out by the new version, and stand in `warnings`.

    Args:
        ref: A version of the document.
        reason: Stands in the log of the new version.
    """
    return Call(
        operation="RestoreContext",
        method="POST",
        path="/v1/vaults/{}/memories/{}/contexts/{}/restore",
        ids=(vault_id, memory_id, ref),
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=members(reason=reason) or None,
        accept="application/json",
        answers="json",
    )
