import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { ask, create, type NewPrompt, PATH, version } from './world.ts';

let api: TestApi;
let made: NewPrompt;
t.before(async () => {
  api = await startTestApi(t);
  made = await create(api, { name: 'The only one' });
});

const LONG = 'x'.repeat(10_000);
const ENVIRONMENT = 'environment must be one line without spaces around it, but is';

/** The path, the fields of a body that is refused, and its sentence; a field of `undefined` is left out. */
const REFUSED: [path: string, fields: object, sentence: string][] = [
  ['', { name: undefined }, 'name is required'],
  ['', { name: null }, 'name must be a string, but is null'],
  ['', { name: '' }, 'name must not be empty'],
  ['', { name: ' \t' }, 'name must hold a character that is not a space, but is " \\t"'],
  ['', { name: LONG }, 'name must have at most 200 characters, but has 10000'],
  ['', { tags: 'chat' }, 'tags must be an array, but is "chat"'],
  ['', { tags: [1] }, 'tags.0 must be a string, but is 1'],
  ['', { tags: [LONG] }, 'tags.0 must have at most 100 characters, but has 10000'],
  ['', { tags: Array(21).fill('a') }, 'tags must hold at most 20 items, but holds 21'],
  ['', { promptBody: undefined }, 'promptBody is required'],
  ['', { environment: '' }, 'environment must not be empty'],
  ['', { prompt_body: {} }, 'prompt_body is not a known field'],
  ['/update', { promptId: undefined }, 'promptId is required'],
  ['/update', { promptId: 1 }, 'promptId must be a string, but is 1'],
  ['/update', { promptId: LONG }, 'promptId must have at most 200 characters, but has 10000'],
  ['/update', { promptVersionId: undefined }, 'promptVersionId is required'],
  ['/update', { newMajorVersion: 'yes' }, 'newMajorVersion must be true or false, but is "yes"'],
  ['/update', { commitMessage: 1 }, 'commitMessage must be a string, but is 1'],
  [
    '/update',
    { commitMessage: `${LONG}y` },
    'commitMessage must have at most 10000 characters, but has 10001',
  ],
  ['/update', { promptBody: undefined }, 'promptBody is required'],
  ['/update', { environment: 'a\nb' }, `${ENVIRONMENT} "a\\nb"`],
  ['/update', { version: '1.1' }, 'version is not a known field'],
  ['/update/environment', { environment: undefined }, 'environment is required'],
  ['/update/environment', { environment: ' a' }, `${ENVIRONMENT} " a"`],
  ['/update/environment', { environment: 'a ' }, `${ENVIRONMENT} "a "`],
  ['/update/environment', { environment: 'a\0b' }, `${ENVIRONMENT} "a\\u0000b"`],
  [
    '/update/environment',
    { environment: LONG },
    'environment must have at most 100 characters, but has 10000',
  ],
  ['/remove/environment', { environment: 1 }, 'environment must be a string, but is 1'],
  ['/query', { search: 1 }, 'search must be a string, but is 1'],
  ['/query', { search: LONG }, 'search must have at most 1000 characters, but has 10000'],
  ['/query', { tagsFilter: 'a' }, 'tagsFilter must be an array, but is "a"'],
  ['/query', { page: -1 }, 'page must be at least 0, but is -1'],
  ['/query', { page: 1e300 }, 'page must be at most 9007199254740991, but is 1e+300'],
  ['/query', { pageSize: 0 }, 'pageSize must be at least 1, but is 0'],
  ['/query', { pageSize: 101 }, 'pageSize must be at most 100, but is 101'],
  ['/query', { limit: 5 }, 'limit is not a known field'],
  ['/query/versions', { promptId: undefined }, 'promptId is required'],
  ['/query/versions', { majorVersion: 1.5 }, 'majorVersion must be a whole number, but is 1.5'],
  [
    '/query/versions',
    { majorVersion: 2 ** 31 },
    'majorVersion must be at most 2147483647, but is 2147483648',
  ],
  ['/query/versions', { limit: 101 }, 'limit must be at most 100, but is 101'],
  ['/query/versions', { offset: -1 }, 'offset must be at least 0, but is -1'],
  ['/query/version', { promptVersionId: undefined }, 'promptVersionId is required'],
  ['/query/version', { id: 'x' }, 'id is not a known field'],
  ['/query/environment-version', { environment: undefined }, 'environment is required'],
  ['/query/production-version', { environment: 'x' }, 'environment is not a known field'],
  ['/query/total-versions', { promptId: null }, 'promptId must be a string, but is null'],
];

