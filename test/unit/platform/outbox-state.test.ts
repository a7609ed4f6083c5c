import t from 'tap';
import { createOutboxReader } from '#platform/processes/mod.ts';

const outbox = { refused: 0, isRefusing: false, bytesOnDisk: 0 };
const read = createOutboxReader(
  { outbox, measureBacklog: async () => ({ records: 0, bytes: 0, oldestMs: 0 }) } as unknown as Parameters<
    typeof createOutboxReader
  >[0],
  1_000,
);
const reported = async () => (await read()).is_refusing;

t.test('an outbox whose disk is full is reported for as long as it is, however rare the calls', async (t) => {
  t.equal(await reported(), false);
  Object.assign(outbox, { refused: 1, isRefusing: true });
  t.equal(await reported(), true);
  t.equal(await reported(), true, 'no call came since the report before');
  Object.assign(outbox, { isRefusing: false });
  t.equal(await reported(), false);
});

t.test('an outbox that refused some and then took one is reported once', async (t) => {
  Object.assign(outbox, { refused: 2, isRefusing: false });
  t.equal(await reported(), true);
  t.equal(await reported(), false);
});
