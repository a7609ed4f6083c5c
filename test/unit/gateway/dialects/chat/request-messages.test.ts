/** The messages of a chat request as those of a Messages request. */
import t from 'tap';
import { HELLO, messagesOf, translated } from './translated.ts';

t.test('system and developer messages at any place become the texts of system, in order', async (t) => {
  const mark = { type: 'ephemeral' };
  const body = translated({
    messages: [
      { role: 'system', content: 'One' },
      { role: 'user', content: 'Hello' },
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Two', cache_control: mark },
          { type: 'text', text: '' },
        ],
      },
    ],
  });
  t.same(body.system, [
    { type: 'text', text: 'One' },
    { type: 'text', text: 'Two', cache_control: mark },
  ]);
  t.same(body.messages, HELLO);
});

t.test('the results of parallel tool calls and the user message after them become one message', async (t) => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '' } });
  const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
  t.same(
    messagesOf(
      { role: 'user', content: 'Do' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('a'), call('b')],
        refusal: null,
        annotations: [],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: '', is_error: true },
      { role: 'user', content: 'Go on' },
    ),
    [
      { role: 'user', content: 'Do' },
      { role: 'assistant', content: [use('a'), use('b')] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'A' },
          { type: 'tool_result', tool_use_id: 'b', is_error: true },
          { type: 'text', text: 'Go on' },
        ],
      },
    ],
  );
});

t.test('a tool result without its call becomes user text, and is dropped when empty', async (t) => {
  t.same(
    messagesOf(
      { role: 'user', content: 'Do' },
      { role: 'tool', tool_call_id: 'x', content: 'A' },
      { role: 'tool', tool_call_id: 'y', content: '' },
    ),
    [
      { role: 'user', content: 'Do' },
      { role: 'user', content: 'A' },
    ],
  );
});

t.test('numbers in tool arguments that a double cannot hold keep their digits', async (t) => {
  const text = '{"id":12345678901234567890,"small":[-0.12345678901234567890,1.5],"big":1e400}';
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: text } };
  const body = translated({ messages: [...HELLO, { role: 'assistant', tool_calls: [call] }] });
  t.match(JSON.stringify(body), `"input":${text}`);
});

t.test('tool call ids that Anthropic would refuse are rewritten, alike in call and result', async (t) => {
  const call = { id: 'call:1|ü', type: 'function', function: { name: 'f', arguments: '{}' } };
  t.match(
    messagesOf(
      ...HELLO,
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call:1|ü', content: 'x' },
    ),
    [{}, { content: [{ id: 'call_3a_1_7c__fc_' }] }, { content: [{ tool_use_id: 'call_3a_1_7c__fc_' }] }],
  );
});

t.test('images, PDFs and text files become Anthropic sources', async (t) => {
  const mark = { type: 'ephemeral', ttl: '1h' };
  t.same(
    messagesOf({
      role: 'user',
      content: [
        { type: 'text', text: 'See' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'high' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' }, cache_control: mark },
        { type: 'image_url', image_url: { url: 'data:application/pdf;base64,JVBERi0=' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
        { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;charset=utf-8;base64,w6k=' } },
      ],
    }),
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          {
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' },
            cache_control: mark,
          },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
            title: 'a.pdf',
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'é' }, title: 'a.txt' },
        ],
      },
    ],
  );
});

t.test('an image that a client names image/jpg is one of Anthropic’s image/jpeg', async (t) => {
  const content = [{ type: 'image_url', image_url: { url: 'data:image/jpg;base64,/9j/' } }];
  const source = { type: 'base64', media_type: 'image/jpeg', data: '/9j/' };
  t.same(messagesOf({ role: 'user', content }), [{ role: 'user', content: [{ type: 'image', source }] }]);
});

t.test('what clients and other makers add to an answer does not keep it from being sent back', async (t) => {
  const call = {
    id: 'a',
    type: 'function',
    function: { name: 'f', arguments: '{}', parsed_arguments: {} },
    extra_content: { google: { thought_signature: 'c2ln' } },
  };
  const answer = {
    role: 'assistant',
    content: '{"x":1}',
    parsed: { x: 1 },
    provider_specific_fields: { native_finish_reason: 'end_turn' },
    reasoning_details: [{ type: 'reasoning.encrypted', data: 'xyz' }],
    extra_content: { google: { thought_signature: 'c2ln' } },
    tool_calls: [call],
  };
  t.same(messagesOf(...HELLO, answer), [
    ...HELLO,
    {
      role: 'assistant',
      content: [
        { type: 'text', text: '{"x":1}' },
        { type: 'tool_use', id: 'a', name: 'f', input: {} },
      ],
    },
  ]);
});

t.test('reasoning in parts of the content, as Mistral’s models answer, is left out', async (t) => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
    { type: 'text', text: 'Bonjour' },
  ];
  t.same(messagesOf(...HELLO, { role: 'assistant', content }), [
    ...HELLO,
    { role: 'assistant', content: 'Bonjour' },
  ]);
});

t.test('signed thinking blocks are sent back before the text, unsigned reasoning is not', async (t) => {
  const blocks = [
    { type: 'thinking', thinking: 'Hm', signature: 'sig' },
    { type: 'redacted_thinking', data: 'xyz' },
  ];
  t.same(
    messagesOf(...HELLO, {
      role: 'assistant',
      content: 'Hi',
      reasoning_content: 'Hm',
      thinking_blocks: blocks,
    }),
    [...HELLO, { role: 'assistant', content: [...blocks, { type: 'text', text: 'Hi' }] }],
  );
});
