import t from 'tap';
import { addressOf, readColumns } from '../../../../../dashboard/pages/playground/address.ts';
import { newColumn, readDraft } from '../../../../../dashboard/pages/playground/draft.ts';
import { mergeBodies } from '../../../../../dashboard/pages/playground/saved-body.ts';
import { writeCall } from '../../../../../dashboard/pages/playground/write-call.ts';

const CHAT = '/v1/chat/completions';
const BODY = {
  model: 'gpt-4o',
  temperature: 0,
  max_tokens: 10,
  response_format: { type: 'json_object' },
  stream: false,
  user: 'u',
  tools: [{ type: 'function', function: { name: 'look' } }],
  messages: [{ role: 'user', content: 'Hi' }],
};

t.test('a call that is not edited has the body of its record, and streams', async (t) => {
  const draft = readDraft('r', CHAT, JSON.stringify(BODY));
  t.same(writeCall(draft, draft.columns[0]!, []), {
    path: CHAT,
    body: { ...BODY, stream: true, stream_options: { include_usage: true } },
  });
  const claude = readDraft('r', '/v1/messages', JSON.stringify({ ...BODY, response_format: undefined }));
  t.notOk('stream_options' in writeCall(claude, claude.columns[0]!, []).body, 'Messages has no such member');
});

t.test(
  'inputs are sent in the types of their variables, and those of other versions are left out',
  async (t) => {
    const draft = readDraft('r', CHAT, JSON.stringify(BODY));
    const variables = [
      { name: 'who', type: null },
      { name: 'n', type: 'number' },
      { name: 'list', type: 'json' },
    ] as const;
    const inputs = { who: '7', n: '7', list: '["a"]', gone: 'x' };
    const column = { ...draft.columns[0]!, prompt: { promptId: 'p', versionId: 'v', inputs } };
    t.match(writeCall(draft, column, variables).body, {
      inputs: { who: '7', n: 7, list: ['a'], gone: undefined },
    });
    const wrong = { ...column, prompt: { ...column.prompt, inputs: { n: '"7"' } } };
    t.throws(() => writeCall(draft, wrong, variables), /The input n must be a number/);
  },
);

t.test('what is missing is named before a call is made', async (t) => {
  const draft = readDraft('r', CHAT, JSON.stringify({ messages: [] }));
  t.throws(() => writeCall(draft, draft.columns[0]!, []), /Choose a model/);
  t.throws(() => writeCall(draft, newColumn('chat', 'm'), []), /Add a message/);
  const prompt = { promptId: 'p', versionId: '', inputs: {} };
  t.throws(() => writeCall(draft, { ...newColumn('chat'), prompt }, []), /Choose a version/);
});

t.test('requests that cannot be replayed say why', async (t) => {
  t.throws(() => readDraft('r', '/v1/embeddings', '{"input":"x"}'), /Calls of \/v1\/embeddings/);
  t.throws(() => readDraft('r', CHAT, null), /too long/);
  t.throws(() => readDraft('r', CHAT, '{}'), /was not logged/);
});

t.test('the address names the request, and the model and version of each column', async (t) => {
  const draft = readDraft('r 1', CHAT, JSON.stringify(BODY));
  const prompt = { promptId: 'p', versionId: 'v', inputs: { secret: 'x' } };
  const columns = [draft.columns[0]!, { ...newColumn('chat', ''), prompt }];
  const address = addressOf({ ...draft, columns });
  t.same(address, {
    from: 'r 1',
    'column.1.model': 'gpt-4o',
    'column.1.prompt': null,
    'column.1.version': null,
    'column.2.model': '',
    'column.2.prompt': 'p',
    'column.2.version': 'v',
  });
  t.same(readColumns({ 'column.1.model': 'a', 'column.4.prompt': 'p', 'column.5.model': 'b' }), [
    { model: 'a' },
    { prompt: 'p' },
  ]);
});

t.test('what is saved after a prompt has the messages of both', async (t) => {
  t.same(mergeBodies({ model: 'a', top_p: 1, messages: [1] }, { model: 'b', messages: [2] }), {
    model: 'b',
    top_p: 1,
    messages: [1, 2],
  });
});
