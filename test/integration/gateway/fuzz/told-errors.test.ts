/** Errors that providers tell in the middle of a stream: the client keeps what came and learns of it, and so does the log. */
import t from 'tap';
import { startWorld } from './sockets.ts';
import { chat, completions, messages, responses, type Said, type Told } from './told-streams.ts';
import { bytesOfFrames, PLAIN, writeStream } from './written-streams.ts';

const world = await startWorld(t);

const said: Said = {
  texts: ['Half of the ', 'answer'],
  call: null,
  hasFinish: false,
  hasUsage: true,
  hasLast: false,
};
const error = { type: 'overloaded_error', message: 'Overloaded' };
const bare: Told = { name: null, data: { error } };
const named: Told = { name: 'error', data: { type: 'error', error } };
const failed: Told = {
  name: 'response.failed',
  data: {
    type: 'response.failed',
    response: {
      id: 'resp_1',
      status: 'failed',
      error: { code: 'server_error', message: 'Overloaded' },
      output: [],
    },
  },
};

const WAYS: { path: string; model: string; tell: (said: Said) => Told[]; told: Told; status: number }[] = [
  { path: '/v1/chat/completions', model: 'gpt-4o-mini', tell: chat, told: bare, status: 529 },
  { path: '/v1/chat/completions', model: 'claude-sonnet-4-5', tell: messages, told: named, status: 529 },
  { path: '/v1/messages', model: 'claude-sonnet-4-5', tell: messages, told: named, status: 529 },
  { path: '/v1/messages', model: 'gpt-4o-mini', tell: chat, told: bare, status: 529 },
  { path: '/v1/completions', model: 'gpt-4o-mini', tell: completions, told: bare, status: 529 },
];

const unasked = ({ isUsage }: Told) => isUsage !== true;

for (const { path, model, tell, told, status } of WAYS) {
  t.test(
    `${path} of ${model}: an error in the middle of a stream follows the text, and no end mark comes`,
    async (t) => {
      const events = [...tell(said).filter(unasked), told];
      const given = await world.send({
        path,
        body: Buffer.from(
          JSON.stringify({ model, stream: true, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
        ),
        behaviour: {
          kind: 'bytes',
          body: bytesOfFrames(writeStream(events, [PLAIN])),
          headers: { 'content-type': 'text/event-stream' },
        },
      });
      const text = given.bytes.toString();
      t.match(text, /Half of the .*answer.*Overloaded/s);
      t.notMatch(text, /\[DONE\]|message_stop|"finish_reason":"|"stop_reason":"/);
      t.equal(text.match(/"error":/g)?.length, 1, 'the error comes once');
      t.match(text.split('\n\n').at(-2)!, /^(?:event: error\n)?data: \{.*"overloaded_error".*\}$/);
      const record = await world.gateway.record(given.id);
      t.match(record, { status, truncated: true, is_stream: true });
      t.match(record.response_text, /Half of the answer/);
      t.ok(record.completion_tokens! > 0, 'what came is counted');
      t.ok(Number(record.cost_nano) > 0, 'and paid for');
    },
  );
}

t.test('a Responses stream that failed ends in its own response.failed event', async (t) => {
  const body = bytesOfFrames(writeStream([...responses({ ...said }), failed], [PLAIN]));
  const given = await world.send({
    path: '/v1/responses',
    body: Buffer.from('{"model":"gpt-4o-mini","stream":true,"input":"Hi"}'),
    behaviour: { kind: 'bytes', body, headers: { 'content-type': 'text/event-stream' } },
  });
  t.equal(given.bytes.toString(), body.toString());
  t.match(JSON.parse((await world.gateway.record(given.id)).response_text), { status: 'failed' });
});
