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
    && install -D target/release/working-memory /image/usr/bin/working-memory \
    # Certificates, to reach models and databases over TLS.
    && install -D -m 644 /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ca-certificates.crt \
    && install -d -o 10001 -g 10001 /image/var/lib/working-memory

FROM debian:bookworm-slim
COPY --from=build /image /
USER 10001:10001
WORKDIR /var/lib/working-memory
# All addresses of the container; which of them are reachable is decided where it is run.
ENV HOME=/var/lib/working-memory \
    WORKING_MEMORY__HTTP__BIND=0.0.0.0:8080
EXPOSE 8080
# Asks where these settings say that the service is, over TLS if they say so.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["working-memory", "health", "--settings"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["working-memory"]
CMD ["serve"]
