"""The store beside LangGraph's own: in memory, and on PostgreSQL."""

from __future__ import annotations

import asyncio
import random
import subprocess
import threading
from collections.abc import Iterator
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from service import program
from stub import Stub

from working_memory_client import AsyncClient, Client, ForbiddenError
from working_memory_client._langgraph_items import memory_id, namespace_of
from working_memory_client.langgraph import WorkingMemoryStore

LABELS = ["users", "u-1", "ü", "a b", "docs", "v1", "x" * 60, "*"]
KEYS = ["prefs", "a.b", "c/d:e", "ключ", "", "k" * 90, "@40", "_"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A database of LangGraph's own."""
    command = [program(), "with-postgres", "--", "sh", "-c", "echo $DATABASE_URL; cat"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        yield running.stdout.readline().decode().strip()
        assert running.stdin is not None
        running.stdin.close()


@pytest.fixture
def store(client: Client, vault: str) -> WorkingMemoryStore:
    return WorkingMemoryStore(client.vault(vault))


@pytest.fixture
def table(postgres: str) -> Iterator[PostgresStore]:
    with PostgresStore.from_conn_string(postgres) as made:
        made.setup()
        for item in made.search((), limit=10_000):
            made.delete(item.namespace, item.key)
        yield made


def seen(item: Item | None) -> tuple[Any, ...] | None:
    return None if item is None else (item.namespace, item.key, item.value)


def script(seed: int) -> Iterator[tuple[str, Any]]:
    """Random operations of every kind, each value another."""
    chosen = random.Random(seed)
    names: list[tuple[tuple[str, ...], str]] = []
    for number in range(60):
        namespace = tuple(chosen.choices(LABELS, k=chosen.randint(1, 3)))
        key = chosen.choice(KEYS)
        if names and chosen.random() < 0.5:
            namespace, key = chosen.choice(names)
        kind = chosen.choice(["put", "put", "put", "get", "delete", "search", "list"])
        if kind == "put":
            names.append((namespace, key))
            yield (
                kind,
                (
                    namespace,
                    key,
                    {"n": number, "even": number % 2 == 0, "deep": {"t": ["\0", "é\u2028"], "none": None}},
                ),
            )
        elif kind in ("get", "delete"):
            yield kind, (namespace, key)
        elif kind == "search":
            even = chosen.choice([None, {"even": True}, {"n": {"$eq": number - 1}}, {"absent": 1}])
            yield kind, (namespace[: chosen.randint(0, 2)], even)
        else:
            depth, path = chosen.choice([None, 1, 2]), tuple(chosen.choice([label, "*"]) for label in namespace)
            yield kind, (chosen.choice(["prefix", "suffix"]), path, depth)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_does_what_the_stores_of_the_framework_do(
    seed: int, store: WorkingMemoryStore, table: PostgresStore
) -> None:
    theirs: list[BaseStore] = [InMemoryStore(), table]
    ours: Any
    memory: Any
    database: Any
    for kind, arguments in script(seed):
        if kind == "put":
            for one in (store, *theirs):
                value = arguments[2] if one is not table else _without_nul(arguments[2])
                one.put(arguments[0], arguments[1], value)
        elif kind == "delete":
            for one in (store, *theirs):
                one.delete(*arguments)
        elif kind == "get":
            ours, memory, database = (seen(one.get(*arguments)) for one in (store, *theirs))
            assert ours == memory
            assert (ours is None) == (database is None)
        elif kind == "search":
            prefix, wanted = arguments
            ours, memory, database = (
                [(item.namespace, item.key, item.value["n"]) for item in one.search(prefix, filter=wanted, limit=500)]
                for one in (store, *theirs)
            )
            assert sorted(ours) == sorted(memory)
            assert ours == database, "the newest first, as on PostgreSQL"
            page = [seen(item)[1] for item in store.search(prefix, filter=wanted, limit=2, offset=1)]  # type: ignore[index]
            assert page == [key for _, key, _ in ours[1:3]]
        else:
            match, path, depth = arguments
            ours, _, database = (
                one.list_namespaces(**{match: path}, max_depth=depth, limit=500) for one in (store, *theirs)
            )
            # The store in memory goes on listing namespaces in which nothing is left.
            assert set(ours) == set(database)
            assert ours == sorted(ours)


def _without_nul(value: dict[str, Any]) -> dict[str, Any]:
    """PostgreSQL's JSON takes no NUL, which the service's documents do as an escape."""
    return {**value, "deep": "left out"}


def test_a_put_keeps_when_an_item_was_made(store: WorkingMemoryStore, table: PostgresStore) -> None:
    for one in (store, table):
        one.put(("a",), "k", {"n": 1})
        first = one.get(("a",), "k")
        one.put(("a",), "k", {"n": 2})
        second = one.get(("a",), "k")
        assert first is not None
        assert second is not None
        assert first.created_at == second.created_at
        assert second.updated_at > first.updated_at
        assert second.value == {"n": 2}
        one.delete(("a",), "k")
        assert one.get(("a",), "k") is None
        one.put(("a",), "k", {"n": 3})
        third = one.get(("a",), "k")
        assert third is not None
        assert third.created_at > second.created_at, "what was deleted and put again is new"


def test_a_batch_reads_before_it_writes_and_the_last_write_counts(store: WorkingMemoryStore) -> None:
    both: list[BaseStore] = [store, InMemoryStore()]
    found = []
    for one in both:
        one.put(("a",), "k", {"n": 0})
        ops: list[Op] = [
            PutOp(("a",), "k", {"n": 1}),
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 2}),
            PutOp(("b",), "k", {"n": 3}),
            PutOp(("b",), "k", None),
            SearchOp(("a",)),
            ListNamespacesOp((MatchCondition("prefix", ("a",)),)),
        ]
        results: list[Any] = one.batch(ops)
        now = (one.get(("a",), "k"), one.get(("b",), "k"))
        found.append(
            [None if result is None else getattr(result, "value", str(type(result))) for result in results]
            + [[item.value for item in results[5]], results[6], seen(now[0]), seen(now[1])]
        )
    assert found[0] == found[1]


