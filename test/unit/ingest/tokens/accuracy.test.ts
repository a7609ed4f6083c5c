/** What is counted here against what providers counted of the same calls. */
import t, { type Test } from 'tap';
import { systemClock } from '#platform/process/clock.ts';
import {
  type Countable,
  countableAnswer,
  countableConversation,
  createTokenCounter,
} from '../../../../ingest/tokens/mod.ts';
import { ANTHROPIC_CALLS, type CountedCall, OPENAI_CALLS } from './counted-calls.ts';

const counter = createTokenCounter({
  clock: systemClock,
  onFailure: (error) => {
    throw error;
  },
  timeoutMs: 30_000,
});
t.teardown(() => counter.close());

async function tokensOf(countable: Countable | null): Promise<number> {
  const [tokens] = await counter.count([countable!.text]);
  return tokens! + countable!.extraTokens;
}

/** How far an estimate may be off the number that was counted. */
type Within = (counted: number) => number;

/** Compares each side of each call, prints both numbers, and returns the error of all of them together. */
async function compare(
  t: Test,
  calls: readonly CountedCall[],
  within: { prompt: Within; completion: Within },
): Promise<number> {
  const total = { counted: 0, estimated: 0 };
  for (const { what, request, answer, prompt, completion } of calls) {
    const sides = [
      ['prompt', prompt, await tokensOf(countableConversation(request))],
      ['completion', completion, await tokensOf(countableAnswer(answer))],
    ] as const;
    for (const [side, counted, estimated] of sides) {
      const line = `${what}: ${side} ${counted}, estimated ${estimated}`;
      t.ok(Math.abs(estimated - counted) <= within[side](counted), line);
      t.comment(line);
      total.counted += counted;
      total.estimated += estimated;
    }
  }
  const error = total.estimated / total.counted - 1;
  t.comment(`all together ${total.counted}, estimated ${total.estimated}: ${(100 * error).toFixed(1)} %`);
  return Math.abs(error);
}

t.test('prompts of OpenAI are estimated within 5 % or 3 tokens, and all together within 5 %', async (t) => {
  const within = {
    prompt: (counted: number) => Math.max(3, 0.05 * counted),
    // A call that was demanded counted 20 tokens more than others, in one of these; nobody says what they are.
    completion: (counted: number) => Math.max(1, 0.4 * counted),
  };
  t.ok((await compare(t, OPENAI_CALLS, within)) <= 0.05);
});

t.test('prompts of Anthropic, whose vocabulary differs, are estimated within 30 %', async (t) => {
  const within = {
    prompt: (counted: number) => 0.3 * counted,
    completion: (counted: number) => 0.3 * counted,
  };
  t.ok((await compare(t, ANTHROPIC_CALLS, within)) <= 0.3);
});
