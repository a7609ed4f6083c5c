/** What is measured: the provider alone, this gateway, the same of another version, and peers; each reachable in the same way. */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startOurs } from '../gateway/ours.ts';
import {
  cpuMicroseconds,
  giveWay,
  pin,
  processesOf,
  takePart,
  treeCpuMicroseconds,
} from '../gateway/process.ts';
import type { Settled } from '../gateway/target.ts';
import type { Endpoint } from './load.ts';
import type { Peer } from './peer.ts';
import { startNativeProvider } from './provider.ts';
import { waitUntilQuiet } from './quiet.ts';
import { startPeer, versionOf } from './start-peer.ts';

export type Target = Endpoint & {
  name: string;
  version: string;
  /** What it stores of each call. */
  logs: string;
  /** The processes that calls pass through; none for the provider alone. */
  gatewayPids(): number[];
  /** CPU time of these, user and system: microseconds. */
  gatewayCpu(): number;
  /** The process that has started all others; null for the provider alone. */
  rootPid: number | null;
  /** Waits until all work that calls have caused is done, and so many are found in its log. Null: that cannot be asked. */
  settle(calls: number): Promise<Settled | null>;
  stop(): Promise<void>;
};

/** Starts a target before the provider on this port. */
export type StartTarget = (providerPort: number) => Promise<Target>;

const CHAT_PATH = '/v1/chat/completions';
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * The provider alone. A second one, on the gateways' core: so that a gateway is one more hop between processes, and not
 * also the first between cores, which would count as its own.
 */
export function direct(program: string): StartTarget {
  return async () => {
    const { port, pid, stop } = await startNativeProvider(program);
    pin(pid, 'gateway');
    return {
      name: 'direct',
      version: '',
      logs: 'nothing: the provider alone',
      port,
      path: CHAT_PATH,
      headers: { authorization: 'Bearer sk-benchmark' },
      gatewayPids: () => [],
      gatewayCpu: () => Number.NaN,
      rootPid: null,
      settle: async () => null,
      stop: async () => {
        await stop();
      },
    };
  };
}

/** The commit of a checkout, with a mark when its files differ from it; "?" where git does not know. */
function commitOf(checkout: string): string {
  try {
    return execFileSync('git', ['-C', checkout, 'describe', '--always', '--dirty', '--exclude=*'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '?';
  }
}

/**
 * An idle heap is collected five seconds after the start (platform/process/memory.ts), and by V8 some eight seconds after work, once.
 * Compiled code goes with it: of one build twice, the one that was collected between warm-up and measurement took 109 µs a call,
 * and the other 70, until it was compiled again. So both are over before the warm-up.
 */
const COLLECTED_AFTER_MS = 15_000;

/** All of `npm start`, logging on: of this checkout, or of another one. */
export function ours(name: string, checkout = ROOT): StartTarget {
  return async (providerPort) => {
    const assay = await startOurs(providerPort, checkout);
    await sleep(COLLECTED_AFTER_MS);
    const settle = async (calls: number) => {
      // Nothing is measured now. Where others use the machine too, what gives way would take minutes.
      await takePart(assay.rootPid, assay.pid);
      const settled = await assay.settle(calls);
      await waitUntilQuiet(assay.rootPid);
      await giveWay(assay.rootPid, assay.pid);
      return settled;
    };
    return {
      ...assay,
      name,
      version: commitOf(checkout),
      logs: 'both bodies, durable before the answer ends',
      settle,
      gatewayPids: () => [assay.pid],
      gatewayCpu: () => cpuMicroseconds(assay.pid),
    };
  };
}

/** A gateway or proxy from its description. All of its processes count as the gateway. */
export function peerTarget(peer: Peer): StartTarget {
  return async (providerPort) => {
    const { pid, ...running } = await startPeer(peer, providerPort);
    return {
      ...running,
      name: peer.name,
      version: versionOf(peer),
      logs: peer.logs,
      gatewayPids: () => processesOf(pid),
      gatewayCpu: () => treeCpuMicroseconds(pid),
      rootPid: pid,
      settle: async () => {
        await waitUntilQuiet(pid);
        return null;
      },
    };
  };
}
