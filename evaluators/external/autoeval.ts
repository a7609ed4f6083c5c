/**
 * LastMile's AutoEval: `{metric, input, output, groundTruth?}` with arrays of equal length in, `{scores}` out
 * (`POST /api/2/auto_eval/evaluation/evaluate`, as its Python client 0.9 has it).
 */
import type { AutoevalConfig } from '#core/contracts/external.ts';
import type { ExternalAdapter, ExternalItem, Verdict } from './adapter.ts';
import { expectationOf } from './expectation.ts';
import { ExternalFailure } from './failure.ts';
import { bodyOf, postJson } from './post-json.ts';

/** Small enough that a lost answer is not much work lost. */
const MAX_ITEMS = 50;

export const autoevalAdapter: ExternalAdapter<AutoevalConfig> = {
  maxItems: MAX_ITEMS,
  score: async (call, items) => {
    const { config } = call;
    const rows = items.map((item) => rowOf(config, item));
    const sent = rows.filter((row): row is Row => !(row instanceof ExternalFailure));
    if (sent.length === 0) return rows as ExternalFailure[];
    const answer = await postJson(call.outbound, {
      url: config.url,
      body: bodyOf({
        metric: config.metricId === undefined ? { name: config.metric } : { id: config.metricId },
        input: sent.map(({ input }) => input),
        output: sent.map(({ output }) => output),
        ...(hasExpectation(config) ? { groundTruth: sent.map(({ groundTruth }) => groundTruth) } : {}),
        ...(config.projectId === undefined ? {} : { projectId: config.projectId }),
      }),
      headers: { authorization: `Bearer ${call.secrets.apiKey ?? ''}` },
      timeoutMs: config.timeoutMs,
      nowMs: call.clock.now(),
      signal: call.signal,
    });
    const scores = readScores(answer, sent.length).values();
    return rows.map((row): Verdict | ExternalFailure =>
      row instanceof ExternalFailure ? row : { score: scores.next().value },
    );
  },
};

type Row = { input: string; output: string; groundTruth: string };

function hasExpectation(config: AutoevalConfig): boolean {
  return config.expected !== undefined || config.expectedFrom !== undefined;
}

function rowOf(config: AutoevalConfig, { subject }: ExternalItem): Row | ExternalFailure {
  try {
    const expected = expectationOf(config, subject);
    const groundTruth = typeof expected === 'string' ? expected : (JSON.stringify(expected) ?? '');
    return { input: subject.input, output: subject.output, groundTruth };
  } catch (error) {
    if (error instanceof ExternalFailure) return error;
    throw error;
  }
}

function readScores(answer: unknown, count: number): unknown[] {
  const scores =
    typeof answer === 'object' && answer !== null && 'scores' in answer ? answer.scores : undefined;
  if (!Array.isArray(scores)) {
    throw new ExternalFailure(
      'ext_bad_answer',
      'The service\'s answer is not an object with an array of "scores"',
    );
  }
  if (scores.length !== count) {
    // Nobody can tell which score is whose.
    throw new ExternalFailure(
      'ext_bad_answer',
      `The service answered ${scores.length} scores for ${count} requests`,
    );
  }
  return scores;
}
