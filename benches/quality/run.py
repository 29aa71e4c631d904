#!/usr/bin/env python3
"""Scores what a model's updates add to memories.

    make bench-quality ARGS="--corpus sessions.jsonl"           labelled sessions: recall, precision, wrong archives
    make bench-quality ARGS="--corpus sessions.jsonl --ideal"   the same with a good model's prepared answers (ideal.py)
    make bench-quality ARGS="--planted"                         12 updates that touch none of 10 learnings and 20 facts

Starts the built program with the model that the environment configures (WORKING_MEMORY__LLM__…), or the built-in rules.
docs/quality.md describes the format of sessions.
"""
import json
import os
import sys
import time

# The harness of the measurements is in the parent folder.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness
import ideal
from ideal import matches

LISTS = ("completed", "in_progress", "remaining")
VAULT = "/v1/vaults/quality/memories"


def records(service, memory):
    items, cursor = [], ""
    while True:
        status, text = service.ask("GET", f"{memory}/records?status=all&limit=500{cursor}", allowed=(200, 404))
        page = json.loads(text) if status == 200 else {"items": [], "next_cursor": None}
        items += [r for r in page["items"] if r["kind"] in ("KL", "VC")]
        if not page["next_cursor"]:
            return items
        cursor = "&cursor=" + page["next_cursor"]


def progress_of(service, memory):
    lists, current = {name: [] for name in LISTS}, None
    status, text = service.ask("GET", f"{memory}/context?section=progress", allowed=(200, 404))
    for line in text.decode().split("\n") if status == 200 else []:
        if line.startswith("#"):
            current = line.strip("# :").lower().replace(" ", "_")
        elif line.startswith("- ") and current in lists:
            lists[current].append(line[2:].strip())
    return lists


def update(service, memory, task, messages):
    """The answer, and the seconds that it took; no answer if the service refuses, with the reason on standard error."""
    begun = time.monotonic()
    status, text = service.ask("POST", f"{memory}/update", {"task": task, "messages": messages}, allowed=range(600))
    if status != 200:
        print(f"{memory}: {status} {text.decode()[:300]}", file=sys.stderr)
    return (json.loads(text) if status == 200 else None), time.monotonic() - begun


# ---- labelled sessions ------------------------------------------------------------------------------------

def stands_in(place, added, progress):
    """The texts of a section of labels."""
    texts = []
    for record in added:
        if place in ("any", "learnings" if record["kind"] == "KL" else "verbatim"):
            texts.append(record["content"] if record["kind"] == "VC" else f"{record['reason']}: {record['content']}")
    for name in LISTS:
        if place in ("any", "progress", name):
            texts += progress[name]
    return texts


