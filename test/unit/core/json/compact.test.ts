import { strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { isStorableJson, type JsonObject, storableJson } from '#core/json/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const body = fc.dictionary(
  fc.string({ unit: anyCharacter }),
  fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 4 }),
);

function isAsWritten(text: string): boolean {
  return isStorableJson(text, JSON.parse(text) as JsonObject);
}

t.test(
  "isStorableJson refuses every text that differs from JSON.stringify's, or that Postgres would refuse",
  async (t) => {
    /** The same value written in other ways, which a parser cannot tell apart. */
    const rewritten = fc
      .tuple(
        body,
        fc.constantFrom<[RegExp, string]>(
          [/(?!)/, ''],
          [/,/, ', '],
          [/:/, ': '],
          [/}/, ' }'],
          [/^/, ' '],
          [/$/, '\n'],
          [/\d+/, '$&.0'],
          [/\d+/, '$&e0'],
          [/[a-z]/, '\\u0061'],
          [/{/, '{"a":1,"a":1,'],
          [/{/, '{"b":1,"1":1,'],
          [/{/, '{"a":-0,'],
          [/{/, '{"a":1e2,'],
          [/{/, '{"a":1e400,'],
          [/{/, '{"a":"\\/",'],
          [/{/, '{"a":"\\ud83d",'],
          [/{/, '{"a":"\\u0000",'],
          [/{/, '{"__proto__":1,'],
        ),
      )
      .map(([value, [from, to]]) => JSON.stringify(value).replace(from, to).replace(',}', '}'));
    const parameters = runs(t, 2_000);
    let passed = 0;
    fc.assert(
      fc.property(rewritten, (text) => {
        let value: JsonObject;
        try {
          value = JSON.parse(text) as JsonObject;
        } catch {
          return;
        }
        if (!isStorableJson(text, value)) return;
        passed += 1;
        strictEqual(text, storableJson(value).text);
        strictEqual(text, JSON.stringify(value));
      }),
      parameters,
    );
    t.ok(passed > parameters.numRuns / 10, 'and many do pass');
  },
);

t.test('isStorableJson accepts an ordinary body', async (t) => {
  for (const value of [
    {},
    { a: [] },
    {
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'He said: "\\ or \n\t", é, 😀' }],
      n: -1.5e-7,
    },
    { a: [[1, 2.5, [true, false, null]], {}], b: { c: '\\', d: '"', e: '\\"' } },
  ]) {
    t.equal(isAsWritten(JSON.stringify(value)), true, JSON.stringify(value));
    t.equal(isAsWritten(JSON.stringify(value, null, 1)), Object.keys(value).length === 0);
  }
});

t.test('isStorableJson refuses a text nested deeper than Postgres allows', async (t) => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  t.equal(isAsWritten(nested(512)), true);
  t.equal(isAsWritten(nested(513)), false);
  t.equal(isAsWritten(nested(100_000)), false);
});
