/** The API with keys to manage, and a manager's key that is confined in nothing. */
import { createKey, type Scope } from '#platform/keys/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { type Answer, startTestApi, type TestApi } from '../../../support/api.ts';
import type { Owner } from '../../../support/world.ts';

/** A key as the API shows it; `key` in the reply that made it. */
export type Shown = {
  id: string;
  key: string;
  name: string;
  state: string;
  scopes: Scope[];
  expires_at: string | null;
  models: string[] | null;
  providers: string[] | null;
  paths: string[] | null;
  rate_limit_policy: string | null;
  owner: string | null;
  tags: string[];
  rotated_from: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
};

export type KeysApi = TestApi & {
  sql: Sql;
  /** A key of the own organization with every scope, which never expires. */
  manager: { key: string; id: string };
  /** Makes a key with the manager's, which is expected to succeed. */
  make(body?: object): Promise<Shown>;
  /** POSTs to `/v1/keys` with a key. */
  post(key: string, body: unknown): Promise<Answer>;
};

export async function startKeysApi(owner: Owner): Promise<KeysApi> {
  const api = await startTestApi(owner);
  const { sql } = api.database;
  const scopes = ['gateway', 'read', 'write'] as const;
  const { key, record } = await createKey(sql, {
    organizationId: api.own.organizationId,
    scopes,
    name: 'manager',
  });
  const post = (key: string, body: unknown) => api.call('/v1/keys', { key, body });
  return {
    ...api,
    sql,
    manager: { key, id: record.keyId },
    post,
    async make(body = {}) {
      const answer = await post(key, { name: 'made', scopes: ['read'], ...body });
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
      return answer.body.data as Shown;
    },
  };
}

/** A moment ahead, as the API writes it. */
export const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
