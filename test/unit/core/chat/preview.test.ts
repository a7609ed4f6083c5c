/** Previews of bodies of every dialect. */
import fc from 'fast-check';
import t from 'tap';
import { previewOfAnswer, previewOfQuestion } from '#core/chat/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const asked = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const answered = (message: object) => ({
  choices: [{ index: 0, message: { role: 'assistant', ...message } }],
});

t.test('the preview of a request is its last user text, whatever the dialect', async (t) => {
  const CASES: [string, unknown, string | null][] = [
    [
      'chat completion',
      {
        messages: [
          { role: 'user', content: 'First' },
          { role: 'assistant', content: 'So' },
          { role: 'user', content: 'Last' },
        ],
      },
      'Last',
    ],
    [
      'parts',
      asked([
        { type: 'image_url', image_url: { url: 'data:' } },
        { type: 'text', text: 'What is this?' },
      ]),
      'What is this?',
    ],
    [
      'Claude Code, whose reminders come first',
      asked([
        { type: 'text', text: `<system-reminder>\n${'Skills: '.repeat(1_000)}</system-reminder>\n` },
        { type: 'text', text: '<system-reminder>Today is Friday</system-reminder>' },
        { type: 'text', text: 'Mend the <system-reminder> test' },
      ]),
      'Mend the <system-reminder> test',
    ],
    [
      'reminders alone',
      asked('<system-reminder>Today is Friday</system-reminder>'),
      '<system-reminder>Today is Friday</system-reminder>',
    ],
    ['a reminder without an end', asked('<system-reminder>Today'), '<system-reminder>Today'],
    [
      'Messages, behind the result of a tool',
      {
        messages: [
          { role: 'user', content: 'Look it up' },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: '42' }] },
        ],
      },
      'Look it up',
    ],
    ['completion', { prompt: 'Once upon a time' }, 'Once upon a time'],
    ['Responses, a text', { input: 'Hello' }, 'Hello'],
    [
      'Responses, items',
      { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello again' }] }] },
      'Hello again',
    ],
    ['embeddings', { input: ['one', 'two'] }, 'one two'],
    ['moderation', { input: 'Is this bad?' }, 'Is this bad?'],
    ['tokens', { input: [1, 2, 3] }, null],
    ['no JSON', { text: '<html> page' }, '<html> page'],
    ['only a system text', { messages: [{ role: 'system', content: 'You are' }] }, null],
    ['omitted', {}, null],
    ['odd members', { messages: 7, input: null, prompt: [{}] }, null],
  ];
  for (const [what, body, preview] of CASES) t.equal(previewOfQuestion(body), preview, what);
});

t.test(
  'the preview of a response is the text of the assistant, else the names of the tools it calls',
  async (t) => {
    const call = (name: string) => ({ type: 'function', function: { name, arguments: '{"city":"Oslo"}' } });
    const CASES: [string, unknown, string | null][] = [
      ['chat completion', answered({ content: 'It is 4' }), 'It is 4'],
      [
        'tool calls',
        answered({ content: null, tool_calls: [call('get_weather'), call('get_time')] }),
        'get_weather get_time',
      ],
      [
        'text beside a tool call',
        answered({ content: 'Let me see', tool_calls: [call('look')] }),
        'Let me see',
      ],
      ['refusal', answered({ content: null, refusal: 'I cannot' }), 'I cannot'],
      ['completion', { choices: [{ index: 0, text: ' there was' }] }, 'there was'],
      [
        'Messages',
        {
          type: 'message',
          content: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'Hi' },
          ],
        },
        'Hi',
      ],
      [
        'Messages, a tool',
        { type: 'message', content: [{ type: 'tool_use', name: 'search', input: {} }] },
        'search',
      ],
      [
        'Responses',
        {
          output: [
            { type: 'reasoning' },
            { type: 'message', content: [{ type: 'output_text', text: 'Yes' }] },
          ],
        },
        'Yes',
      ],
      [
        'Responses, a tool',
        { output: [{ type: 'function_call', name: 'search', arguments: '{}' }] },
        'search',
      ],
      ['Gemini', { candidates: [{ content: { parts: [{ text: 'Ja' }] } }] }, 'Ja'],
      ['embeddings', { object: 'list', data: [{ embedding: [0.1] }] }, null],
      ['an error', { error: { message: 'overloaded' } }, null],
      ['no JSON', { text: 'upstream\nconnect error' }, 'upstream connect error'],
      ['omitted', {}, null],
    ];
    for (const [what, body, preview] of CASES) t.equal(previewOfAnswer(body), preview, what);
  },
);

t.test('white space is folded, and a text of nothing else has no preview', async (t) => {
  t.equal(previewOfQuestion(asked('  a\n\n\tb\u00a0\u2003c  ')), 'a b c');
  t.equal(previewOfQuestion(asked(`${' \n'.repeat(100_000)}late`)), 'late');
  t.equal(previewOfQuestion(asked(' \n\t ')), null);
});

t.test('a preview ends after 200 characters, never within a surrogate pair', async (t) => {
  t.equal(previewOfQuestion(asked('a'.repeat(200))), 'a'.repeat(200));
  t.equal(previewOfQuestion(asked('a'.repeat(201))), 'a'.repeat(200));
  t.equal(previewOfQuestion(asked('😀'.repeat(5_000))), '😀'.repeat(200));
  t.equal(previewOfQuestion(asked(`a${'😀'.repeat(5_000)}`)), `a${'😀'.repeat(199)}`);
  // The pair lies where the text is no longer looked at.
  t.equal(previewOfQuestion(asked(`x${' '.repeat(998)}😀`)), 'x');
});

t.test('a preview of any text is one that Postgres can hold', async (t) => {
  t.equal(previewOfQuestion(asked('a\0b\ud83d')), 'a\ufffdb\ufffd');
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 2_500 }), (text) => {
      const preview = previewOfQuestion(asked(text));
      if (preview === null) return text.trim() === '';
      return (
        preview.isWellFormed() &&
        !preview.includes('\0') &&
        [...preview].length <= 200 &&
        preview === preview.trim() &&
        !/\s\s|[\n\t]/.test(preview)
      );
    }),
    runs(t, 300),
  );
});
