"""Shared by measurements: a durable PostgreSQL server, one psql, and models that answer at once."""

import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading


def under_postgres(program: str) -> int:
    """Runs this script again, as `… --inner`, with `DATABASE_URL` of a server that is started for it and removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        # As root the server runs under another account, which must be able to reach its folder.
        os.chmod(folder, 0o711)
        command = [program, "with-postgres", "--data-dir", f"{folder}/data", "--", sys.executable]
        command += [os.path.abspath(sys.argv[0]), *sys.argv[1:], "--inner"]
        return subprocess.run(command).returncode


class Database:
    """Queries through one psql: new connections would affect the measurement."""

    def __init__(self, url):
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

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()


def models(content):
    """Starts models with the API of OpenAI; returns the environment of a service that uses them. `content` returns the answer of
    the model with a name for the number after `part` in the last message."""

    class Models(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Otherwise the body waits 40 ms for the acknowledgement of the headers.
        disable_nagle_algorithm = True

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number = re.search(r"part (\d+)", request["messages"][-1]["content"])[1]
            message = {"role": "assistant", "content": content(request["model"], number)}
            usage = {"prompt_tokens": 1000, "completion_tokens": 40}
            answer = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Models)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return {
        "WORKING_MEMORY__LLM__PROVIDER": "openai",
        "WORKING_MEMORY__LLM__BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
        "WORKING_MEMORY__LLM__MODEL": "progress",
        "WORKING_MEMORY__LLM__ROLES__LEARNINGS__MODEL": "learnings",
        "WORKING_MEMORY__LLM__ROLES__VERBATIM__MODEL": "verbatim",
    }
