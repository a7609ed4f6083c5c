/** Clients that leave: wherever the answer is by then, its provider is stopped at once, and the record has what came. */
import t from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import { leastOf } from '../../../support/least-of.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import { startWorld } from './sockets.ts';
import { chat, completions, messages, responses, type Told } from './told-streams.ts';
import { bytesOfFrames, PLAIN, writeStream } from './written-streams.ts';

const world = await startWorld(t);

/** As long as an answer may be before its provider notices. */
const STOPPED_WITHIN_MS = 100;

const said = {
  texts: ['one two three four five ', 'six seven eight '],
  call: null,
  hasFinish: false,
  hasUsage: true,
  hasLast: false,
};
const stalling = (events: Told[]): Behaviour => ({
  kind: 'bytes',
  body: bytesOfFrames(
    writeStream(
      events.filter(({ isUsage }) => isUsage !== true),
      [PLAIN],
    ),
  ),
  headers: { 'content-type': 'text/event-stream' },
  ending: 'stall',
});
const half: Behaviour = {
  kind: 'bytes',
  body: '{"id":"c1","choices":[{"message":{"content":"Half of',
  headers: { 'content-type': 'application/json' },
  ending: 'stall',
};
const silent: Behaviour = { ...stalling([]), body: '' } as Behaviour;

type Case = {
  when: string;
  path: string;
  model: string;
  stream: boolean;
  behaviour: Behaviour;
  /** The text that the client has read when it disconnects. */
  seen: string;
  /** The response in the record. */
  kept: RegExp;
};

const CASES: Case[] = [
  ...(['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1/embeddings'] as const).map((path) => ({
    when: `while ${path} waits for an answer`,
    path,
    model: 'gpt-4o-mini',
    stream: false,
    behaviour: { kind: 'hang' } as const,
    seen: '',
    kept: /^\{\}$/,
  })),
  {
    when: 'in the middle of an answer in one piece',
    path: '/v1/chat/completions',
    model: 'gpt-4o-mini',
    stream: false,
    behaviour: half,
    seen: '',
    kept: /Half of/,
  },
  {
    when: 'in the middle of an answer that is translated whole',
    path: '/v1/chat/completions',
    model: 'claude-sonnet-4-5',
    stream: false,
    behaviour: half,
    seen: '',
    kept: /^\{\}$/,
  },
  ...(['gpt-4o-mini', 'claude-sonnet-4-5'] as const).map((model) => ({
    when: `between the headers and the first event of ${model}`,
    path: '/v1/chat/completions',
    model,
    stream: true,
    behaviour: silent,
    seen: '',
    kept: /^\{\}$/,
  })),
  ...(
    [
      ['/v1/chat/completions', 'gpt-4o-mini', chat],
      ['/v1/chat/completions', 'claude-sonnet-4-5', messages],
      ['/v1/messages', 'claude-sonnet-4-5', messages],
      ['/v1/messages', 'gpt-4o-mini', chat],
      ['/v1/responses', 'gpt-4o-mini', responses],
      ['/v1/completions', 'gpt-4o-mini', completions],
    ] as const
  ).map(([path, model, tell]) => ({
    when: `in the middle of a stream of ${model} on ${path}`,
    path,
    model,
    stream: true,
    behaviour: stalling(tell(said)),
    seen: 'eight ',
    kept: /one two three four five six seven eight /,
  })),
];

for (const { when, path, model, stream, behaviour, seen, kept } of CASES) {
  t.test(`a client that disconnects ${when} stops its provider, and is recorded as 499`, async (t) => {
    const leastMs = await leastOf(
      10,
      async () => {
        const id = newRequestId();
        const { headers, heard } = world.expect(behaviour);
        const leaving = new AbortController();
        const call = fetch(`${world.gateway.url}${path}`, {
          method: 'POST',
          headers: { ...headers, 'service-request-id': id },
          body: JSON.stringify({ model, stream, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
          signal: leaving.signal,
        });
        while (heard() === null) await new Promise((resolve) => setImmediate(resolve));
        if (seen !== '') {
          const reader = (await call).body!.pipeThrough(new TextDecoderStream()).getReader();
          for (let text = ''; !text.includes(seen); ) text += (await reader.read()).value!;
        } else if (behaviour.kind === 'bytes') {
          // Nothing of it is sent on yet: time for it to arrive.
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        const leftAt = performance.now();
        leaving.abort();
        await call.catch(() => {});
        const provider = heard()!;
        await provider.ended;
        t.equal(provider.aborted, true);
        const record = await world.gateway.record(id);
        t.match(record, {
          status: 499,
          truncated: true,
          error_code: 'client_closed_request',
          is_stream: stream,
        });
        t.match(record.response_text, kept);
        if (seen !== '') {
          t.ok(record.completion_tokens! > 0, 'what came is counted');
          t.ok(Number(record.cost_nano) > 0, 'and paid for');
        }
        return provider.abortedAtMs! - leftAt;
      },
      STOPPED_WITHIN_MS,
    );
    t.ok(leastMs < STOPPED_WITHIN_MS, `${leastMs} ms`);
  });
}
