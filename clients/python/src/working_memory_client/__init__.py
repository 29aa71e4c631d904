"""Client of working-memory, versioned plain-text memory for agents.

    memory = Client(url, key).memory("team", "agent-1")
    session = memory.start(max_tokens=4000)
    ...
    memory.finish("Added the parser", messages)

`Client` is synchronous, `AsyncClient` asynchronous; both have the same methods.
"""

from . import types
from ._call import NOT_GIVEN, Answer, response_of
from ._client import AsyncClient, AsyncMemory, AsyncVault, Client, Memory, Vault
from ._pages import AsyncPages, Pages
from ._session import Session
from ._sources import UpdateStep
from ._streams import AsyncStream, Stream
from ._version import __version__
from .edits import archive, learn, mark, merge, progress, snippet
from .errors import (
    BadRequestError,
    CollapseError,
    ConflictError,
    ConnectionFailedError,
    EventsLostError,
    ForbiddenError,
    GoneError,
    InvalidAnswerError,
    InvalidError,
    KeyReusedError,
    ModelError,
    ModelTimeoutError,
    NotFoundError,
    NotModifiedError,
    PreconditionFailedError,
    ProblemError,
    RateLimitedError,
    ServerError,
    StillRunningError,
    StillWaitingError,
    TimedOutError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
    WorkingMemoryError,
)

__all__ = [
    "NOT_GIVEN",
    "Answer",
    "AsyncClient",
    "AsyncMemory",
    "AsyncPages",
    "AsyncStream",
    "AsyncVault",
    "BadRequestError",
    "Client",
    "CollapseError",
    "ConflictError",
    "ConnectionFailedError",
    "EventsLostError",
    "ForbiddenError",
    "GoneError",
    "InvalidAnswerError",
    "InvalidError",
    "KeyReusedError",
    "Memory",
    "ModelError",
    "ModelTimeoutError",
    "NotFoundError",
    "NotModifiedError",
    "Pages",
    "PreconditionFailedError",
    "ProblemError",
    "RateLimitedError",
    "ServerError",
    "Session",
    "StillRunningError",
    "StillWaitingError",
    "Stream",
    "TimedOutError",
    "TooLargeError",
    "UnauthorizedError",
    "UnavailableError",
    "UpdateStep",
    "Vault",
    "WorkingMemoryError",
    "__version__",
    "archive",
    "learn",
    "mark",
    "merge",
    "progress",
    "response_of",
    "snippet",
    "types",
]
