import t from 'tap';
import { MAX_SOURCE_BYTES, MAX_TEXT_BYTES } from '../../../../evaluators/python/limits.ts';
import { DEFAULT_LIMITS } from '../../../../evaluators/python/mod.ts';
import { IMPORTABLE_MODULES } from '../../../../evaluators/python/modules.ts';
import { brief, define, messageOf, openSandbox, TIERS_HERE } from './support/sandbox.ts';

const input = 'input';
const output = 'output';
const FIXED = 'def evaluate(input, output):\n    return 0.5\n';

t.test("compiling reports an error in Python's words, with line and column", async (t) => {
  const sandbox = await openSandbox(t);
  const wrong: [code: string, expected: object][] = [
    [
      'def evaluate(input, output)\n  return 1',
      { code: 'py_syntax_error', message: "expected ':'", line: 1, column: 28 },
    ],
    ['def evaluate(input, output):\n\treturn 1\n        x = 2', { code: 'py_syntax_error', line: 3 }],
    ['def evaluate(input, output):\n  return 1\n\0', { code: 'py_syntax_error', line: 3 }],
    [`x = ${'('.repeat(30_000)}`, { code: 'py_syntax_error' }],
    [`x = ${'-'.repeat(60_000)}1`, { code: 'py_syntax_error' }],
    [`x = a${'.b'.repeat(30_000)}`, { code: 'py_syntax_error' }],
    ['x = "\ud800"', { code: 'py_syntax_error', line: null }],
    ['return 1', { code: 'py_syntax_error', message: "'return' outside function", line: 1 }],
    [
      'x = 1',
      { code: 'py_no_function', message: 'The code must define evaluate(input, output)', line: null },
    ],
    ['evaluate = 3', { code: 'py_no_function', message: 'evaluate must be a function, not int' }],
    [
      'class evaluate:\n  def __init__(self, input, output): pass',
      { code: 'py_no_function', message: 'evaluate must be a function, not a class' },
    ],
    ['\nasync def evaluate(input, output):\n  return 1', { code: 'py_bad_signature', line: 2 }],
    ['async def evaluate(input, output):\n  yield 1', { code: 'py_bad_signature', line: 1 }],
    ['def evaluate(input, output):\n  yield 1', { code: 'py_bad_return_type', line: 1 }],
    ['def evaluate(a): pass', { code: 'py_bad_signature', line: 1 }],
    ['def evaluate(): pass', { code: 'py_bad_signature' }],
    [
      'def evaluate(a, b, c, d): pass',
      {
        code: 'py_bad_signature',
        message:
          'evaluate(a, b, c, d) cannot be called as evaluate(input, output) or evaluate(input, output, record)',
        line: 1,
      },
    ],
    ['def evaluate(output, input, record, /): pass', { code: 'py_bad_signature' }],
    ['def evaluate(input, output, record, strict): pass', { code: 'py_bad_signature' }],
    ['def evaluate(input, output, *, strict): pass', { code: 'py_bad_signature' }],
    ['def evaluate(*, a, b): pass', { code: 'py_bad_signature' }],
    ['def evaluate(output, x): pass', { code: 'py_bad_signature' }],
    [
      'x = 1\nraise ValueError("at the top")',
      { code: 'py_exception', message: 'ValueError: at the top', line: 2 },
    ],
    ['import os\nos._exit(0)', { code: 'py_no_result' }],
    ['while True: pass', { code: 'py_timeout' }],
    ['x = "a" * 10**11', { code: 'py_memory', line: 1 }],
    [' '.repeat(MAX_SOURCE_BYTES + 1), { code: 'source_too_large' }],
    ['#'.repeat(1_000_000), { code: 'source_too_large' }],
  ];
  for (const [code, expected] of wrong) {
    t.match(await sandbox.compile(code), { ok: false, ...expected }, code.slice(0, 60));
  }
  t.same(
    await sandbox.compile(`#${'é'.repeat(MAX_SOURCE_BYTES / 2 - 20)}\n${FIXED.slice(0, 0)}evaluate = max`),
    { ok: true },
  );
});

