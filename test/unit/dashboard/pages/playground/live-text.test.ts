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
