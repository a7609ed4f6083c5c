/** Happenings with the facts of their requests. */
import type { RequestKey } from '#core/contracts/changes.ts';
import { NOT_TRIED } from '#core/contracts/errors.ts';
import { REQUEST_EVENTS } from '#core/contracts/webhook.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { Happening } from './events.ts';
import { type Facts, nameOfKey, readFacts } from './matching.ts';

/** A happening with the facts of its request; null: no filter applies to it. */
export type Known = { happening: Happening; facts: Facts | null };

const ABOUT_REQUESTS: ReadonlySet<string> = new Set(REQUEST_EVENTS);

/** Adds the facts of requests. Leaves out happenings about requests that are gone, and about judges' calls. */
export async function withFacts(tx: TransactionSql, happenings: readonly Happening[]): Promise<Known[]> {
  const keys = new Map<string, RequestKey & { organizationId: string }>();
  const nameOf = ({ organizationId, key }: Happening) => `${organizationId} ${nameOfKey(key!)}`;
  for (const one of happenings) {
    if (!ABOUT_REQUESTS.has(one.event)) continue;
    keys.set(nameOf(one), { ...one.key!, organizationId: one.organizationId });
  }
  const read = await readFacts(tx, [...keys.values()]);
  const facts = new Map([...keys.keys()].map((name, index) => [name, read[index]!]));
  return happenings.flatMap((happening): Known[] =>
    ABOUT_REQUESTS.has(happening.event)
      ? ofRequest(happening, facts.get(nameOf(happening)) ?? null)
      : [{ happening, facts: null }],
  );
}

function ofRequest(happening: Happening, facts: Facts | null): Known[] {
  if (facts === null) return [];
  if (happening.event !== 'limit.reached') return [{ happening, facts }];
  if (facts.errorCode === null || !NOT_TRIED.has(facts.errorCode)) return [];
  const limit = { api_key_id: facts.apiKeyId, user_id: facts.userId };
  return [{ happening: { ...happening, details: { limit } }, facts }];
}
