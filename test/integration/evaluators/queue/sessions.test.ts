/** The requests that an evaluation of a session is given. */
import t from 'tap';
import { loadSessions } from '../../../../evaluators/queue/mod.ts';
import { startWorld } from '../../../support/evaluation-queue.ts';
import { insertRequests, type SeedRequest } from '../../../support/seed-requests.ts';

const START = Date.UTC(2026, 0, 5, 12);
const world = await startWorld(t);

async function sessionWith(requests: Partial<SeedRequest>[], organizationId?: string) {
  const own = organizationId ?? (await world.organization());
  const rows = await insertRequests(
    world.sql,
    own,
    requests.map((request, index) => ({
      created_at: new Date(START + index * 1_000),
      session_id: 'chat',
      ...request,
    })),
  );
  return { organizationId: own, rows };
}

t.test('a session is given up to the request that is evaluated, with the bodies of each', async (t) => {
  const evaluator = await world.evaluator(await world.organization());
  const { rows } = await sessionWith(
    [
      { request_text: '{"n":1}', response_text: '{"a":1}', session_path: '/plan', session_name: 'Support' },
      { request_text: '{"n":2}', response_text: '{"a":2}', status: 500 },
      { source: 'evaluator', request_text: '{"judge":1}' },
      { request_text: '{"n":3}' },
    ],
    evaluator.organizationId,
  );
  await sessionWith([{ request_text: '{"theirs":1}' }]);
  const [first, second] = rows;
  await world.schedule(evaluator, [second!.request_id, rows[3]!.request_id]);
  await world.sql`update assay.evaluations set session_id = 'chat' where request_id = ${second!.request_id}`;
  const jobs = await world.claimAll();
  const session = jobs.find(({ requestId }) => requestId === second!.request_id)!.session;
  t.match(session, { id: 'chat', name: 'Support', isCut: false });
  t.same(session!.turns, [
    {
      requestId: first!.request_id,
      path: '/plan',
      createdAt: '2026-01-05T12:00:00.000Z',
      status: 200,
      model: 'gpt-4o-mini-2024-07-18',
      requestText: '{"n":1}',
      responseText: '{"a":1}',
    },
    {
      requestId: second!.request_id,
      path: null,
      createdAt: '2026-01-05T12:00:01.000Z',
      status: 500,
      model: 'gpt-4o-mini-2024-07-18',
      requestText: '{"n":2}',
      responseText: '{"a":2}',
    },
  ]);
  t.equal(
    jobs.find(({ requestId }) => requestId === rows[3]!.request_id)!.session,
    null,
    'no session was asked for',
  );
});

t.test('of a session with too many requests the newest are given, and that some are missing', async (t) => {
  const { organizationId } = await sessionWith(
    Array.from({ length: 205 }, (_, index) => ({ request_text: `{"n":${index}}` })),
  );
  const [session] = await loadSessions(world.sql, [
    { organizationId, sessionId: 'chat', createdAt: null, requestId: null },
  ]);
  t.equal(session!.isCut, true);
  t.same(
    [session!.turns.length, session!.turns[0]!.requestText, session!.turns.at(-1)!.requestText],
    [200, '{"n":5}', '{"n":204}'],
  );
});

t.test('of a session with large bodies the newest are given, up to 4 MiB', async (t) => {
  const large = JSON.stringify({ text: 'x'.repeat(1.5 * 1024 * 1024) });
  const { organizationId } = await sessionWith([
    { request_text: large },
    { request_text: large },
    { request_text: large },
    { request_text: '{}' },
  ]);
  const [session] = await loadSessions(world.sql, [
    { organizationId, sessionId: 'chat', createdAt: null, requestId: null },
  ]);
  t.same(
    session!.turns.map(({ requestText }) => requestText?.length ?? null),
    [null, large.length, large.length, 2],
  );
});

t.test('several sessions are read at once, each for its own organization', async (t) => {
  const ours = await sessionWith([{ request_text: '{"ours":1}' }]);
  const theirs = await sessionWith([{ request_text: '{"theirs":1}' }]);
  const end = (organizationId: string, sessionId = 'chat') => ({
    organizationId,
    sessionId,
    createdAt: null,
    requestId: null,
  });
  const found = await loadSessions(world.sql, [
    end(theirs.organizationId),
    end(ours.organizationId, 'unknown'),
    end(ours.organizationId),
  ]);
  t.same(
    found.map(({ turns }) => turns.map(({ requestText }) => requestText)),
    [['{"theirs":1}'], [], ['{"ours":1}']],
  );
});
