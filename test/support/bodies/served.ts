/** A gateway and an API in this process, without ingest: what their event loops are held up by is theirs alone. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '#platform/config/mod.ts';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startApi } from '../../../api/mod.ts';
import { startGateway } from '../../../gateway/mod.ts';
import { testDatabase } from '../postgres.ts';
import { type Sender, startSender } from './sender.ts';

export type Served = {
  gatewayUrl: string;
  apiUrl: string;
  headers: { authorization: string };
  sender: Sender;
  stop(): Promise<void>;
};

/** Starts both on a database of their own. Every provider is the sender's. */
export async function startServed(): Promise<Served> {
  const database = await testDatabase();
  const sender = await startSender();
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-bodies-'));
  const read = readConfig({
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    GATEWAY_PORT: '0',
    API_PORT: '0',
    OPENAI_API_KEY: 'sk-operator',
    OPENAI_BASE_URL: sender.providerUrl,
    ANTHROPIC_API_KEY: 'sk-operator',
    ANTHROPIC_BASE_URL: sender.providerUrl,
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const log = createLogger({ role: 'test', level: 'silent' });
  const options = { config: read.config, log, clock: systemClock };
  const { organizationId } = await createOrganization(database.sql, { name: 'acme' });
  const { key } = await createKey(database.sql, { organizationId, scopes: ['gateway', 'read', 'write'] });
  const gateway = await startGateway(options);
  const api = await startApi(options);
  return {
    gatewayUrl: gateway.address!,
    apiUrl: api.address!,
    headers: { authorization: `Bearer ${key}` },
    sender,
    stop: async () => {
      await gateway.stop();
      await api.stop();
      await sender.stop();
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
