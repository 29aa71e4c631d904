"""Operations on updates.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from .. import models
from .._call import NOT_GIVEN, Call, Listing, NotGiven, entity_tag, members


def apply_operations(
    vault_id: str,
    memory_id: str,
    *,
    operations: Sequence[models.OperationRequest] | NotGiven = NOT_GIVEN,
    text: str | NotGiven = NOT_GIVEN,
    dry_run: bool | None = None,
    on_invalid: Literal["drop", "fail"] | None = None,
    max_additions: int | None = None,
    update_id: str | None = None,
    mode: Literal["apply", "propose"] | None = None,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.UpdateAnswer]:
    """Apply operations.

    Takes operations from an agent or a person, as a list in JSON or in the text that models write, and applies them
    without asking any model. The memory is made if it does not exist.

    Args:
        operations: The operations. An empty list changes nothing.
        text: The text that models write, see docs/dsl.md.
        dry_run: Do everything but save.
        on_invalid: What to do about faulty items.
        max_additions: How many additions a section takes.
        update_id: The invalid run that this text finishes by hand.
        mode: `propose`: everything but the save.
    """
    return Call(
        operation="ApplyOperations",
        method="POST",
        path="/v1/vaults/{}/memories/{}/operations",
        ids=(vault_id, memory_id),
        query={
            "dry_run": dry_run,
            "on_invalid": on_invalid,
            "max_additions": max_additions,
            "update_id": update_id,
            "mode": mode,
        },
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=members(operations=operations, text=text),
        accept="application/json",
        answers="json",
    )


def update_context(
    vault_id: str,
    memory_id: str,
    *,
    task: str,
    messages: Iterable[object] | NotGiven = NOT_GIVEN,
    dry_run: bool | NotGiven = NOT_GIVEN,
    allow_partial: bool | NotGiven = NOT_GIVEN,
    on_invalid: models.OnInvalid | NotGiven = NOT_GIVEN,
    roles: Sequence[models.Role] | NotGiven = NOT_GIVEN,
    mode: models.Mode | NotGiven = NOT_GIVEN,
    record: models.SessionRecord | NotGiven = NOT_GIVEN,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.UpdateAnswer]:
    """Update the document.

    Asks three models in parallel, one a section, and applies what they answer to the document as it stands by then.
    The memory is made if it does not exist. With a `record`, the end of a session is one call and one version; a call
    with a `task_id` that is recorded already is `unchanged`, and no model is asked. With `mode` `propose` nothing is
    saved until `ApproveUpdate`.

    Args:
        task: What was just done or is being done.
        messages: The conversation around it, oldest first, in the form of OpenAI's or of Anthropic's messages.
        dry_run: Do everything but save.
        allow_partial: Save what the other roles say when a role's model fails.
        on_invalid: What to do about items that stay faulty.
        roles: The roles to ask; all of them without it.
        mode: `propose`: everything but the save.
        record: What the session ends with.
    """
    return Call(
        operation="UpdateContext",
        method="POST",
        path="/v1/vaults/{}/memories/{}/update",
        ids=(vault_id, memory_id),
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=members(
            task=task,
            messages=messages,
            dry_run=dry_run,
            allow_partial=allow_partial,
            on_invalid=on_invalid,
            roles=roles,
            mode=mode,
            record=record,
        ),
        accept="application/json",
        answers="json",
    )


def list_updates(
    vault_id: str, memory_id: str, *, limit: int | None = None, cursor: str | None = None
) -> Listing[models.Run, models.RunList]:
    """List the runs.

    The newest first, without what the models were asked and answered.
    """
    return Listing(
        operation="ListUpdates",
        method="GET",
        path="/v1/vaults/{}/memories/{}/updates",
        ids=(vault_id, memory_id),
        query={"limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def get_update(vault_id: str, memory_id: str, update_id: str) -> Call[models.Run]:
    """Read one run.

    With the prompts, the raw answers, the tokens and the times.

    Args:
        update_id: A run of the update pipeline.
    """
    return Call(
        operation="GetUpdate",
        method="GET",
        path="/v1/vaults/{}/memories/{}/updates/{}",
        ids=(vault_id, memory_id, update_id),
        accept="application/json",
        answers="json",
    )


def cancel_update(vault_id: str, memory_id: str, update_id: str) -> Call[models.Run]:
    """Call an update off.

    One that is queued or running is cancelled at once and saves nothing any more; a model that is being asked for it
    may answer for nobody. One that has ended stays as it is.

    Args:
        update_id: A run of the update pipeline.
    """
    return Call(
        operation="CancelUpdate",
        method="DELETE",
        path="/v1/vaults/{}/memories/{}/updates/{}",
        ids=(vault_id, memory_id, update_id),
        accept="application/json",
        answers="json",
    )


def approve_update(
    vault_id: str,
    memory_id: str,
    update_id: str,
    *,
    operations: Sequence[int] | NotGiven = NOT_GIVEN,
    comment: str | NotGiven | None = NOT_GIVEN,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.UpdateAnswer]:
    """Approve a proposal.

    Checks the approved operations against the newest version and applies those that hold as one version, made by the
    proposal's actor; its log says who approved it. What no longer holds is in `rejected`. A proposal is decided once.
    A key never approves its own proposal.

    Args:
        update_id: A run of the update pipeline.
        operations: The numbers of the operations that are approved.
        comment: What is said about it.
    """
    return Call(
        operation="ApproveUpdate",
        method="POST",
        path="/v1/vaults/{}/memories/{}/updates/{}/approve",
        ids=(vault_id, memory_id, update_id),
        headers={
            "X-Actor-Id": actor,
            "If-Match": entity_tag(if_match),
            "If-None-Match": entity_tag(if_none_match),
            "Idempotency-Key": idempotency_key,
        },
        body=members(operations=operations, comment=comment) or None,
        accept="application/json",
        answers="json",
    )


def reject_update(
    vault_id: str,
    memory_id: str,
    update_id: str,
    *,
    reason: str,
    actor: str | None = None,
    if_match: str | None = None,
    if_none_match: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.Run]:
    """Reject a proposal.

    Nothing of it is applied; the run is kept with the reason. A proposal is decided once.

    Args:
        update_id: A run of the update pipeline.
        reason: For whoever proposed it.
    """
    return Call(
        operation="RejectUpdate",
        method="POST",
        path="/v1/vaults/{}/memories/{}/updates/{}/reject",
        ids=(vault_id, memory_id, update_id),
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


def list_vault_updates(
    vault_id: str,
    *,
    status: Literal[
        "queued",
        "running",
        "applied",
        "unchanged",
        "dry_run",
        "invalid",
        "failed",
        "conflict",
        "resolved",
        "cancelled",
        "proposed",
        "approved",
        "rejected",
        "expired",
    ]
    | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Listing[models.Run, models.RunList]:
    """List the runs of a vault.

    Of all its memories, the newest first, without the messages that were sent and what the models were asked and
    answered. With `status=proposed`: what waits to be approved.

    Args:
        status: Only those with this status.
    """
    return Listing(
        operation="ListVaultUpdates",
        method="GET",
        path="/v1/vaults/{}/updates",
        ids=(vault_id,),
        query={"status": status, "limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )
