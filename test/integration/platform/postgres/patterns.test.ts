import fc from 'fast-check';
import t from 'tap';
import { databaseFor } from '../../../support/world.ts';

/** Texts over few characters, so that pieces of patterns begin, and almost end, at many places. */
const text = (characters: string, maxLength: number) =>
  fc.array(fc.constantFrom(...characters), { maxLength }).map((chosen) => chosen.join(''));
/** A lone "\\" at the end is no pattern. */
const piece = fc
  .array(fc.constantFrom('a', 'b', 'A', 'é', '_', '\\_', '\\%', '\\\\', '\\a', '\n'), { maxLength: 6 })
  .map((tokens) => tokens.join(''));
const filler = text('aabAé%_\\\n', 6);
/** Any text, or one that the pattern was made for. */
const sample = fc
  .record({
    pieces: fc.array(piece, { minLength: 2, maxLength: 5 }),
    fillers: fc.array(filler, { minLength: 5, maxLength: 5 }),
    other: text('aaabAéÉ%_\\\n', 40),
    isMade: fc.boolean(),
    step: fc.integer({ min: 1, max: 60 }),
  })
  .map(({ pieces, fillers, other, isMade, step }) => {
    const literal = pieces.map((one) => one.replace(/\\?(.)/gsu, '$1'));
    const made = literal.map((one, at) => (at === 0 ? one : `${fillers[at - 1]}${one}`)).join('');
    return { value: isMade ? made : other, pieces, pattern: pieces.join('%'), step };
  });
const BATCH = 200;

t.test('what is compared in steps is like a pattern exactly when Postgres says so at once', async (t) => {
  const { sql } = await databaseFor(t);
  let alike = 0;
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(sample, { minLength: BATCH, maxLength: BATCH }), async (cases) => {
      const rows = await sql<
        { at: number; stepped: boolean; whole: boolean; folded: boolean; foldedWhole: boolean }[]
      >`
          select at, assay.like_in_steps(value, pieces, false, step) as stepped, value like pattern as whole,
                 assay.like_in_steps(value, pieces, true, step) as folded,
                 value collate "default" ilike pattern as "foldedWhole"
            from (select (one ->> 'value') as value, (one ->> 'step')::bigint as step, one ->> 'pattern' as pattern, at,
                         array(select jsonb_array_elements_text(one -> 'pieces')) as pieces
                    from jsonb_array_elements(${sql.json(cases)})
                           with ordinality as t (one, at)) t`;
      for (const { at, stepped, whole, folded, foldedWhole } of rows) {
        if (stepped !== whole || folded !== foldedWhole)
          throw new Error(
            `${JSON.stringify(cases[Number(at) - 1])}: ${stepped} ${folded}, at once ${whole} ${foldedWhole}`,
          );
        alike += Number(whole);
        compared += 1;
      }
    }),
    { numRuns: 100 },
  );
  t.equal(compared, 100 * BATCH);
  t.ok(alike > compared / 3 && alike < (2 * compared) / 3, 'some are alike, and some are not');
});

t.test('a comparison that would take a minute ends by its time limit', async (t) => {
  const { sql } = await databaseFor(t);
  const pieces = ['', `${'a'.repeat(9_999)}b`, ''];
  for (const character of ['a', '漢'])
    await t.rejects(
      sql.begin(async (tx) => {
        await tx`set local statement_timeout = '200ms'`;
        await tx`
          select assay.like_in_steps(repeat(${character}, 4_000_000), ${pieces.map((piece) => piece.replaceAll('a', character))}::text[],
                                     false, 100_000_000)`;
      }),
      { code: '57014' },
      character,
    );
});