def test_filters_compare_as_in_memory(store: WorkingMemoryStore) -> None:
    memory = InMemoryStore()
    values = [{"score": n, "tags": ["a", str(n)], "who": {"name": f"n{n}", "old": n > 1}} for n in range(4)]
    for number, value in enumerate(values):
        store.put(("f",), str(number), value)
        memory.put(("f",), str(number), value)
    wanted: list[dict[str, Any]] = [
        {"score": {"$gt": 1}},
        {"score": {"$gte": 1, "$lt": 3}},
        {"score": {"$lte": "2"}},
        {"score": {"$ne": 2}},
        {"absent": {"$ne": 2}},
        {"tags": ["a", "2"]},
        {"who": {"old": True}},
        {"who": {"name": {"$eq": "n3"}}},
        {"score": 1, "who": {"old": True}},
    ]
    for one in wanted:
        ours, theirs = (sorted(item.key for item in each.search(("f",), filter=one)) for each in (store, memory))
        assert ours == theirs, one
    with pytest.raises(ValueError, match="regex"):
        store.search(("f",), filter={"score": {"$regex": "1"}})
    assert store.search(("f",), filter={"who": {"$gt": 1}}) == [], "what is no number is neither more nor less"


def test_a_query_puts_what_answers_it_first(store: WorkingMemoryStore) -> None:
    texts = {"tea": "The user drinks green tea in the morning", "car": "The user's car is red", "cat": "Tom is a cat"}
    for key, text in texts.items():
        store.put(("memories", "u1"), key, {"text": text})
    found = store.search(("memories",), query="What tea does the user drink?", limit=2)
    assert [item.key for item in found] == ["tea", "car"]
    assert (found[0].score or 0) > (found[1].score or 0) > 0
    last = store.search(("memories",), query="tea")[-1]
    assert last.score is None, "what does not answer comes last, without a score"
    assert len(store.search(("memories",), query="!?")) == 3, "a query without words chooses nothing"
    assert len(store.search(("memories",), query="слово " * 80 + "汉" * 400)) == 3, "of a long one its beginning counts"


@pytest.mark.parametrize("namespace", [(), ("langgraph", "x"), ("a.b",), ("",), (7,)])
def test_bad_namespaces_are_refused_as_by_every_store(store: WorkingMemoryStore, namespace: Any) -> None:
    for one in (store, InMemoryStore()):
        with pytest.raises(InvalidNamespaceError):
            one.put(namespace, "k", {})
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])


@pytest.mark.parametrize("value", [{"a": object()}, {"a": {1: 2}}, {"a": {1, 2}}])
def test_what_is_no_json_is_refused_before_anything_is_sent(store: WorkingMemoryStore, value: Any) -> None:
    with pytest.raises(TypeError, match=r"value\.a"):
        store.put(("a",), "k", value)
    with pytest.raises(ValueError, match="JSON"):
        store.put(("a",), "k", {"a": float("nan")})
    assert store.search(()) == []


def test_items_do_not_expire_and_it_says_so(store: WorkingMemoryStore) -> None:
    with pytest.raises(NotImplementedError):
        store.put(("a",), "k", {}, ttl=5)
    with pytest.raises(NotImplementedError):
        store.batch([PutOp(("a",), "k", {}, ttl=5)])


