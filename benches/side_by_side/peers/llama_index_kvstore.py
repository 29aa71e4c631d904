"""LlamaIndex's PostgreSQL key-value store behind FastAPI: one document per key, the last put wins, no history.

Run as a program it creates the tables, which two workers cannot do at once.
"""

import os
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

from fastapi import FastAPI, Request, Response
from llama_index.storage.kvstore.postgres import PostgresKVStore


def _store() -> PostgresKVStore:
    url = urlsplit(os.environ["DATABASE_URL"])
    place = f"{url.username}@/{url.path.lstrip('/')}?host={parse_qs(url.query)['host'][0]}"
    return PostgresKVStore(
        "memories",
        connection_string=f"postgresql+psycopg2://{place}",
        async_connection_string=f"postgresql+asyncpg://{place}",
        create_engine_kwargs={"pool_size": 8, "max_overflow": 0},
    )


@asynccontextmanager
async def lifespan(app: FastAPI):
    app.state.store = _store()
    yield


app = FastAPI(lifespan=lifespan)


@app.get("/healthz")
async def healthz() -> Response:
    await app.state.store.aget("there is none")
    return Response()


@app.get("/v1/vaults/{vault}/memories/{memory}/context")
async def get(vault: str, memory: str) -> Response:
    value = await app.state.store.aget(memory, collection=vault)
    if value is None:
        return Response(status_code=404)
    return Response(value["text"], media_type="text/plain")


@app.put("/v1/vaults/{vault}/memories/{memory}/context")
async def put(vault: str, memory: str, request: Request) -> Response:
    text = (await request.body()).decode()
    await app.state.store.aput(memory, {"text": text}, collection=vault)
    return Response(status_code=201)


if __name__ == "__main__":
    # The first use creates them.
    _store().get("there is none")
