"""A stub of a good model for labelled sessions.

It identifies the session by its task, and answers as a careful writer would: with the answer in
`answers.txt`, which a person wrote in their own words, or otherwise with the sentences of the session that its labels ask for.
So it shows what the service does to good answers: whatever it rejects of them, or scores below, is the service's fault.
"""
import json
import os
import re
import sys

import harness

FLAGS = re.I | re.S
ROLES = ("CURRENT_PROGRESS", "KEY_LEARNINGS", "VERBATIM_CONTEXT")


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


def matches(patterns, *texts):
    return any(re.search(pattern, text, FLAGS) for pattern in patterns for text in texts)


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


def answer(sessions, answers, turns):
    """The answer to a prompt of one of the roles."""
    system, first, *again = [turn["content"] for turn in turns]
    header = next(header for header in ROLES if f"{header}: NO CHANGE" in system)
    if again:
        print("asked again:", again[-1], file=sys.stderr, flush=True)
        return f"{header}: NO CHANGE"
    task = re.search(r"<task>\n(.*?)\n</task>", first, re.S)[1]
    session = next((s for s in sessions if s["task"] == task and s["messages"][0]["content"][:20] in first), None)
    if not session:
        return f"{header}: NO CHANGE"
    if known := answers.get(session["id"], {}).get(header):
        return known
    if header == "CURRENT_PROGRESS":
        return progress(session)
    return records(session, header, "KL" if header == "KEY_LEARNINGS" else "VC")


def models(path):
    """Starts it for the sessions of a file; returns the settings of a service that uses it."""
    with open(path, encoding="utf-8") as file:
        sessions = [json.loads(line) for line in file if line.strip()]
    answers = written(os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers.txt"))

    def complete(request):
        message = {"role": "assistant", "content": answer(sessions, answers, request["messages"])}
        return {"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}

    return harness.model_settings(harness.serve(complete))
