"""Prints the figures as one page: the targets, the machine, the command."""

import datetime
from dataclasses import dataclass, field

from cells import CELLS, HISTORY_AT_MOST, MEMORY_MIB_AT_MOST, RATIOS, UPDATE_ADDS_AT_MOST
from history import VERSIONS

@dataclass
class Measured:
    """The results of a run; figures by the names of the cells."""

    seconds: int
    rounds: int
    load_before: str
    machine: list[str] = field(default_factory=list)
    cells: dict[str, dict] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    history: dict[str, list[float | None]] = field(default_factory=dict)
    memory_mib: float = 0.0
    most_memory_mib: float = 0.0


def text(measured: Measured) -> str:
    today = datetime.date.today().isoformat()
    lines = [
        f"`make bench` on {today}: {'; '.join(measured.machine)}. Load average before: {measured.load_before}.",
        f"10,000 memories of 4 KB in 100 vaults; 32 connections unless stated; medians of {measured.rounds} rounds of"
        f" {measured.seconds} s each after a warm-up; load generators, service, peers and database share the cores.",
        "",
        "| | a second | p50, ms | p99, ms |",
        "|---|---:|---:|---:|",
    ]
    for cell in CELLS:
        if found := measured.cells.get(cell.name):
            figures = f"{found['per_second']:,.0f} | {found['p50_ms']:.2f} | {found['p99_ms']:.2f}"
            lines.append(f"| {cell.title} | {figures} |")
        elif why := measured.skipped.get(cell.name):
            lines.append(f"| {cell.title} | not measured: {why} | | |")
    lines += ["", "| | measured | target | |", "|---|---:|---:|---|"]
    lines += [f"| {title} | {value} | {target} | {'met' if met else '**missed**'} |" for title, value, target, met in _against(measured)]
    if measured.history:
        lines += ["", "p50 in ms, one request at a time, by the number of versions of the memory:", ""]
        lines += ["| versions | " + " | ".join(f"{count:,}" for count in VERSIONS) + " |", "|---|" + "---:|" * len(VERSIONS)]
        for name, values in measured.history.items():
            lines.append(f"| {name} | " + " | ".join("" if value is None else f"{value:.3f}" for value in values) + " |")
    return "\n".join(lines)


def _against(measured: Measured):
    """Title, figure, target, whether it is met; for the measured cells."""
    for ratio in RATIOS:
        others = [measured.cells[name]["per_second"] for name in ratio.to if name in measured.cells]
        if ratio.cell in measured.cells and others:
            value = measured.cells[ratio.cell]["per_second"] / max(others)
            yield ratio.title, f"{value:.2f}", f"≥ {ratio.at_least:g}", value >= ratio.at_least
    for name, limit in UPDATE_ADDS_AT_MOST.items():
        if found := measured.cells.get(name):
            title = f"`/update` p50 above its models', {name.removeprefix('update-')} in flight"
            yield title, f"{found['added_ms']:.1f} ms", f"≤ {limit:g} ms", found["added_ms"] <= limit
    if latest := measured.history.get("GetLatestContext"):
        value = latest[-1] / latest[0]
        yield "GetLatestContext p50, 100,000 versions ÷ 1", f"{value:.2f}", f"≤ {HISTORY_AT_MOST}", value <= HISTORY_AT_MOST
    title = f"service memory after the run (at most {measured.most_memory_mib:.0f} MiB during it)"
    yield title, f"{measured.memory_mib:.0f} MiB", f"≤ {MEMORY_MIB_AT_MOST:g} MiB", measured.memory_mib <= MEMORY_MIB_AT_MOST