t.test('every accepted signature of evaluate gets input and output in the right parameters', async (t) => {
  const sandbox = await openSandbox(t);
  const body = 'return 1 if (input, output) == ("input", "output") else 0';
  for (const code of [
    `def evaluate(input, output): ${body}`,
    `def evaluate(output, input): ${body}`,
    `def evaluate(*, output, input): ${body}`,
    `def evaluate(input, output=None): ${body}`,
    `def evaluate(input, output, strict=True): ${body}`,
    `def evaluate(input, output, /): ${body}`,
    `def evaluate(input, output, *rest, **more): ${body}`,
    'def evaluate(question, answer): return 1 if (question, answer) == ("input", "output") else 0',
    'def evaluate(*args): return 1 if args == ("input", "output") else 0',
    'def evaluate(**named): return 1 if named == {"input": "input", "output": "output"} else 0',
    `evaluate = lambda input, output: 1`,
    `import functools\n@functools.lru_cache\ndef evaluate(input, output): ${body}`,
    `import functools\ndef f(x, input, output): ${body}\nevaluate = functools.partial(f, 0)`,
    `class E:\n  def __call__(self, input, output): ${body}\nevaluate = E()`,
  ]) {
    t.same(await sandbox.compile(code), { ok: true }, code);
    t.equal(brief((await sandbox.evaluate({ code, input, output })).outcome), 1, code);
  }
});

t.test('a failed Python evaluation has a code and a message that names the cause', async (t) => {
  const sandbox = await openSandbox(t);
  const failing: [body: string, code: string, message: string | RegExp][] = [
    [
      'return "0.7"',
      'py_bad_return_type',
      'evaluate returned str; it must return a bool, an int or a float, or a dict of score, label and reasoning',
    ],
    ['async def f(): pass\nreturn f()', 'py_bad_return_type', /^evaluate returned coroutine/],
    ['return float("nan")', 'py_not_finite', 'evaluate returned nan; a score must be finite'],
    ['return 2**20_000', 'py_not_finite', 'evaluate returned an integer too large for a score'],
    ['x = 1\nraise ValueError("boom")', 'py_exception', 'ValueError: boom (line 3)'],
    ['raise ValueError', 'py_exception', 'ValueError (line 2)'],
    ['raise ValueError("a\\x00b\\nc")', 'py_exception', 'ValueError: a b c (line 2)'],
    ['try: 1/0\nexcept Exception as e: raise KeyError("k") from e', 'py_exception', "KeyError: 'k' (line 3)"],
    ['def f(): raise KeyError(1)\nf()', 'py_exception', 'KeyError: 1 (line 2)'],
    [
      'class E(Exception):\n  def __str__(s): raise TypeError("x")\nraise E()',
      'py_exception',
      'E: (its __str__ raised TypeError) (line 4)',
    ],
    ['import json\njson.loads("{")', 'py_exception', /^JSONDecodeError: .* \(line 3\)$/],
    ['exit()', 'py_exception', 'SystemExit (line 2)'],
    ['quit(3)', 'py_exception', 'SystemExit: 3 (line 2)'],
    ['import sys; sys.exit(0)', 'py_exception', 'SystemExit: 0 (line 2)'],
    ['import os; os._exit(0)', 'py_no_result', 'The code ended Python before it returned a score'],
    ['import os; os.abort()', 'py_crash', 'The code crashed Python with SIGABRT'],
    ['import ctypes; ctypes.string_at(0)', 'py_crash', 'The code crashed Python with SIGSEGV'],
    ['import os; os.fork()', 'py_exception', 'PermissionError: [Errno 1] Operation not permitted (line 2)'],
    [
      'open("/etc/passwd")',
      'py_exception',
      "PermissionError: [Errno 13] Permission denied: '/etc/passwd' (line 2)",
    ],
  ];
  for (const [body, code, message] of failing) {
    const { outcome } = await sandbox.evaluate({ code: define(body), input, output });
    t.match(outcome, { state: 'failed', code, message, retry: 'never', pause: null }, body);
  }
  const long = await sandbox.evaluate({ code: define('raise ValueError("x" * 10**7)'), input, output });
  t.equal(messageOf(long.outcome).length, 500);
  t.ok(messageOf(long.outcome).endsWith('… (line 2)'));
});

