/** The scanner against JSON.parse: both take the same texts, and read the same members from them. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { JsonFault, JsonScanner, type ScanOptions, scanMembers } from '#core/json/mod.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const NAMES = ['model', 'stream', '__proto__'];
const RUNS = 4_000;

const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r\n  ');
const number = fc.constantFrom('0', '-0', '1e999', '-1.50E+02', '12345678901234567890', '0.1e-7', '7');
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((value) => JSON.stringify(value)),
  fc.constantFrom('"\\ud800"', '"\\u006dodel"', '"\\/\\b\\f\\"\\\\"', '"é日🚀"', '"\\\\\\\\"', '""'),
);
const memberName = fc.oneof(
  fc.constantFrom('"model"', '"stream"', '"mod\\u0065l"', '"\\u005f_proto__"', '"__proto__"', '"mode"'),
  text,
);

/** A document as text, with spacing, escapes and number forms that JSON.stringify would not write. */
const { document } = fc.letrec<{ document: string; list: string; object: string }>((tie) => ({
  document: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    number,
    text,
    fc.constantFrom('true', 'false', 'null', '[]', '{}'),
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(fc.array(tie('document'), { maxLength: 5 }), space)
    .map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
  object: fc
    .tuple(fc.array(fc.tuple(memberName, tie('document')), { maxLength: 6 }), space)
    .map(([members, gap]) => {
      const written = members.map(([name, value]) => `${name}${gap}:${gap}${value}`);
      return `{${gap}${written.join(`${gap},${gap}`)}${gap}}`;
    }),
}));

/** What is done to a document's bytes, mostly spoiling it. */
const spoiling = fc.record({
  at: fc.nat(),
  removed: fc.nat({ max: 2 }),
  put: fc.oneof(
    fc.constantFrom('', ',', ':', '"', '\\', '[', ']', '{', '}', '0', '-', '.', 'e', '+', 'tru', 'null', ' '),
    fc.constantFrom('\\u12', '\\x', '\u0000', '\u001f', '\ufeff', '\u00a0', '\v', 'NaN', '//', "'"),
    fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  ),
});

function spoiled(given: string, changes: readonly { at: number; removed: number; put: string }[]): Buffer {
  let bytes = Buffer.from(given);
  for (const { at, removed, put } of changes) {
    const from = at % (bytes.length + 1);
    const piece = Buffer.from(put, put.charCodeAt(0) > 0xff ? 'utf8' : 'latin1');
    bytes = Buffer.concat([bytes.subarray(0, from), piece, bytes.subarray(from + removed)]);
  }
  return bytes;
}

/** undefined: it is no JSON. */
function parsed(bytes: Buffer): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    return undefined;
  }
}

function scanned(bytes: Buffer, budget: number) {
  const scanner = new JsonScanner(bytes, { names: NAMES, maxDepth: 1_000 });
  try {
    while (!scanner.read(budget)) {}
    return scanner.members;
  } catch (error) {
    if (error instanceof JsonFault && error.reason === 'syntax') return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shape(value: unknown): { values: number; deepest: number } {
  if (typeof value !== 'object' || value === null) return { values: 1, deepest: 0 };
  const inner = Object.values(value).map(shape);
  const values = inner.reduce((sum, one) => sum + one.values, 1);
  return { values, deepest: 1 + Math.max(0, ...inner.map((one) => one.deepest)) };
}

function check(bytes: Buffer, budget: number): void {
  const expected = parsed(bytes);
  const found = scanned(bytes, budget);
  strictEqual(found === undefined, expected === undefined, 'the same texts are JSON');
  if (found === undefined || expected === undefined) return;
  const { value } = expected;
  const again = scanMembers(bytes, { names: NAMES, maxDepth: 1_000, isValid: true });
  deepStrictEqual(again, found, 'what is known to be JSON is read alike');
  strictEqual(found.isObject, isObject(value));
  if (!isObject(value)) return;
  for (const name of NAMES) {
    const last = found.spans.get(name)!.at(-1);
    strictEqual(last !== undefined, Object.hasOwn(value, name), `${name} is found when it is there`);
    if (last === undefined) continue;
    deepStrictEqual(JSON.parse(bytes.toString('utf8', last.start, last.end)), value[name]);
  }
  strictEqual(bytes[found.closesAt], 0x7d);
}

t.test(
  'the JSON scanner accepts, refuses and reads random documents, spoilt ones too, as JSON.parse does',
  async (t) => {
    const changes = fc.oneof(fc.constant([]), fc.array(spoiling, { minLength: 1, maxLength: 3 }));
    fc.assert(
      fc.property(document, changes, fc.integer({ min: 1, max: 9 }), (given, spoil, budget) =>
        check(spoiled(given, spoil), budget),
      ),
      runs(t, RUNS),
    );
  },
);

t.test('the scanner counts the levels and values of a document', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const found = scanMembers(Buffer.from(JSON.stringify(value)), { names: [], maxDepth: 100 });
      const expected = shape(JSON.parse(JSON.stringify(value)));
      deepStrictEqual({ values: found.values, deepest: found.deepest }, expected);
    }),
    runs(t, RUNS / 2),
  );
});

/** A document with each pair of bytes in the place of its `%`. */
function checkPairs(document: string, bytes: readonly number[]): void {
  const [before, after] = document.split('%').map((part) => Buffer.from(part)) as [Buffer, Buffer];
  for (const first of bytes) {
    for (const second of bytes) check(Buffer.concat([before, Buffer.from([first, second]), after]), 64);
  }
}

t.test('the JSON scanner takes or refuses every two bytes between tokens as JSON.parse does', async (t) => {
  // Most pairs are refused, and stacks would be most of the test's time.
  const { stackTraceLimit } = Error;
  t.teardown(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  Error.stackTraceLimit = 0;
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  for (const document of ['"a%b"', '{"model":%1}', '[0%,1]', '{"a"%:-1.5e+3}', '[tru%e]', '1%', '"\\u00%41"'])
    checkPairs(document, all);
  t.pass();
});

/** Why scanning fails. */
function faultOf(text: string, options: ScanOptions): JsonFault | null {
  try {
    scanMembers(Buffer.from(text), options);
    return null;
  } catch (error) {
    if (error instanceof JsonFault) return error;
    throw error;
  }
}

t.test('nesting deeper than allowed is a depth fault at the level above', async (t) => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const options = { names: [], maxDepth: 500 };
  t.equal(faultOf(nested(500), options), null);
  t.match(faultOf(nested(501), options), { reason: 'depth', at: 500 });
});

t.test('a searched member may be there a hundred times, or as often as is said', async (t) => {
  const repeated = (times: number) => `{${Array(times).fill('"model":1').join(',')}}`;
  const options = { names: ['model'], maxDepth: 1 };
  t.equal(faultOf(repeated(100), options), null);
  t.match(faultOf(repeated(101), options), { reason: 'repeats' });
  t.equal(faultOf(repeated(300), { ...options, maxRepeats: 300 }), null);
});

t.test(
  'the fault of an invalid text has the position of the faulty byte, and none at the end of the text',
  async (t) => {
    const options = { names: [], maxDepth: 9 };
    t.match(faultOf('{"é":1,}', options), { reason: 'syntax', at: 8 });
    t.match(faultOf('{"a":', options), { reason: 'syntax', at: null });
  },
);
