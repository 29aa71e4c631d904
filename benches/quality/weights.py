#!/usr/bin/env python3
"""Fits the weights of `src/llm/extractive/weights.rs` to labelled sessions, and scores them on authors left out.

    pip install scikit-learn
    python3 benches/quality/weights.py

The unit test `what_is_noticed_is_written_down` writes each candidate sentence with its features. A sentence is
good if it matches a must or a may of its session and no must_not. Sessions with a tag that begins with `unread` are not used.
For each author the weights are fitted to all others, and the three best sentences of each session above a threshold are
compared with the labels; the last lines are the table that is fitted to all, in integers.
"""
import collections
import json
import os
import re
import subprocess
import tempfile

import numpy as np
from sklearn.linear_model import LogisticRegression

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data", "quality")
FLAGS = re.I | re.S
SCALE = 10  # a weight of 10 is one in the logarithm of the odds


def author(session):
    """The most specific tag of a set, or `base`."""
    sets = sorted(t for t in session["tags"] if t.startswith(("unseen", "unread")))
    return max(sets, key=len) if sets else "base"


def sessions():
    found = {}
    for name in ("sessions.jsonl", "unseen.jsonl"):
        with open(os.path.join(DATA, name), encoding="utf-8") as lines:
            for s in map(json.loads, filter(str.strip, lines)):
                if not any(tag.startswith("unread") for tag in s["tags"]):
                    found[s["id"]] = s
    return found


def noticed(found):
    """The features of each sentence."""
    with tempfile.TemporaryDirectory() as folder:
        of, to = os.path.join(folder, "sessions"), os.path.join(folder, "noticed")
        with open(of, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(s) + "\n" for s in found.values())
        test = ["cargo", "test", "--lib", "what_is_noticed_is_written_down", "--", "--ignored"]
        subprocess.run(test, check=True, cwd=ROOT, env={**os.environ, "SESSIONS": of, "NOTICED": to})
        with open(to, encoding="utf-8") as f:
            return [json.loads(line) for line in f]


def matches(patterns, texts):
    return any(re.search(p, t, FLAGS) for p in patterns for t in texts)


def label(session, row):
    """Whether a sentence is good, and which musts it matches."""
    texts = [row["text"], f"{row['reason']}: {row['text']}"]
    musts = [i for i, m in enumerate(session["must"])
             if m["in"] in ("learnings", "any") and matches(m["any"], texts)]
    forbidden = any(m["in"] in ("learnings", "any") and matches(m["any"], texts[1:]) for m in session["must_not"])
    return bool((musts or matches(session["may"], texts)) and not forbidden), musts


def fit(rows, names):
    """Integer weights and the threshold at even odds."""
    x = np.array([[r["noticed"][n] for n in names] for r in rows], float)
    most = np.maximum(1, x.max(0))
    model = LogisticRegression(C=1.0, max_iter=5000).fit(x / most, [r["good"] for r in rows])
    return [round(w * SCALE) for w in model.coef_[0] / most], -model.intercept_[0] * SCALE


def score(row, names, weights):
    return sum(w * row["noticed"][n] for n, w in zip(names, weights))


def main():
    found = sessions()
    rows = noticed(found)
    for r in rows:
        r["author"] = author(found[r["id"]])
        r["good"], r["musts"] = label(found[r["id"]], r)
    names = list(rows[0]["noticed"])
    authors = sorted({r["author"] for r in rows})
    even = []
    for left_out in authors:
        weights, middle = fit([r for r in rows if r["author"] != left_out], names)
        even.append(middle)
        for r in rows:
            if r["author"] == left_out:
                r["score"] = score(r, names, weights) - middle
    by = collections.defaultdict(list)
    for r in rows:
        by[r["id"]].append(r)
    print("authors left out: above even, kept, good %, musts of learnings met %")
    for bound in range(0, 45, 5):
        kept = met = 0
        good = 0
        for of in by.values():
            best = sorted((r for r in of if r["score"] >= bound), key=lambda r: -r["score"])[:3]
            kept, good = kept + len(best), good + sum(r["good"] for r in best)
            met += len({m for r in best for m in r["musts"]})
        wanted = sum(m["in"] in ("learnings", "any") for s in found.values() for m in s["must"])
        print(f"{bound:5} {kept:5} {100 * good / max(kept, 1):5.1f} {100 * met / wanted:5.1f}")
    weights, middle = fit(rows, names)
    print(f"fitted to all {len(rows)} sentences; even at {middle:.0f} (left out: {min(even):.0f} to {max(even):.0f})")
    for name, weight in zip(names, weights):
        print(f"{weight:5} {name}")


if __name__ == "__main__":
    main()
