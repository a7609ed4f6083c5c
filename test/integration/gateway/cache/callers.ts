/** Callers of caches, and the claims that they hold. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { CacheQuery } from '../../../../gateway/cache/bucket.ts';
import type { CoalescingRole } from '../../../../gateway/cache/leaders.ts';
import type { ResponseCache, StoredResponse } from '../../../../gateway/cache/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import type { CacheWorld } from './world.ts';

/** Callers that wait; those that come to lead, or get an answer, are taken note of in that order. */
export function follow(cache: ResponseCache, ask: CacheQuery, count: number) {
  const leads: (CoalescingRole & { isLeader: true })[] = [];
  const answers: StoredResponse[] = [];
  for (let follower = 0; follower < count; follower += 1) {
    void cache.coalesce(ask).then((lead) => {
      if (lead.isLeader) leads.push(lead);
      else answers.push(lead.response);
    });
  }
  return { leads, answers };
}

/** Time enough for whatever can happen by now: a few statements, on a busy machine. */
export async function settle(world: CacheWorld): Promise<void> {
  await sleep(100);
  await world.sql`select 1`;
  await turn();
}

export async function claimHolders(world: CacheWorld): Promise<string[]> {
  const rows = await world.sql<{ holder: string }[]>`select holder from assay.answer_claims`;
  return rows.map(({ holder }) => holder);
}

export const noClaims = (world: CacheWorld) =>
  waitFor('all claims to be given back', async () => (await claimHolders(world)).length === 0);
