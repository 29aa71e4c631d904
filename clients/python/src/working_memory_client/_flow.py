"""Methods of more than one request, written once for both kinds of clients.

A flow is a generator: it yields a call and receives its value, yields `Together` and receives the outcome of each, or
yields `Sleep`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ._call import Answer, Call
from ._retry import Sleep
from .errors import NotFoundError, WorkingMemoryError, is_missing

T = TypeVar("T")


@dataclass(frozen=True)
class Together:
    """Calls that are sent concurrently. A failure is returned, not raised."""

    calls: Sequence[Call[Any]]


Step = Call[Any] | Together | Sleep
Flow = Generator[Step, Any, T]
Outcome = Answer[Any] | WorkingMemoryError


def unless_missing(call: Call[T]) -> Flow[Answer[T] | None]:
    """The answer to a call; `None` if the service says that nothing is there."""
    try:
        answer: Answer[T] = yield call
    except NotFoundError as error:
        if not is_missing(error):
            raise
        return None
    return answer


def value(outcome: Outcome) -> Any:
    """The value of one of `Together`; raises its failure."""
    if isinstance(outcome, WorkingMemoryError):
        raise outcome
    return outcome.value
