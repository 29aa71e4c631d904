#!/usr/bin/env python3
"""Measures how well searches find what is meant, and how fast.

    make bench-search                       the judged queries, with the model of the wheel `wordllama`
    make bench-search ARGS="--show hybrid"  and what each query finds

500 memories and 150 queries (judged-*.txt: `=` a memory, `~` others, `?` the query for the `=` above), in five languages:
paraphrases, names, numbers, negations. Starts the built program with a data folder of its own and, on loopback, the
embeddings API. Prints nDCG@10 by group and mode and fails if hybrid is worse than one of the others, or less than 0.10
better than text on paraphrases.
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.parse

# The harness of the measurements is in the parent folder.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness

HERE = pathlib.Path(__file__).resolve().parent
MODES = ("text", "semantic", "hybrid")
WHEEL = "wordllama==0.4.0.post1"


def judged():
    """Memories, and queries as (group, language, text, memory)."""
    memories, queries = {}, []
    for path in sorted(HERE.glob("judged-*.txt")):
        language, group, meant = path.stem.removeprefix("judged-"), "", None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            if line.startswith("["):
                group = line.strip("[]")
            elif line.startswith("?"):
                queries.append((group, language, line[2:], meant))
            elif line:
                name = f"{language}-{number}"
                memories[name] = line[2:]
                meant = name if line.startswith("=") else meant
    return memories, queries


def model():
    """The model in the wheel, loaded by its own loader, without any download."""
    import wordllama

    root = pathlib.Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=root, disable_download=True)


def serve_embeddings():
    embedder, lock = model(), threading.Lock()

    def answer(asked):
        with lock:
            vectors = embedder.embed(asked["input"])
        data = [{"index": index, "embedding": vector.tolist()} for index, vector in enumerate(vectors)]
        return {"data": data, "usage": {"prompt_tokens": 0}}

    return harness.serve(answer)


def indexed(service):
    """Waits until every memory has its vectors."""
    for _ in range(600):
        command = [service.program, "embeddings", "status", "--json"]
        told = subprocess.run(command, env=service.environment, capture_output=True, text=True, check=True).stdout
        spaces = json.loads(told)["spaces"]
        if spaces and spaces[0]["ready_at"] and spaces[0]["pending"] == 0:
            return spaces[0]
        time.sleep(0.3)
    sys.exit("the memories are not embedded in time")


def ndcg(found, meant):
    """One memory is expected: the ideal is that it comes first."""
    return 1 / math.log2(found.index(meant) + 2) if meant in found else 0.0


def inner(options):
    memories, queries = judged()
    embeddings = {
        "WORKING_MEMORY__EMBEDDINGS__BASE_URL": serve_embeddings(),
        "WORKING_MEMORY__EMBEDDINGS__MODEL": "wordllama-256",
    }
    with harness.Service(options.program, **embeddings) as service:
        begun = time.monotonic()
        for name, text in memories.items():
            service.put("judged", name, f"# Facts\n{text}\n")
        space = indexed(service)
        print(f"{len(memories)} memories, {space['passages']} passages, indexed {time.monotonic() - begun:.1f} s after the first put")
        scores, times = {}, {mode: [] for mode in MODES}
        for group, language, text, meant in queries:
            for mode in MODES:
                path = f"/v1/vaults/judged/search?limit=10&mode={mode}&q={urllib.parse.quote(text)}"
                begun = time.monotonic()
                page = json.loads(service.ask("GET", path)[1])
                times[mode].append(time.monotonic() - begun)
                assert page["mode"] == mode and not page["degraded"], page
                found = [item["memory_id"] for item in page["items"]]
                for key in (group, language, "all"):
                    scores.setdefault(key, {}).setdefault(mode, []).append(ndcg(found, meant))
                if options.show == mode:
                    print(f"{ndcg(found, meant):.2f} {group} {language}: {text} -> {[memories[name] for name in found[:3]]}")
    means, failed = {}, []
    print(f"{'nDCG@10':<12} {'queries':>7} {'text':>7} {'semantic':>9} {'hybrid':>7}")
    for key, by_mode in scores.items():
        text, semantic, hybrid = (sum(by_mode[mode]) / len(by_mode[mode]) for mode in MODES)
        means[key] = (text, semantic, hybrid)
        print(f"{key:<12} {len(by_mode['text']):>7} {text:>7.3f} {semantic:>9.3f} {hybrid:>7.3f}")
        if hybrid + 1e-9 < max(text, semantic):
            failed.append(f"{key}: hybrid {hybrid:.3f} is below {max(text, semantic):.3f}")
    text, _, hybrid = means["paraphrase"]
    if hybrid < text + 0.10:
        failed.append(f"paraphrase: hybrid {hybrid:.3f} is not 0.10 above text {text:.3f}")
    for mode in MODES:
        ordered = sorted(times[mode])
        middle, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
        print(f"{mode}: median {middle * 1e3:.1f} ms, 95 of 100 within {high * 1e3:.1f} ms (one client, with HTTP)")
    return "\n".join(failed) or None


if __name__ == "__main__":
    python = harness.python_with("search-bench", WHEEL)
    if sys.prefix != os.path.dirname(os.path.dirname(python)):
        os.execv(python, [python, *sys.argv])
    harness.main(inner, lambda parser: parser.add_argument("--show", choices=MODES, help="print what each query finds in this mode"))