def play(service, session):
    """What an update did, against the labels; None without an answer."""
    memory = f"{VAULT}/{session['id']}"
    if session.get("prior"):
        service.ask("PUT", f"{memory}/context", session["prior"])
    before = {r["record_id"] for r in records(service, memory)}
    progress_before = progress_of(service, memory)
    answer, seconds = update(service, memory, session["task"], session["messages"])
    if answer is None:
        return None
    found, progress = records(service, memory), progress_of(service, memory)
    added = [r for r in found if r["record_id"] not in before and r["status"] == "active"]
    archived = {r["record_id"] for r in found if r["record_id"] in before and r["status"] == "archived"}

    def is_good(record):
        place = "learnings" if record["kind"] == "KL" else "verbatim"
        own = stands_in(place, [record], progress)
        wanted = [e["any"] for e in session["must"] if e["in"] in (place, "any")] + [[m] for m in session["may"]]
        barred = [e["any"] for e in session["must_not"] if e["in"] in (place, "any")]
        return any(matches(p, *own) for p in wanted) and not any(matches(p, *own) for p in barred)

    misses = [e["what"] for e in session["must"] if not matches(e["any"], *stands_in(e["in"], added, progress))]
    hits = [e["what"] for e in session["must_not"] if matches(e["any"], *stands_in(e["in"], added, progress))]
    junk = [r for r in added if not is_good(r)]
    return {
        "kinds": [session["kind"]] + session.get("tags", []) + (["not English"] if session["lang"] != "en" else []),
        "id": session["id"], "musts": len(session["must"]), "misses": misses, "must_nots": len(session["must_not"]),
        "hits": hits, "added": len(added), "junk": junk, "archive": len(session["archive"]),
        "archived": len(archived & set(session["archive"])), "wrongful": sorted(archived - set(session["archive"])),
        "noop": (not added and not archived and progress == progress_before)
        if "noop" in session.get("tags", []) else None,
        "unfounded": [r["content"] for r in added if not r.get("evidence")],
        "rejected": answer["rejected"], "seconds": seconds,
    }


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def corpus(service, path, verbose):
    with open(path, encoding="utf-8") as file:
        played = [play(service, json.loads(line)) for line in file if line.strip()]
    results = [result for result in played if result]
    print("| sessions | n | recall | added | precision | must_not hits | archive recall | wrongful | no-op | rejected | s |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for kind in sorted({kind for r in results for kind in r["kinds"]}) + ["all"]:
        some = [r for r in results if kind == "all" or kind in r["kinds"]]

        def total(of):
            return sum(len(of(r)) if isinstance(of(r), list) else of(r) for r in some)
        musts, added, noops = total(lambda r: r["musts"]), total(lambda r: r["added"]), \
            [r["noop"] for r in some if r["noop"] is not None]
        print(f"| {kind} | {len(some)} | {percent(musts - total(lambda r: r['misses']), musts)} | {added} "
              f"| {percent(added - total(lambda r: r['junk']), added)} "
              f"| {total(lambda r: r['hits'])} of {total(lambda r: r['must_nots'])} "
              f"| {percent(total(lambda r: r['archived']), total(lambda r: r['archive']))} "
              f"| {total(lambda r: r['wrongful'])} | {sum(noops)} of {len(noops)} "
              f"| {total(lambda r: r['rejected'])} | {total(lambda r: r['seconds']):.1f} |")
    if verbose:
        for r in results:
            for what in r["misses"]:
                print(f"{r['id']}: misses {what}")
            for what in r["hits"]:
                print(f"{r['id']}: holds what it must not: {what}")
            for record in r["junk"]:
                print(f"{r['id']}: junk {record['kind']} {record['content'][:160]!r}")
            for record in r["wrongful"]:
                print(f"{r['id']}: wrongly archived {record}")
    return None if len(results) == len(played) else "some updates have no answer"


# ---- planted learnings ------------------------------------------------------------------------------------

LEARNINGS = [
    "harbour cranes stop above wind force nine", "the tide table is bought from the Norwegian institute",
    "containers with lithium stand in row F only", "pilots board at buoy 17 before dawn",
    "the customs office closes for the saint's day", "reefers draw 11 kilowatts while cooling down",
    "the dredger may not work during herring spawning", "lashing gangs change at quarter past six",
    "gantry 4 has a softer brake than the others", "the berth plan is frozen two hours ahead",
]
FACTS = [f"fact {n}: {what}" for n, what in enumerate((
    "the lighthouse keeper is called Ingrid", "fog signals sound every forty seconds", "the mole was built in 1911",
    "seals rest on the southern skerry", "bunker fuel arrives by barge", "the tugboat Castor has two engines",
    "salt is stored under the red roof", "the ferry to the island holds ninety cars", "anchors are forbidden over the cable",
    "the canteen serves soup at noon", "divers inspect the sluice in March", "the radio channel is 12",
    "ropes are tested to eighty tonnes", "gulls nest on the silo", "the weighbridge is accurate to twenty kilos",
    "the port chapel has a blue door", "cruise ships moor at the long quay", "the fire boat is named Neptun",
    "snow is pushed into the old dock", "the archive holds charts from 1780"), 1)]
TASKS = [
    ("Add a retry to the invoice mailer.", "The SMTP server answers 421 under load. I wrapped send_invoice() in a retry of three attempts."),
    ("Fix the login page on Safari.", "Safari drops the session cookie because SameSite=None needs Secure. Setting Secure fixed it."),
    ("Speed up the product search.", "The query did a sequential scan. An index on products(name) brought it from 900 ms to 40 ms."),
    ("Upgrade to Python 3.13.", "asyncio.get_event_loop() warns now; I replaced it by asyncio.run() in worker.py."),
    ("Write the weekly report.", "Sales grew by 4 percent. Maria asked for the chart by region until Friday."),
    ("Translate the help page.", "The German text is done, French is half way, Spanish has not begun."),
    ("Clean up feature flags.", "Flags beta_cart and beta_search are unused. I removed beta_cart; beta_search remains."),
    ("Investigate the memory leak.", "The image cache has no limit. Decision: cap it at 512 MB with an LRU."),
    ("Plan the team offsite.", "We decided on Graz from 3 to 5 September. Jonas books the hotel."),
    ("Review the pull request of Priya.", "Her parser misses escaped quotes. She adds a test for it."),
    ("Set up the new laptop.", "Run `make setup` after installing the toolchain; it fails without clang."),
    ("Answer the customer's question.", "The export limit is 10,000 rows for each file. Larger exports come by mail."),
]


def planted(service, examples=("quonx", "zorble", "vrimble", "blimp")):
    memory = f"{VAULT}/harbour"
    document = "# Facts\n" + "".join(f"- {fact}\n" for fact in FACTS) + "\n# Key Learnings\n" + \
        "".join(f"- KL-{n} because it was told: {text}\n" for n, text in enumerate(LEARNINGS, 1))
    service.ask("PUT", f"{memory}/context", document)
    kinds, answers, seconds = {}, 0, 0.0
    for task, message in TASKS:
        answer, took = update(service, memory, task, [{"role": "user", "content": message}])
        if answer is None:
            continue
        seconds, answers = seconds + took, answers + 1
        for rejected in answer["rejected"]:
            kinds[rejected["kind"]] = kinds.get(rejected["kind"], 0) + 1
    text = service.ask("GET", f"{memory}/context")[1].decode()
    found, progress = records(service, memory), progress_of(service, memory)
    active = {r["record_id"] for r in found if r["status"] == "active"}
    kept = sum(f"KL-{n}" in active for n in range(1, 11)) + sum(f"- {fact}\n" in text for fact in FACTS)
    added = [r for r in found if int(r["record_id"].split("-")[1]) > 10 or r["kind"] == "VC"]
    bullets = [b for name in LISTS for b in progress[name]]
    copied = [t for t in [r["content"] for r in added] + bullets if any(e in t.lower() for e in examples)]
    unfounded = [r["content"] for r in added if not r.get("evidence")]
    print(f"updates answered {answers} of {len(TASKS)}, kept {kept} of 30, added {len(added)}, without evidence "
          f"{len(unfounded)}, from the examples {len(copied)}, bullets {len(bullets)}, {seconds:.0f} s")
    print("rejected: " + (", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())) or "nothing"))
    for record in added:
        print(f"  {record['record_id']} {record['status']}: {record['content'][:150]!r}")
    for bullet in bullets:
        print(f"  bullet: {bullet[:150]}")
    good = answers == len(TASKS) and kept == 30 and not copied and not unfounded
    return None if good else "an update has no answer, or something was lost or invented"


def inner(arguments):
    models = ideal.models(arguments.corpus) if arguments.ideal else {}
    with harness.Service(arguments.program, **models) as service:
        return corpus(service, arguments.corpus, arguments.verbose) if arguments.corpus else planted(service)


def options(parser):
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--corpus", metavar="FILE", help="labelled sessions, one JSON object a line")
    what.add_argument("--planted", action="store_true", help="planted learnings that no task touches")
    parser.add_argument("--ideal", action="store_true", help="with the prepared answers of a good model")
    parser.add_argument("-v", "--verbose", action="store_true", help="every miss, junk record and wrong archive")


if __name__ == "__main__":
    harness.main(inner, options)
