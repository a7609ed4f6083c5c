/** The answer in a record's response, in every dialect. */
import t from 'tap';
import { outputOf } from './records.ts';

t.test("the subject's output is the text of the first choice, in every dialect", async (t) => {
  const chat = (message: object) => ({ choices: [{ index: 0, message: { role: 'assistant', ...message } }] });
  const tool = (name: string, given: unknown) => ({
    id: 'c',
    type: 'function',
    function: { name, arguments: given },
  });
  const cases: [string, unknown, string][] = [
    ['as a text', chat({ content: 'a' }), 'a'],
    [
      'as parts',
      chat({
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
      'a\nb',
    ],
    [
      'without its thoughts',
      chat({
        content: [
          { type: 'thinking', text: 't' },
          { type: 'text', text: 'a' },
        ],
        reasoning_content: 't',
      }),
      'a',
    ],
    [
      'of several choices',
      {
        choices: [
          { index: 1, message: { content: 'b' } },
          { index: 0, message: { content: 'a' } },
        ],
      },
      'a',
    ],
    ['that is a refusal', chat({ content: null, refusal: 'No.' }), 'No.'],
    ['that was spoken', chat({ content: null, audio: { id: 'x', transcript: 'a' } }), 'a'],
    [
      'that is a call of a tool',
      chat({ content: null, tool_calls: [tool('get', '{"a":1}'), tool('set', { b: 2 })] }),
      'get({"a":1})\nset({"b":2})',
    ],
    [
      'that is a call of a tool beside an empty text',
      chat({ content: '', tool_calls: [tool('get', '{}')] }),
      'get({})',
    ],
    [
      'that is a text beside a call',
      chat({ content: 'Let me see', tool_calls: [tool('get', '{}')] }),
      'Let me see',
    ],
    [
      'that is the older call of a function',
      chat({ content: null, function_call: { name: 'get', arguments: '{}' } }),
      'get({})',
    ],
    [
      'that is a call of a custom tool',
      chat({ content: null, tool_calls: [{ type: 'custom', custom: { name: 'run', input: 'ls' } }] }),
      'run(ls)',
    ],
    ['that is empty', chat({ content: '' }), ''],
    [
      "Anthropic's",
      {
        type: 'message',
        content: [
          { type: 'thinking', text: 't' },
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      'a\nb',
    ],
    [
      "Anthropic's call of a tool",
      { type: 'message', content: [{ type: 'tool_use', id: 'x', name: 'get', input: { a: 1 } }] },
      'get({"a":1})',
    ],
    ['of a completion', { choices: [{ text: 'a', index: 0 }] }, 'a'],
    [
      "the Responses API's",
      {
        output: [
          { type: 'reasoning', summary: [] },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
        ],
        error: null,
      },
      'a',
    ],
    [
      "the Responses API's refusal",
      { output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }] },
      'No.',
    ],
    [
      "the Responses API's call",
      { output: [{ type: 'function_call', name: 'get', arguments: '{"a":1}' }] },
      'get({"a":1})',
    ],
    [
      "Gemini's",
      { candidates: [{ content: { role: 'model', parts: [{ text: 't', thought: true }, { text: 'a' }] } }] },
      'a',
    ],
    [
      "Gemini's call",
      { candidates: [{ content: { parts: [{ functionCall: { name: 'get', args: { a: 1 } } }] } }] },
      'get({"a":1})',
    ],
    ['of a body that is no JSON object', { text: 'a plain text' }, 'a plain text'],
  ];
  for (const [name, response, expected] of cases) t.equal(outputOf(response), expected, name);
});

t.test("the subject's output is the response body when no choice has text", async (t) => {
  for (const text of [
    '{"choices":[]}',
    '{"choices":[{"index":0,"message":{"role":"assistant","content":null}}]}',
    '{"choices":[{"message":null}]}',
    '{"choices":[null]}',
    '{"data":[{"embedding":[0.1]}]}',
    '{"output":[{"type":"web_search_call"}]}',
    '{"content":7}',
    '[1]',
  ]) {
    t.equal(outputOf(text), text);
  }
});
