"""The cells of the measurement, and their targets."""

from dataclasses import dataclass

SERVICE, BARE, PEERS = "service", "bare", ("langgraph_store", "llama_index_kvstore")


@dataclass(frozen=True)
class Cell:
    """One kind of load. `place` is its address, `requests` its requests: files by name, with their share in percent."""

    name: str
    title: str
    place: str
    requests: tuple[tuple[str, int], ...] = ()
    connections: int = 32
    script: str = ""
    writes: bool = False


CELLS = [
    Cell("pgbench-get", "pgbench, latest SELECT", "database", script="latest.sql"),
    Cell("pgbench-put", "pgbench, one-statement write", "database", script="write.sql"),
    Cell("bare", "bare axum handler, the same 4 KB", BARE, (("get", 100),)),
    Cell("get", "GetLatestContext", SERVICE, (("get", 100),)),
    Cell("get-no-cache", "GetLatestContext, `Cache-Control: no-cache`", SERVICE, (("get-no-cache", 100),)),
    Cell("get-304", "GetLatestContext, `If-None-Match` (304)", SERVICE, (("get-304", 100),)),
    Cell("put", "PutContext", SERVICE, (("put", 100),), writes=True),
    Cell("mix", "90 % GetLatestContext, 10 % PutContext", SERVICE, (("get", 90), ("put", 10)), writes=True),
    Cell("update-1", "`/update`, models of 200 ms, 1 in flight", SERVICE, (("update", 100),), 1, writes=True),
    Cell("update-64", "`/update`, models of 200 ms, 64 in flight", SERVICE, (("update", 100),), 64, writes=True),
    Cell("prompt", "GetPrompt", SERVICE, (("prompt", 100),)),
    Cell("search", "SearchContexts, two words", SERVICE, (("search", 100),)),
    Cell("langgraph-get", "LangGraph store + FastAPI, get", PEERS[0], (("get", 100),)),
    Cell("langgraph-put", "LangGraph store + FastAPI, put", PEERS[0], (("put", 100),), writes=True),
    Cell("llama-get", "LlamaIndex KV store + FastAPI, get", PEERS[1], (("get", 100),)),
    Cell("llama-put", "LlamaIndex KV store + FastAPI, put", PEERS[1], (("put", 100),), writes=True),
]


@dataclass(frozen=True)
class Ratio:
    """A target for the ratio of two cells; of several peers the fastest counts."""

    title: str
    cell: str
    to: tuple[str, ...]
    at_least: float


RATIOS = [
    Ratio("GetLatestContext ÷ pgbench latest SELECT", "get", ("pgbench-get",), 1.3),
    Ratio("GetLatestContext ÷ bare axum handler", "get", ("bare",), 0.8),
    Ratio("GetLatestContext `no-cache` ÷ pgbench latest SELECT", "get-no-cache", ("pgbench-get",), 0.45),
    Ratio("PutContext ÷ pgbench write", "put", ("pgbench-put",), 1.0),
    Ratio("GetLatestContext ÷ the best peer's get", "get", ("langgraph-get", "llama-get"), 15),
    Ratio("PutContext ÷ the best peer's put", "put", ("langgraph-put", "llama-put"), 2),
]

# Milliseconds that the median of `/update` may be above the median of its models, by cell.
UPDATE_ADDS_AT_MOST = {"update-1": 5.0, "update-64": 15.0}
HISTORY_AT_MOST = 1.1
MEMORY_MIB_AT_MOST = 80.0
