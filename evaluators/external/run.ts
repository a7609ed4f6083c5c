import { describeError } from '#core/contracts/errors.ts';
import type { CalledConfig } from '#core/contracts/external.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { type Evaluated, MAX_REASONING_BYTES, type Outcome } from '#core/scoring/mod.ts';
import { cutToBytes } from '#core/text/mod.ts';
import { maskSecrets } from '#platform/secrets/mod.ts';
import type { ExternalAdapter, ExternalCall, ExternalItem, UncheckedScore } from './adapter.ts';
import { autoevalAdapter } from './autoeval-adapter.ts';
import { ExternalFailure } from './failure.ts';
import { httpAdapter } from './http-adapter.ts';
import { scorerAdapter } from './scorer-adapter.ts';

/** Returns the maximum number of evaluations in one call of an evaluator: 1 where its service takes one at a time. */
export function batchSizeOf(config: CalledConfig): number {
  switch (config.adapter) {
    case 'http':
      return httpAdapter.maxItems;
    case 'autoeval':
      return autoevalAdapter.maxItems;
    case 'autoevals':
      return scorerAdapter.maxItems;
  }
}

/**
 * Runs evaluations of one evaluator: as many in one call as its service takes, one call after another. No outcome and no
 * message ever holds a secret.
 * @returns one outcome for each item, in the order of `items`
 * @throws the reason of `signal` when it ends the calls; an Error with a masked message on a defect of the adapter
 */
export async function runExternalMany({
  items,
  ...call
}: ExternalCall & { items: readonly ExternalItem[] }): Promise<Evaluated[]> {
  const secrets = Object.values(call.secrets);
  const mask = (text: string) => maskSecrets(text, secrets);
  const size = batchSizeOf(call.config);
  const outcomes: Outcome[] = [];
  for (let start = 0; start < items.length; start += size) {
    const scores = await scoreBatch(call, items.slice(start, start + size)).catch((error) => {
      call.signal?.throwIfAborted();
      // A defect of the adapter. Its message may go to a log, so secrets are masked here too.
      throw new Error(mask(describeError(error)));
    });
    outcomes.push(...scores.map((score) => outcomeOf(score, mask)));
  }
  return outcomes.map((outcome) => ({ outcome, use: null }));
}

async function scoreBatch(
  call: ExternalCall,
  items: readonly ExternalItem[],
): Promise<(UncheckedScore | ExternalFailure)[]> {
  try {
    return await scoreWith(call, items);
  } catch (error) {
    if (!(error instanceof ExternalFailure)) throw error;
    // Records that are too large together may fit one by one.
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
): ReturnType<ExternalAdapter<CalledConfig>['score']> {
  const { config } = call;
  switch (config.adapter) {
    case 'http':
      return httpAdapter.score({ ...call, config }, items);
    case 'autoeval':
      return autoevalAdapter.score({ ...call, config }, items);
    case 'autoevals':
      return scorerAdapter.score({ ...call, config }, items);
  }
}

function outcomeOf(given: UncheckedScore | ExternalFailure, mask: (text: string) => string): Outcome {
  const checked = given instanceof ExternalFailure ? given : checkScore(given);
  if (checked instanceof ExternalFailure) return checked.toOutcome(mask);
  const reasoning =
    checked.reasoning === null
      ? null
      : cutToBytes(storableText(mask(checked.reasoning)), MAX_REASONING_BYTES);
  return { state: 'completed', score: checked.score, label: null, reasoning, traces: null, flags: [] };
}

function checkScore(given: UncheckedScore): { score: number; reasoning: string | null } | ExternalFailure {
  const reasoning = given.reasoning ?? null;
  // As with judges and Python, true is 1 and false is 0.
  const score = typeof given.score === 'boolean' ? Number(given.score) : given.score;
  if (typeof score !== 'number' || !Number.isFinite(score)) {
    return new ExternalFailure('ext_bad_answer', 'The score is not a finite number, nor true or false');
  }
  if (reasoning !== null && typeof reasoning !== 'string') {
    return new ExternalFailure('ext_bad_answer', 'The reasoning is not a text');
  }
  return { score, reasoning };
}
