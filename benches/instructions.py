"""Counts the instructions of the pure parts under callgrind, and compares them with benches/instructions.txt.

    python3 benches/instructions.py [--write]

Counts do not depend on the load of the machine, so a slower parser is detected on any. They do depend on the compiler:
after a new one, check the figures of `cargo bench --bench micro` and write new counts with --write.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMITTED = HERE / "instructions.txt"
SCALES = (1, 2, 4)
# The largest allowed ratio of instructions per byte to the committed ones.
TOLERANCE = 1.05
# The largest allowed ratio at 4 times the input to that at 1: a quadratic operation has 4.
LINEAR = 1.25


def main() -> int:
    if not shutil.which("valgrind"):
        print("valgrind is missing: apt-get install valgrind", file=sys.stderr)
        return 1
    program = build()
    counts = {name: [a_byte(program, name, scale) for scale in SCALES] for name in output([program, "list"]).split()}
    committed = read()
    failed = False
    print(f"{'instructions a byte':20}" + "".join(f"{f'{scale}x':>9}" for scale in SCALES) + f"{'committed':>12}")
    for name, found in counts.items():
        remarks = []
        if found[-1] > LINEAR * found[0]:
            remarks.append("NOT LINEAR")
        if name not in committed:
            remarks.append("not committed")
        elif found[0] > TOLERANCE * committed[name]:
            remarks.append(f"SLOWER by {found[0] / committed[name] - 1:.0%}")
        elif found[0] * TOLERANCE < committed[name]:
            remarks.append("faster: commit it, with --write")
        failed |= any(remark.isupper() or remark.startswith("SLOWER") for remark in remarks)
        before = f"{committed[name]:12.2f}" if name in committed else f"{'':12}"
        print(f"{name:20}" + "".join(f"{value:9.2f}" for value in found) + before + "  " + ", ".join(remarks))
    if "--write" in sys.argv[1:]:
        lines = [f"{name} {found[0]:.2f}\n" for name, found in counts.items()]
        COMMITTED.write_text(f"# Instructions a byte at 1x; {output(['rustc', '--version']).split(' (')[0]}\n" + "".join(lines))
        return 0
    return 1 if failed else 0


def build() -> str:
    """The program, with the symbols that callgrind needs to find the counted function."""
    command = ["cargo", "bench", "--locked", "--no-run", "--bench", "micro"]
    done = subprocess.run(command, cwd=HERE.parent, stderr=subprocess.PIPE, text=True, env=os.environ)
    found = re.search(r"Executable .*micro\.rs \((.*)\)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(done.stderr)
    return str(HERE.parent / found.group(1))


def a_byte(program: str, name: str, scale: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*micro*counted*"]
        command += [f"--callgrind-out-file={folder}/out", program, "count", name, str(scale)]
        done = subprocess.run(command, capture_output=True, text=True)
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode != 0 or not found or found.group(1) == "0":
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        return int(found.group(1)) / int(done.stdout)


def output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read() -> dict[str, float]:
    if not COMMITTED.exists():
        return {}
    lines = [line.split() for line in COMMITTED.read_text().splitlines() if not line.startswith("#")]
    return {name: float(count) for name, count in lines}


if __name__ == "__main__":
    sys.exit(main())
