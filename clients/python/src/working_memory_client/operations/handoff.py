"""Operations on handoff.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from .. import models
from .._call import NOT_GIVEN, Call, Listing, NotGiven, entity_tag, members


def get_handoff(
    vault_id: str, memory_id: str, *, if_match: str | None = None, if_none_match: str | None = None
) -> Call[models.Handoff]:
    """Read the handoff.

    The newest one: its freshness, judged now, above the Markdown as it was made; or both as JSON. Reading never makes
    it fresh.
    """
    return Call(
        operation="GetHandoff",
        method="GET",
        path="/v1/vaults/{}/memories/{}/handoff",
        ids=(vault_id, memory_id),
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="application/json",
        answers="json",
    )


def get_handoff_text(
    vault_id: str, memory_id: str, *, if_match: str | None = None, if_none_match: str | None = None
) -> Call[str]:
    """Read the handoff, as text."""
    return Call(
        operation="GetHandoff",
        method="GET",
        path="/v1/vaults/{}/memories/{}/handoff",
        ids=(vault_id, memory_id),
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="text/markdown",
        answers="text",
    )


def refresh_handoff(
    vault_id: str,
    memory_id: str,
    *,
    workspace: models.Workspace | NotGiven | None = NOT_GIVEN,
    force: bool | None = None,
    window: str | None = None,
    actor: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.Handoff]:
    """Refresh the handoff.

    Makes a new one if the newest is stale or missing, if it looks back over another window, or by force; otherwise it
    does nothing and answers with the newest. Rules make it, or a model where one is configured; a model that fails
    leaves it to the rules, and the manifest says so.

    Args:
        workspace:
        force: Make one although the newest is fresh.
        window: How far back it looks.
    """
    return Call(
        operation="RefreshHandoff",
        method="POST",
        path="/v1/vaults/{}/memories/{}/handoff/refresh",
        ids=(vault_id, memory_id),
        query={"force": force, "window": window},
        headers={"X-Actor-Id": actor, "Idempotency-Key": idempotency_key},
        body=members(workspace=workspace) or None,
        accept="application/json",
        answers="json",
    )


def get_handoff_status(vault_id: str, memory_id: str) -> Call[models.HandoffStatus]:
    """Read the handoff's freshness.

    `missing` for a memory without a handoff.
    """
    return Call(
        operation="GetHandoffStatus",
        method="GET",
        path="/v1/vaults/{}/memories/{}/handoff/status",
        ids=(vault_id, memory_id),
        accept="application/json",
        answers="json",
    )


def list_handoffs(
    vault_id: str, memory_id: str, *, limit: int | None = None, cursor: str | None = None
) -> Listing[models.HandoffEntry, models.HandoffEntryList]:
    """List the handoffs.

    Those that are kept (`handoff.keep`), the newest first, without their Markdown.
    """
    return Listing(
        operation="ListHandoffs",
        method="GET",
        path="/v1/vaults/{}/memories/{}/handoffs",
        ids=(vault_id, memory_id),
        query={"limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def get_handoff_artifact(
    vault_id: str, memory_id: str, handoff_id: str, *, if_match: str | None = None, if_none_match: str | None = None
) -> Call[models.Handoff]:
    """Read one handoff.

    The Markdown as it was made, or JSON with its manifest and its freshness now.

    Args:
        handoff_id: A handoff.
    """
    return Call(
        operation="GetHandoffArtifact",
        method="GET",
        path="/v1/vaults/{}/memories/{}/handoffs/{}",
        ids=(vault_id, memory_id, handoff_id),
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="application/json",
        answers="json",
    )


def get_handoff_artifact_text(
    vault_id: str, memory_id: str, handoff_id: str, *, if_match: str | None = None, if_none_match: str | None = None
) -> Call[str]:
    """Read one handoff, as text."""
    return Call(
        operation="GetHandoffArtifact",
        method="GET",
        path="/v1/vaults/{}/memories/{}/handoffs/{}",
        ids=(vault_id, memory_id, handoff_id),
        headers={"If-Match": entity_tag(if_match), "If-None-Match": entity_tag(if_none_match)},
        accept="text/markdown",
        answers="text",
    )
