import fc from 'fast-check';
import t from 'tap';
import { assembleStream, readUsage } from '#core/chat/mod.ts';
import { framing, interleave, pieces, plain, reframe, sameJson, sse } from '../../../support/chat/streams.ts';

const HEAD = {
  id: 'cmpl-8ZNls6dH7X2jUAJbY5joSWF9L0AD3',
  object: 'text_completion',
  created: 1_703_443_548,
  model: 'gpt-3.5-turbo-instruct',
};
const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
const chunk = (choice: object) =>
  plain({ ...HEAD, choices: [{ logprobs: null, finish_reason: null, ...choice }] });

/** Of one token each, as OpenAI sends them. */
const logprobsOf = (deltas: string[]) => ({
  tokens: deltas,
  token_logprobs: deltas.map((_, at) => -at),
  top_logprobs: deltas.map((token) => ({ [token]: -1 })),
  text_offset: deltas.map((_, at) => at),
});

t.test('a text completion cut into deltas anywhere is assembled, with its choices by index', async () => {
  const choices = fc.array(fc.tuple(pieces, fc.boolean()), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(choices, fc.array(fc.nat(9)), framing, (told, turns, frame) => {
      const deltas = told.map(([{ deltas }, hasLogprobs], index) => [
        ...deltas.map((text, at) => {
          const all = logprobsOf(deltas);
          const own = Object.fromEntries(Object.entries(all).map(([name, list]) => [name, [list[at]]]));
          return chunk({ index, text, logprobs: hasLogprobs ? own : null });
        }),
        chunk({ index, text: '', finish_reason: 'stop' }),
      ]);
      const text = sse([
        ...interleave(deltas, turns),
        plain({ ...HEAD, choices: [], usage: USAGE }),
        plain('[DONE]'),
      ]);
      const { completion, complete, dialect } = assembleStream(reframe(text, frame));
      sameJson([complete, dialect], [true, 'completions']);
      sameJson(completion, {
        ...HEAD,
        choices: told.map(([{ text, deltas }, hasLogprobs], index) => ({
          text,
          index,
          logprobs: hasLogprobs ? logprobsOf(deltas) : null,
          finish_reason: 'stop',
        })),
        usage: USAGE,
      });
    }),
    { numRuns: 300 },
  );
});

t.test('the usage of a streamed text completion is read', async (t) => {
  const { completion } = assembleStream(
    sse([chunk({ index: 0, text: 'Hi' }), plain({ ...HEAD, choices: [], usage: USAGE })]),
  );
  t.match(readUsage(completion), { promptTokens: 5, completionTokens: 7, totalTokens: 12 });
});

t.test('members of chunks before the first choice are kept', async (t) => {
  const { completion } = assembleStream(
    sse([
      plain({ id: '', object: '', model: '', prompt_filter_results: [{ prompt_index: 0 }], choices: [] }),
      chunk({ index: 0, text: 'Hi', finish_reason: 'stop' }),
    ]),
  );
  t.match(completion, { ...HEAD, prompt_filter_results: [{ prompt_index: 0 }], choices: [{ text: 'Hi' }] });
});

t.test(
  'a stream is complete with a finish reason, also without [DONE], and not when it broke off',
  async (t) => {
    const begun = chunk({ index: 0, text: 'He' });
    t.match(assembleStream(sse([begun])), {
      complete: false,
      completion: { choices: [{ text: 'He', finish_reason: null }] },
    });
    t.equal(
      assembleStream(sse([begun, chunk({ index: 0, text: 'y', finish_reason: 'length' })])).complete,
      true,
    );
  },
);

t.test(
  'chunks with text beside the delta, or with a chat named text_completion, are assembled as chats',
  async (t) => {
    // Together's older completions and its chats; then a server that names its chats wrongly.
    const choice = { index: 0, text: 'Hi', delta: { content: 'Hi', token_id: 13_347 }, finish_reason: null };
    const completion = assembleStream(sse([plain({ object: 'completion.chunk', choices: [choice] })]));
    t.strictSame([completion.dialect, completion.completion.object], ['completions', 'text_completion']);
    sameJson(completion.completion.choices, [{ text: 'Hi', index: 0, logprobs: null, finish_reason: null }]);
    const chat = assembleStream(sse([plain({ object: 'chat.completion.chunk', choices: [choice] })]));
    t.match(chat, { dialect: 'chat', completion: { choices: [{ message: { content: 'Hi' } }] } });
    const { text: _none, ...named } = choice;
    const misnamed = assembleStream(sse([plain({ object: 'text_completion', choices: [named] })]));
    t.match(misnamed, {
      dialect: 'chat',
      completion: { object: 'chat.completion', choices: [{ message: { content: 'Hi' } }] },
    });
  },
);
