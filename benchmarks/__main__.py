"""python -m benchmarks [NAME ...]: the table of times, side by side with peers."""

from __future__ import annotations

import argparse
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import limits, scaling, table
from benchmarks.contest import Settings
from benchmarks.environments import HERE
from benchmarks.peers import PEERS
from benchmarks.rows import ROWS
from benchmarks.session import run_rows, session

SCALING = "scaling"
SMALLER = 50


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows to run, or 'scaling'; none: all of them")
    parser.add_argument("--rows", dest="more", default="", help="the same as NAMEs, with commas between")
    parser.add_argument("--peers", default="", help="only these peers, with commas between; ours is always there")
    parser.add_argument("--list", action="store_true", help="say which rows and peers there are")
    parser.add_argument("--quick", action="store_true", help=f"about {SMALLER} times smaller: does it run?")
    parser.add_argument("--repeats", type=int, default=Settings.repeats, help="timed runs each (%(default)s)")
    parser.add_argument("--limit", type=float, default=Settings.limit, help="seconds for one run (%(default)s)")
    parser.add_argument(
        "--out", type=Path, help="results.json to update; by default the one here, or a scratch one of --quick"
    )
    found = parser.parse_args(given)
    found.names += [name for name in found.more.split(",") if name]
    unknown = [name for name in found.names if name not in ROWS and name != SCALING]
    if unknown:
        parser.error(f"NAME: got {', '.join(unknown)}; choose of {', '.join(ROWS)}, {SCALING}")
    chosen = [name for name in found.peers.split(",") if name]
    strange = [name for name in chosen if name not in PEERS]
    if strange:
        parser.error(f"--peers: got {', '.join(strange)}; choose of {', '.join(PEERS)}")
    found.peers = tuple(name for name in PEERS if not chosen or name in chosen or PEERS[name].module == "ours")
    if found.repeats < 1:
        parser.error(f"--repeats: got {found.repeats}; give at least 1")
    return found


def listing() -> str:
    lines = [f"{row.name:<16}{row.about} ({len(row.parts)})" for row in ROWS.values()]
    return "\n".join([*lines, f"{SCALING:<16}how time grows with n, d, K and nnz", "", f"peers: {', '.join(PEERS)}"])


def main(given: list[str] | None = None) -> int:
    asked = arguments(given)
    if asked.list:
        print(listing())
        return 0
    # A smoke test must not overwrite what was measured at full size.
    path = asked.out or (HERE / ".quick" / "results.json" if asked.quick else table.RESULTS)
    path.parent.mkdir(exist_ok=True)
    results = table.read(path)
    names = asked.names or [*ROWS, SCALING]
    settings = Settings(repeats=asked.repeats, limit=asked.limit)
    if asked.quick:
        settings = replace(settings, budget=8.0, least=4.0)

    def keep(name: str, found: dict[str, Any]) -> None:
        results["rows"][name] = found
        table.write(results, path)

    if limits.load() > 0.5:
        busy = f"benchmarks: the load is {limits.load():.1f} before anything runs: times of a busy machine mean little"
        print(busy, file=sys.stderr, flush=True)
    machine = limits.machine()
    print("benchmarks: measuring the machine's limits", file=sys.stderr, flush=True)
    measured = limits.measure(*((64, 500, 2) if asked.quick else ()))
    shrink = SMALLER if asked.quick else 1
    # Ended from outside as by Ctrl-C: workers and files must go.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with session(settings, measured, shrink=shrink, peers=asked.peers, machine=machine) as found:
        try:
            run_rows(found, [ROWS[name] for name in names if name in ROWS], keep)
            if SCALING in names:
                results[SCALING] = scaling.run(found)
                table.write(results, path)
                scaling.draw(results[SCALING], path.parent / "scaling.svg")
        except KeyboardInterrupt:
            print("\nbenchmarks: stopped; rows that were done are kept", file=sys.stderr)
            return 130
    print(table.summary(results, names))
    if asked.names:
        print(
            "\n"
            + "\n\n".join(
                f"{name} {part['name']}\n{table.detail(part)}"
                for name in names
                if name in ROWS
                for part in results["rows"][name]["parts"]
            )
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
