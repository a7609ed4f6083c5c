/** The prompt, inputs, scores and session of requests that were made elsewhere. */
import t from 'tap';
import { call, LOG, startLogWorld } from './world.ts';

const { api, ingest, logged, record } = await startLogWorld(t);

const rowOf = async (id: string) => {
  const [row] = await api.database.sql`
    select session_id, session_path, session_name, prompt_id, prompt_version, inputs::text as inputs
    from assay.requests where request_id = ${id}`;
  return { ...row };
};

t.test('inputs, prompt version, scores and session of a logged request are in its record', async (t) => {
  const inputs = { country: 'France', 'a.b': [1, { c: null }], odd: 'NUL \0 🚢 \ud800', age: 9 };
  const id = await logged(
    call({
      prompt_id: 'greeting',
      prompt_version: '2.0',
      inputs,
      scores: { helpfulness: 0.75, polite: true, rude: false },
      session: { id: 's-1', path: '/a/b', name: 'Search' },
    }),
  );
  await ingest();
  const [found] = await api.query({
    filter: { values: { country: { equals: 'France' } } },
    includeInputs: true,
    isScored: true,
  });
  t.match(found, {
    request_id: id,
    prompt_id: 'greeting',
    prompt_version: '2.0',
    inputs: { ...inputs, odd: 'NUL \ufffd 🚢 \ufffd' },
    scores: { helpfulness: 0.75, polite: 1, rude: 0 },
  });
  t.match(await rowOf(id), { session_id: 's-1', session_path: '/a/b', session_name: 'Search' });
  const [byScore] = await api.query({ filter: { scores: { helpfulness: { gt: 0.7 } } } });
  t.equal(byScore!.request_id, id);
  const other = { filter: { values: { age: { equals: 9 } } } };
  t.same(await api.query(other, api.other.key), [], 'another organization finds none of it');
  t.equal((await api.query(other)).length, 1);

  await api.call(`/v1/request/${id}/score`, { body: { scores: { polite: 0.5 } } });
  await ingest();
  const { data } = (await api.call(`/v1/request/${id}`)).body;
  t.match(data, { scores: { helpfulness: 0.75, polite: 0.5 } }, 'scores can be changed as ever');
});

t.test(
  'what a logged request does not have of prompt and session is null, and null is the same',
  async (t) => {
    const nothing = { inputs: null, prompt_version: null, scores: null, session: null };
    for (const more of [{}, nothing, { session: { id: 's', path: null } }]) {
      const found = await record(call(more));
      t.match(found, { prompt_version: null, scores: null });
      const session = 'session' in more && more.session !== null ? 's' : null;
      t.match(await rowOf(found.request_id as string), {
        inputs: null,
        session_id: session,
        session_path: null,
        session_name: null,
      });
    }
  },
);

t.test('the numbers of inputs keep their digits, in a small body and in a large one', async (t) => {
  for (const text of ['', 'x'.repeat(200_000)]) {
    const body = JSON.stringify(
      call({ inputs: { id: '#' }, request: { ...call().request, body: { text } } }),
    );
    const answer = await api.call(LOG, { raw: body.replace('"#"', '12345678901234567890') });
    const { request_id: id } = answer.body.data as { request_id: string };
    await ingest();
    t.match(await rowOf(id), { inputs: '{"id": 12345678901234567890}' });
  }
});

t.test('names of scores that Postgres cannot tell apart are one score, with the last value', async (t) => {
  const found = await record(call({ scores: { a: 1, 'a\0': 2, 'a\ufffd': 3 } }));
  t.same(found.scores, { a: 1, 'a\ufffd': 3 });
});

t.test('a mistake in inputs, prompt version, scores or session is a 400 that names it', async (t) => {
  const nested = JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`);
  const cases: [object, string | RegExp][] = [
    [{ inputs: [] }, /^inputs must be an object/],
    [{ inputs: 'x' }, /^inputs must be an object/],
    [{ inputs: { a: 'x'.repeat(65_530) } }, 'inputs may be at most 65536 bytes long as JSON, but has 65538'],
    [{ inputs: { a: nested } }, 'inputs may be nested at most 512 levels deep'],
    [{ prompt_version: '1.0' }, 'prompt_version needs a prompt_id beside it'],
    [{ prompt_id: 'p', prompt_version: 2 }, /^prompt_version must be a string/],
    [
      { prompt_id: 'p', prompt_version: 'x'.repeat(1_025) },
      'prompt_version must have at most 1024 bytes as UTF-8, but has 1025',
    ],
    [{ scores: {} }, 'scores must hold 1 to 100 fields, but holds 0'],
    [{ scores: { a: 'high' } }, /^scores\.a must be/],
    [{ scores: { '': 1 } }, /^scores/],
    [{ session: 's' }, /^session must be an object/],
    [{ session: {} }, 'session.id is required'],
    [{ session: { id: '' } }, 'session.id must not be empty'],
    [{ session: { id: 's', title: 'x' } }, 'session.title is not a known field'],
    [
      { session: { id: 's', name: 'x'.repeat(1_025) } },
      'session.name must have at most 1024 bytes as UTF-8, but has 1025',
    ],
    [
      { session: { id: 's' }, session_id: 's' },
      'session_id must not be sent beside session, which says the same',
    ],
  ];
  for (const [more, sentence] of cases) {
    const answer = await api.call(LOG, { body: call(more) });
    t.equal(answer.status, 400, JSON.stringify(more).slice(0, 80));
    t.match(answer.body.error, sentence);
  }
});
