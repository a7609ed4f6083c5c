import t from 'tap';
import { PROVIDER_NAMES } from '#core/contracts/provider.ts';
import type { CallOptions, TestApi } from '../../../support/api.ts';
import { list, PATH, startProviderKeyApi } from './world.ts';

/** In every wrong call, and in no answer to one. */
const MARK = 'sk-marked';

let api: TestApi;
t.before(async () => {
  api = await startProviderKeyApi(t);
});

const put = (body: unknown): CallOptions => ({ method: 'PUT', body });
const raw = (text: string | Uint8Array, rest: CallOptions = {}): CallOptions => ({
  method: 'PUT',
  raw: text,
  ...rest,
});

const NO_PROVIDER = `There is no such provider: use one of ${PROVIDER_NAMES.join(', ')}`;
const ASCII = 'key must be printable ASCII without spaces';

/** A body of `PUT …/openai`, its status and its sentence. */
const BODIES: [what: string, call: CallOptions, status: number, sentence: string][] = [
  ['no key', put({}), 400, 'key is required'],
  ['a key under another name', put({ api_key: MARK }), 400, 'key is required'],
  ['a key with more', put({ key: MARK, name: 'x' }), 400, 'body must have no field but key'],
  [
    'a key with a field that is the key',
    put({ key: 'x', [MARK]: 1 }),
    400,
    'body must have no field but key',
  ],
  ['an empty key', put({ key: '' }), 400, 'key must not be empty'],
  ['null', put({ key: null }), 400, 'key must be a string'],
  ['a number', put({ key: 12_345 }), 400, 'key must be a string'],
  ['a list', put({ key: [MARK] }), 400, 'key must be a string'],
  ['an object', put({ key: { value: MARK } }), 400, 'key must be a string'],
  ['a flag', put({ key: true }), 400, 'key must be a string'],
  ['a bare key', put(MARK), 400, 'body must be an object'],
  ['a list of keys', put([{ key: MARK }]), 400, 'body must be an object'],
  ['nothing', put(null), 400, 'body must be an object'],
  ['a line break at the end', put({ key: `${MARK}\n` }), 400, ASCII],
  ['a header in it', put({ key: `${MARK}\r\nx-injected: 1` }), 400, ASCII],
  ['a carriage return', put({ key: `${MARK}\r` }), 400, ASCII],
  ['a space around it', put({ key: ` ${MARK}` }), 400, ASCII],
  ['a scheme before it', put({ key: `Bearer ${MARK}` }), 400, ASCII],
  ['a tab', put({ key: `${MARK}\t` }), 400, ASCII],
  ['NUL', put({ key: `${MARK}\0` }), 400, ASCII],
  ['DEL', put({ key: `${MARK}\x7f` }), 400, ASCII],
  ['an umlaut', put({ key: `${MARK}ü` }), 400, ASCII],
  ['a space that does not break', put({ key: `${MARK}\u00a0` }), 400, ASCII],
  ['half of a surrogate pair', put({ key: `${MARK}\ud800` }), 400, ASCII],
  ['a mask', put({ key: `${MARK}••••` }), 400, ASCII],
  [
    '4,097 characters',
    put({ key: MARK.padEnd(4_097, 'k') }),
    400,
    'key must have at most 4096 characters, but has 4097',
  ],
  [
    '1 MB',
    put({ key: MARK.padEnd(1_000_000, 'k') }),
    400,
    'key must have at most 4096 characters, but has 1000000',
  ],
  [
    'more than 1 MiB',
    put({ key: MARK.padEnd(1024 * 1024, 'k') }),
    413,
    'The request body is larger than the 1048576 bytes allowed',
  ],
  ['no body', raw(''), 400, 'The body is empty, but must be JSON'],
  ['half a body', raw(`{"key":"${MARK}`), 400, /^The body is not valid JSON/.source],
  ['no JSON', raw(MARK), 400, /^The body is not valid JSON/.source],
  [
    'a key twice',
    raw(`{"key":"${MARK}","key":"${MARK}2"}`),
    400,
    'The body names "key" twice in one object: only one of them could count',
  ],
  ['bytes that are no UTF-8', raw(Uint8Array.of(0x22, 0xff, 0x22)), 400, 'The body is not UTF-8'],
  [
    'a form',
    raw(`key=${MARK}`, { contentType: 'application/x-www-form-urlencoded' }),
    415,
    'The content-type must be application/json, but it is "application/x-www-form-urlencoded"',
  ],
  [
    'text',
    raw(MARK, { contentType: 'text/plain' }),
    415,
    'The content-type must be application/json, but it is "text/plain"',
  ],
];

