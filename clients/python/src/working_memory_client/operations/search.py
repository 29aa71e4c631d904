"""Operations on search.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from .. import models
from .._call import Listing


def search_memory(
    vault_id: str,
    memory_id: str,
    *,
    q: str,
    consistent: bool | None = None,
    mode: Literal["text", "semantic", "hybrid"] | None = None,
    min_score: float | None = None,
    kind: Literal["KL", "VC", "T", "D"] | None = None,
    status: Literal["active", "archived", "all"] | None = None,
    actor: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Listing[models.SearchResult, models.SearchPage]:
    """Search one memory.

    What the memory says: its records, archived ones too with `status=all`, and what its newest document says besides
    them; by words, by meaning, or by both, best first. At most 500 are found, of the active records and the 5,000
    added last.

    Args:
        q: Words as in a web search.
        consistent: Also find by words what was written in this moment.
        mode: By words, by meaning, or by both.
        min_score: How like the query what is found by meaning has to be, from -1 to 1 (the cosine of the angle
            between their vectors.
        kind: Only records of this kind.
        status: What stands in the newest version, what did once, or both.
        actor: Only what this actor wrote.
        since: Only what was written at this time or later.
        until: Only what was written before this time.
    """
    return Listing(
        operation="SearchMemory",
        method="GET",
        path="/v1/vaults/{}/memories/{}/search",
        ids=(vault_id, memory_id),
        query={
            "q": q,
            "consistent": consistent,
            "mode": mode,
            "min_score": min_score,
            "kind": kind,
            "status": status,
            "actor": actor,
            "since": since,
            "until": until,
            "limit": limit,
            "cursor": cursor,
        },
        accept="application/json",
        answers="json",
    )


def search_contexts(
    vault_id: str,
    *,
    q: str,
    consistent: bool | None = None,
    mode: Literal["text", "semantic", "hybrid"] | None = None,
    min_score: float | None = None,
    kind: Literal["KL", "VC", "T", "D"] | None = None,
    status: Literal["active", "archived", "all"] | None = None,
    actor: str | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Listing[models.SearchResult, models.SearchPage]:
    """Search a vault.

    Memories by the words of their newest documents, by their meaning, or by both, best first; each with the place
    that fits best. Of more than 500 that have the words the 500 that were changed last are ranked; words next to each
    other are looked for in the 3,000 documents changed last that have them. By meaning the 400 nearest passages are
    found.

    Args:
        q: Words as in a web search.
        consistent: Also find by words what was written in this moment.
        mode: By words, by meaning, or by both.
        min_score: How like the query what is found by meaning has to be, from -1 to 1 (the cosine of the angle
            between their vectors.
        kind: Only records of this kind.
        status: What stands in the newest version, what did once, or both.
        actor: Only what this actor wrote.
        since: Only what was written at this time or later.
        until: Only what was written before this time.
    """
    return Listing(
        operation="SearchContexts",
        method="GET",
        path="/v1/vaults/{}/search",
        ids=(vault_id,),
        query={
            "q": q,
            "consistent": consistent,
            "mode": mode,
            "min_score": min_score,
            "kind": kind,
            "status": status,
            "actor": actor,
            "since": since,
            "until": until,
            "limit": limit,
            "cursor": cursor,
        },
        accept="application/json",
        answers="json",
    )
