import { setTimeout as sleep } from 'node:timers/promises';
import type { AssayError } from '#core/contracts/errors.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { unknown } from '../ids.ts';
import { idTimeMs } from './id-time.ts';
import { findClaimed, isErased } from './missing.ts';

/**
 * The age of an id below which its request may still be on its way from the gateway to Postgres. Ids are made when a call begins,
 * and its record is stored after its end: ten seconds were too few for calls that take as long.
 */
const YOUNG_MS = 15 * 60_000;
/** Tolerance for the clocks of two machines. */
const AHEAD_MS = 5_000;
/** If longer, clients wait in vain for unknown ids; if shorter, a few of a thousand records are not stored yet. */
const PATIENCE_MS = 1_500;
const POLL_MS = 50;

/** Returns whether an id tells that its request may still be on its way to the store. */
function isYoung(requestId: string, clock: Clock): boolean {
  const madeAt = idTimeMs(requestId);
  const age = madeAt === null ? Number.POSITIVE_INFINITY : clock.now() - madeAt;
  return age < YOUNG_MS && age > -AHEAD_MS;
}

/**
 * Runs `find` until every request is found, or for a moment while some may still be on their way.
 * @param find returns the ids that it found, and those of the others whose requests are known to be on their way
 * @returns the ids that were not found, of requests that may still be on their way
 */
export async function awaitRequests(
  requestIds: readonly string[],
  clock: Clock,
  find: () => Promise<{ found: ReadonlySet<string>; coming: ReadonlySet<string> }>,
): Promise<Set<string>> {
  const deadline = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const { found, coming } = await find();
    const awaited = requestIds.filter((id) => !found.has(id) && (coming.has(id) || isYoung(id, clock)));
    if (awaited.length === 0 || clock.monotonic() >= deadline) return new Set(awaited);
    await sleep(POLL_MS);
  }
}

/** Where a request is looked for. */
type Where = { sql: Sql; clock: Clock; organizationId: string };

/** Returns whether the request of an id may still be on its way: an id without a time was claimed by its caller. */
async function isComing(requestId: string, { sql, clock, organizationId }: Where): Promise<boolean> {
  const storedId = storableText(requestId);
  if (idTimeMs(requestId) !== null && !isYoung(requestId, clock)) return false;
  return await inOrganization(sql, organizationId, async (tx) =>
    isYoung(requestId, clock)
      ? !(await isErased(tx, organizationId, storedId))
      : (await findClaimed(tx, organizationId, [storedId])).size > 0,
  );
}

/**
 * Runs `attempt` until it finds the request: once, or for a moment when the id is new. A client may rate a response as soon
 * as it has it, which is before the record is stored.
 *
 * @param attempt returns null or false when there is no such request (yet)
 * @param patienceMs how long a new id is looked for
 * @throws AssayError not_found
 */
export async function awaitRequest<T>(
  requestId: string,
  where: Where,
  attempt: () => Promise<T | null | false>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const { clock } = where;
  let deadline: number | null = null;
  for (;;) {
    const found = await attempt();
    if (found !== null && found !== false) return found;
    deadline ??= clock.monotonic() + ((await isComing(requestId, where)) ? patienceMs : 0);
    if (clock.monotonic() >= deadline) throw unknownRequest(requestId);
    await sleep(POLL_MS);
  }
}

/** The error for an id that the organization has no request of. */
export function unknownRequest(requestId: string): AssayError {
  return unknown('request', requestId);
}