t.test('an invalid provider key is refused with its reason, and never quoted', async (t) => {
  for (const [what, call, status, sentence] of BODIES) {
    const { body, ...answer } = await api.call(`${PATH}/openai`, call);
    t.equal(answer.status, status, what);
    if (sentence.startsWith('^')) t.match(body.error, new RegExp(sentence), what);
    else t.equal(body.error, sentence, what);
    t.equal(body.data, null);
    t.notMatch(answer.text, MARK, what);
  }
  t.same(await list(api), [], 'and nothing is stored');
});

t.test('a provider key for any unknown provider name is a 404', async (t) => {
  const NAMES = [
    'openay',
    'OPENAI',
    'OpenAI',
    ' openai',
    'openai ',
    'open/ai',
    'gemini',
    'toString',
    '__proto__',
    'constructor',
    '0',
    'a\u0000b',
    '😀',
    "'; drop table assay.provider_keys; --",
    MARK,
    'x'.repeat(5_000),
  ];
  for (const name of NAMES) {
    const path = `${PATH}/${encodeURIComponent(name)}`;
    for (const call of [{ method: 'GET' }, put({ key: 'sk-fine' }), { method: 'DELETE' }]) {
      const answer = await api.call(path, call);
      const what = `${call.method} ${JSON.stringify(name.slice(0, 40))}`;
      t.strictSame([answer.status, answer.body], [404, { data: null, error: NO_PROVIDER }], what);
    }
  }
});

t.test('another method on the provider key routes is a 405 that lists the allowed ones', async (t) => {
  const CASES: [method: string, path: string, allow: string][] = [
    ['POST', PATH, 'GET'],
    ['PUT', PATH, 'GET'],
    ['DELETE', PATH, 'GET'],
    ['POST', `${PATH}/openai`, 'GET, PUT, DELETE'],
    ['PATCH', `${PATH}/openai`, 'GET, PUT, DELETE'],
  ];
  for (const [method, path, allow] of CASES) {
    const answer = await api.call(path, { method, ...(method === 'DELETE' ? {} : { raw: '{' }) });
    t.strictSame(
      [answer.status, answer.headers.get('allow'), answer.body.error],
      [405, allow, `${method} is not allowed here; use ${allow.replaceAll(', ', ' or ')}`],
      `${method} ${path}`,
    );
  }
  t.equal((await api.call(`${PATH}/openai/more`)).status, 404, 'nothing lies below a provider');
});

t.test('provider key routes require the scope read or write before the body is read', async (t) => {
  const [reader, writer, caller] = await Promise.all([
    api.own.keyWith(['read', 'gateway']),
    api.own.keyWith(['write', 'gateway']),
    api.own.keyWith(['gateway']),
  ]);
  const ROUTES: [method: string, path: string, scope: 'read' | 'write'][] = [
    ['GET', PATH, 'read'],
    ['GET', `${PATH}/openai`, 'read'],
    ['PUT', `${PATH}/openai`, 'write'],
    ['DELETE', `${PATH}/openai`, 'write'],
  ];
  for (const [method, path, scope] of ROUTES) {
    const body = method === 'PUT' ? { raw: '{' } : {};
    for (const key of [scope === 'read' ? writer : reader, caller]) {
      const answer = await api.call(path, { method, key, ...body });
      t.strictSame(
        [answer.status, answer.body.error],
        [403, `This API key lacks the scope ${scope}, which this call needs`],
        `${method} ${path}`,
      );
    }
    const anonymous = await api.call(path, { method, key: null, ...body });
    t.equal(anonymous.status, 401, `${method} ${path}`);
    t.equal(anonymous.headers.get('www-authenticate'), 'Bearer');
  }
});
