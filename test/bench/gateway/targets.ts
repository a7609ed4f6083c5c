/** What is measured: the provider itself, this gateway, and a peer; each reachable in the same way. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { portkey } from '../peers/known-peers.ts';
import { startPeer } from '../peers/start-peer.ts';
import { startOurs } from './ours.ts';
import { endProcess, pin, spawnNode } from './process.ts';
import type { Target, TargetName } from './target.ts';

const PROVIDER_KEY = 'sk-benchmark';

export type Provider = { port: number; pid: number; bytes: number; stop(): Promise<void> };

/** A provider in a process of its own that answers with bodies of `bytes`. */
export async function startProvider(bytes: number): Promise<Provider> {
  const script = fileURLToPath(new URL('provider-process.ts', import.meta.url));
  const child = spawnNode([script, String(bytes)], { ipc: true });
  const [port] = (await once(child, 'message')) as [number];
  return { port, pid: child.pid!, bytes, stop: () => endProcess(child) };
}

/** Starts one target before `provider`. */
export function startTarget(name: TargetName, provider: Provider): Promise<Target> {
  if (name === 'ours') return startOurs(provider.port);
  return name === 'peer' ? startPortkey(provider.port) : startDirect(provider.bytes);
}

/**
 * The provider alone. A second one, on the gateways' core: so that a gateway is one more hop between processes, and not
 * also the first between cores, which would count as its own.
 */
async function startDirect(bytes: number): Promise<Target> {
  const { port, pid, stop } = await startProvider(bytes);
  pin(pid, 'gateway');
  return {
    name: 'direct',
    port,
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${PROVIDER_KEY}` },
    pid: null,
    settle: async () => null,
    stop,
  };
}

/** Portkey's gateway; it keeps no log. */
async function startPortkey(providerPort: number): Promise<Target> {
  return { ...(await startPeer(portkey(), providerPort)), name: 'peer', settle: async () => null };
}
