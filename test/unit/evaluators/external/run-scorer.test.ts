/** The scorers that run in process, without the adapter around them. */
import fc from 'fast-check';
import t from 'tap';
import { editDistance } from '#core/text/mod.ts';
import { maximumAssignment } from '../../../../evaluators/external/maximum-assignment.ts';
import { runScorer } from '../../../../evaluators/external/run-scorer.ts';
import { AUTOEVALS_SCORES } from './fixtures/autoevals-scores.ts';

const levenshtein = (output: string, expected: string) =>
  runScorer({ scorer: 'Levenshtein', output, expected, allowExtraEntities: false });

t.test('a value that the scorer cannot take has no score', (t) => {
  t.equal(runScorer({ scorer: 'Levenshtein', output: 1, expected: 'x', allowExtraEntities: false }), null);
  t.end();
});

t.test('the scores of ASCII texts equal those of the library autoevals', async (t) => {
  for (const { score, allowExtraEntities = false, ...job } of AUTOEVALS_SCORES) {
    const own = runScorer({ ...job, allowExtraEntities });
    t.ok(own !== null && Math.abs(own - score) < 1e-12, `${JSON.stringify(job)}: ${own}, not ${score}`);
  }
});

t.test('Levenshtein counts a character beyond 16 bits as one character', async (t) => {
  t.equal(
    levenshtein('🎉', '🎂'),
    0,
    'two emoji that share a surrogate are as different as any two characters',
  );
  t.equal(levenshtein('Happy 🎉', 'Happy 🎂'), 1 - 1 / 7);
  t.equal(levenshtein('𠮷野家', '吉野家'), 1 - 1 / 3);
  t.equal(levenshtein('a🎉', 'a'), 0.5);
  t.equal(levenshtein('Grüße', 'Grusse'), 1 - 3 / 6);
});

t.test('Levenshtein scores 1 for texts that differ only in Unicode composition', async (t) => {
  t.equal(levenshtein('caf\u00e9', 'cafe\u0301'), 1);
  t.equal(levenshtein('\u1100\u1161', '\uac00'), 1, 'Hangul');
  t.equal(levenshtein('caf\u00e9', 'cafe'), 0.75, 'an accent is a difference');
  t.equal(levenshtein('①', '1'), 0, 'compatibility characters are different characters');
});

t.test('ListContains and JSONDiff count characters as Levenshtein does', async (t) => {
  const common = { allowExtraEntities: false };
  const list = { scorer: 'ListContains', output: ['🎉'], expected: ['🎂'], ...common } as const;
  t.equal(runScorer(list), 0);
  const json = { scorer: 'JSONDiff', output: '{"a":"🎉x"}', expected: { a: '🎂x' }, ...common } as const;
  t.equal(runScorer(json), 0.5);
});

const characters = fc.array(fc.constantFrom('a', 'b', 'é', '🎉', '🎂', '𠮷'), { maxLength: 8 });

/** The recursive definition of the edit distance, without a table. */
function distanceByDefinition(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return one.length + other.length;
  const [first, ...ones] = one;
  const [second, ...others] = other;
  if (first === second) return distanceByDefinition(ones, others);
  return (
    1 +
    Math.min(
      distanceByDefinition(ones, others),
      distanceByDefinition(one, others),
      distanceByDefinition(ones, other),
    )
  );
}

t.test('the edit distance of any two texts equals its recursive definition', async () => {
  const few = characters.map((list) => list.slice(0, 5));
  fc.assert(
    fc.property(
      few,
      few,
      (one, other) => editDistance(one.join(''), other.join('')) === distanceByDefinition(one, other),
    ),
  );
});

t.test(
  'the edit distance is zero for equal texts only, symmetric, and obeys the triangle inequality',
  async () => {
    const texts = characters.map((list) => list.join(''));
    fc.assert(
      fc.property(texts, texts, texts, (a, b, c) => {
        const ab = editDistance(a, b);
        return (
          (ab === 0) === (a === b) &&
          ab === editDistance(b, a) &&
          editDistance(a, c) <= ab + editDistance(b, c)
        );
      }),
    );
  },
);

/** Returns the largest sum of all pairings, tried one by one. */
function bestByTrial(values: readonly (readonly number[])[], used: ReadonlySet<number> = new Set()): number {
  const [row, ...rows] = values;
  if (row === undefined) return 0;
  const withRow = row.flatMap((value, column) =>
    used.has(column) ? [] : [value + bestByTrial(rows, new Set([...used, column]))],
  );
  const isSpare = rows.length + 1 > row.length - used.size;
  return Math.max(...withRow, ...(isSpare ? [bestByTrial(rows, used)] : []));
}

t.test('maximumAssignment finds the largest sum of any pairing, for tables of any shape', async () => {
  const table = fc
    .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }))
    .chain(([rows, columns]) => {
      const row = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: columns, maxLength: columns });
      return fc.array(row, { minLength: rows, maxLength: rows });
    });
  fc.assert(fc.property(table, (values) => maximumAssignment(values) === bestByTrial(values)));
});
