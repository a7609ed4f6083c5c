import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { answerHeaders, type KeyParts, responseKey } from '../../../../gateway/cache/key.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const PARTS = { organizationId: 'o', path: '/p', provider: 'OPENAI', model: 'm', headers: [], seed: null };

function keyOf(body: string | Buffer, parts: Partial<KeyParts> = {}): string {
  return responseKey({ ...PARTS, body: Buffer.from(body as string), ...parts });
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const value = fc.jsonValue({ maxDepth: 4, stringUnit: anyCharacter }) as fc.Arbitrary<Json>;

/** Writes a value in one of the many ways that mean the same; `draw` decides among them. */
function rewrite(item: Json, draw: () => number): string {
  const space = () => [' ', '', '\n', '\t \r'][Math.floor(draw() * 4)]!;
  if (Array.isArray(item)) {
    const items = item.map((element) => `${space()}${rewrite(element, draw)}${space()}`);
    return `[${items.join(',') || space()}]`;
  }
  if (typeof item === 'object' && item !== null) {
    const members = Object.entries(item)
      .map(([name, member]) => ({ written: rewriteText(name, draw), member, order: draw() }))
      .sort((a, b) => a.order - b.order)
      .flatMap(({ written, member }) => {
        const last = `${space()}${written}${space()}:${space()}${rewrite(member, draw)}`;
        // An earlier member of the same name, which the last one hides.
        return draw() < 0.2 ? [`${written}:[1,"hidden"]`, last] : [last];
      });
    return `{${members.join(',') || space()}}`;
  }
  if (typeof item === 'string') return rewriteText(item, draw);
  return typeof item === 'number' ? rewriteNumber(item, draw) : String(item);
}

/** Each half of a pair by itself. */
const escaped = (character: string) =>
  character.replace(/./gs, (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`);

function rewriteText(text: string, draw: () => number): string {
  const units = [
    ...JSON.stringify(text)
      .slice(1, -1)
      .matchAll(/\\u....|\\.|[^\\]/gu),
  ].map(([unit]) => {
    if (unit.length > 1 || draw() < 0.8) return unit;
    return unit === '/' ? '\\/' : escaped(unit);
  });
  return `"${units.join('')}"`;
}

function rewriteNumber(number: number, draw: () => number): string {
  const [mantissa = '', exponent = '0'] = JSON.stringify(number).split('e');
  const isWhole = !mantissa.includes('.');
  switch (Math.floor(draw() * 4)) {
    case 0:
      return `${mantissa}E${exponent}`;
    case 1:
      return `${mantissa}${isWhole ? '.' : ''}000e${exponent}`;
    case 2:
      return isWhole ? `${mantissa}00e${Number(exponent) - 2}` : `${mantissa}e${exponent}`;
    default:
      return JSON.stringify(number);
  }
}

t.test('a cache key does not depend on member order, spacing, escapes or number notation', async (t) => {
  fc.assert(
    fc.property(
      value,
      fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
      (item, draws) => {
        const plain = JSON.stringify(item);
        const other = rewrite(JSON.parse(plain) as Json, () => draws.next().value as number);
        // The oracle: to a parser they are one value.
        if (!isDeepStrictEqual(JSON.parse(other), JSON.parse(plain)))
          throw new Error(`not the same: ${other}`);
        if (keyOf(other) !== keyOf(plain)) throw new Error(`${plain} and ${other}`);
      },
    ),
    runs(t, 1_000),
  );
});

t.test('bodies of different values have different cache keys', async (t) => {
  const canonical = (item: Json): string =>
    Array.isArray(item)
      ? `[${item.map(canonical).join()}]`
      : typeof item === 'object' && item !== null
        ? `{${Object.keys(item)
            .sort()
            .map((name) => `${JSON.stringify(name)}:${canonical(item[name]!)}`)
            .join()}}`
        : Object.is(item, -0)
          ? '-0'
          : JSON.stringify(item);
  /** Mostly close relatives: one value, and what a small change makes of its text. */
  const pair = fc
    .tuple(value, fc.nat(), fc.constantFrom('', '0', '"', ',', ' ', 'a', '[', '1e5', '\\', 'null'))
    .map(([item, at, inserted]): [string, string] => {
      const text = JSON.stringify(item);
      const place = at % (text.length + 1);
      return [text, text.slice(0, place) + inserted + text.slice(place + (at % 2))];
    });
  const parameters = runs(t, 5_000);
  let compared = 0;
  fc.assert(
    fc.property(pair, ([one, other]) => {
      let values: [Json, Json];
      try {
        values = [JSON.parse(one), JSON.parse(other)];
      } catch {
        return;
      }
      // Numbers that a double cannot tell apart are for the next test.
      if (/\d{16}|e[+-]?\d{3}/i.test(one + other)) return;
      compared += 1;
      const isSame = canonical(values[0]) === canonical(values[1]);
      if ((keyOf(one) === keyOf(other)) !== isSame) throw new Error(`${one} and ${other}`);
    }),
    parameters,
  );
  t.comment(`${compared} pairs compared`);
  t.ok(compared > parameters.numRuns / 20);
});

t.test(
  'numbers that differ in any digit have different cache keys, equal ones the same key in any notation',
  async (t) => {
    const different = [
      '9007199254740993',
      '9007199254740992',
      '0.1',
      '0.10000000000000000001',
      '1e400',
      '1e401',
      '-1e400',
      '1e-400',
      '0',
      '-0',
      '1e99999999999999999999',
      '1e99999999999999999998',
      '10',
      '1',
      '"1"',
      'true',
      '"true"',
      'null',
      '"null"',
      '[]',
      '{}',
      '""',
      '[[]]',
      '[[],[]]',
      '["a,b"]',
      '["a","b"]',
      '{"a":"b"}',
      '["a:b"]',
    ];
    t.equal(new Set(different.map((text) => keyOf(text))).size, different.length);
    for (const [one, ...others] of [
      ['150', '1.5e2', '1.50E+02', '15e1', '150.00', '1500e-1', '0.0150e4'],
      ['1e400', '10e399', '0.1e401'],
      ['0', '0.0', '0e5'],
      ['12345678901234567890123', '12345678901234567890123.000', '1.2345678901234567890123e22'],
    ] as const) {
      for (const other of others) t.equal(keyOf(other), keyOf(one), `${other} is ${one}`);
    }
  },
);

t.test('a string has the same cache key with and without escapes', async (t) => {
  for (const [one, ...others] of [
    ['"/"', '"\\/"', '"\\u002f"', '"\\u002F"'],
    ['"\\n"', '"\\u000a"'],
    ['"\\\\u0061"', '"\\u005cu0061"'],
    ['"😀"', '"\\ud83d\\ude00"', '"\\uD83D\\uDE00"'],
    ['{"/":1}', '{"\\/":1}'],
  ] as const) {
    for (const other of others) t.equal(keyOf(other), keyOf(one), `${other} is ${one}`);
  }
  t.not(keyOf('"\\\\u0061"'), keyOf('"a"'));
});

t.test('a number of a quarter of a million digits gets its cache key without delay', async (t) => {
  const startedAt = performance.now();
  keyOf(`1${'0'.repeat(250_000)}1`);
  keyOf(`0.${'0'.repeat(250_000)}1`);
  keyOf(`"${'\\\\'.repeat(120_000)}"`);
  keyOf(`1e${'9'.repeat(250_000)}`);
  t.ok(performance.now() - startedAt < 2_000);
});

t.test('the last value of a repeated name counts in the cache key, whatever the name', async (t) => {
  t.equal(keyOf('{"a":1,"a":2}'), keyOf('{"a":2}'));
  t.not(keyOf('{"a":1,"a":2}'), keyOf('{"a":1}'));
  t.equal(keyOf('{"\\u0061":1,"a":2}'), keyOf('{"a":2}'));
  t.not(keyOf('{"__proto__":1}'), keyOf('{}'));
  t.not(keyOf('{"__proto__":1}'), keyOf('{"__proto__":2}'));
  t.equal(keyOf('{"b":1,"10":2,"9":3}'), keyOf('{"9":3,"10":2,"b":1}'));
});

t.test('strings that are not valid Unicode have different cache keys for different bytes', async (t) => {
  const lone = ['"\\ud800"', '"\\ud801"', '"\\udc00"', '"\\ufffd"'];
  t.equal(new Set(lone.map((text) => keyOf(text))).size, lone.length, 'lone surrogates');
  const broken = [[0xff], [0xfe], [0xc3], [0xef, 0xbf, 0xbd]].map((bytes) =>
    keyOf(Buffer.from([0x22, ...bytes, 0x22])),
  );
  t.equal(new Set(broken).size, broken.length, 'bytes that are not UTF-8');
});

t.test('a body nested deeper than 512 levels has a cache key by its bytes', async (t) => {
  const nested = (levels: number, space: string) => `${'['.repeat(levels)}${space}${']'.repeat(levels)}`;
  t.equal(keyOf(nested(512, ' ')), keyOf(nested(512, '')));
  t.not(keyOf(nested(513, ' ')), keyOf(nested(513, '')));
  t.not(keyOf(nested(100_000, '')), keyOf(nested(99_999, '')));
  t.equal(keyOf(nested(100_000, '')), keyOf(nested(100_000, '')));
});

t.test(
  'every part counts in the cache key, and text moved from one part to another changes it',
  async (t) => {
    const texts = fc.string({ unit: anyCharacter, maxLength: 4 });
    const parts = fc.record({
      organizationId: texts,
      path: texts,
      provider: texts,
      model: texts,
      headers: fc.array(texts, { maxLength: 2 }),
      seed: fc.option(texts),
      body: texts.map((text) => Buffer.from(JSON.stringify(text))),
    });
    const same = (a: KeyParts, b: KeyParts) =>
      a.body.equals(b.body) &&
      isDeepStrictEqual(a.headers, b.headers) &&
      (['organizationId', 'path', 'provider', 'model', 'seed'] as const).every((name) => a[name] === b[name]);
    /** The same characters, dealt out to the parts in another way. */
    const dealt = fc
      .tuple(texts, fc.array(fc.nat({ max: 8 }), { minLength: 4, maxLength: 4 }))
      .map(([text, cuts]) => {
        const [a = 0, b = 0, c = 0, d = 0] = cuts.sort((x, y) => x - y);
        const seed = text.slice(d) || null;
        return {
          organizationId: text.slice(0, a),
          path: text.slice(a, b),
          provider: text.slice(b, c),
          model: text.slice(c, d),
          seed,
          headers: [],
          body: Buffer.from('1'),
        };
      });
    for (const [one, other] of [
      [parts, parts],
      [dealt, dealt],
    ] as const) {
      fc.assert(
        fc.property(one, other, (a, b) => {
          if ((responseKey(a) === responseKey(b)) !== same(a, b)) throw new Error(JSON.stringify([a, b]));
        }),
        runs(t, 2_000),
      );
    }
    t.not(keyOf('1', { seed: '' }), keyOf('1', { seed: null }));
    t.not(keyOf('1', { seed: 'null' }), keyOf('1', { seed: null }));
    t.not(keyOf('1', { model: '\ud800' }), keyOf('1', { model: '\ufffd' }));
  },
);

t.test('a body of up to 256 KiB has a cache key by value, a longer one by its bytes', async (t) => {
  const spaced = (bytes: number) => `{"a":1${' '.repeat(bytes - '{"a":1}'.length)}}`;
  t.equal(keyOf(spaced(256 * 1024)), keyOf('{"a":1}'));
  t.not(keyOf(spaced(256 * 1024 + 1)), keyOf('{"a":1}'));
  t.equal(keyOf(spaced(256 * 1024 + 1)), keyOf(spaced(256 * 1024 + 1)));
  t.not(keyOf(spaced(256 * 1024 + 1)), keyOf(spaced(256 * 1024 + 2)));
});

t.test('of the headers, those count that change what a provider answers', async (t) => {
  const usual = ['anthropic-version', '2023-06-01'];
  t.same(answerHeaders([], usual), []);
  t.same(answerHeaders(['anthropic-version', '2023-06-01', 'anthropic-user-profile-id', 'u'], usual), []);
  t.same(answerHeaders(['openai-organization', 'o', 'openai-project', 'p', 'openai-beta', ''], []), []);
  t.same(answerHeaders(['anthropic-version', '2023-01-01'], usual), ['anthropic-version: 2023-01-01']);
  t.same(answerHeaders(['openai-beta', 'assistants=v2'], []), ['openai-beta: assistants=v2']);
  const betas = ['anthropic-beta: a-2025-01-01', 'anthropic-beta: b-2025-01-01'];
  t.same(answerHeaders(['anthropic-beta', 'b-2025-01-01,a-2025-01-01'], usual), betas);
  t.same(
    answerHeaders(['anthropic-beta', 'a-2025-01-01', 'anthropic-beta', ' b-2025-01-01, a-2025-01-01'], usual),
    betas,
  );
});
