"""results.json to results.md, and the table that is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.environments import HERE
from benchmarks.peers import OURS
from benchmarks.rows import ROWS

RESULTS = HERE / "results.json"
Lines = list[dict[str, Any]]

HEAD = ("row", "part", "ours", "best peer", "ratio", "goal", "× from the limit", "passes", "memory (bound)")


def read(path: Path = RESULTS) -> dict[str, Any]:
    """Results by row; none yet: empty."""
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"rows": {}}
    return found


def write(results: dict[str, Any], path: Path = RESULTS) -> None:
    """The JSON, and the table beside it."""
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    path.with_suffix(".md").write_text(document(results))


def reached(lines: Lines) -> Lines:
    return sorted((line for line in lines if line["status"] == "reached"), key=lambda line: line["seconds"])


def ours_of(part: dict[str, Any]) -> dict[str, Any] | None:
    return next((line for line in part["lines"] if line["peer"] == OURS), None)


def best_peer(part: dict[str, Any]) -> dict[str, Any] | None:
    """The quickest peer that reached the accuracy, of those that the goal is about."""
    peers = [
        line
        for line in reached(part["lines"])
        if line["peer"] != OURS and (not part["against"] or line["peer"] in part["against"])
    ]
    return peers[0] if peers else None


def ratio(part: dict[str, Any]) -> float | None:
    """The best peer's time over ours, where both reached the accuracy."""
    ours, peer = ours_of(part), best_peer(part)
    if ours is None or peer is None or ours["status"] != "reached":
        return None
    return float(peer["seconds"] / ours["seconds"])


def verdict(part: dict[str, Any]) -> str:
    """The goal, and whether it was met."""
    goal, found, ours = part["goal"], ratio(part), ours_of(part)
    if goal is None:
        return "–"
    wanted = f"≥ {goal:g}"
    faults = []
    if ours is None or ours["status"] != "reached":
        faults.append("ours did not reach the accuracy")
    elif found is not None and found < goal:
        faults.append("too slow")
    passes = ours["facts"].get("passes") if ours else None
    if part["most_passes"] is not None and passes is not None:
        wanted += f", ≤ {part['most_passes']} passes"
        if passes > part["most_passes"]:
            faults.append("too many passes")
    if faults:
        return f"{wanted}: **not reached** ({', '.join(faults)})"
    # Alone, ours is the best anyone reached by definition: that proves nothing.
    return f"{wanted}: reached" if found is not None else f"{wanted}: **not decided** (no peer reached the accuracy)"


def seconds(line: dict[str, Any] | None) -> str:
    """A time only for who reached the accuracy.

    >>> seconds({"status": "reached", "seconds": 0.0123})
    '12.3 ms'
    >>> seconds({"status": "not reached", "seconds": None, "shortfall": 2e-5})
    'not reached (2e-05)'
    """
    if line is None:
        return "–"
    if line["status"] == "reached":
        return duration(line["seconds"])
    off = line.get("shortfall")
    return line["status"] + (f" ({off:.1g})" if off is not None and line["status"].startswith("not reached") else "")


