"""Shared by all measurements: a durable PostgreSQL server, services on it, one psql, models that answer at once, tables."""

import argparse
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main(inner, options):
    """Runs `inner(arguments)` with `DATABASE_URL` of a server that is started for it and removed afterwards; what it returns is the
    reason of a failure. `options` adds the options of the measurement to a parser."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    options(parser)
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    if arguments.inner:
        sys.exit(inner(arguments))
    with tempfile.TemporaryDirectory() as folder:
        # As root the server runs under another account, which must be able to reach its folder.
        os.chmod(folder, 0o711)
        command = [arguments.program, "with-postgres", "--data-dir", f"{folder}/data", "--", sys.executable]
        sys.exit(subprocess.run([*command, os.path.abspath(sys.argv[0]), *sys.argv[1:], "--inner"]).returncode)


def percentile(values, share=0.5):
    """The value that a share of the values does not exceed."""
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def timed(ask):
    """The milliseconds that a call takes."""
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000


def python_with(name, *packages):
    """A Python with these packages, which are installed once, into target/NAME."""
    home = ROOT / "target" / name
    python, installed = home / "bin" / "python", home / "installed.txt"
    if not installed.exists() or installed.read_text().split("\n") != list(packages):
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
        installed.write_text("\n".join(packages))
    return str(python)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@contextlib.contextmanager
def running(command, **options):
    """A process that ends with the block."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


class Service:
    """A running `PROGRAM serve`, with further settings; one that is None is removed. It logs only into a file `log`. `under` is
    the command of a tool that runs it."""

    def __init__(self, program, log=None, under=(), **settings):
        self.port = free_port()
        self.base, self.asked, self.program = f"http://127.0.0.1:{self.port}", 0.0, program
        environment = {**os.environ, "WORKING_MEMORY__HTTP__BIND": f"127.0.0.1:{self.port}", **settings}
        if log is None:
            environment["WORKING_MEMORY__LOG__FILTER"] = "off"
        self.environment = {name: value for name, value in environment.items() if value is not None}
        began = time.monotonic()
        self.process = subprocess.Popen(
            [*under, program, "serve"], env=self.environment, cwd=tempfile.gettempdir(), stdout=log, stderr=log
        )
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=900)
        while True:
            try:
                if self.ask("GET", "/readyz", allowed=(200, 503))[0] == 200:
                    break
            except OSError:
                self.connection.close()
            if time.monotonic() - began > 120 or self.process.poll() is not None:
                raise SystemExit("the service does not start")
            time.sleep(0.002)
        self.started = (time.monotonic() - began) * 1000

    def ask(self, method, path, body=None, kind="text/plain", allowed=(200, 201), **headers):
        """Status and body; `body` is text, or an object that is sent as JSON."""
        if body is not None and not isinstance(body, (str, bytes)):
            body, kind = json.dumps(body), "application/json"
        if body is not None:
            headers["Content-Type"] = kind
            body = body.encode() if isinstance(body, str) else body
        # The service closes silent connections.
        if time.monotonic() - self.asked > 5:
            self.connection.close()
        self.asked = time.monotonic()
        self.connection.request(method, path, body=body, headers=headers)
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status in allowed, (answer.status, method, path, text[:500])
        return answer.status, text

    def put(self, vault, memory, text):
        return self.ask("PUT", f"/v1/vaults/{vault}/memories/{memory}/context", text)

    def memory(self):
        """Resident memory in MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) / 1024

    def stop(self):
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Database:
    """Queries through one psql: new connections would affect the measurement."""

    def __init__(self, url=None):
        url = url or os.environ["DATABASE_URL"]
        command = ["psql", url, "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "-v", "ON_ERROR_STOP=1"]
        self.psql = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, statement):
        """The lines of the result, columns separated by `|`."""
        self.psql.stdin.write(f"{statement};\n\\echo .\n")
        self.psql.stdin.flush()
        lines = []
        for line in self.psql.stdout:
            if line == ".\n":
                return lines
            lines.append(line.rstrip("\n"))
        raise SystemExit(f"psql ended at: {statement}")

    def columns(self, table):
        """Those that can be written."""
        return self.ask(
            "SELECT attname FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped AND attgenerated = '' "
            f"AND attrelid = '{table}'::regclass ORDER BY attnum"
        )

    def copy(self, table, rows, where, **values):
        """Copies rows of a table, with other values of some columns; `n` is a row of `rows`."""
        columns = self.columns(table)
        chosen = ", ".join(values.get(column, column) for column in columns)
        self.ask(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {chosen} FROM {table}, {rows} AS n WHERE {where}")

    def until(self, question, seconds, what):
        # Polled often: the time until then is measured.
        end = time.monotonic() + seconds
        while self.ask(question) != ["t"]:
            if time.monotonic() > end:
                raise SystemExit(f"not in {seconds} s: {what}")
            time.sleep(0.002)

    def caught_up(self):
        self.until("SELECT NOT EXISTS (SELECT FROM memories WHERE search_pending)", 120, "the search index catches up")

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()


def serve(answer):
    """A server on loopback that answers each POST of JSON by a function; returns its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Otherwise the body waits 40 ms for the acknowledgement of the headers.
        disable_nagle_algorithm = True

        def do_POST(self):
            body = json.dumps(answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


def models(content):
    """Starts models with the API of OpenAI; returns the settings of a service that uses them. `content` returns the answer of
    the model with a name for the number after `part` in the last message."""

    def answer(request):
        number = re.search(r"part (\d+)", request["messages"][-1]["content"])[1]
        message = {"role": "assistant", "content": content(request["model"], number)}
        usage = {"prompt_tokens": 1000, "completion_tokens": 40}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    return model_settings(serve(answer))


def model_settings(url):
    """The settings of a service whose models are at an address, one a role."""
    return {
        "WORKING_MEMORY__LLM__PROVIDER": "openai",
        "WORKING_MEMORY__LLM__BASE_URL": url,
        "WORKING_MEMORY__LLM__MODEL": "progress",
        "WORKING_MEMORY__LLM__ROLES__LEARNINGS__MODEL": "learnings",
        "WORKING_MEMORY__LLM__ROLES__VERBATIM__MODEL": "verbatim",
    }


def table(rows):
    """Prints (what, median, p99, target), and returns those that are missed."""
    print("| | median | p99 | target |\n|---|---:|---:|---:|")
    for what, median, late, target in rows:
        print(f"| {what} | {median:,.2f} | {late:,.2f} | {target:,} |", flush=True)
    missed = [what for what, median, _, target in rows if median > target]
    return "missed: " + "; ".join(missed) if missed else None
