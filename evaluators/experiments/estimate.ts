/** What a call of an experiment may cost, so that its budget holds before the cost is known. */
import { textUsage } from '#core/chat/mod.ts';
import { type CalledTarget, type ItemContent, requestOf } from '#core/experiments/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { Catalog } from '#core/models/mod.ts';

/** No text has more tokens than bytes, and English has a quarter; half of the bytes is more than nearly every text has. */
const BYTES_PER_TOKEN = 2;
/** Length of an answer to a call that sets no limit of its own. */
const DEFAULT_COMPLETION_TOKENS = 4_096;

/** Returns the cost in nano-dollars; null: the model, or its price, is not known before the call. */
export function estimateCost(
  catalog: Pick<Catalog, 'costOf' | 'providerOf'>,
  target: CalledTarget,
  item: ItemContent,
  atMs: number,
): number | null {
  const request = requestOf(target, item);
  if ('skipped' in request) return 0;
  const { body } = request;
  if (typeof body.model !== 'string') return null;
  const costs = body.model.split(',').map((model) => costOf(catalog, model.trim(), body, atMs));
  return costs.includes(null) ? null : Math.max(...(costs as number[]));
}

function costOf(
  catalog: Pick<Catalog, 'costOf' | 'providerOf'>,
  asked: string,
  body: JsonObject,
  atMs: number,
): number | null {
  const called = catalog.providerOf(asked);
  if (called === null) return null;
  const promptTokens = Math.ceil(Buffer.byteLength(JSON.stringify(body)) / BYTES_PER_TOKEN);
  const usage = textUsage(promptTokens, choicesOf(body) * limitOf(body));
  return catalog.costOf({ provider: called.provider, models: [called.model], usage, atMs })?.nano ?? null;
}

function limitOf({ max_completion_tokens, max_tokens }: JsonObject): number {
  const limit = max_completion_tokens ?? max_tokens;
  return typeof limit === 'number' && limit > 0 ? limit : DEFAULT_COMPLETION_TOKENS;
}

function choicesOf({ n }: JsonObject): number {
  return typeof n === 'number' && n > 1 ? n : 1;
}
