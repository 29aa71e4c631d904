"""The exceptions, one class for each kind that callers handle differently."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, cast

from .models import Rejection

PREFIX = "urn:working-memory:problem:"


class WorkingMemoryError(Exception):
    """The base class of all exceptions of this package about the service."""


class ConnectionFailed(WorkingMemoryError):
    """The service was not reached, or the connection was lost; `__cause__` has the reason."""


class InvalidAnswer(WorkingMemoryError):
    """A response that is not the service's: another server, or a proxy that changes responses."""


class NotModified(WorkingMemoryError):
    """304: the entity tag is that of `if_none_match`."""


class EventsLost(WorkingMemoryError):
    """Events after the last one have expired: read the memories themselves, and continue."""

    def __init__(self, detail: str, last_event_id: str | None) -> None:
        super().__init__(detail)
        self.last_event_id = last_event_id


class StillWaiting(WorkingMemoryError):
    """The time to wait is over."""


class Problem(WorkingMemoryError):
    """An error response of the service (RFC 9457)."""

    status: int
    """The status of the response."""
    type: str
    """The kind of the problem: a stable URI."""
    title: str
    """The kind in words."""
    detail: str
    """What is wrong with this request."""
    members: Mapping[str, Any]
    """All members of the problem."""
    request_id: str | None
    """The id of the request in the service's log."""
    retry_after: float | None
    """How many seconds to wait before another attempt."""

    def __init__(self, status: int, members: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        self.status = status
        self.members = members
        self.type = str(members.get("type", "about:blank"))
        self.title = str(members.get("title", f"HTTP status {status}"))
        self.detail = str(members.get("detail", ""))
        self.request_id = headers.get("x-request-id")
        self.retry_after = retry_after(headers.get("retry-after"))
        super().__init__(status, members, dict(headers))

    def __str__(self) -> str:
        """One line: status, kind, detail, field and limit where the detail does not name them, request."""
        parts = [f"{self.status} {self.kind or self.title}"]
        if self.detail:
            parts.append(self.detail)
        for name, value in (("field", self.field), ("limit", self.limit), ("request", self.request_id)):
            if value is not None and str(value) not in self.detail:
                parts.append(f"{name} {value}")
        return ": ".join(parts[:2]) + "".join(f" ({part})" for part in parts[2:])

    @property
    def kind(self) -> str:
        """The last part of `type`, such as `not-found`; empty if the response is not the service's."""
        return self.type.removeprefix(PREFIX) if self.type.startswith(PREFIX) else ""

    @property
    def field(self) -> str | None:
        """The part of the request that is wrong."""
        return self._text("field")

    @property
    def limit(self) -> float | int | None:
        """The limit that was exceeded."""
        found = self.members.get("limit")
        return found if isinstance(found, (int, float)) else None

    @property
    def update_id(self) -> str | None:
        """The saved run of a failed update."""
        return self._text("update_id")

    def _text(self, name: str) -> str | None:
        found = self.members.get(name)
        return None if found is None else str(found)


class BadRequest(Problem):
    """400: the request cannot be parsed."""


class Unauthorized(Problem):
    """401: no key, or an invalid one."""


class Forbidden(Problem):
    """403: the key does not have this right."""

    @property
    def required_role(self) -> str | None:
        """The role that is required."""
        return self._text("required_role")


class NotFound(Problem):
    """404: it does not exist, or is in a vault that the key does not reach."""


class Conflict(Problem):
    """409: the state of the memory, or of the run, does not allow it."""

    @property
    def run_status(self) -> str | None:
        """The status of the run, if one was decided already."""
        return self._text("run_status")


class Collapse(Conflict):
    """409: the put would lose much of the document; pass `confirm="collapse"` if it is intended."""


class StillRunning(Conflict):
    """409: the first request with this `Idempotency-Key` is still running."""


class Gone(Problem):
    """410: the text was redacted or deleted."""


class PreconditionFailed(Problem):
    """412: `if_match` or `if_none_match` is not satisfied."""

    @property
    def current(self) -> str | None:
        """The `context_id` of the newest version, to be passed as `if_match`; None if there is no memory."""
        return self._text("current")


class TooLarge(Problem):
    """413: the body is over `limit`."""


class Invalid(Problem):
    """422: the request can be parsed but is not valid; `field` names what."""

    @property
    def rejected(self) -> list[Rejection]:
        """Of operations: the faulty ones, each with its kind and what is wrong with it."""
        return cast("list[Rejection]", self.members.get("rejected") or [])

    def __str__(self) -> str:
        """With the faults of the operations."""
        return "\n".join([super().__str__(), *(f"- {one['kind']}: {one['detail']}" for one in self.rejected)])


class KeyReused(Invalid):
    """422: the `Idempotency-Key` belongs to another request."""


class RateLimited(Problem):
    """429: too many requests at once, or the day's tokens are used up; `retry_after` says when to retry."""

    @property
    def opens_at(self) -> datetime | None:
        """When a used-up quota of tokens is available again."""
        found = self._text("opens_at")
        return None if found is None else datetime.fromisoformat(found.replace("Z", "+00:00"))


class ServerFault(Problem):
    """500: a fault of the service; its log has the cause under `request_id`."""


class ModelFailed(Problem):
    """502: a model failed; nothing was saved."""


class ModelTimeout(ModelFailed):
    """504: a model did not answer in time; nothing was saved."""


class Unavailable(Problem):
    """502, 503, 504: the service is full, out of time, without its database, or unreachable behind its proxy."""


class _Kinds:
    """The class of each kind of problem."""

    by_kind: ClassVar[Mapping[str, type[Problem]]] = {
        "collapse": Collapse,
        "still-running": StillRunning,
        "key-reused": KeyReused,
        "model-failed": ModelFailed,
        "model-timeout": ModelTimeout,
    }
    by_status: ClassVar[Mapping[int, type[Problem]]] = {
        400: BadRequest,
        401: Unauthorized,
        403: Forbidden,
        404: NotFound,
        409: Conflict,
        410: Gone,
        412: PreconditionFailed,
        413: TooLarge,
        422: Invalid,
        429: RateLimited,
        500: ServerFault,
        502: Unavailable,
        503: Unavailable,
        504: Unavailable,
    }


def problem(status: int, headers: Mapping[str, str], content: bytes) -> Problem:
    """The problem of a response; the text of a proxy becomes `detail`."""
    try:
        members = json.loads(content)
    except ValueError:
        members = None
    if not isinstance(members, dict) or not isinstance(members.get("type"), str):
        members = {"detail": content[:200].decode(errors="replace").strip()}
    kind = str(members.get("type", "")).removeprefix(PREFIX)
    found = _Kinds.by_kind.get(kind) or _Kinds.by_status.get(status, Problem)
    return found(status, members, headers)


def retry_after(value: str | None) -> float | None:
    """The seconds of a `Retry-After`, which is a number or a date."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            return None
        when = when if when.tzinfo else when.replace(tzinfo=timezone.utc)
        seconds = (when - datetime.now(timezone.utc)).total_seconds()
    # NaN compares false.
    return seconds if 0 <= seconds < float("inf") else (0.0 if seconds < 0 else None)
