/** What becomes of the items of a response whose stream broke off. */
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { RESPONSE } from '../../../support/chat/responses-stream.ts';
import { sameJson, sse, typed } from '../../../support/chat/streams.ts';

const CREATED = { type: 'response.created', response: RESPONSE };
const assemble = (...events: JsonObject[]) => assembleStream(sse(events.map(typed)));
const outputOf = (...events: JsonObject[]) => assemble(CREATED, ...events).completion.output;

t.test('the error of an item is not an error of the answer', async () => {
  const item = { type: 'mcp_call', error: 'Gone' };
  const { completion } = assemble(
    CREATED,
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.mcp_call.failed', output_index: 0, error: 'Gone' },
  );
  sameJson(completion, { ...RESPONSE, output: [{ ...item, status: 'failed' }] });
});

t.test('events with changing ids belong to the item at their output index', async () => {
  const part = { type: 'output_text', text: '', annotations: [] };
  const at = (type: string, item_id: string, more: JsonObject) => ({
    type,
    item_id,
    output_index: 1,
    content_index: 0,
    ...more,
  });
  sameJson(
    outputOf(
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'a', type: 'reasoning', summary: [] },
      },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { id: 'b', type: 'reasoning', summary: [] },
      },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { id: 'c', type: 'message', content: [] },
      },
      at('response.content_part.added', 'd', { part }),
      at('response.output_text.delta', 'e', { delta: 'Hi' }),
    ),
    [
      { id: 'b', type: 'reasoning', summary: [] },
      { id: 'c', type: 'message', content: [{ ...part, text: 'Hi' }] },
    ],
  );
});

t.test('the part of a done event replaces the assembled one', async () => {
  const part = { type: 'output_text', text: 'Hello', annotations: [{ type: 'file_path', file_id: 'f' }] };
  const at = { output_index: 0, content_index: 0 };
  sameJson(
    outputOf(
      { type: 'response.content_part.added', ...at, part: { ...part, text: '', annotations: [] } },
      { type: 'response.output_text.delta', ...at, delta: 'Hel' },
      { type: 'response.content_part.done', ...at, part },
    ),
    [{ type: 'message', role: 'assistant', content: [part] }],
  );
});

t.test('the status of a call follows its events', async (t) => {
  const item = { id: 'ws_1', type: 'web_search_call', status: 'in_progress' };
  const at = { output_index: 0, item_id: 'ws_1' };
  const added = { type: 'response.output_item.added', ...at, item };
  const searching = { type: 'response.web_search_call.searching', ...at };
  t.match(outputOf(added, searching), [{ status: 'searching' }]);
  t.match(outputOf(added, searching, { type: 'response.web_search_call.completed', ...at }), [
    { status: 'completed' },
  ]);
  sameJson(outputOf(searching), []);
});

t.test('shell commands and patches are assembled from deltas', async () => {
  const added = (output_index: number, item: JsonObject) => ({
    type: 'response.output_item.added',
    output_index,
    item,
  });
  const shell = (word: string, more: JsonObject) => ({
    type: `response.shell_call_command.${word}`,
    output_index: 0,
    ...more,
  });
  const patch = { type: 'response.apply_patch_call_operation_diff.delta', output_index: 1 };
  sameJson(
    outputOf(
      added(0, { type: 'shell_call', action: { commands: [], timeout_ms: null } }),
      shell('added', { command_index: 0, command: '' }),
      shell('delta', { command_index: 0, delta: 'ls' }),
      shell('delta', { command_index: 0, delta: ' -a' }),
      shell('done', { command_index: 0, command: 'ls -a' }),
      shell('delta', { command_index: 1, delta: 'p' }),
      added(1, { type: 'apply_patch_call', operation: { type: 'create_file', diff: '', path: 'a.md' } }),
      { ...patch, delta: '+#' },
      { ...patch, delta: ' A' },
      { ...patch, output_index: 2, delta: '+B' },
    ),
    [
      { type: 'shell_call', action: { commands: ['ls -a', 'p'], timeout_ms: null } },
      { type: 'apply_patch_call', operation: { type: 'create_file', diff: '+# A', path: 'a.md' } },
      { type: 'apply_patch_call', operation: { diff: '+B' } },
    ],
  );
});

t.test('log probabilities are assembled with their text', async () => {
  const delta = (text: string) => ({
    type: 'response.output_text.delta',
    output_index: 0,
    content_index: 0,
    delta: text,
    logprobs: [{ token: text, logprob: -1, top_logprobs: [] }],
  });
  sameJson(outputOf(delta('A'), delta('b')), [
    {
      type: 'message',
      role: 'assistant',
      content: [
        {
          type: 'output_text',
          text: 'Ab',
          logprobs: [
            { token: 'A', logprob: -1, top_logprobs: [] },
            { token: 'b', logprob: -1, top_logprobs: [] },
          ],
        },
      ],
    },
  ]);
});

t.test('a resumed stream keeps the earlier output and continues it', async () => {
  const item = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hel' }],
  };
  const next = { id: 'n', type: 'message', role: 'assistant', content: [] };
  const { completion } = assemble(
    { type: 'response.in_progress', response: { ...RESPONSE, output: [item] } },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'lo' },
    { type: 'response.output_item.added', output_index: 1, item: next },
  );
  sameJson(completion.output, [{ ...item, content: [{ type: 'output_text', text: 'Hello' }] }, next]);
});
