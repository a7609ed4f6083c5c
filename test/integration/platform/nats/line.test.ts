/** What is asked over a line that is cut, against a nats-server that is killed. */
import t from 'tap';
import { connectNats, Line, LineCutError } from '#platform/nats/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { natsIsMissing, startNats } from '../../../support/nats.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const skip = natsIsMissing();
/** Longer than any of these waits, so that who runs into it has not been woken. */
const NOT_WOKEN_MS = 60_000;
const never = () => new Promise<never>(() => {});

async function setUp(t: { teardown(fn: () => Promise<void>): void }) {
  const nats = await startNats();
  const address = { servers: [nats.url], credentialsFile: null };
  const connection = await connectNats({ address, name: 'line', log });
  t.teardown(async () => {
    await connection.close();
    await nats[Symbol.asyncDispose]();
  });
  return { nats, connection, line: new Line(connection, log) };
}

t.test('what waits for an answer hears of the cut at once, and not of its timeout', { skip }, async (t) => {
  const { nats, line } = await setUp(t);
  const hearing = t.rejects(line.during(line.cuts, never()), LineCutError);
  await nats.kill();
  await hearing;
  t.equal(line.cuts, 1);
  await t.rejects(
    line.during(line.cuts, Promise.resolve(1)),
    LineCutError,
    'nothing is asked while it is cut',
  );
});

t.test('who waits for the line goes on as soon as it stands', { skip }, async (t) => {
  const { nats, line } = await setUp(t);
  t.equal(await line.stands(NOT_WOKEN_MS), true);
  const hearing = t.rejects(line.during(line.cuts, never()), LineCutError);
  await nats.kill();
  await hearing;
  const back = line.stands(NOT_WOKEN_MS);
  await nats.restart();
  t.equal(await back, true);
  t.equal(await line.during(line.cuts, Promise.resolve('answer')), 'answer');
});

t.test('what was begun before a cut is not gone on with when the line is back', { skip }, async (t) => {
  const { nats, line } = await setUp(t);
  const before = line.cuts;
  const hearing = t.rejects(line.during(before, never()), LineCutError);
  await nats.kill();
  await hearing;
  const back = line.stands(NOT_WOKEN_MS);
  await nats.restart();
  await back;
  await t.rejects(line.during(before, Promise.resolve('of another stream')), LineCutError);
});

t.test('a failure of what was asked is passed on, and ends nothing else', { skip }, async (t) => {
  const { line } = await setUp(t);
  await t.rejects(line.during(line.cuts, Promise.reject(new Error('no such stream'))), /no such stream/);
  t.equal(await line.during(line.cuts, Promise.resolve(2)), 2);
});

t.test(
  'who waits for a line that never comes back goes on when its time is over, or it is closed',
  { skip },
  async (t) => {
    const { nats, line, connection } = await setUp(t);
    const hearing = t.rejects(line.during(line.cuts, never()), LineCutError);
    await nats.kill();
    await hearing;
    t.equal(await line.stands(1), false);
    const closed = line.stands(NOT_WOKEN_MS);
    await connection.close();
    t.equal(await closed, false);
    t.equal(line.cuts, 1);
  },
);
