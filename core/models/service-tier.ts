/**
 * Prices of the tiers of service that are not the standard one, as a fraction of its price for all kinds of token. The
 * registry has standard prices alone. Source: the price lists of OpenAI, Google and Anthropic as LiteLLM's price map 1.110.2
 * repeats them, read on 2026-11-28; fast mode of Claude Opus 4.6 and 4.7 by Anthropic's list of that time.
 */
import type { Usage } from '../chat/mod.ts';

/** A fraction of the standard price. */
export type PriceFactor = { numerator: bigint; denominator: bigint };

/** The standard price itself. */
export const STANDARD: PriceFactor = { numerator: 1n, denominator: 1n };

const HALF: PriceFactor = { numerator: 1n, denominator: 2n };
const GOOGLE_PRIORITY: PriceFactor = { numerator: 9n, denominator: 5n };
/** Inference in the United States alone, of all models that can be confined to it. */
const IN_THE_US = { numerator: 11n, denominator: 10n };

/** The priority tier of OpenAI's models, also at Azure, by their names without dates, except for one whose snapshots differ. */
const OPENAI_PRIORITY: Readonly<Record<string, readonly [numerator: bigint, denominator: bigint]>> = {
  'gpt-4.1': [7n, 4n],
  'gpt-4.1-mini': [7n, 4n],
  'gpt-4.1-nano': [2n, 1n],
  'gpt-4o': [17n, 10n],
  'gpt-4o-2024-05-13': [7n, 4n],
  'gpt-4o-mini': [5n, 3n],
  'gpt-5': [2n, 1n],
  'gpt-5-mini': [9n, 5n],
  'gpt-5.1': [2n, 1n],
  'gpt-5.2': [2n, 1n],
  'gpt-5.3-codex': [2n, 1n],
  'gpt-5.4': [2n, 1n],
  'gpt-5.4-mini': [2n, 1n],
  'gpt-5.5': [5n, 2n],
  'gpt-5.6': [2n, 1n],
  'gpt-5.6-luna': [2n, 1n],
  'gpt-5.6-sol': [2n, 1n],
  'gpt-5.6-terra': [2n, 1n],
  'gpt-6-astra': [2n, 1n],
  'gpt-6-luna': [2n, 1n],
  'gpt-6-sol': [2n, 1n],
  'gpt-6.1-sol': [2n, 1n],
  'gpt-6.1-terra': [2n, 1n],
  o3: [7n, 4n],
  'o4-mini': [20n, 11n],
};

/** Fast mode of Anthropic's models, by their names without dates. */
const ANTHROPIC_FAST: Readonly<Record<string, bigint>> = {
  'claude-opus-4-6': 6n,
  'claude-opus-4-7': 6n,
  'claude-opus-4-8': 2n,
  'claude-opus-5': 2n,
  'claude-opus-5-5': 2n,
};

/** `-2025-08-07`, or as Anthropic has it `-20260205`. */
const SNAPSHOT_DATE = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/**
 * Returns what the tokens of a call cost in the tier of service that its answer names, as a fraction of the standard price;
 * null when its price is not known.
 */
export function priceFactor(provider: string, model: string, { tier, isInUs }: Usage): PriceFactor | null {
  if (provider === 'openai') {
    if (tier === 'flex') return HALF;
    return tier === 'priority' ? ofOpenai(model) : STANDARD;
  }
  if (provider === 'google') {
    if (tier === 'flex') return HALF;
    return tier === 'priority' ? GOOGLE_PRIORITY : STANDARD;
  }
  if (provider === 'azure') return tier === 'priority' ? ofOpenai(model) : STANDARD;
  if (provider !== 'anthropic') return STANDARD;
  if (tier === 'batch')
    return isInUs ? { ...IN_THE_US, denominator: IN_THE_US.denominator * HALF.denominator } : HALF;
  const fast = tier === 'fast' ? ofFast(model) : 1n;
  if (fast === null) return null;
  const { numerator, denominator } = isInUs ? IN_THE_US : STANDARD;
  return { numerator: numerator * fast, denominator };
}

function ofOpenai(model: string): PriceFactor | null {
  const name = Object.hasOwn(OPENAI_PRIORITY, model) ? model : model.replace(SNAPSHOT_DATE, '');
  if (!Object.hasOwn(OPENAI_PRIORITY, name)) return null;
  const [numerator, denominator] = OPENAI_PRIORITY[name]!;
  return { numerator, denominator };
}

function ofFast(model: string): bigint | null {
  const name = model.replace(SNAPSHOT_DATE, '');
  return Object.hasOwn(ANTHROPIC_FAST, name) ? ANTHROPIC_FAST[name]! : null;
}
