"""The bare zygote of `npm run bench evaluators`: forks a child for each evaluation, which compiles and runs the code and
tells the score through a pipe. No lock, no limits, no service: what is the least that a process for each one costs.
"""
import base64, collections, csv, ctypes, dataclasses, datetime, decimal, difflib, hashlib, html, inspect, json, math  # noqa: E401, F401
import logging, os, random, re, resource, selectors, statistics, string, struct, sys, time, unicodedata, uuid  # noqa: E401, F401
import gc
import urllib.parse  # noqa: F401
import xml.etree.ElementTree  # noqa: F401

CODE = 'import re\ndef evaluate(input, output):\n    return 1 if re.search("yes", output) else 0.25\n'
JOB = json.dumps({'code': CODE, 'input': 'Is the sky blue?', 'output': 'yes ' * 50}).encode()


def child(pipe):
    job = json.loads(JOB)
    namespace = {}
    exec(compile(job['code'], '<evaluator>', 'exec'), namespace)
    os.write(pipe, struct.pack('>d', namespace['evaluate'](job['input'], job['output'])))
    os._exit(0)


def start(selector):
    before = time.perf_counter()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        child(writing)
    os.close(writing)
    selector.register(reading, selectors.EVENT_READ, (pid, before))


def run(seconds, depth):
    selector, latencies = selectors.DefaultSelector(), []
    began = time.perf_counter()
    for _ in range(depth):
        start(selector)
    while selector.get_map():
        for key, _ in selector.select():
            pid, before = key.data
            assert struct.unpack('>d', os.read(key.fd, 8)) == (1.0,)
            selector.unregister(key.fd)
            os.close(key.fd)
            latencies.append(time.perf_counter() - before)
            os.waitpid(pid, 0)
            if time.perf_counter() - began < seconds:
                start(selector)
    return sorted(latencies), time.perf_counter() - began


def cpu_seconds():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


gc.freeze()
run(0.2, 1)
used = cpu_seconds()
latencies, elapsed = run(float(sys.argv[1]), int(sys.argv[2]))
print(json.dumps({
    'perSecond': len(latencies) / elapsed,
    'p50Ms': latencies[len(latencies) // 2] * 1e3,
    'p99Ms': latencies[int(len(latencies) * 0.99)] * 1e3,
    'cpuMs': (cpu_seconds() - used) / len(latencies) * 1e3,
}))
