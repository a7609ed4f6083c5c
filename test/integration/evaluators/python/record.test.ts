/** Code that takes the whole record, and code that does not. */
import t from 'tap';
import { MAX_RECORD_BYTES } from '../../../../evaluators/python/limits.ts';
import { brief, messageOf, openSandbox } from './support/sandbox.ts';

const texts = { input: 'input', output: 'output' };
const record = {
  requestText: '{"model":"gpt-4o","messages":[{"role":"user","content":"input"}]}',
  responseText: '{"choices":[{"finish_reason":"stop","message":{"content":"output"}}]}',
  inputs: '{"name": "Ada", "tags": [1, null]}',
  expected: '{"city":"Paris"}',
};
const isWhole =
  'record["request"]["model"] == "gpt-4o" and record["response"]["choices"][0]["finish_reason"] == "stop"' +
  ' and record["inputs"] == {"name": "Ada", "tags": [1, None]} and list(record) == ["request", "response", "inputs", "expected"]' +
  ' and record["expected"] == {"city": "Paris"}';

t.test('a third parameter gets request, response and inputs as objects', async (t) => {
  const sandbox = await openSandbox(t);
  const body = (name: string) =>
    `return (input, output) == ("input", "output") and ${isWhole.replaceAll('record', name)}`;
  for (const code of [
    `def evaluate(input, output, record): ${body('record')}`,
    `def evaluate(input, output, context): ${body('context')}`,
    `def evaluate(output, record, input): ${body('record')}`,
    `def evaluate(input, output, record=None): ${body('record')}`,
    `def evaluate(input, output, *, record): ${body('record')}`,
    `def evaluate(input, output, record, /): ${body('record')}`,
    `def evaluate(input, output, record, strict=True): ${body('record')}`,
    `def evaluate(input, output, record, **more): ${body('record')}`,
    `def evaluate(question, answer, *, record): return (question, answer) == ("input", "output") and ${isWhole}`,
    `def evaluate(question, answer, record=None): return (question, answer) == ("input", "output") and ${isWhole}`,
    `def evaluate(a, b, c): return (a, b) == ("input", "output") and ${isWhole.replaceAll('record', 'c')}`,
    `evaluate = lambda input, output, record: ${isWhole}`,
    `import functools\ndef f(x, input, output, record): ${body('record')}\nevaluate = functools.partial(f, 0)`,
    `class E:\n  def __call__(self, input, output, record): ${body('record')}\nevaluate = E()`,
  ]) {
    t.same(await sandbox.compile(code), { ok: true }, code);
    const { outcome } = await sandbox.evaluate({ code, ...texts, record });
    t.equal(brief(outcome), 1, `${code} ${messageOf(outcome)}`);
  }
});

t.test('code that was accepted before the third parameter is called as before', async (t) => {
  const sandbox = await openSandbox(t);
  for (const code of [
    'def evaluate(input, output, strict=True): return strict is True',
    'def evaluate(*args): return args == ("input", "output")',
    'def evaluate(**named): return named == {"input": "input", "output": "output"}',
    'def evaluate(input, output, *rest): return rest == ()',
    'def evaluate(record, answer): return (record, answer) == ("input", "output")',
  ]) {
    const { outcome } = await sandbox.evaluate({ code, ...texts, record });
    t.equal(brief(outcome), 1, `${code} ${messageOf(outcome)}`);
  }
});

t.test('each record of a batch comes with its own whole record', async (t) => {
  const sandbox = await openSandbox(t);
  const code = `def evaluate(input, output, record):
    if input == "raise": raise ValueError("boom")
    return record["inputs"]["n"]
`;
  const records = ['a', 'raise', 'b'].map((input, n) => ({
    input,
    output: '',
    record: { ...record, inputs: JSON.stringify({ n }) },
  }));
  const results = await sandbox.evaluateMany({ code, records });
  t.same(
    results.map(({ outcome }) => brief(outcome)),
    [0, 'py_exception', 2],
  );
});

t.test('without a record, the bodies are None and the inputs empty', async (t) => {
  const sandbox = await openSandbox(t);
  const code =
    'def evaluate(input, output, record): return record == {"request": None, "response": None, "inputs": {}, "expected": None}';
  t.equal(brief((await sandbox.evaluate({ code, ...texts })).outcome), 1);
});

t.test('what code prints while it is loaded is kept when it takes the record', async (t) => {
  const sandbox = await openSandbox(t);
  const code = 'print("loaded")\ndef evaluate(input, output, record):\n    print("called")\n    return 1';
  t.match(await sandbox.evaluate({ code, ...texts, record }), {
    traces: 'loaded\ncalled\n',
    outcome: { score: 1 },
  });
});

t.test('the limit of time counts from the code to its score, over the record', async (t) => {
  const sandbox = await openSandbox(t);
  const code =
    'import time\ntime.sleep(0.6)\ndef evaluate(input, output, record):\n    time.sleep(0.6)\n    return 1';
  const limits = { wallMs: 1_000, cpuSeconds: 1, memoryMb: 256 };
  const { outcome } = await sandbox.evaluate({ code, ...texts, record, limits });
  t.match(outcome, { code: 'py_timeout', message: 'The code ran longer than 1000 ms' });
});

t.test('a record that Python cannot read fails alone, with the reason', async (t) => {
  const sandbox = await openSandbox(t);
  const code = 'def evaluate(input, output, record): return 1';
  const wrong = [
    ['['.repeat(100_000) + ']'.repeat(100_000), /^The record cannot be read in Python: RecursionError/],
    [`{"n":${'9'.repeat(5_000)}}`, /^The record cannot be read in Python: ValueError: Exceeds the limit/],
  ] as const;
  const records = wrong.map(([requestText]) => ({ ...texts, record: { ...record, requestText } }));
  for (const [index, [, message]] of wrong.entries()) {
    const { outcome } = await sandbox.evaluate({ code, ...records[index]! });
    t.match(outcome, { state: 'failed', code: 'py_exception', message, retry: 'never' });
  }
  const batch = await sandbox.evaluateMany({ code, records: [...records, { ...texts, record }] });
  t.same(
    batch.map(({ outcome }) => brief(outcome)),
    ['py_exception', 'py_exception', 1],
  );
});

t.test('bodies of 4 MiB reach code that takes them, and larger records are refused', async (t) => {
  const sandbox = await openSandbox(t);
  const code =
    'def evaluate(input, output, record): return len(record["request"]["x"]) + len(record["response"]["x"])';
  const body = (bytes: number) => `{"x":"${'x'.repeat(bytes - 8)}"}`;
  const large = body(4 * 1024 * 1024);
  const limits = { wallMs: 10_000, cpuSeconds: 5, memoryMb: 256 };
  const run = (requestText: string) =>
    sandbox.evaluate({ code, ...texts, limits, record: { requestText, responseText: large, inputs: '{}' } });
  t.equal(brief((await run(large)).outcome), 2 * (large.length - 8));
  t.match((await run(body(MAX_RECORD_BYTES))).outcome, { code: 'input_too_large', retry: 'never' });
  const two = 'def evaluate(input, output): return 1';
  const tooLarge = { requestText: body(MAX_RECORD_BYTES), responseText: large, inputs: '{}' };
  const { outcome } = await sandbox.evaluate({ code: two, ...texts, record: tooLarge });
  t.equal(brief(outcome), 1, 'code that does not take the record is not limited by it');
});
