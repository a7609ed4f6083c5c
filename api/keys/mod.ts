/** API keys over HTTP: made, changed, rotated and revoked by keys of the same organization. */
import { AssayError } from '#core/contracts/errors.ts';
import {
  type ChangeKeyBody,
  type CreateKeyBody,
  KEY_PAGE,
  type KeyJson,
  type ListKeysQuery,
  type NewKeyJson,
  type RotateKeyBody,
} from '#core/contracts/keys.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { findExcess, type Grant } from '#core/keys/mod.ts';
import { type ApiKey, createKey, type KeyRecord, rotateKey } from '#platform/keys/mod.ts';
import { inOrganization, noteUrgent, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { unknown } from '../ids.ts';
import { stateOf, toKeyJson } from './key-json.ts';
import { requireManager } from './lockout.ts';
import { readKey } from './read-body.ts';
import { countKeys, lockKeys, revoke, selectKey, selectKeys, selectManagers, updateKey } from './store.ts';

export { toKeyJson } from './key-json.ts';
export { countKeys, selectKey } from './store.ts';

/** The key of a call, as far as it matters here. */
export type Caller = Pick<ApiKey, 'keyId' | 'organizationId'>;

export type KeyService = {
  /** @throws AssayError key_too_wide, invalid_body, invalid_rate_limit_policy, conflict when there are too many */
  create(caller: Caller, body: CreateKeyBody): Promise<NewKeyJson>;
  /** Lists keys, newest first. */
  list(caller: Caller, query: ListKeysQuery): Promise<KeyJson[]>;
  /** @throws AssayError not_found */
  get(caller: Caller, keyId: string): Promise<KeyJson>;
  /**
   * Changes a key that is not revoked.
   * @throws AssayError not_found, key_too_wide, invalid_body, invalid_rate_limit_policy, conflict
   */
  change(caller: Caller, keyId: string, body: ChangeKeyBody): Promise<KeyJson>;
  /** Revokes any key of the organization. @throws AssayError not_found, conflict */
  revoke(caller: Caller, keyId: string): Promise<null>;
  /** Makes a key in the place of another. @throws AssayError not_found, key_too_wide, conflict */
  rotate(caller: Caller, keyId: string, body: RotateKeyBody): Promise<NewKeyJson>;
};

export type KeyServiceOptions = {
  /** A pool under the role `assay_api`. */
  sql: Sql;
  clock: Clock;
  /** Announces a change to other processes, beside Postgres's notifications; never rejects. */
  announce(): Promise<void>;
};

/** Keys of an organization that work: more are a loop that makes them, and slow down what looks at all of them. */
const MAX_ACTIVE_KEYS = 10_000;

export function createKeyService({ sql, clock, announce }: KeyServiceOptions): KeyService {
  /** Runs a change of the organization's keys, one at a time, with the caller's key as it is now. */
  async function changing<T>(
    { organizationId, keyId }: Caller,
    work: (tx: TransactionSql, own: KeyRecord, nowMs: number) => Promise<T>,
  ): Promise<T> {
    // Behind the calls of a key that floods the API, its end would come too late.
    noteUrgent();
    const result = await inOrganization(sql, organizationId, async (tx) => {
      await lockKeys(tx, organizationId);
      const own = await selectKey(tx, organizationId, keyId);
      const nowMs = clock.now();
      // A change that waited for this one may have taken the key away.
      if (own === undefined || stateOf(own, nowMs) !== 'active') {
        throw new AssayError('invalid_api_key', 'This API key is not valid any more');
      }
      return await work(tx, own, nowMs);
    });
    await announce();
    return result;
  }

  return {
    create: (caller, body) =>
      changing(caller, async (tx, own, nowMs) => {
        const wanted = readKey(body, { ...own, owner: null, tags: [] }, nowMs);
        requireNoWider(wanted, own);
        await requireRoom(tx, own.organizationId, nowMs);
        const { key, record } = await createKey(tx, { ...wanted, organizationId: own.organizationId });
        return { ...toKeyJson(record, nowMs), key };
      }),

    list: ({ organizationId }, { search = '', state = null, ids, limit, offset }) => {
      noteUrgent();
      return inOrganization(sql, organizationId, async (tx) => {
        const nowMs = clock.now();
        const page = {
          search: storableText(search),
          state,
          ids: ids?.split(',') ?? null,
          at: new Date(nowMs),
          limit: limit === undefined ? KEY_PAGE.unlessGiven : Number(limit),
          offset: Number(offset ?? 0),
        };
        return (await selectKeys(tx, organizationId, page)).map((record) => toKeyJson(record, nowMs));
      });
    },

    get: ({ organizationId }, keyId) => {
      noteUrgent();
      return inOrganization(sql, organizationId, async (tx) =>
        toKeyJson(await existing(tx, organizationId, keyId), clock.now()),
      );
    },

    change: (caller, keyId, body) =>
      changing(caller, async (tx, own, nowMs) => {
        const { organizationId } = own;
        const before = await existing(tx, organizationId, keyId);
        if (before.revokedAt !== null) {
          throw new AssayError(
            'conflict',
            `The key ${keyId} is revoked, which cannot be undone: make another one`,
          );
        }
        requireNoWider(before, own);
        const after = readKey(body, before, nowMs);
        requireNoWider(after, own);
        requireManager(await selectManagers(tx, organizationId, new Date(nowMs)), keyId, after);
        await updateKey(tx, before, after);
        return toKeyJson(await existing(tx, organizationId, keyId), nowMs);
      }),

    revoke: (caller, keyId) =>
      changing(caller, async (tx, { organizationId }, nowMs) => {
        const key = await existing(tx, organizationId, keyId);
        const at = new Date(nowMs);
        requireManager(await selectManagers(tx, organizationId, at), keyId, null);
        await revoke(tx, key, at);
        return null;
      }),

    rotate: (caller, keyId, { overlapSeconds }) =>
      changing(caller, async (tx, own, nowMs) => {
        const old = await existing(tx, own.organizationId, keyId);
        requireNoWider(old, own);
        // Until the old key ends, there is one more.
        if (overlapSeconds > 0) await requireRoom(tx, own.organizationId, nowMs);
        const { key, record } = await rotateKey(tx, old, { overlapSeconds, nowMs });
        return { ...toKeyJson(record, nowMs), key };
      }),
  };
}

async function requireRoom(tx: TransactionSql, organizationId: string, nowMs: number): Promise<void> {
  const { active } = await countKeys(tx, organizationId, new Date(nowMs));
  if (active < MAX_ACTIVE_KEYS) return;
  throw new AssayError(
    'conflict',
    `The organization has ${MAX_ACTIVE_KEYS} keys, which is the most: revoke some`,
  );
}

async function existing(tx: TransactionSql, organizationId: string, keyId: string): Promise<KeyRecord> {
  const record = await selectKey(tx, organizationId, keyId);
  if (record === undefined) throw unknown('API key', keyId);
  return record;
}

function requireNoWider(wanted: Grant, own: Grant): void {
  const excess = findExcess(wanted, own);
  if (excess === null) return;
  throw new AssayError(
    'key_too_wide',
    `The key would be wider than the caller's own: ${excess.field}: ${excess.reason}`,
  );
}
