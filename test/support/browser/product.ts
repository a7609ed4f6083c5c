/** The product that a page test looks at: the API with the built pages over a real database and, where asked, the gateway. */

import { createKey, type Scope } from '#platform/keys/mod.ts';
import { freePort } from '../free-port.ts';
import type { ScriptedProvider } from '../scripted-provider.ts';
import { insertRequests, type SeedRequest } from '../seed-requests.ts';
import { createWorld, type Database, type Owner, type TestOrganization, type World } from '../world.ts';

/** What calls go through: gateway, ingest with its sinks, and evaluators. */
export type CallPath = { gatewayUrl: string; provider: ScriptedProvider };

export type Product = {
  /** Of the API and its pages. */
  url: string;
  database: Database;
  world: World;
  /** Creates an organization for one story, and a key with these scopes. */
  organization(scopes: readonly Scope[]): Promise<StoryOrganization>;
  /** Starts it at the first call. */
  callPath(): Promise<CallPath>;
};

export type StoryOrganization = TestOrganization & {
  /** The key that the pages are logged in with. */
  key: string;
  keyId: string;
  /** Puts records straight into the store; what is left out gets a plain value. Returns them filled in. */
  insert(records: Partial<SeedRequest>[]): Promise<SeedRequest[]>;
};

/** Seals provider keys and the secrets of webhooks. */
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

async function startCallPath(world: World, port: string): Promise<CallPath> {
  const provider = await world.provider();
  const settings = { OPENAI_API_KEY: 'sk-operator', OPENAI_BASE_URL: provider.url };
  const { dataDir } = await world.start('ingest', settings);
  const gateway = await world.start('gateway', { ...settings, DATA_DIR: dataDir, GATEWAY_PORT: port });
  await world.start('evaluators', { ...settings, GATEWAY_PORT: port });
  return { gatewayUrl: gateway.url, provider };
}

/** Starts the API with its pages, until `owner` ends; the call path is started when a story asks for it. */
export async function startProduct(owner: Owner): Promise<Product> {
  const world = await createWorld(owner);
  // The API calls the gateway for the playground, and is there before it.
  const gatewayPort = String(await freePort());
  const api = await world.start('api', {
    SECRET_KEY,
    GATEWAY_URL: `http://127.0.0.1:${gatewayPort}`,
  });
  let callPath: Promise<CallPath> | undefined;
  return {
    url: api.url,
    database: world.database,
    world,
    async organization(scopes) {
      // All calls of this tier are logged, however many come in a second.
      const organization = await world.organization({ tier: 'enterprise' });
      const { organizationId } = organization;
      const { key, record } = await createKey(world.sql, { organizationId, scopes });
      return {
        ...organization,
        key,
        keyId: record.keyId,
        insert: (records) => insertRequests(world.sql, organizationId, records),
      };
    },
    callPath() {
      callPath ??= startCallPath(world, gatewayPort);
      return callPath;
    },
  };
}
