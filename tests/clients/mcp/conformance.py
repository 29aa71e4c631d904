"""The protocol's own conformance tests: conformance.py NODE NODE_MODULES URL.

Every scenario for servers is run or stands in not_applicable.txt with its reason, so that a new one is noticed.
"""

import pathlib
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).parent
node, modules, url = sys.argv[1:]
tool = [node, f"{modules}/@modelcontextprotocol/conformance/dist/index.js"]

excused = {}
for line in (HERE / "not_applicable.txt").read_text().splitlines():
    if line.strip() and not line.startswith("#"):
        name, reason = line.split(":", 1)
        excused[name.strip()] = reason.strip()

listed = subprocess.run([*tool, "list"], capture_output=True, text=True, check=True).stdout
servers = listed.split("Server scenarios", 1)[1].split("Client scenarios", 1)[0]
scenarios = dict(re.findall(r"^\s+- (\S+) \[(.*)\]$", servers, re.MULTILINE))
unknown = sorted({name.split("@")[0] for name in excused} - set(scenarios))
if unknown:
    sys.exit(f"not_applicable.txt names scenarios that do not exist: {', '.join(unknown)}")


def runs():
    for name, versions in scenarios.items():
        if name not in excused:
            for version in versions.split(","):
                if version != "extension" and f"{name}@{version}" not in excused:
                    yield name, version


def lacks_only_fixtures(told):
    """Some checks of a scenario ask for tools of the test suite's own example server; the others still count."""
    errors = re.findall(r"^\s*Error: (.*)$", told, re.MULTILINE)
    failures = len(re.findall(r"^  - \w+: ", told.split("=== Failed Checks ===")[-1], re.MULTILINE))
    # A call of a tool that there is not is a tool error here, which one check takes for a run of it.
    fixtures = ("Not testable: server does not list the diagnostic tool", "Server executed 'test_missing_capability'")
    return bool(errors) and failures == len(errors) and all(error.startswith(fixtures) for error in errors)


def run(job):
    name, version = job
    done = subprocess.run(
        [*tool, "server", "--url", f"{url}/mcp", "--scenario", name, "--spec-version", version],
        capture_output=True, text=True, timeout=120,
    )
    return name, version, done


begun, failed, count = time.monotonic(), 0, 0
with ThreadPoolExecutor(2) as pool:
    for name, version, done in pool.map(run, list(runs())):
        count += 1
        if done.returncode and not lacks_only_fixtures(done.stdout):
            failed += 1
            print(f"   {name} ({version}) FAILED\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
print(f"   {count} runs, {failed} failed, {len(excused)} scenarios not applicable, {time.monotonic() - begun:.0f} s")
sys.exit(failed > 0)
