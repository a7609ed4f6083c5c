/** Requests that carry a credential header more than once, for both ports. */
import fc from 'fast-check';
import { recased } from './raw-call.ts';

/** A header, the key that its first, last or middle line has, and all lines. */
export type RepeatedCredential = { name: string; lines: string[] };

/** Lines of one credential header in any case, one of them with `key`, among other headers. */
export function repeatedCredentials(key: string): fc.Arbitrary<RepeatedCredential> {
  const other = fc.constantFrom('', 'Bearer ', `Bearer ${key}`, key, 'Bearer sk-other', 'Basic YTpi');
  return fc
    .record({
      name: fc.constantFrom('authorization', 'x-api-key', 'service-auth'),
      cases: fc.array(fc.array(fc.boolean(), { maxLength: 13 }), { minLength: 2, maxLength: 4 }),
      others: fc.array(other, { minLength: 4, maxLength: 4 }),
      place: fc.nat({ max: 3 }),
      between: fc.boolean(),
    })
    .map(({ name, cases, others, place, between }) => {
      const good = name === 'x-api-key' ? key : `Bearer ${key}`;
      const lines = cases.flatMap((capitals, at) => [
        recased(name, capitals),
        at === place % cases.length ? good : others[at]!,
        ...(between ? ['x-between', String(at)] : []),
      ]);
      // A whole credential beside the repeated one does not mend it.
      if (name !== 'authorization') lines.push('Authorization', `Bearer ${key}`);
      return { name, lines };
    });
}
