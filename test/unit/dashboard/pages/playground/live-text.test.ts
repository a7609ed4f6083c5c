import t from 'tap';
import { LiveText } from '../../../../../dashboard/pages/playground/live-text.ts';

const frame = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const STREAMS = {
  'chat completions':
    frame({ choices: [{ delta: { role: 'assistant', content: 'He' } }] }) +
    ': a comment\n\n' +
    frame({ choices: [{ delta: { content: 'llo \u{1F600}' } }] }) +
    frame({ choices: [], usage: {} }) +
    'data: [DONE]\n\n',
  Messages:
    `event: content_block_delta\r\n${frame({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'He' } }).replaceAll('\n', '\r\n')}` +
    frame({ type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{' } }) +
    frame({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'llo \u{1F600}' } }),
  Responses:
    frame({ type: 'response.output_text.delta', delta: 'He' }) +
    frame({ type: 'response.function_call_arguments.delta', delta: '{' }) +
    frame({ type: 'response.output_text.delta', delta: 'llo \u{1F600}' }),
};

for (const [name, stream] of Object.entries(STREAMS)) {
  t.test(`the text of ${name} is read wherever the stream is cut`, async (t) => {
    for (const size of [1, 2, 7, stream.length]) {
      const live = new LiveText();
      let text = '';
      for (let at = 0; at < stream.length; at += size) text += live.take(stream.slice(at, at + size));
      t.equal(text, 'Hello \u{1F600}', `${size} characters at a time`);
    }
  });
}

t.test('events that are no JSON add nothing', async (t) => {
  t.equal(new LiveText().take('data: {broken\n\ndata: null\n\ndata: {"choices":[null]}\n\n'), '');
});

t.test('an end of an event is found wherever it is cut', async (t) => {
  for (const end of ['\n\n', '\r\n\r\n', '\r\r']) {
    const event = `data: ${JSON.stringify({ choices: [{ delta: { content: 'x' } }] })}${end}`;
    const stream = event.repeat(3);
    for (let size = 1; size <= 5; size++) {
      const live = new LiveText();
      let text = '';
      for (let at = 0; at < stream.length; at += size) text += live.take(stream.slice(at, at + size));
      // What follows decides whether the last one has ended.
      t.equal(text + live.take(event), 'xxxx', `${JSON.stringify(end)}, ${size} characters at a time`);
    }
  }
});

t.test('each piece of a long event is searched once', async (t) => {
  const split = String.prototype.split;
  let searched = 0;
  t.teardown(() => {
    String.prototype.split = split;
  });
  String.prototype.split = function (this: string, ...given: unknown[]) {
    searched += this.length;
    return Reflect.apply(split, this, given) as string[];
  } as typeof split;
  const live = new LiveText();
  const pieces = 100;
  live.take('data: {"choices":[{"delta":{"content":"');
  for (let index = 0; index < pieces; index++) live.take('y'.repeat(1_000));
  t.ok(searched < 2 * pieces * 1_000, `${searched} characters`);
  t.equal(live.take('"}}]}\n\n').length, pieces * 1_000);
});

t.test('an event of more than a MiB is given up, and says so once', async (t) => {
  const live = new LiveText();
  const piece = 'z'.repeat(256 * 1024);
  t.equal(live.take(frame({ choices: [{ delta: { content: 'before' } }] })), 'before');
  const told = Array.from({ length: 8 }, () => live.take(piece)).filter((text) => text !== '');
  t.equal(told.length, 1);
  t.match(told[0], 'longer than 1 MiB');
  t.equal(live.take(`\n\n${STREAMS.Responses}`), '');
});
