"""The least a stdio MCP client in Python can do: blocking pipes and the json module."""

import json
import subprocess
import time

from measure import plan, report, text_of_call

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1.0.0"},
}


class Client:
    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last_id = 0
        self.write({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE})
        if self.read()["id"] != 0:
            raise ValueError("initialize got somebody else's answer")
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.child.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        self.child.stdin.flush()

    def read(self):
        line = self.child.stdout.readline()
        if not line:
            raise EOFError("the server closed its output")
        return json.loads(line)

    def begin(self):
        self.last_id += 1
        params = {"name": "echo", "arguments": {"text": text_of_call(self.last_id)}}
        self.write({"jsonrpc": "2.0", "id": self.last_id, "method": "tools/call", "params": params})
        return self.last_id

    def finish(self):
        """Read one answer, check that its text is that of its id, and return the id."""
        message = self.read()
        answered = message["result"]["content"][0]["text"]
        if answered != text_of_call(message["id"]):
            raise ValueError(f"the answer to {message['id']} has the text {answered!r}")
        return message["id"]

    def sequential(self, calls):
        times = []
        for _ in range(calls):
            begin = time.perf_counter()
            number = self.begin()
            answered = self.finish()
            times.append(time.perf_counter() - begin)
            if answered != number:
                raise ValueError(f"call {number} got the answer of {answered}")
        return times

    def pipelined(self, calls, window):
        pending = set()
        sent = 0
        for _ in range(calls):
            while sent < calls and len(pending) < window:
                pending.add(self.begin())
                sent += 1
            pending.remove(self.finish())

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def main():
    settings = plan()
    begin = time.perf_counter()
    client = Client(settings.command)
    connect_s = time.perf_counter() - begin

    client.sequential(settings.warmup // 2)
    client.pipelined(settings.warmup - settings.warmup // 2, settings.window)
    times = client.sequential(settings.calls)
    cpu = time.process_time()
    begin = time.perf_counter()
    client.pipelined(settings.pipelined, settings.window)
    elapsed = time.perf_counter() - begin
    cpu = time.process_time() - cpu
    report(settings, connect_s, times, elapsed, cpu, client.last_id)
    client.close()


main()
