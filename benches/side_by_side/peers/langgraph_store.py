"""LangGraph's PostgreSQL store behind FastAPI: one document per memory, the last put wins, no history.

Run as a program it creates the tables, which two workers cannot do at once.
"""

import asyncio
import os
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from langgraph.store.postgres.aio import AsyncPostgresStore


def _store():
    pool = {"min_size": 8, "max_size": 8}
    return AsyncPostgresStore.from_conn_string(os.environ["DATABASE_URL"], pool_config=pool)


async def _set_up() -> None:
    async with _store() as store:
        await store.setup()


@asynccontextmanager
async def lifespan(app: FastAPI):
    async with _store() as store:
        app.state.store = store
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/healthz")
async def healthz() -> Response:
    return Response()


@app.get("/v1/vaults/{vault}/memories/{memory}/context")
async def get(vault: str, memory: str) -> Response:
    # `refresh_ttl=False`: a read that writes nothing, like those of the others.
    item = await app.state.store.aget((vault,), memory, refresh_ttl=False)
    if item is None:
        return Response(status_code=404)
    return Response(item.value["text"], media_type="text/plain")


@app.put("/v1/vaults/{vault}/memories/{memory}/context")
async def put(vault: str, memory: str, request: Request) -> Response:
    text = (await request.body()).decode()
    await app.state.store.aput((vault,), memory, {"text": text}, index=False)
    return Response(status_code=201)


if __name__ == "__main__":
    asyncio.run(_set_up())
