/** A gateway and an API in this process, without ingest: what their event loops are held up by is theirs alone. */

import { createWorld } from '../../support/world.ts';
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
  const parts = new AsyncDisposableStack();
  const world = await createWorld({ teardown: (stop) => parts.defer(async () => void (await stop())) });
  const sender = await startSender();
  parts.defer(() => sender.stop());
  const settings = {
    DATA_DIR: world.directory(),
    OPENAI_API_KEY: 'sk-operator',
    OPENAI_BASE_URL: sender.providerUrl,
    ANTHROPIC_API_KEY: 'sk-operator',
    ANTHROPIC_BASE_URL: sender.providerUrl,
  };
  const { keyWith } = await world.organization();
  const key = await keyWith(['gateway', 'read', 'write']);
  const api = await world.start('api', settings);
  const gateway = await world.start('gateway', settings);
  return {
    gatewayUrl: gateway.url,
    apiUrl: api.url,
    headers: { authorization: `Bearer ${key}` },
    sender,
    stop: () => parts.disposeAsync(),
  };
}
