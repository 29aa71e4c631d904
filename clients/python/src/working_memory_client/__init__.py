"""Client of working-memory, versioned plain-text memory for agents.

    memory = Client(url, key).memory("team", "agent-1")
    session = memory.start(max_tokens=4000)
    ...
    memory.finish("Added the parser", messages)

`Client` is synchronous, `AsyncClient` asynchronous; both have every operation of the service as a method of its name.
"""

from . import models, operations
from ._call import NOT_GIVEN, Answer, Call, Listing, NotGiven
from ._client import AsyncClient, AsyncMemory, AsyncVault, Client, Memory, Vault
from ._pages import AsyncPages, Pages
from ._retry import Retry
from ._session import Session
from ._sources import UpdateStep
from ._streams import AsyncStream, Stream
from ._version import __version__
from .edits import archive, learn, progress, snippet
from .problems import (
    BadRequest,
    Collapse,
    Conflict,
    ConnectionFailed,
    EventsLost,
    Forbidden,
    Gone,
    Invalid,
    InvalidAnswer,
    KeyReused,
    ModelFailed,
    ModelTimeout,
    NotFound,
    NotModified,
    PreconditionFailed,
    Problem,
    RateLimited,
    ServerFault,
    StillRunning,
    StillWaiting,
    TooLarge,
    Unauthorized,
    Unavailable,
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
    "BadRequest",
    "Call",
    "Client",
    "Collapse",
    "Conflict",
    "ConnectionFailed",
    "EventsLost",
    "Forbidden",
    "Gone",
    "Invalid",
    "InvalidAnswer",
    "KeyReused",
    "Listing",
    "Memory",
    "ModelFailed",
    "ModelTimeout",
    "NotFound",
    "NotGiven",
    "NotModified",
    "Pages",
    "PreconditionFailed",
    "Problem",
    "RateLimited",
    "Retry",
    "ServerFault",
    "Session",
    "StillRunning",
    "StillWaiting",
    "Stream",
    "TooLarge",
    "Unauthorized",
    "Unavailable",
    "UpdateStep",
    "Vault",
    "WorkingMemoryError",
    "__version__",
    "archive",
    "learn",
    "models",
    "operations",
    "progress",
    "snippet",
]
