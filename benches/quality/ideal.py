#!/usr/bin/env python3
"""A stub of a good model: a chat-completions server on loopback for labelled sessions.

    ideal.py sessions.jsonl [--port 8099] [--answers answers.txt]

It identifies the session by its task, and answers as a careful writer would: with the answer in
`answers.txt`, which a person wrote in their own words, or otherwise with the sentences of the session that its labels ask for.
So it shows what the service does to good answers: whatever it rejects of them, or scores below, is the service's fault.
"""
import argparse
import http.server
import json
import os
import re
import sys

FLAGS = re.I | re.S
ROLES = {"CURRENT_PROGRESS": "progress", "KEY_LEARNINGS": "learnings", "VERBATIM_CONTEXT": "verbatim"}


def written(path):
    """The answers that a person wrote: `== id`, and below it one block per role."""
    answers, block = {}, None
    for line in open(path, encoding="utf-8"):
        header = re.match(r"(\w+):", line)
        if line.startswith("== "):
            session = answers.setdefault(line[3:].strip(), {})
        elif header and header[1] in ROLES:
            block = header[1]
            session[block] = line
        elif block:
            session[block] += line
    return answers


def matches(patterns, text):
    return any(re.search(pattern, text, FLAGS) for pattern in patterns)


def sentences(session):
    for message in session["messages"]:
        if message["role"] != "tool":
            for line in message["content"].split("\n"):
                yield from (s.strip() for s in re.split(r"(?<=[.!?])\s+|(?<=[。！？])", line) if s.strip())


def wanted(session, places):
    """The shortest sentence for each label of these sections that is not forbidden there."""
    found = []
    for label in session["must"]:
        if label["in"] in places:
            barred = [e["any"] for e in session["must_not"] if e["in"] in places + ["any"]]
            good = [s for s in sentences(session) if matches(label["any"], s) and not any(matches(b, s) for b in barred)]
            if good and min(good, key=len) not in found:
                found.append(min(good, key=len))
    return found


def progress(session):
    done, left = wanted(session, ["completed"]), wanted(session, ["progress", "remaining", "in_progress"])
    left = [s for s in left if s not in done]
    if not done and not left:
        return "CURRENT_PROGRESS: NO CHANGE"
    text = "CURRENT_PROGRESS:\n"
    for name, bullets in (("Completed", done), ("In Progress", left[:1] or [session["task"]]), ("Remaining", left[1:])):
        text += f"  {name}:\n" + "".join(f"    - {b}\n" for b in bullets) if bullets else ""
    return text


def records(session, header, kind):
    place, noun = ("learnings", "insight") if kind == "KL" else ("verbatim", "snippet")
    added = wanted(session, [place, "any"] if kind == "KL" else [place])[:3]
    gone = [i for i in session["archive"] if i.startswith(kind)]
    if not added and not gone:
        return f"{header}: NO CHANGE"
    text = f"{header}:\n"
    if added:
        text += "  ADD:\n"
        for sentence in added:
            label = "" if kind == "KL" else f"{session['task'].replace('=', ' ')} =>\n        "
            text += f"    - because it was said and matters later: {label}{sentence}\n"
    if gone:
        text += "  ARCHIVE:\n" + "".join(f"    - {i} because the messages make this {noun} wrong\n" for i in gone)
    return text


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


def handler(sessions, answers):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            system, turns = body["messages"][0]["content"], body["messages"][1:]
            header = next(h for h in ROLES if f"{h}: NO CHANGE" in system)
            asked_again = len(turns) > 1
            text = f"{header}: NO CHANGE" if asked_again else self.answer(header, turns[0]["content"])
            if asked_again:
                print("asked again:", turns[-1]["content"], file=sys.stderr, flush=True)
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            data = json.dumps({"object": "chat.completion", "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def answer(self, header, turn):
            task = re.search(r"<task>\n(.*?)\n</task>", turn, re.S)[1]
            session = next((s for s in sessions if s["task"] == task and s["messages"][0]["content"][:20] in turn), None)
            if not session:
                return f"{header}: NO CHANGE"
            known = answers.get(session["id"], {}).get(header)
            if known:
                return known
            return progress(session) if header == "CURRENT_PROGRESS" else \
                records(session, header, "KL" if header == "KEY_LEARNINGS" else "VC")

    return Handler


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions")
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--answers", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers.txt"))
    given = parser.parse_args()
    sessions = [json.loads(line) for line in open(given.sessions, encoding="utf-8") if line.strip()]
    Server(("127.0.0.1", given.port), handler(sessions, written(given.answers))).serve_forever()


if __name__ == "__main__":
    main()
