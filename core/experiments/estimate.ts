/** Estimates the cost of an experiment's call, so that its budget holds before the cost is known. */
import { textUsage } from '../chat/mod.ts';
import type { JsonObject } from '../json/mod.ts';
import { type Catalog, LONGEST_LIST, MAX_MODELS } from '../models/mod.ts';
import { type CalledTarget, type ItemContent, requestOf } from './request-of.ts';

/** No text has more tokens than bytes, and English has a quarter; half of the bytes is more than nearly every text has. */
export const BYTES_PER_TOKEN = 2;
/** Length of an answer to a call that sets no limit of its own. */
const DEFAULT_COMPLETION_TOKENS = 4_096;
/** Larger numbers in an item mean "without limit", or nothing: no provider takes them. */
const MOST_COMPLETION_TOKENS = 1_000_000;
const MOST_CHOICES = 128;

/** The part of a catalog that prices calls before they are made. */
export type Prices = Pick<Catalog, 'costOf' | 'providerOf'>;

/** Tokens of a call, as its record or a guess has them. */
export type CallTokens = { prompt: number; completion: number };

/**
 * Returns the most that a call is likely to cost in nano-dollars; null: the model, or its price, is not known before the call.
 */
export function estimateCost(
  catalog: Prices,
  target: CalledTarget,
  item: ItemContent,
  atMs: number,
): number | null {
  const request = requestOf(target, item);
  return 'skipped' in request ? 0 : costOfBody(catalog, request.body, longestTokens(request.body), atMs);
}

/** Returns what a call of so many tokens costs, by the dearest of its models; null: the price is not known. */
export function costOfBody(
  catalog: Prices,
  { model }: JsonObject,
  tokens: CallTokens,
  atMs: number,
): number | null {
  // A gateway takes no longer list, and no more models.
  if (typeof model !== 'string' || model.length > LONGEST_LIST) return null;
  const asked = model.split(',');
  if (asked.length > MAX_MODELS) return null;
  const costs = asked.map((one) => costOf(catalog, one.trim(), tokens, atMs));
  return costs.includes(null) ? null : Math.max(...(costs as number[]));
}

function costOf(
  catalog: Prices,
  asked: string,
  { prompt, completion }: CallTokens,
  atMs: number,
): number | null {
  const called = catalog.providerOf(asked);
  if (called === null) return null;
  const usage = textUsage(prompt, completion);
  return catalog.costOf({ provider: called.provider, models: [called.model], usage, atMs })?.nano ?? null;
}

/** Returns more tokens than nearly every call of this body has. */
export function longestTokens(body: JsonObject): CallTokens {
  return {
    prompt: Math.ceil(Buffer.byteLength(JSON.stringify(body)) / BYTES_PER_TOKEN),
    completion: mostCompletionTokens(body) ?? choicesOf(body) * DEFAULT_COMPLETION_TOKENS,
  };
}

/** Returns the most tokens of answer that a call allows; null: it sets no limit. */
export function mostCompletionTokens(body: JsonObject): number | null {
  const limit = body.max_completion_tokens ?? body.max_tokens;
  if (typeof limit !== 'number' || limit <= 0) return null;
  return choicesOf(body) * Math.min(Math.ceil(limit), MOST_COMPLETION_TOKENS);
}

function choicesOf({ n }: JsonObject): number {
  return typeof n === 'number' && n > 1 ? Math.min(Math.ceil(n), MOST_CHOICES) : 1;
}
