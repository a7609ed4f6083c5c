/** What a log entry's head becomes before it is written, should a value from outside have slipped through the types. */
import fc from 'fast-check';
import t from 'tap';
import { LogEntryHead, logEntryHeadChecker } from '#core/contracts/log-entry.ts';
import { readableHead } from '#core/contracts/readable-head.ts';
import { logEntryHead } from '../../../support/log-entries.ts';

const NAMES = Object.keys(LogEntryHead.properties) as (keyof LogEntryHead)[];
/** Without them nobody could say whose record it is, or where it belongs. */
const IDENTIFYING = ['v', 'id', 'organizationId', 'source', 'createdAtMs', 'answeredAtMs'];

t.test('a head that can be read back is written as it is', async (t) => {
  const head = logEntryHead({ properties: [['team', 'a']] });
  t.equal(readableHead(head).head, head);
  t.same(readableHead(head).unreadable, []);
});

t.test('a head with an unreadable content type gets none, and the member is named', async (t) => {
  const contentType = ['text/plain', 'text/html'] as unknown as string;
  const { head, unreadable } = readableHead(logEntryHead({ contentType, status: 201 }));
  t.equal(head?.contentType, null);
  t.equal(head?.status, 201);
  t.same(unreadable, ['contentType']);
});

t.test('a head with any unreadable members is written so that ingest can read it back', async () => {
  const odd = fc.anything().filter((value) => value !== undefined);
  const damaged = fc.dictionary(fc.constantFrom(...NAMES), odd);
  fc.assert(
    fc.property(damaged, (members) => {
      const given = { ...logEntryHead(), ...members } as LogEntryHead;
      const { head, unreadable } = readableHead(given);
      if (head === null) return unreadable.some((name) => IDENTIFYING.includes(name));
      const read: unknown = JSON.parse(JSON.stringify(head));
      return (
        logEntryHeadChecker.Check(read) &&
        NAMES.every((name) => unreadable.includes(name) || head[name] === given[name])
      );
    }),
    { numRuns: 2_000 },
  );
});