t.test(
  'an evaluation over its limits is not tried again if it was computing, but may be if it waited',
  async (t) => {
    const sandbox = await openSandbox(t, { concurrency: 4 });
    const run = (body: string, limits = DEFAULT_LIMITS) =>
      sandbox.evaluate({ code: define(body), input, output, limits });
    const [cpu, ignoring, wall, computed, small, large] = await Promise.all([
      run('while True: pass', { ...DEFAULT_LIMITS, wallMs: 60_000 }),
      run('import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass', {
        ...DEFAULT_LIMITS,
        wallMs: 60_000,
      }),
      run('import time; time.sleep(60)', { ...DEFAULT_LIMITS, wallMs: 300 }),
      run('while True: pass', { ...DEFAULT_LIMITS, cpuSeconds: 10, wallMs: 900 }),
      run('return len(bytearray(100 << 20)) > 0', { ...DEFAULT_LIMITS, wallMs: 60_000, memoryMb: 64 }),
      run('return len(bytearray(400 << 20)) > 0', { ...DEFAULT_LIMITS, wallMs: 60_000, memoryMb: 512 }),
    ]);
    t.match(cpu.outcome, {
      code: 'py_timeout',
      retry: 'never',
      message: 'The code used more than 1 s of CPU',
    });
    t.match(ignoring.outcome, {
      code: 'py_timeout',
      retry: 'never',
      message: 'The code used more than 1 s of CPU',
    });
    t.match(wall.outcome, { code: 'py_timeout', retry: 'later', message: 'The code ran longer than 300 ms' });
    t.ok(wall.durationMs >= 295 && wall.durationMs < 30_000, `${wall.durationMs} ms`);
    t.match(computed.outcome, { code: 'py_timeout', message: 'The code ran longer than 900 ms' });
    t.equal(brief(small.outcome), 'py_memory');
    t.equal(brief(large.outcome), 1);
  },
);

t.test('printed output is kept up to 16 KB and does not affect the score', async (t) => {
  const sandbox = await openSandbox(t);
  const run = async (body: string) => sandbox.evaluate({ code: define(body), input, output });
  t.match(await run('print("one", 2); return 0.5'), {
    traces: 'one 2\n',
    outcome: { score: 0.5, traces: 'one 2\n' },
  });
  t.match(await run('import sys; print("err", file=sys.stderr); return 1'), { traces: 'err\n' });
  t.match(await run('print("before"); raise ValueError'), {
    traces: 'before\n',
    outcome: { code: 'py_exception' },
  });
  t.match(await run('return 1'), { traces: '', outcome: { traces: null } });
  t.match(await run('print("a\\0b\\ud800")\nreturn 1'), { traces: 'a\ufffdb?\n' });
  const flood = await run('for i in range(10_000): print("é" * 10_000)\nreturn 0.5');
  t.equal(brief(flood.outcome), 0.5);
  t.ok(Buffer.byteLength(flood.traces) <= 16 * 1024);
  t.ok(flood.traces.endsWith('é\n[more was printed]'));
});

t.test('input and output reach the code unchanged', async (t) => {
  const sandbox = await openSandbox(t);
  const texts = ['', 'é\u{1f600}', '\0', '\ud800 alone', '"\\\n\u2028', '['.repeat(100_000), 'null'];
  for (const text of texts) {
    const units = Array.from({ length: Math.min(text.length, 50) }, (_, index) => text.charCodeAt(index));
    const code = define(`
encoded = input[:50].encode("utf-16-le", "surrogatepass")
units = [encoded[i] + 256 * encoded[i + 1] for i in range(0, len(encoded), 2)]
return 1 if units[:50] == ${JSON.stringify(units)} and type(output) is str else 0`);
    const { outcome } = await sandbox.evaluate({ code, input: text, output: text });
    t.equal(
      brief(outcome),
      1,
      `${encodeURIComponent(text.slice(0, 20).toWellFormed())} ${messageOf(outcome)}`,
    );
  }
  const half = 'x'.repeat(MAX_TEXT_BYTES / 2);
  const code = define('return len(input) + len(output)');
  t.equal(brief((await sandbox.evaluate({ code, input: half, output: half })).outcome), MAX_TEXT_BYTES);
  const more = await sandbox.evaluate({ code, input: half, output: `${half}x` });
  t.match(more.outcome, { state: 'failed', code: 'input_too_large', retry: 'never' });
  const wide = await sandbox.evaluate({ code, input: 'é'.repeat(MAX_TEXT_BYTES / 2), output: 'x' });
  t.equal(brief(wide.outcome), 'input_too_large', 'it is bytes that count');
});