def duration(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def megabytes(count: float | None) -> str:
    return "–" if count is None else f"{count / 1e6:.0f} MB"


def memory(part: dict[str, Any], line: dict[str, Any] | None) -> str:
    if line is None or line["extra"] is None:
        return "–"
    if part["memory_bound"] is None:
        return f"{megabytes(line['extra'])} in all"
    over = " **over**" if line["extra"] > part["memory_bound"] else ""
    return f"{megabytes(line['extra'])} ({megabytes(part['memory_bound'])}){over}"


def summary_line(name: str, part: dict[str, Any]) -> tuple[str, ...]:
    ours, peer, found = ours_of(part), best_peer(part), ratio(part)
    limit = part["limit_seconds"]
    timed = ours is not None and ours["status"] == "reached" and limit
    return (
        name,
        part["name"],
        seconds(ours),
        f"{seconds(peer)}, {peer['peer']} {peer['contestant']}" if peer else "none reached the accuracy",
        "–" if found is None else f"{found:.2f}",
        verdict(part),
        f"{ours['seconds'] / limit:.1f}" if timed and ours else "–",
        str(ours["facts"].get("passes", "–")) if ours else "–",
        memory(part, ours),
    )


def aligned(head: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    """A table of Markdown whose columns line up."""
    widths = [max(len(line[j]) for line in (head, *lines)) for j in range(len(head))]
    ruled = ["-" * width for width in widths]
    rows = (head, tuple(ruled), *lines)
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows
    )


def ordered(results: dict[str, Any]) -> list[str]:
    return [name for name in ROWS if name in results["rows"]]


def summary(results: dict[str, Any], names: list[str] | None = None) -> str:
    chosen = [name for name in ordered(results) if names is None or name in names]
    return aligned(HEAD, [summary_line(name, part) for name in chosen for part in results["rows"][name]["parts"]])


def detail(part: dict[str, Any]) -> str:
    """Every contestant of a part, the quickest first."""
    lines = reached(part["lines"])
    lines += [line for line in part["lines"] if line["status"] != "reached"]
    limit = part["limit_seconds"]
    rows = []
    for line in lines:
        timed = line["status"] == "reached"
        spread = f"{duration(line['spread'][0])} … {duration(line['spread'][1])}" if timed else ""
        rung = " ".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in line["rung"].items())
        facts = ", ".join(f"{k} {v}" for k, v in line["facts"].items() if k in ("iterations", "passes"))
        rows.append(
            (
                f"{line['peer']} {line['contestant']}",
                seconds(line),
                spread,
                str(line["repeats"]) if timed else "",
                f"{line['seconds'] / limit:.1f}" if timed and limit else "",
                "" if line["shortfall"] is None else f"{line['shortfall']:.1e}",
                "" if line["value"] is None else f"{line['value']:.10g}",
                megabytes(line["extra"]) if timed else "",
                "; ".join(filter(None, (rung, facts, line["note"]))),
            )
        )
    head = ("contestant", "median", "spread", "runs", "× limit", "shortfall", part["shown"], "memory", "settings")
    return aligned(head, rows)


INTRODUCTION = """# Side by side with peers

Written by `python -m benchmarks`. Ratio: the best peer's median time over ours; a time is shown only for who reached
the row's accuracy, by the objective in the rows' own units against the best anyone reached. × from the limit: our time
over max(bytes ÷ measured bandwidth, operations ÷ measured peak) of the least work that the row needs. Memory: peak
beyond the input, against max(5 % of X, 64 MB) + 64 ((n + d) K + d²) bytes, and 16 for each weight of a path's fits. A
run is stopped at the limit it was given (60 s unless asked for less), or where it is 20 times slower than the quickest;
it is shown as "> … s", with that limit.
"""


GROWTH = """Time to a relative suboptimality of 1e-8, by the number of rows n, of columns d, of classes K and of a
sparse matrix's entries; "–": not reached in the time given. `python -m benchmarks scaling` measures it and draws
scaling.svg."""


def growth(name: str, curves: dict[str, Any]) -> str:
    """One table of who took how long, a column a size."""
    found = {who: dict(map(tuple, points)) for who, points in curves.items()}
    sizes = sorted({size for points in found.values() for size in points})
    lines = [(who, *(duration(at[size]) if size in at else "–" for size in sizes)) for who, at in found.items()]
    return aligned((name, *(f"{size:,}".replace(",", " ") for size in sizes)), lines)


def document(results: dict[str, Any]) -> str:
    text = [INTRODUCTION, summary(results), ""]
    if "scaling" in results:
        text += ["## How time grows", "", GROWTH, ""]
        text += [line for name, curves in results["scaling"].items() for line in (growth(name, curves), "")]
    for name in ordered(results):
        row = results["rows"][name]
        text += [f"## {name}: {row['about']}", "", _machine(row), ""]
        for part in row["parts"]:
            text += [f"### {name}{': ' + part['name'] if part['name'] else ''}", "", f"Accuracy {part['accuracy']:g}."]
            text += ["", detail(part), ""]
    return "\n".join(text)


def _machine(row: dict[str, Any]) -> str:
    m, limits = row["machine"], row["limits"]
    small = " **Smaller than the row says: a smoke test.**" if row["shrink"] != 1 else ""
    if m["load"] > 0.5:
        small += f" **Load {m['load']} before the start: the machine was busy, and these times mean little.**"
    versions = "; ".join(
        f"{peer}: {', '.join(f'{name} {number}' for name, number in found.items())}"
        for peer, found in row["versions"].items()
    )
    return (
        f"{m['date']}, {m['processor']}, {m['cores']} cores, {m['memory_gb']} GB, {m['system']}, Python {m['python']}; "
        f"{limits['bandwidth'] / 1e9:.1f} GB/s, {limits['double'] / 1e9:.0f} Gflop/s (float64), "
        f"{limits['single'] / 1e9:.0f} Gflop/s (float32).{small}\n\nVersions: {versions}."
    )
