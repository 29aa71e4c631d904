# syntax=docker/dockerfile:1
# The service alone: it needs a PostgreSQL server, named by DATABASE_URL (see docker-compose.yml).

FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
# Queries are checked against the prepared data in .sqlx: no database is needed here. The caches make a second
# build quick; since they are not part of the image, the program is copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo build --locked --release --bin working-memory \
    && cp target/release/working-memory /usr/local/bin/working-memory

FROM debian:bookworm-slim
# Certificates, to reach models over TLS.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --user-group --create-home --home-dir /var/lib/working-memory working-memory
COPY --from=build /usr/local/bin/working-memory /usr/local/bin/working-memory
USER 10001:10001
WORKDIR /var/lib/working-memory
# All addresses of the container; which of them are reachable is decided where it is run.
ENV WORKING_MEMORY__HTTP__BIND=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["working-memory", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["working-memory"]
CMD ["serve"]
