import fc from 'fast-check';
import t from 'tap';
import { parseExactJson } from '#core/json-values/mod.ts';
import { Bodies } from '../../../../../dashboard/parts/record/bodies.ts';
import { LineIndex } from '../../../../../dashboard/parts/record/line-index.ts';
import { printPath, readPath } from '../../../../../dashboard/parts/record/path.ts';
import { printJson } from '../../../../../dashboard/parts/record/print-json.ts';

const bodies = (request: unknown, response: unknown = {}) => new Bodies({ request, response, status: 200 });

t.test('a path is read as it was printed, whatever its names are', async () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 20 }), { minLength: 1 }), (path) => {
      const read = readPath(printPath(path));
      return read.length === path.length && read.every((step, index) => step === path[index]);
    }),
  );
});

t.test('every value of a body is found by the path that the tree tells', async () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const all = bodies(value);
      const walk = (path: readonly (string | number)[], expected: unknown): boolean => {
        if (all.copy(path) !== (typeof expected === 'string' ? expected : JSON.stringify(expected, null, 2)))
          return false;
        return all
          .children(path, 0, 100)
          .nodes.every((node) =>
            walk([...path, node.step], (expected as Record<string, unknown>)[node.name]),
          );
      };
      return walk(['request'], value);
    }),
  );
});

t.test('names that objects have already are members like any other', async (t) => {
  const all = bodies(JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":"x","":3}'));
  const { nodes, total } = all.children(['request'], 0, 10);
  t.equal(total, 4);
  t.same(
    nodes.map(({ name, type }) => `${name} ${type}`),
    ['__proto__ object', 'constructor number', 'toString string', ' number'],
  );
  t.equal(all.copy(['request', '__proto__', 'a']), '1');
  t.equal(bodies({}).node(['request', '__proto__']), null, 'what is not in the body is not found');
  t.equal(bodies({}).node(['request', 'constructor']), null);
  t.equal(bodies([1]).node(['request', 'length']), null);
  t.equal(bodies({}).node(['elsewhere']), null);
});

t.test('a member with a name of megabytes is found by its position', async (t) => {
  const all = bodies({ a: 1, ['n'.repeat(1_000_000)]: { b: 2 } });
  const [, long] = all.children(['request'], 0, 10).nodes;
  t.equal(long!.name.length, 200);
  t.equal(all.copy(['request', long!.step, 'b']), '2');
  t.equal(printPath(['request', long!.step]), 'request.~@1');
});

t.test('a string comes in pieces that never cut a character', async (t) => {
  const text = '😀'.repeat(100);
  const all = bodies({ text });
  const first = all.text(['request', 'text'], 0, 101);
  t.equal(first.text, '😀'.repeat(51));
  t.equal(all.text(['request', 'text'], 0, 10_000_000).length, 200);
  t.equal(
    bodies({ text: 'a'.repeat(1_000_000) }).text(['request', 'text'], 0, 1_000_000).text.length,
    64 * 1024,
  );
});

t.test('numbers that no double holds are shown as they were written', async (t) => {
  const all = bodies(parseExactJson('{"id":12345678901234567890}'));
  t.equal(all.node(['request', 'id'])!.text, '12345678901234567890');
  t.match(all.lines('request', 0, 10).rows[1], { text: '  "id": 12345678901234567890' });
  t.match(all.search('45678901234567').hits, [{ path: ['request', 'id'] }]);
});

t.test('search finds names and values, ignoring case, in the order of the tree', async (t) => {
  const all = bodies({ Alpha: ['x', { b: 'the ALPHA and more' }] }, { c: 'alphabet', d: null });
  const { hits, isCut } = all.search('alpha');
  t.same(
    hits.map(({ path, place }) => `${printPath(path)} ${place}`),
    ['request.Alpha name', 'request.Alpha.1.b value', 'response.c value'],
  );
  t.match(hits[1], { before: 'the ', match: 'ALPHA', after: ' and more' });
  t.notOk(isCut);
  t.same(all.search('.*').hits, [], 'a text is no pattern');
  t.same(all.search('').hits, []);
});

t.test('search ends after enough places, and says so', async (t) => {
  const { hits, isCut } = bodies(Array.from({ length: 1_000 }, () => 'same')).search('same');
  t.equal(hits.length, 200);
  t.ok(isCut);
});

const DEEP = '['.repeat(100_000) + ']'.repeat(100_000);

t.test('a body nested 100,000 deep is searched, printed and read like any other', async (t) => {
  const all = bodies(JSON.parse(DEEP));
  t.same(all.search('x').hits, []);
  t.equal(all.lines('request', 0, 1).total, 2 * 100_000 - 1);
  t.equal(all.conversation('request', 0, 30).total, 0);
  t.match(all.children(['request'], 0, 10), { total: 1 });
});

t.test('JSON is printed as JSON.stringify prints it, at any depth', async () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const deep = Array.from({ length: 38 }).reduce<unknown>((inner) => [inner], value);
      return (
        printJson(value) === JSON.stringify(value, null, 2) &&
        JSON.stringify(JSON.parse(printJson([[[[deep]]]]))) === JSON.stringify([[[[deep]]]])
      );
    }),
  );
});

t.test('the rows of a text, put together, are the text', async () => {
  const line = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.nat(1_500).map((length) => '😀'.repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), (lines) => {
      const text = lines.map((one) => one.replaceAll('\n', ' ')).join('\n');
      const index = new LineIndex(text);
      let whole = '';
      for (let from = 0; from < index.count; from += 500) {
        for (const { text, isContinued } of index.page(from, 500).rows)
          whole += (isContinued || (from === 0 && whole === '') ? '' : '\n') + text;
      }
      // An empty first line cannot be told from nothing by this sum alone.
      return whole.replace(/^\n+/, '') === text.replace(/^\n+/, '').replace(/\n$/, '');
    }),
    { numRuns: 200 },
  );
});
