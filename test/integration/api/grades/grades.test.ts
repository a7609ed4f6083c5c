/** Grades: one for each request, criterion and person, with the values that it replaced. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { MAX_GRADES_A_REQUEST, MAX_HISTORY } from '#core/contracts/grade.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { ask, criterion, grade, gradesOf, LABELS, requests, SCALE, type ShownGrade } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const put = (request: string, body: unknown) =>
  api.call(`/v1/request/${request}/grade`, { method: 'PUT', body });
const remove = (request: string, search: string) =>
  api.call(`/v1/request/${request}/grade?${search}`, { method: 'DELETE' });

t.test('a person is the API key, or the author that a call names', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api, SCALE);
  const second = await api.own.keyWith(['read', 'write']);
  await grade(api, request!, id, 1);
  await grade(api, request!, id, 2, {}, second);
  await grade(api, request!, id, 3, { author: 'Ada', comment: 'fine' });
  await grade(api, request!, id, 4, { author: 'Ada' }, second);
  const grades = await gradesOf(api, request!);
  t.same(
    grades.map(({ author, value }) => [author, value]),
    [
      ['Ada', 4],
      [null, 2],
      [null, 1],
    ],
    'Ada is one person with both keys',
  );
  t.equal(grades[0]!.key_id, grades[1]!.key_id, 'the key of the last grade is stored beside the author');
  t.equal(grades[0]!.comment, null, 'a comment goes with its grade');
});

t.test('a later grade replaces the earlier one, whose value and time are kept', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api, LABELS);
  const first = await grade(api, request!, id, 'bad');
  const again = await grade(api, request!, id, 'bad');
  t.same(again, first, 'the same grade again changes nothing');
  await grade(api, request!, id, 'bad', { comment: 'rude' });
  t.same((await gradesOf(api, request!))[0]!.history, [], 'nor is a new comment another value');
  await grade(api, request!, id, 'FAIR');
  await grade(api, request!, id, 'good');
  const [shown] = await gradesOf(api, request!);
  t.match(shown, { id: first.id, value: 'good', comment: null });
  t.same(
    shown!.history.map(({ value }) => value),
    ['fair', 'bad'],
  );
  t.ok(shown!.history.every((one) => one.graded_at <= one.ended_at && one.ended_at <= shown!.graded_at));
});

t.test('a grade that is taken back is gone, and is history of the next one', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api, SCALE);
  await grade(api, request!, id, 2, { author: 'Ada' });
  await grade(api, request!, id, 5);
  t.equal((await remove(request!, `criterionId=${id}&author=Ada`)).status, 200);
  t.equal((await remove(request!, `criterionId=${id}&author=Ada`)).status, 200, 'also when there is none');
  t.same(
    (await gradesOf(api, request!)).map(({ value }) => value),
    [5],
  );
  await grade(api, request!, id, 3, { author: 'Ada' });
  t.match(await gradesOf(api, request!), [
    { value: 3, history: [{ value: 2 }] },
    { value: 5, history: [] },
  ]);
});

t.test('two grades of one person at once are one grade, with the other as its history', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api, SCALE);
  await Promise.all([1, 2, 3, 4, 5].map((value) => grade(api, request!, id, value, { author: 'Ada' })));
  const grades = await gradesOf(api, request!);
  t.equal(grades.length, 1);
  const values = [grades[0]!.value, ...grades[0]!.history.map(({ value }) => value)];
  t.same(values.toSorted(), [1, 2, 3, 4, 5]);
});

t.test('grades are listed by criterion, author and the requests of a filter, page by page', async (t) => {
  const slow = await requests(api, 3, { user_id: 'grades-slow' });
  const [fast] = await requests(api, 1, { user_id: 'grades-fast' });
  const [one, other] = [await criterion(api, SCALE), await criterion(api)];
  for (const request of [...slow, fast!]) await grade(api, request, one, 3, { author: 'Ada' });
  await grade(api, fast!, one, 4, { author: 'Bo' });
  await grade(api, fast!, other, true, { author: 'Ada' });
  const list = (body: object) =>
    ask<{ grades: ShownGrade[]; next: string | null }>(api, '/v1/grade/query', body);
  const requestsOf = async (body: object) => (await list(body)).grades.map((grade) => grade.request_id);
  t.same(await requestsOf({ criterionId: one, author: 'Bo' }), [fast]);
  t.same(await requestsOf({ criterionId: one, q: 'user:grades-slow' }), slow.toReversed());
  t.equal((await list({ criterionId: one, q: 'user:nobody' })).grades.length, 0);
  const seen: string[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page: Awaited<ReturnType<typeof list>> = await list({
      criterionId: one,
      limit: 2,
      ...(after === undefined ? {} : { after }),
    });
    seen.push(...page.grades.map(({ id }) => id));
    after = page.next;
  }
  t.equal(seen.length, 5);
  t.equal(new Set(seen).size, 5);
});

t.test('an archived criterion takes no grades, and keeps those that it has', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api);
  await grade(api, request!, id, true);
  await api.call(`/v1/criterion/${id}`, { method: 'DELETE' });
  const { status, body } = await put(request!, { criterionId: id, value: false });
  t.same([status, body.error], [409, `The criterion ${id} is archived: it takes no grades`]);
  t.match(await gradesOf(api, request!), [{ value: true }]);
});

t.test('a grade of an unknown request or by an unknown criterion is a 404', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api);
  t.equal((await put(randomUUID(), { criterionId: id, value: true })).status, 404);
  t.equal((await put('%00', { criterionId: id, value: true })).status, 404);
  for (const unknown of [randomUUID(), 'x', "'; drop table assay.grades; --"]) {
    const { status, body } = await put(request!, { criterionId: unknown, value: true });
    t.same([status, body.error], [404, `There is no criterion with the id ${JSON.stringify(unknown)}`]);
    t.equal((await remove(request!, `criterionId=${encodeURIComponent(unknown)}`)).status, 404);
    t.equal((await api.call('/v1/grade/query', { body: { criterionId: unknown } })).status, 404);
  }
  t.equal((await remove(randomUUID(), `criterionId=${id}`)).status, 404);
  t.equal((await api.call(`/v1/request/${randomUUID()}/grades`)).status, 404);
});

t.test('a grade that breaks a rule is a 400 that names the rule', async (t) => {
  const [request] = await requests(api, 1);
  const criterionId = await criterion(api, SCALE);
  const REFUSED: [body: unknown, sentence: RegExp][] = [
    [[], /^body must be an object/],
    [{ value: 1 }, /^criterionId is required$/],
    [{ criterionId }, /^value is required$/],
    [{ criterionId, value: null }, /^value must be a boolean or a number or a string, but is null$/],
    [{ criterionId, value: 6 }, /^value must be a number from 1 to 5, but is 6$/],
    [{ criterionId, value: 1.5 }, /^value must be 1 and a whole number of steps of 1, but is 1.5$/],
    [{ criterionId, value: '3' }, /^value must be a number from 1 to 5, but is "3"$/],
    [{ criterionId, value: 3, comment: 'x'.repeat(10_001) }, /^comment must have at most 10000 characters/],
    [{ criterionId, value: 3, author: '' }, /^author must not be empty$/],
    [{ criterionId, value: 3, author: 'a\nb' }, /^author must be one line/],
    [{ criterionId, value: 3, author: 'x'.repeat(101) }, /^author must have at most 100 characters/],
    [{ criterionId, value: 3, score: 1 }, /^score is not a known field$/],
  ];
  for (const [body, sentence] of REFUSED) {
    const answer = await put(request!, body);
    t.equal(answer.status, 400, JSON.stringify(body).slice(0, 80));
    t.match(answer.body.error, sentence);
  }
  t.same(await gradesOf(api, request!), []);
  t.equal((await remove(request!, '')).status, 400);
  t.equal((await remove(request!, `criterionId=${criterionId}&who=me`)).status, 400);
  for (const after of ['0', 'x', '9'.repeat(19), '1; drop'])
    t.equal((await api.call('/v1/grade/query', { body: { after } })).status, 400);
  t.equal((await api.call('/v1/grade/query', { body: { filter: 'all', q: '' } })).status, 400);
});

t.test('texts that Postgres cannot hold are stored with replacements', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api);
  const { comment } = await grade(api, request!, id, true, { comment: 'a\0b\ud800' });
  t.equal(comment, 'a\ufffdb\ufffd');
});

t.test('grades of a request are bounded for each criterion, and former values for each grade', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api, { type: 'scale', min: 0, max: 1_000 });
  for (let index = 0; index < MAX_GRADES_A_REQUEST; index += 1)
    await grade(api, request!, id, index, { author: `Person ${index}` });
  const { status, body } = await put(request!, { criterionId: id, value: 1, author: 'Too many' });
  t.same(
    [status, body.error],
    [409, `A request can have at most ${MAX_GRADES_A_REQUEST} grades by one criterion`],
  );
  for (let value = 1; value <= MAX_HISTORY + 5; value += 1)
    await grade(api, request!, id, value, { author: 'Person 0' });
  const shown = (await gradesOf(api, request!)).find(({ author }) => author === 'Person 0')!;
  t.equal(shown.history.length, MAX_HISTORY);
  t.equal(shown.history[0]!.value, MAX_HISTORY + 4);
});