t.test('the listed modules can be imported in every tier, and no others in any', async (t) => {
  const refusals = new Set<string>();
  for (const wantedTier of TIERS_HERE) {
    const sandbox = await openSandbox(t, { wantedTier });
    const all = define(`${IMPORTABLE_MODULES.map((name) => `import ${name}`).join('\n')}\nreturn 1`);
    t.equal(brief((await sandbox.evaluate({ code: all, input, output })).outcome), 1, wantedTier);
    for (const name of ['numpy', 'requests', 'asyncio', 'sqlite3']) {
      const { outcome } = await sandbox.evaluate({ code: define(`import ${name}`), input, output });
      refusals.add(messageOf(outcome));
    }
  }
  t.equal(refusals.size, 4, 'each is refused in the same words everywhere');
  for (const message of refusals) {
    t.match(
      message,
      /^ModuleNotFoundError: No module named '\w+'; evaluators can import ast, .* zlib \(line 2\)$/,
    );
  }
});

t.test('code may begin with a future statement, as many files of Python do', async (t) => {
  const sandbox = await openSandbox(t);
  const code =
    'from __future__ import annotations\ndef evaluate(input: Text, output: Text) -> Score:\n  return 1';
  t.equal(brief((await sandbox.evaluate({ code, input, output })).outcome), 1);
});

t.test('dataclasses can have annotations that are text', async (t) => {
  const sandbox = await openSandbox(t);
  const rest = (annotation: string) =>
    `import dataclasses\n@dataclasses.dataclass\nclass P:\n  x: ${annotation}\n` +
    'def evaluate(input, output):\n  return P(3).x';
  for (const code of [rest('"int"'), `from __future__ import annotations\n${rest('int')}`]) {
    const { outcome } = await sandbox.evaluate({ code, input, output });
    t.equal(brief(outcome), 3, messageOf(outcome));
  }
});

t.test('modules that load other modules on first use work in the sandbox', async (t) => {
  const sandbox = await openSandbox(t);
  const code = define(`
import base64, csv, datetime, decimal, difflib, hashlib, html, html.parser, io, json, random, re, statistics, textwrap
import time, traceback, typing, unicodedata, urllib.parse, uuid, xml.etree.ElementTree, dataclasses
assert datetime.datetime.strptime("2020-01-02", "%Y-%m-%d").day == 2
assert time.localtime(0).tm_hour == 0 and datetime.datetime.fromtimestamp(0).hour == 0, "the clock is UTC"
assert statistics.median([1, 3]) == 2 and difflib.SequenceMatcher(None, "ab", "ab").ratio() == 1
assert list(csv.reader(io.StringIO("a,b"))) == [["a", "b"]] and hashlib.sha256(b"").hexdigest()[:4] == "e3b0"
assert "münchen".encode("idna") and "é".encode("utf-16") and "\\N{BULLET}" == "•" and b"e9".decode("latin-1")
assert xml.etree.ElementTree.fromstring("<a>1</a>").text == "1" and uuid.uuid4().version == 4
assert str(decimal.Decimal("0.1") + 1) == "1.1" and textwrap.shorten("a b", 30) and html.unescape("&lt;") == "<"
try: 1/0
except Exception: assert "ZeroDivisionError" in traceback.format_exc()
@dataclasses.dataclass
class P: x: typing.List[int]
assert P([1]).x and random.random() != random.random() and json.loads("[1]") and re.search("x", "x", re.I | re.X)
return 1`);
  const { outcome } = await sandbox.evaluate({ code, input, output });
  t.equal(brief(outcome), 1, messageOf(outcome));
});

t.test('random numbers differ from one evaluation to the next', async (t) => {
  const sandbox = await openSandbox(t);
  const code = define('import random\nreturn random.random()');
  const scores = await Promise.all(
    Array.from({ length: 10 }, () => sandbox.evaluate({ code, input, output })),
  );
  t.equal(new Set(scores.map(({ outcome }) => brief(outcome))).size, 10);
});
