import { describeError } from '#core/contracts/errors.ts';
import type { ExternalConfig } from '#core/contracts/external.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import type { Evaluated, Outcome } from '#core/scoring/mod.ts';
import { maskSecrets } from '#platform/secrets/mod.ts';
import type { ExternalAdapter, ExternalCall, ExternalItem, Verdict } from './adapter.ts';
import { autoevalAdapter } from './autoeval.ts';
import { autoevalsAdapter } from './autoevals.ts';
import { ExternalFailure } from './failure.ts';
import { httpAdapter } from './http.ts';
import { runScorer } from './run-scorer.ts';

const MAX_REASONING_BYTES = 4_096;

/** What an EXTERNAL evaluator runs with. `runScorer` runs in this thread unless it is given. */
export type ExternalOptions = Omit<ExternalCall, 'runScorer'> & Partial<Pick<ExternalCall, 'runScorer'>>;

/** How many evaluations of an evaluator one call can hold: 1 where its service takes one at a time. */
export function batchSizeOf(config: ExternalConfig): number {
  switch (config.adapter) {
    case 'http':
      return httpAdapter.maxItems;
    case 'autoeval':
      return autoevalAdapter.maxItems;
    case 'autoevals':
      return autoevalsAdapter.maxItems;
  }
}

/**
 * Runs evaluations of one evaluator, as many in one call as its service takes, one call after the other. Neither outcome
 * nor message ever holds a secret.
 * @returns one outcome for each item, in their order
 * @throws the reason of `signal`, when it ends the calls; an Error, its message masked, on a defect of ours
 */
export async function runExternalMany(
  options: ExternalOptions & { items: readonly ExternalItem[] },
): Promise<Evaluated[]> {
  const call = { ...options, runScorer: options.runScorer ?? runScorer };
  const secrets = Object.values(options.secrets);
  const mask = (text: string) => maskSecrets(text, secrets);
  const size = batchSizeOf(options.config);
  const outcomes: Outcome[] = [];
  for (let start = 0; start < options.items.length; start += size) {
    const verdicts = await scoreBatch(call, options.items.slice(start, start + size)).catch((error) => {
      options.signal?.throwIfAborted();
      // A defect of ours. What it says may go to a log, so it must not say a secret either.
      throw new Error(mask(describeError(error)));
    });
    outcomes.push(...verdicts.map((verdict) => outcomeOf(verdict, mask)));
  }
  return outcomes.map((outcome) => ({ outcome, use: null }));
}

async function scoreBatch(
  call: ExternalCall,
  items: readonly ExternalItem[],
): Promise<(Verdict | ExternalFailure)[]> {
  try {
    return await scoreWith(call, items);
  } catch (error) {
    if (!(error instanceof ExternalFailure)) throw error;
    // Several records that are too large together may fit one by one.
    if (error.code === 'input_too_large' && items.length > 1) {
      const half = Math.ceil(items.length / 2);
      return [
        ...(await scoreBatch(call, items.slice(0, half))),
        ...(await scoreBatch(call, items.slice(half))),
      ];
    }
    return items.map(() => error);
  }
}

function scoreWith(
  call: ExternalCall,
  items: readonly ExternalItem[],
): ReturnType<ExternalAdapter<ExternalConfig>['score']> {
  const { config } = call;
  switch (config.adapter) {
    case 'http':
      return httpAdapter.score({ ...call, config }, items);
    case 'autoeval':
      return autoevalAdapter.score({ ...call, config }, items);
    case 'autoevals':
      return autoevalsAdapter.score({ ...call, config }, items);
  }
}

function outcomeOf(verdict: Verdict | ExternalFailure, mask: (text: string) => string): Outcome {
  const read = verdict instanceof ExternalFailure ? verdict : readVerdict(verdict);
  if (read instanceof ExternalFailure) return read.toOutcome(mask);
  const reasoning = read.reasoning === null ? null : cut(storableText(mask(read.reasoning)));
  return { state: 'completed', score: read.score, label: null, reasoning, traces: null, flags: [] };
}

function readVerdict(verdict: Verdict): { score: number; reasoning: string | null } | ExternalFailure {
  const reasoning = verdict.reasoning ?? null;
  // As judges and Python have it: yes is 1, no is 0.
  const score = typeof verdict.score === 'boolean' ? Number(verdict.score) : verdict.score;
  if (typeof score !== 'number' || !Number.isFinite(score)) {
    return new ExternalFailure('ext_bad_answer', 'The score is not a finite number, nor true or false');
  }
  if (reasoning !== null && typeof reasoning !== 'string') {
    return new ExternalFailure('ext_bad_answer', 'The reasoning is not a text');
  }
  return { score, reasoning };
}

/** At most 4 KB of UTF-8, no character cut in two. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_REASONING_BYTES) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_REASONING_BYTES));
  return text.slice(0, read);
}
