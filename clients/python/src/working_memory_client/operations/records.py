"""Operations on records.

Written by tools/generate.py from openapi.yaml: not to be changed by hand.
"""

from __future__ import annotations

from typing import Literal

from .. import models
from .._call import Call, Listing


def list_records(
    vault_id: str,
    memory_id: str,
    *,
    kind: Literal["KL", "VC", "T", "D"] | None = None,
    status: Literal["active", "archived", "all"] | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Listing[models.Record, models.RecordList]:
    """List the records.

    By kind and number.

    Args:
        kind: Only this kind; without it all kinds.
        status: Those that stand in the newest version, those that did once, or both.
    """
    return Listing(
        operation="ListRecords",
        method="GET",
        path="/v1/vaults/{}/memories/{}/records",
        ids=(vault_id, memory_id),
        query={"kind": kind, "status": status, "limit": limit, "cursor": cursor},
        accept="application/json",
        answers="json",
    )


def get_record(vault_id: str, memory_id: str, record_id: str, *, history: bool | None = None) -> Call[models.Record]:
    """Read one record.

    Active or archived, with its birth, its end, and what of an update's input carried it.

    Args:
        record_id: A record: KL-, VC-, T- or D- and its number.
        history: Whether to show what became of it, too.
    """
    return Call(
        operation="GetRecord",
        method="GET",
        path="/v1/vaults/{}/memories/{}/records/{}",
        ids=(vault_id, memory_id, record_id),
        query={"history": history},
        accept="application/json",
        answers="json",
    )
