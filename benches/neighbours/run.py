#!/usr/bin/env python3
"""Measures how expensive requests to one vault affect another: p99 of its reads and writes, quiet and under load, in one run.

Starts `PROGRAM serve` on a durable PostgreSQL server of its own. For each attack, 400 connections that ask for one vault, a
client of another vault reads and writes one after another before and during the load. Fails if its p99 is 5 times the quiet one
or more, or one of its requests fails.

    python3 benches/neighbours/run.py --program PROGRAM [--seconds 20] [--attack list search blame put update consolidate streams]
"""

import http.client
import json
import multiprocessing
import os
import random
import socket
import sys
import threading
import time

# The harness of the measurements is in the parent folder.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

AT_ONCE = 400
PROCESSES = 2
WORDS = [f"word{n}" for n in range(400)]


def prepare(service):
    """Documents that contain every word of a search, and one in which every line has another origin."""
    chance = random.Random(1)
    for memory in range(400):
        text = "\n".join(" ".join(chance.choices(WORDS, k=20)) for _ in range(60))
        service.put("evil", f"m{memory}", f"# D\n{text}\n")
    lines = [f"a{n}" for n in range(9_000)]
    for version in range(12):
        for n in range(version, len(lines), 12):
            lines[n] = f"b{version}.{n}"
        service.put("evil", "blamed", "\n".join(lines) + "\n")
    for memory in range(50):
        service.put("other", f"m{memory}", f"# D\n\nhello {memory}\n" + "text " * 800)
    for memory in range(50):
        records = [f"- KL-{n} worker {n % 90} of the plant answers after {n % 60} ms\n" for n in range(1, 401)]
        service.put("evil", f"due{memory}", "# Key Learnings\n" + "".join(records))
    service.ask("GET", "/v1/vaults/evil/search?q=word1&limit=1&consistent=true")


def of_list():
    return "GET", "memories?limit=500", "", ""


def of_search():
    words = " ".join(random.sample(WORDS, 6))
    return "GET", f"search?limit=50&q=%22{words.replace(' ', '%20')}%22%20{random.choice(WORDS)}", "", ""


def of_blame():
    return "GET", "memories/blamed/blame", "", ""


def of_put():
    text = f"# D\n\n{random.random()}\n" + "text " * 800
    return "PUT", f"memories/put{random.randrange(50)}/context", "Content-Type: text/plain\r\n", text


def of_update():
    task = json.dumps({"task": f"Decided: use port {random.randrange(10_000)} because {random.random()}."})
    return "POST", f"memories/updated{random.randrange(50)}/update", "Content-Type: application/json\r\n", task


def of_consolidate():
    return "POST", f"memories/due{random.randrange(50)}/consolidate", "", ""


def of_streams():
    return "GET", "events", "Accept: text/event-stream\r\n", ""


ATTACKS = {
    "list": of_list,
    "search": of_search,
    "blame": of_blame,
    "put": of_put,
    "update": of_update,
    "consolidate": of_consolidate,
    "streams": of_streams,
}


def attack(port, name, threads, stop, counts):
    """Sends requests repeatedly, and discards the responses. It has a lower priority than the measured client."""
    os.nice(10)

    def ask():
        buffer = bytearray(1 << 16)
        while not stop.is_set():
            try:
                stream = socket.create_connection(("127.0.0.1", port), timeout=60)
                method, path, headers, body = ATTACKS[name]()
                head = (
                    f"{method} /v1/vaults/evil/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}"
                    f"Content-Length: {len(body)}\r\n\r\n{body}"
                )
                stream.sendall(head.encode())
                first = stream.recv_into(buffer)
                status = bytes(buffer[9:12]) if first >= 12 else b""
                while stream.recv_into(buffer):
                    if stop.is_set():
                        break
                stream.close()
                good = status in (b"200", b"201")
                with counts.get_lock():
                    counts[0 if good else 1] += 1
                if not good:
                    time.sleep(0.1)
            except OSError:
                with counts.get_lock():
                    counts[2] += 1

    workers = [threading.Thread(target=ask, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    stop.wait()


def measure(port, seconds, out):
    """One request after another, half of them writes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def request(method, path, body=None):
        began = time.monotonic()
        connection.request(method, path, body=body, headers={"Content-Type": "text/plain"} if body else {})
        answer = connection.getresponse()
        answer.read()
        return answer.status, (time.monotonic() - began) * 1000

    times, failed = {"get": [], "put": []}, []
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        number += 1
        path = f"/v1/vaults/other/memories/m{number % 50}/context"
        text = f"# D\n\n{number} {time.monotonic()}\n" + "text " * 800
        for kind, expected, arguments in (("put", 201, ("PUT", path, text.encode())), ("get", 200, ("GET", path))):
            status, took = request(*arguments)
            times[kind].append(took)
            if status != expected:
                failed.append(kind)
        time.sleep(0.002)
    out.send((times, failed))


def measured(port, seconds):
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=measure, args=(port, seconds, send))
    process.start()
    result = receive.recv()
    process.join()
    return result


def inner(arguments):
    missed = False
    with harness.Service(arguments.program) as service:
        port = service.port
        prepare(service)
        measured(port, 2)
        print("| 400 connections of one vault | of another | quiet p50, p99 in ms | loaded p50, p99 in ms | p99, times | failed |")
        print("|---|---|---:|---:|---:|---:|")
        for name in arguments.attack:
            quiet, _ = measured(port, arguments.seconds)
            stop, counts = multiprocessing.Event(), multiprocessing.Array("l", 3)
            attackers = [
                multiprocessing.Process(target=attack, args=(port, name, AT_ONCE // PROCESSES, stop, counts))
                for _ in range(PROCESSES)
            ]
            for attacker in attackers:
                attacker.start()
            time.sleep(1)
            loaded, failed = measured(port, arguments.seconds)
            stop.set()
            for attacker in attackers:
                attacker.join(5)
                attacker.terminate()
            for kind in ("get", "put"):
                before, after = (harness.percentile(times[kind], 0.99) for times in (quiet, loaded))
                medians = [harness.percentile(times[kind]) for times in (quiet, loaded)]
                bad = failed.count(kind)
                missed |= after >= 5 * before or bad > 0
                print(
                    f"| {name} | {kind} | {medians[0]:.2f}, {before:.2f} | {medians[1]:.2f}, {after:.2f} "
                    f"| {after / before:.1f} | {bad} of {len(loaded[kind])} |"
                )
            # Without the lock, which an attacker that was terminated may hold.
            counts = counts.get_obj()
            print(f"\n{name}: answered {counts[0]}, refused {counts[1]}, broken {counts[2]}\n", flush=True)
            time.sleep(2)
    return "a p99 is 5 times the quiet one or more, or a request failed" if missed else None


def options(parser):
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--attack", nargs="+", default=list(ATTACKS), choices=list(ATTACKS))


if __name__ == "__main__":
    harness.main(inner, options)
