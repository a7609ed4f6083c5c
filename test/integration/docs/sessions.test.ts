/** The calls of docs/guides/sessions.md, from the headers of a call to what is shown of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Conversation, SessionRow, SessionTree } from '#core/contracts/session.ts';
import { waitFor } from '../../support/assay.ts';
import { createWorld } from '../../support/world.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/guides/sessions.md'), 'utf8');

/** The first call in the guide to a path: its headers and its body. */
function exampleOf(path: string): { headers: Record<string, string>; body?: string } {
  const text = [...document.matchAll(/```sh\n(.*?)```/gs)]
    .flatMap(([, block = '']) => block.split(/\n(?=curl)/))
    .find((block) => block.includes(path))!;
  const headers = [...text.matchAll(/-H ['"]([\w-]+): ([^'"]+)['"]/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  const body = /-d '(.*)'/s.exec(text)?.[1];
  return { headers: Object.fromEntries(headers), ...(body === undefined ? {} : { body }) };
}

t.test('the calls of the guide to sessions answer as it says', async (t) => {
  const world = await createWorld(t);
  const { keyWith } = await world.organization();
  const key = await keyWith(['gateway', 'read', 'write']);
  const provider = await world.provider();
  const directory = world.directory();
  const gateway = await world.start('gateway', {
    OPENAI_BASE_URL: provider.url,
    OPENAI_API_KEY: 'sk-test',
    DATA_DIR: directory,
  });
  await world.start('ingest', { DATA_DIR: directory });
  const api = await world.start('api');
  const call = async <T>(base: string, path: string): Promise<T> => {
    const { headers, body } = exampleOf(path);
    const response = await fetch(`${base}${path}`, {
      headers: { ...headers, Authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    t.equal(response.status, 200, path);
    return ((await response.json()) as { data: T }).data;
  };
  await call(gateway.url, '/v1/chat/completions');
  await waitFor(
    'the session',
    async () => (await call<SessionRow[]>(api.url, '/v1/session/query')).length > 0,
  );
  await call(api.url, '/v1/session/trip-42/feedback');
  await call(api.url, '/v1/session/trip-42/tag');
  const { session, tree } = await call<SessionTree>(api.url, '/v1/session/trip-42');
  t.match(session, {
    session_id: 'trip-42',
    session_name: 'Trip to Oslo',
    total_requests: 1,
    feedback_rating: true,
    tag: 'reviewed',
  });
  t.match(tree.children, [
    { name: 'agent', children: [{ path: '/agent/plan', requests: [{ status: 200 }] }] },
  ]);
  const answer = await fetch(`${api.url}/v1/session/trip-42/conversation`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await answer.json()) as { data: Conversation };
  t.match(data.turns, [
    {
      seen_messages: 0,
      messages: [{ role: 'user', content: 'Plan a day in Oslo' }],
      answer: { role: 'assistant' },
    },
  ]);
});

t.test('docs/guides/sessions.md names every field of a session', async (t) => {
  const example = /```json\n(\{"data": \[\{"session_id".*?)```/s.exec(document)?.[1] ?? '';
  const [row] = (JSON.parse(example) as { data: object[] }).data;
  const { SessionRow: schema } = await import('#core/contracts/session.ts');
  t.same(Object.keys(row!), Object.keys(schema.properties));
});
