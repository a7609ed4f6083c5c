/** /v1/criterion: what people grade by. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { MAX_CRITERIA } from '#core/contracts/grade.ts';
import { type EvaluatorApi, PYTHON, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { ask, criterion, grade, LABELS, requests, SCALE } from './world.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

type Shown = { id: string; name: string; kind: object; archived_at: string | null };
const refusal = async (path: string, call: object) => {
  const { status, body } = await api.call(path, call);
  return [status, body.error];
};
const create = (body: object) => refusal('/v1/criterion', { body });
const change = (id: string, body: object) => refusal(`/v1/criterion/${id}`, { method: 'PATCH', body });
const idsOf = async (body: object) =>
  (await ask<Shown[]>(api, '/v1/criterion/query', body)).map(({ id }) => id);

t.test('a criterion comes back as it was made, and lists show the newest first', async (t) => {
  const first = await criterion(api, SCALE, { name: 'Helpful', description: 'Does it help?' });
  const second = await criterion(api, LABELS, { name: 'Quality' });
  t.match(await ask(api, `/v1/criterion/${first}`), {
    name: 'Helpful',
    description: 'Does it help?',
    kind: SCALE,
    evaluator_id: null,
    archived_at: null,
  });
  t.match(await ask(api, `/v1/criterion/${second}`), { kind: LABELS, description: '' });
  t.same((await idsOf({})).slice(0, 2), [second, first]);
});

t.test('a name is unique ignoring case, until its criterion is archived', async (t) => {
  const id = await criterion(api, SCALE, { name: 'Tone' });
  const taken = [409, 'There is a criterion of this name already'];
  t.same(await create({ name: 'TONE', kind: SCALE }), taken);
  const other = await criterion(api);
  t.same(await change(other, { name: 'tone' }), taken);
  t.equal((await api.call(`/v1/criterion/${id}`, { method: 'DELETE' })).status, 200);
  t.equal((await create({ name: 'TONE', kind: SCALE }))[0], 200);
  t.notOk((await idsOf({})).includes(id));
  t.ok((await idsOf({ archived: true })).includes(id));
  t.ok((await ask<Shown>(api, `/v1/criterion/${id}`)).archived_at, 'an archived one can be read');
  t.same(await change(id, { name: 'Another' }), [409, `The criterion ${id} is archived`]);
});

t.test('the kind changes while there are no grades, and not once there were some', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api);
  t.equal((await change(id, { kind: SCALE }))[0], 200);
  await grade(api, request!, id, 3);
  const sentence = 'The kind of a criterion that has grades cannot change: make another criterion';
  t.same(await change(id, { kind: { ...SCALE, max: 6 } }), [409, sentence]);
  t.equal((await change(id, { kind: SCALE, name: 'Same kind' }))[0], 200, 'the same kind is no change');
  await api.call(`/v1/request/${request}/grade?criterionId=${id}`, { method: 'DELETE' });
  t.same(await change(id, { kind: { type: 'boolean' } }), [409, sentence], 'their history would be lost');
});

t.test('an evaluator has one criterion, which must be of an evaluator that exists', async (t) => {
  const evaluator = await api.make('/v1/evaluator', { name: 'Tied', ...PYTHON });
  const id = await criterion(api, SCALE, { evaluatorId: evaluator.id });
  const taken = [409, `The evaluator ${evaluator.id} is tied to the criterion ${id}`];
  t.same(await create({ name: 'Second', kind: SCALE, evaluatorId: evaluator.id }), taken);
  const other = await criterion(api);
  t.same(await change(other, { evaluatorId: evaluator.id }), taken);
  t.equal((await change(id, { evaluatorId: null }))[0], 200);
  t.equal((await change(other, { evaluatorId: evaluator.id }))[0], 200);
  t.match(await ask(api, `/v1/criterion/${other}`), { evaluator_id: evaluator.id });
  for (const unknown of [randomUUID(), 'x'])
    t.same(await create({ name: 'Untied', kind: SCALE, evaluatorId: unknown }), [
      404,
      `There is no evaluator with the id "${unknown}"`,
    ]);
});

t.test('a criterion that breaks a rule is a 400 that names the rule', async (t) => {
  const named = (kind: object) => ({ name: 'Refused', kind });
  const REFUSED: [body: object, sentence: RegExp][] = [
    [{ kind: SCALE }, /^name is required$/],
    [{ name: ' a', kind: SCALE }, /^name must be one line without spaces around it/],
    [{ name: 'a\0b', kind: SCALE }, /^name must be one line/],
    [{ name: 'x'.repeat(101), kind: SCALE }, /^name must have at most 100 characters/],
    [named({ type: 'stars' }), /^kind.type must be one of "boolean", "scale", "categories", but is "stars"$/],
    [named({ type: 'boolean', min: 1 }), /^kind.min does not belong to the type boolean$/],
    [named({ type: 'scale', max: 1 }), /^kind.min is required for a scale$/],
    [named({ type: 'scale', min: 1 }), /^kind.max is required for a scale$/],
    [named({ type: 'scale', min: 1, max: 1 }), /^kind.max must be greater than kind.min, but is 1$/],
    [
      named({ type: 'scale', min: 0, max: 1e10 }),
      /^kind.max must be at most 1000000000, but is 10000000000$/,
    ],
    [named({ type: 'scale', min: 0, max: 1, step: 0.3 }), /^kind.step must divide the scale/],
    [named({ type: 'scale', min: 0, max: 1, step: 0 }), /^kind.step must divide the scale/],
    [named({ type: 'scale', min: 0, max: 1, step: -0.5 }), /^kind.step must divide the scale/],
    [named({ type: 'scale', min: 0, max: 1, step: 1e-9 }), /^kind.step must divide the scale/],
    [named({ type: 'categories' }), /^kind.labels is required for categories$/],
    [named({ type: 'categories', labels: [{ label: 'a' }] }), /^kind.labels must hold at least 2 items/],
    [
      named({ type: 'categories', labels: [{ label: 'a' }, { label: ' A' }] }),
      /^kind.labels.1.label is there before, ignoring case: " A"$/,
    ],
    [{ ...named(SCALE), color: 'red' }, /^color is not a known field$/],
  ];
  for (const [body, sentence] of REFUSED) {
    const [status, error] = await create(body);
    t.equal(status, 400, JSON.stringify(body));
    t.match(error, sentence);
  }
});

t.test('criteria are bounded, and archiving one makes room', async (t) => {
  await api.database.sql`
    insert into assay.criteria
      (criterion_id, organization_id, name, folded_name, description, kind, created_at, updated_at)
    select gen_random_uuid(), ${api.own.organizationId}, 'filler ' || i, 'filler ' || i, '', '{"type":"boolean"}', now(), now()
    from generate_series(1, ${MAX_CRITERIA} - (
      select count(*) from assay.criteria where organization_id = ${api.own.organizationId} and archived_at is null)) i`;
  const full = await create({ name: 'One too many', kind: SCALE });
  t.same(full, [409, `An organization can have at most ${MAX_CRITERIA} criteria: archive one first`]);
  const [id] = await idsOf({});
  await api.call(`/v1/criterion/${id}`, { method: 'DELETE' });
  t.equal((await create({ name: 'One too many', kind: SCALE }))[0], 200);
});
