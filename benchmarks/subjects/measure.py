"""What every client program in Python does: the same arguments, phases, clocks and checks, and one JSON line.

The clocks are `time.perf_counter` (CLOCK_MONOTONIC) and `time.process_time` (this process alone, all its threads).
"""

import asyncio
import atexit
import json
import subprocess
import sys
import time
from typing import NamedTuple


class Plan(NamedTuple):
    http: bool
    warmup: int
    calls: int
    pipelined: int
    window: int
    command: list[str]


def plan() -> Plan:
    http = sys.argv[1:2] == ["http"]
    words = sys.argv[2:] if http else sys.argv[1:]
    if len(words) < 5:
        raise SystemExit("usage: [http] WARMUP CALLS PIPELINED WINDOW COMMAND [ARGUMENT...]")
    return Plan(http, *map(int, words[:4]), words[4:])


def listening(plan):
    """Starts a server over HTTP, which ends with this program; gives its URL, which is the first line that it prints."""
    server = subprocess.Popen(plan.command, stdout=subprocess.PIPE)
    atexit.register(server.kill)
    return server.stdout.readline().decode().strip()


def text_of_call(number):
    return f"message {number:08} of the benchmark"


async def measure(plan, connect_s, call, text_of):
    """`call(text)` gives the SDK's awaitable result; `text_of(result)` finds the text in it."""
    checked = 0

    async def one():
        nonlocal checked
        checked += 1
        text = text_of_call(checked)
        answered = text_of(await call(text))
        if answered != text:
            raise ValueError(f"sent {text!r}, got {answered!r}")

    async def in_flight(total):
        left = iter(range(total))

        async def worker():
            for _ in left:
                await one()

        await asyncio.gather(*(worker() for _ in range(plan.window)))

    for _ in range(plan.warmup // 2):
        await one()
    await in_flight(plan.warmup - plan.warmup // 2)

    times = []
    for _ in range(plan.calls):
        begin = time.perf_counter()
        await one()
        times.append(time.perf_counter() - begin)

    cpu = time.process_time()
    begin = time.perf_counter()
    await in_flight(plan.pipelined)
    elapsed = time.perf_counter() - begin
    cpu = time.process_time() - cpu
    report(plan, connect_s, times, elapsed, cpu, checked)


def report(plan, connect_s, times, elapsed, cpu, checked):
    times.sort()

    def percentile(percent):
        return times[max(1, -(-len(times) * percent // 100)) - 1]

    line = {
        "connect_ms": connect_s * 1e3,
        "p50_us": percentile(50) * 1e6,
        "p99_us": percentile(99) * 1e6,
        "calls_per_s": plan.pipelined / elapsed,
        "cpu_s_per_10k": cpu / plan.pipelined * 1e4,
        "peak_kb": peak_kb(),
        "checked": checked,
    }
    print(json.dumps(line), flush=True)


def peak_kb():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    raise RuntimeError("no VmHWM in /proc/self/status")
