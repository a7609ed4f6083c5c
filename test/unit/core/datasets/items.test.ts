import fc from 'fast-check';
import t from 'tap';
import { arrayElements, hashItem, readItem } from '#core/datasets/mod.ts';
import { withoutSpace } from '#core/json/without-space.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const place = { whole: 'items.3', prefix: 'items.3.' };
const read = (text: string) => readItem(Buffer.from(text), place, null);

t.test('the elements of any array are those that JSON.parse finds', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom('', ' ', '\n\t '), (values, space) => {
      const text = `[${space}${values.map((value) => JSON.stringify(value, null, space)).join(`${space},${space}`)}${space}]`;
      const elements = [...arrayElements(Buffer.from(text))].map((element) => JSON.parse(element.toString()));
      t.same(JSON.stringify(elements), JSON.stringify(values));
    }),
    runs(t, 500),
  );
});

t.test('white space is removed between tokens, and nowhere else', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      return withoutSpace(JSON.stringify(value, null, '\t ')) === text && withoutSpace(text) === text;
    }),
    runs(t, 500),
  );
});

t.test('the hash of an item tells its members apart, and knows no id and no source', async (t) => {
  const item = {
    externalId: 'a',
    request: '{}',
    expected: null,
    metadata: '{}',
    split: null,
    cluster: null,
  };
  const hashes = [
    item,
    { ...item, externalId: null },
    { ...item, externalId: 'a2;{' },
    { ...item, expected: 'null' },
    { ...item, split: 'a' },
    { ...item, cluster: 'a' },
    { ...item, request: '{"a":1,"b":2}' },
    { ...item, request: '{"b":2,"a":1}' },
  ].map(hashItem);
  t.equal(new Set(hashes).size, hashes.length);
  t.equal(hashItem({ ...item, id: 'x', sourceRequestId: 'y' } as never), hashes[0]);
});

t.test('an item is refused with its place and the rule that it breaks', async (t) => {
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const messages = '"request":{"messages":[]}';
  const REFUSED: [text: string, sentence: string][] = [
    ['1', 'items.3 must be an object, but is 1'],
    ['{', 'items.3 is not valid JSON: it ends too early'],
    ['{"a":x}', 'items.3 is not valid JSON, from byte 5 on'],
    ['{}', 'items.3.request is required'],
    ['{"request":[]}', 'items.3.request must be an object, but is []'],
    ['{"request":{}}', 'items.3.request.messages is required, or request.inputs in its place'],
    ['{"request":{"inputs":[]}}', 'items.3.request.inputs must be an object, but is []'],
    ['{"request":{"messages":["x"]}}', 'items.3.request.messages.0 must be an object, but is "x"'],
    [`{${messages},"metadata":1}`, 'items.3.metadata must be an object, but is 1'],
    [`{${messages},"tags":1}`, 'items.3.tags is not a known field'],
    [`{${messages},"externalId":""}`, 'items.3.externalId must not be empty'],
    [`{${messages},"id":"x"}`, 'items.3.id must be the id of an item, a ULID in upper case, but is "x"'],
    [`{${messages},"split":null}`, 'items.3.split must be a string, but is null'],
    [
      `{"request":{"messages":[],"seed":1,"seed":2}}`,
      'items.3 names "seed" twice in one object: only one of them could count',
    ],
    [
      `{${messages},${messages}}`,
      'items.3 names "request" twice in one object: only one of them could count',
    ],
    [`{${messages},"expected":${deep(512)}}`, 'items.3 is nested deeper than 512 levels'],
    [`{${messages},"expected":${deep(100_000)}}`, 'items.3 is nested deeper than 512 levels'],
    [
      `{${messages},"expected":[${'1,'.repeat(50_000)}1]}`,
      'items.3 holds 50005 values, of which at most 50000 are allowed',
    ],
    [
      `{${messages},"expected":"${'x'.repeat(1024 * 1024)}"}`,
      'items.3.expected has 1048578 bytes, of which at most 1048576 are allowed',
    ],
    [
      `{${messages},"metadata":{"a":"${'x'.repeat(64 * 1024)}"}}`,
      'items.3.metadata has 65544 bytes, of which at most 65536 are allowed',
    ],
    [
      `{"request":{"messages":[],"a":"${'x'.repeat(1024 * 1024)}"}}`,
      'items.3.request has 1048598 bytes, of which at most 1048576 are allowed',
    ],
    ['x'.repeat(3_000_000), 'items.3 has 3000000 bytes, of which at most 2228224 are allowed'],
  ];
  for (const [text, sentence] of REFUSED)
    t.throws(() => read(text), { message: sentence, code: 'invalid_body' }, sentence);
});

t.test('texts of an item that Postgres cannot hold are stored with replacements', async (t) => {
  const item = read('{"request":{"inputs":{}},"externalId":"a\\u0000\\ud800","split":"\\u0000"}');
  t.match(item, { externalId: 'a\ufffd\ufffd', split: '\ufffd' });
});