/** A right body of each path. */
function rightBody(path: string): object {
  const { id: promptId, versionId: promptVersionId } = made;
  const named = { promptId, promptVersionId, environment: 'staging' };
  const BODIES: Record<string, object> = {
    '': { name: 'Another', tags: [], promptBody: {} },
    '/update': { promptId, promptVersionId, newMajorVersion: false, commitMessage: '', promptBody: {} },
    '/update/environment': named,
    '/remove/environment': named,
    '/query': {},
    '/query/versions': { promptId },
    '/query/version': { promptVersionId },
    '/query/environment-version': { promptId, environment: 'production' },
    '/query/production-version': { promptId },
    '/query/total-versions': { promptId },
  };
  return BODIES[path]!;
}

t.test('an invalid field of a prompt route is refused with a sentence, and changes nothing', async (t) => {
  for (const [path, fields, sentence] of REFUSED) {
    const { status, body } = await api.call(`${PATH}${path}`, { body: { ...rightBody(path), ...fields } });
    t.strictSame([status, body], [400, { data: null, error: sentence }], `${path} ${sentence}`);
  }
  const rename = await api.call(`${PATH}/id/${made.id}/rename`, { body: { name: '' } });
  t.strictSame([rename.status, rename.body.error], [400, 'name must not be empty']);
  const tags = await api.call(`${PATH}/id/${made.id}/tags`, { method: 'PATCH', body: {} });
  t.strictSame([tags.status, tags.body.error], [400, 'tags is required']);
  const inputs = await api.call(`${PATH}/id/${made.id}/${made.versionId}/inputs`);
  t.strictSame([inputs.status, inputs.body.error], [400, 'requestId is required']);
  t.equal(await ask(api, `${PATH}/count`), 1);
  t.same(await ask(api, `${PATH}/query/total-versions`, { promptId: made.id }), {
    totalVersions: 1,
    majorVersions: 1,
  });
  t.same(await ask(api, `${PATH}/environments`), ['production']);
});

t.test(
  'odd texts in names, tags, messages and environments come back as Postgres can hold them',
  async (t) => {
    const odd = `😀 "quoted" \\ ${'\ud800'} \0 ${'é'.repeat(50)}`;
    const stored = odd.replace('\ud800', '\ufffd').replace('\0', '\ufffd');
    const { id, versionId } = await create(api, { name: odd, tags: [odd], environment: '😀 ü"\\' });
    const shown = await ask<{ name: string; tags: string[] }>(api, `${PATH}/id/${id}`);
    t.match(shown, { name: stored, tags: [stored] });
    const found = await ask<{ id: string }[]>(api, `${PATH}/query`, { search: odd, tagsFilter: [odd] });
    t.equal(found[0]?.id, id);
    t.match(await version(api, versionId), { environments: ['production', '😀 ü"\\'] });
    const body = { promptId: id, promptVersionId: versionId, commitMessage: odd, promptBody: {} };
    const { id: next } = await ask<{ id: string }>(api, `${PATH}/update`, body);
    t.equal((await version(api, next)).commit_message, stored);
    const ofEnvironment = { promptId: id, environment: '😀 ü"\\' };
    t.match(await ask(api, `${PATH}/query/environment-version`, ofEnvironment), { id: versionId });
  },
);
