/** A public set of recorded judgments, logged and imported by the API: its published accuracies come out of the statistics. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import type { ImportedJson } from '#core/contracts/judgment.ts';
import type { TestApi } from '../../../../support/api.ts';
import { ask, criterion, grade } from '../../grades/world.ts';
import { startLogWorld } from '../../log/world.ts';

const FILE = new URL('../../../../support/fixtures/llmbar/judgments.jsonl', import.meta.url);
const EVALUATORS = ['GPT-4/Vanilla_NoRules', 'GPT-4/Metrics_Reference', 'ChatGPT/CoT'] as const;
type EvaluatorName = (typeof EVALUATORS)[number];
type Pair = {
  subset: 'Natural' | 'Neighbor';
  input: string;
  outputs: [string, string];
  label: 1 | 2;
  winners: Record<EvaluatorName, [1 | 2 | null, 1 | 2 | null]>;
};

/** `correct_average` in the statistics.json of each evaluator, in percent. */
const PUBLISHED: Record<Pair['subset'], Record<EvaluatorName, string>> = {
  Natural: { 'GPT-4/Vanilla_NoRules': '93.5', 'GPT-4/Metrics_Reference': '96', 'ChatGPT/CoT': '74' },
  Neighbor: {
    'GPT-4/Vanilla_NoRules': '64.17910447761194',
    'GPT-4/Metrics_Reference': '85.44776119402985',
    'ChatGPT/CoT': '22.761194029850746',
  },
};

const LABELS = [
  { label: 'second', score: 0 },
  { label: 'first', score: 1 },
];
const CATEGORIES = { type: 'categories', labels: LABELS };

/** One pair in one order: what was shown to an evaluator. */
type Shown = { requestId: string; pair: Pair; isSwapped: boolean };

/** Returns a UUID that is always that of this text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const shown: Shown[] = readFileSync(FILE, 'utf8')
  .trimEnd()
  .split('\n')
  .flatMap((line, index) => {
    const pair = JSON.parse(line) as Pair;
    return [false, true].map((isSwapped) => ({
      requestId: uuidOf(`llmbar ${index} ${isSwapped}`),
      pair,
      isSwapped,
    }));
  });

/** Names the place of an output in the order in which the pair was shown. */
const placeOf = (output: 1 | 2, isSwapped: boolean) => ((output === 1) === isSwapped ? 'second' : 'first');

/** The pair as a call that was answered with two choices. */
function loggedCall({ requestId, pair, isSwapped }: Shown) {
  const outputs = isSwapped ? pair.outputs.toReversed() : pair.outputs;
  return {
    request_id: requestId,
    provider: 'elsewhere',
    model: 'two-authors',
    request: {
      body: { n: 2, messages: [{ role: 'user', content: pair.input }] },
      created_at: '2026-03-01T12:00:00.000Z',
    },
    response: {
      body: {
        choices: outputs.map((content, index) => ({ index, message: { role: 'assistant', content } })),
      },
      status: 200,
      created_at: '2026-03-01T12:00:01.000Z',
    },
    properties: { subset: pair.subset },
  };
}

/** A verdict as it is imported: one that could not be read is a failure. */
function judgmentOf({ requestId, pair, isSwapped }: Shown, name: EvaluatorName) {
  const winner = pair.winners[name][isSwapped ? 1 : 0];
  return winner === null
    ? { requestId, error: { code: 'unreadable' } }
    : { requestId, label: placeOf(winner, isSwapped), evaluatedAt: '2023-09-30T00:00:00Z' };
}

type Agreement = {
  basis: string;
  count: number;
  rated: number;
  accuracy: number;
  confusion: { true_positive: number; true_negative: number };
};

async function inTwenties<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < all.length; first += 20)
    await Promise.all(all.slice(first, first + 20).map(work));
}

/** Imports an evaluator's verdicts; returns its id. */
async function importFrom(api: TestApi, subset: string, name: EvaluatorName, own: readonly Shown[]) {
  const { id } = await ask<{ id: string }>(api, '/v1/evaluator', {
    name: `${subset} ${name}`,
    scoring_type: 'EXTERNAL',
    external_config: { adapter: 'imported', description: `LLMBar 900616b, ${name}`, categories: LABELS },
  });
  const evaluations = own.map((one) => judgmentOf(one, name));
  const { stored } = await ask<ImportedJson>(api, `/v1/evaluator/${id}/evaluations`, { evaluations });
  if (stored !== own.length) throw new Error(`${stored} of ${own.length} judgments were stored`);
  return id;
}

t.test('the published accuracies of LLMBar’s evaluators come out to the digit', async (t) => {
  const { api, logged, ingest } = await startLogWorld(t);
  await inTwenties(shown, (one) => logged(loggedCall(one)));
  await ingest();
  for (const subset of ['Natural', 'Neighbor'] as const) {
    const own = shown.filter(({ pair }) => pair.subset === subset);
    const gold = await criterion(api, CATEGORIES);
    await inTwenties(own, ({ requestId, pair, isSwapped }) =>
      grade(api, requestId, gold, placeOf(pair.label, isSwapped), { author: 'LLMBar' }),
    );
    for (const name of EVALUATORS) {
      const id = await importFrom(api, subset, name, own);
      await ask(api, `/v1/criterion/${gold}`, { evaluatorId: id }, { method: 'PATCH' });
      const stats = await ask<{ agreement: Agreement }>(api, `/v1/evaluator/${id}/stats`);
      const { basis, count, rated, accuracy, confusion } = stats.agreement;
      const unread = own.filter((one) => 'error' in judgmentOf(one, name)).length;
      t.strictSame(
        { basis, count, rated },
        { basis: 'criterion', count: own.length - unread, rated: own.length },
      );
      // The authors count a verdict that could not be read as wrong; here it is no verdict, and lowers the coverage.
      const right = confusion.true_positive + confusion.true_negative;
      const percent = unread === 0 ? accuracy * 100 : (right / rated) * 100;
      t.equal(String(percent), PUBLISHED[subset][name], `${subset} ${name}`);
    }
  }
});