def test_two_writers_lose_nothing(store: WorkingMemoryStore) -> None:
    def write(number: int) -> None:
        for turn in range(5):
            store.put(("a",), "k", {"by": number, "turn": turn})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value["turn"] == 4


def test_every_put_is_a_version(client: Client, vault: str, store: WorkingMemoryStore) -> None:
    store.put(("users", "u1"), "prefs", {"drink": "coffee"})
    store.put(("users", "u1"), "prefs", {"drink": "tea"})
    store.delete(("users", "u1"), "prefs")
    memory = client.memory(vault, "store.users.u1:prefs")
    assert [version["version"] for version in memory.versions.list()] == [3, 2, 1]
    assert '"drink": "coffee"' in memory.versions.get(1)["context"]


def test_erasing_leaves_nothing(client: Client, vault: str) -> None:
    store = WorkingMemoryStore(client.vault(vault), erase=True)
    store.put(("a",), "k", {"n": 1})
    store.delete(("a",), "k")
    store.delete(("a",), "k")
    assert list(client.vault(vault).memories.list()) == []


def test_what_is_no_item_is_neither_found_nor_overwritten(
    client: Client, vault: str, store: WorkingMemoryStore
) -> None:
    client.memory(vault, "store.a:k").put("# Notes\n- somebody else's\n")
    client.memory(vault, "storehouse").put("another memory")
    client.memory(vault, "store.@ff:k").put("of no namespace")
    assert store.list_namespaces() == [("a",)], "the ids tell, but not of the last"
    assert store.get(("a",), "k") is None
    assert store.search(()) == []
    with pytest.raises(ValueError, match="another root"):
        store.put(("a",), "k", {})


@pytest.mark.parametrize("key", KEYS)
def test_ids_tell_their_names(key: str) -> None:
    for namespace in ((label, other) for label in LABELS for other in LABELS):
        made = memory_id("store", namespace, key)
        assert len(made) <= 128
        assert namespace_of("store", made) in (namespace, None)
    made_all = {memory_id("store", (label, other), each) for label in LABELS for other in LABELS for each in KEYS}
    assert len(made_all) == len(LABELS) ** 2 * len(KEYS), "no two items have one memory"


def test_what_goes_wrong_is_not_taken_for_an_item_that_is_not_there() -> None:
    with (
        Stub([{"status": 403, "problem": "forbidden", "members": {"required_role": "reader"}}]) as stub,
        Client(stub.url) as client,
    ):
        store = WorkingMemoryStore(client.vault("v"))
        for ask in (lambda: store.get(("a",), "k"), lambda: store.search(()), lambda: store.put(("a",), "k", {})):
            with pytest.raises(ForbiddenError):
                ask()


def test_the_asynchronous_methods_do_the_same(service: Any, client: Client, vault: str) -> None:
    async def play(store: WorkingMemoryStore) -> list[Any]:
        await store.aput(("a", "b"), "k", {"n": 1})
        await asyncio.gather(*(store.aput(("a", "c"), str(number), {"n": number}) for number in range(20)))
        item = await store.aget(("a", "b"), "k")
        found = await store.asearch(("a",), filter={"n": 1}, limit=50)
        await store.adelete(("a", "b"), "k")
        return [seen(item), sorted(one.key for one in found), await store.alist_namespaces(prefix=("a",))]

    async def both() -> list[Any]:
        async with AsyncClient(service.url) as other:
            native = WorkingMemoryStore(async_vault=other.vault(f"{vault}-a"))
            with pytest.raises(RuntimeError, match="methods"):
                native.get(("a",), "k")
            return [await play(native), await play(WorkingMemoryStore(client.vault(f"{vault}-b")))]

    one, other = asyncio.run(both())
    assert one == other == [(("a", "b"), "k", {"n": 1}), ["1", "k"], [("a", "c")]]


class State(TypedDict):
    said: str
    answer: str


def test_a_graph_remembers_across_threads(store: WorkingMemoryStore) -> None:
    def node(state: State, *, store: BaseStore) -> State:
        known = store.search(("facts", "u1"))
        store.put(("facts", "u1"), state["said"], {"text": state["said"]})
        return {"said": state["said"], "answer": ", ".join(item.value["text"] for item in known)}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    graph = builder.compile(store=store)
    assert graph.invoke({"said": "likes tea", "answer": ""})["answer"] == ""
    assert graph.invoke({"said": "has a cat", "answer": ""})["answer"] == "likes tea"
    assert graph.invoke({"said": "left", "answer": ""})["answer"] == "has a cat, likes tea"
