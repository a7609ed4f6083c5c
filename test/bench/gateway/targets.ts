/** What is measured: the provider itself, this gateway, and a peer; each reachable in the same way. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';
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
  return name === 'peer' ? startPeer(provider.port) : startDirect(provider.bytes);
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

/** Portkey's gateway, as its package starts it; it keeps no log. */
async function startPeer(providerPort: number): Promise<Target> {
  const script = fileURLToPath(import.meta.resolve('@portkey-ai/gateway/build/start-server.js'));
  const port = await freePort();
  const child = spawnNode([script, '--headless', `--port=${port}`], {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  pin(child.pid!, 'gateway');
  await answers(`http://127.0.0.1:${port}/`);
  return {
    name: 'peer',
    port,
    path: '/v1/chat/completions',
    headers: {
      authorization: `Bearer ${PROVIDER_KEY}`,
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${providerPort}/v1`,
    },
    pid: child.pid!,
    settle: async () => null,
    stop: () => endProcess(child),
  };
}

const START_ATTEMPTS = 300;

async function answers(url: string): Promise<void> {
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt += 1) {
    const response = await fetch(url).catch(() => null);
    if (response !== null) return;
    await sleep(100);
  }
  throw new Error(`Nothing answers at ${url}`);
}
