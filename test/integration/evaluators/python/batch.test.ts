import t from 'tap';
import { DEFAULT_LIMITS } from '../../../../evaluators/python/mod.ts';
import { brief, define, openSandbox } from './support/sandbox.ts';

const records = (...inputs: string[]) => inputs.map((input) => ({ input, output: '' }));

t.test('records of a batch share a process, and each has its own result', async (t) => {
  const sandbox = await openSandbox(t);
  const code = `n = 0
def evaluate(input, output):
    global n
    n += 1
    print(input, n)
    if input == "raise": raise ValueError("boom")
    if input == "text": return "text"
    return n
`;
  const results = await sandbox.evaluateMany({ code, records: records('a', 'raise', 'text', 'b') });
  t.same(
    results.map(({ outcome }) => brief(outcome)),
    [1, 'py_exception', 'py_bad_return_type', 4],
  );
  t.same(
    results.map(({ traces }) => traces),
    ['a 1\n', 'raise 2\n', 'text 3\n', 'b 4\n'],
  );
});

t.test('a record that ends the process fails alone, and later records run in another process', async (t) => {
  const sandbox = await openSandbox(t);
  const code = `count = 0
kept = []
def evaluate(input, output):
    global count
    count += 1
    if input == "exit": import os; os._exit(0)
    if input == "sleep": import time; time.sleep(9)
    if input == "crash": import ctypes; ctypes.string_at(0)
    if input == "memory": kept.append(bytearray(10**10))
    if input == "forge": import os; os.write(3, b"xxxxx" * 10)
    return count
`;
  const inputs = ['a', 'b', 'exit', 'c', 'sleep', 'd', 'crash', 'memory', 'e', 'forge', 'f', 'g'];
  const results = await sandbox.evaluateMany({
    code,
    records: records(...inputs),
    limits: { ...DEFAULT_LIMITS, wallMs: 2_000 },
  });
  t.same(
    results.map(({ outcome }) => brief(outcome)),
    [1, 2, 'py_no_result', 1, 'py_timeout', 1, 'py_crash', 'py_memory', 1, 'bad_result', 1, 2],
  );
});

t.test('a record of a batch does not fail because earlier records used up a resource', async (t) => {
  const sandbox = await openSandbox(t);
  const busy =
    'import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\nreturn 1';
  const results = await sandbox.evaluateMany({
    code: define(busy),
    records: records(...'abcdef'),
    limits: { ...DEFAULT_LIMITS, wallMs: 60_000 },
  });
  t.same(
    results.map(({ outcome }) => brief(outcome)),
    [1, 1, 1, 1, 1, 1],
  );
  const greedy = 'kept = []\ndef evaluate(input, output):\n    kept.append(bytearray(10**8))\n    return 1\n';
  const kept = await sandbox.evaluateMany({ code: greedy, records: records(...'abcdef') });
  t.same(
    kept.map(({ outcome }) => brief(outcome)),
    [1, 1, 1, 1, 1, 1],
  );
});

t.test('code that cannot be loaded fails every record of a batch', async (t) => {
  const sandbox = await openSandbox(t);
  const results = await sandbox.evaluateMany({ code: 'x = 1', records: records('a', 'b') });
  t.same(
    results.map(({ outcome }) => brief(outcome)),
    ['py_no_function', 'py_no_function'],
  );
  const large = await sandbox.evaluateMany({ code: '#'.repeat(100_000), records: records('a') });
  t.same(
    large.map(({ outcome }) => brief(outcome)),
    ['source_too_large'],
  );
});

t.test('a record that is too large fails in its place, and an empty batch has no results', async (t) => {
  const sandbox = await openSandbox(t);
  const code = define('return len(input)');
  const results = await sandbox.evaluateMany({ code, records: records('a', 'x'.repeat(2 ** 20 + 1), 'bb') });
  t.same(
    results.map(({ outcome }) => brief(outcome)),
    [1, 'input_too_large', 2],
  );
  t.same(await sandbox.evaluateMany({ code, records: [] }), []);
});

t.test('a batch of 200 records runs, a larger one is refused', async (t) => {
  const sandbox = await openSandbox(t);
  const code = define('return len(input)');
  const many = Array.from({ length: 200 }, () => ({ input: 'abc', output: '' }));
  const results = await sandbox.evaluateMany({ code, records: many });
  t.equal(results.filter(({ outcome }) => brief(outcome) === 3).length, 200);
  await t.rejects(sandbox.evaluateMany({ code, records: [...many, ...many] }), RangeError);
});
