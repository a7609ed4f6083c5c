/**
 * The adapter `autoeval`, for LastMile's AutoEval service: posts `{metric, input, output, groundTruth?}` with arrays of
 * equal length, and reads `{scores}` (`POST /api/2/auto_eval/evaluation/evaluate`, as the service's Python client 0.9 sends it).
 */
import type { AutoevalConfig } from '#core/contracts/external.ts';
import type { ExternalAdapter, ExternalItem, UncheckedScore } from './adapter.ts';
import { expectedValueOf } from './expected-value.ts';
import { ExternalFailure } from './failure.ts';
import { postJson, toJsonBody } from './post-json.ts';

/** Few enough that a lost response loses little work. */
const MAX_ITEMS = 50;

/** Scores up to 50 records in one call; a record without its expected value fails alone. */
export const autoevalAdapter: ExternalAdapter<AutoevalConfig> = {
  maxItems: MAX_ITEMS,
  score: async (call, items) => {
    const { config } = call;
    const rows = items.map((item) => rowOf(config, item));
    const sent = rows.filter((row): row is ServiceRow => !(row instanceof ExternalFailure));
    if (sent.length === 0) return rows as ExternalFailure[];
    const answer = await postJson(call.outbound, {
      url: config.url,
      body: toJsonBody({
        metric: config.metricId === undefined ? { name: config.metric } : { id: config.metricId },
        input: sent.map(({ input }) => input),
        output: sent.map(({ output }) => output),
        ...(hasExpectedValue(config) ? { groundTruth: sent.map(({ groundTruth }) => groundTruth) } : {}),
        ...(config.projectId === undefined ? {} : { projectId: config.projectId }),
      }),
      headers: { authorization: `Bearer ${call.secrets.apiKey ?? ''}` },
      timeoutMs: config.timeoutMs,
      nowMs: call.clock.now(),
      signal: call.signal,
    });
    const scores = readScores(answer, sent.length).values();
    return rows.map((row): UncheckedScore | ExternalFailure =>
      row instanceof ExternalFailure ? row : { score: scores.next().value },
    );
  },
};

type ServiceRow = { input: string; output: string; groundTruth: string };

function hasExpectedValue(config: AutoevalConfig): boolean {
  return config.expected !== undefined || config.expectedFrom !== undefined;
}

function rowOf(config: AutoevalConfig, { subject }: ExternalItem): ServiceRow | ExternalFailure {
  try {
    const expected = expectedValueOf(config, subject);
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
    // The scores cannot be assigned to the records.
    throw new ExternalFailure(
      'ext_bad_answer',
      `The service answered ${scores.length} scores for ${count} requests`,
    );
  }
  return scores;
}
