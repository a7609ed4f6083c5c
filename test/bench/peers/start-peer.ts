/** Starts a peer in a process and a directory of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inheritedEnvironment } from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';
import { tether } from '../../support/tether.ts';
import { endProcess, pin, processesOf } from '../gateway/process.ts';
import { fillIn, type Peer, type Places } from './peer.ts';

export type RunningPeer = {
  port: number;
  path: string;
  headers: Record<string, string>;
  pid: number;
  stop(): Promise<void>;
};

const CHAT_PATH = '/v1/chat/completions';
/** LiteLLM takes half a minute on a slow machine. */
const READY_WITHIN_MS = 120_000;
const POLL_MS = 100;
/** Of what a peer printed, this much is shown when it does not start. */
const SHOWN_CHARACTERS = 4_000;
const OUTPUT = 'output.log';

function fillInAll(values: Readonly<Record<string, string>>, places: Places): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fillIn(value, places)]));
}

function writeFiles({ files = {} }: Peer, places: Places): void {
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : content.join('\n');
    writeFileSync(join(places.dir, name), `${fillIn(text, places).trimEnd()}\n`);
  }
}

async function isReady(url: string): Promise<boolean> {
  return await fetch(url, { signal: AbortSignal.timeout(READY_WITHIN_MS) }).then(
    (response) => response.status < 500,
    () => false,
  );
}

/**
 * Starts a peer before a provider, on the measured core, and waits until it is ready.
 * @throws Error with what the peer printed when it ends or is not ready in time
 */
export async function startPeer(peer: Peer, providerPort: number): Promise<RunningPeer> {
  const dir = mkdtempSync(join(tmpdir(), `assay-bench-${peer.name}-`));
  const places = { port: await freePort(), providerPort, dir };
  writeFiles(peer, places);
  // A file, not a pipe: this process must not work for each line while others are measured.
  const output = openSync(join(dir, OUTPUT), 'w');
  const args = (peer.args ?? []).map((arg) => fillIn(arg, places));
  const child = spawn(fillIn(peer.command, places), args, {
    cwd: dir,
    env: { ...inheritedEnvironment(), ...fillInAll(peer.environment ?? {}, places) },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  let failure: string | null = null;
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      failure = error.message;
      resolve();
    });
    child.once('exit', (code, signal) => {
      failure = `it ended with ${signal ?? `status ${code}`}`;
      resolve();
    });
  });
  tether({ pid: child.pid, ended, signal: 'TERM', directory: dir });
  const stop = async () => {
    if (child.pid !== undefined) await endProcess(child);
    rmSync(dir, { recursive: true, force: true });
  };
  const deadline = performance.now() + READY_WITHIN_MS;
  const readyUrl = `http://127.0.0.1:${places.port}${peer.readyPath ?? '/'}`;
  while (failure !== null || !(await isReady(readyUrl))) {
    if (failure === null && performance.now() > deadline) failure = `nothing answers at ${readyUrl}`;
    if (failure !== null) {
      const printed = readFileSync(join(dir, OUTPUT), 'utf8').slice(-SHOWN_CHARACTERS);
      await stop();
      throw new Error(`Cannot start ${peer.name}: ${failure}\n${printed}`);
    }
    await sleep(POLL_MS);
  }
  for (const pid of processesOf(child.pid!)) pin(pid, 'gateway');
  return {
    port: places.port,
    path: peer.path ?? CHAT_PATH,
    headers: fillInAll(peer.headers ?? {}, places),
    pid: child.pid!,
    stop,
  };
}

/** Returns the version that a peer's command prints, or that its description says; "?" without either. */
export function versionOf(peer: Peer): string {
  if (peer.version !== undefined) return peer.version;
  if (peer.versionArgs === undefined) return '?';
  const { stdout, stderr } = spawnSync(peer.command, peer.versionArgs, { encoding: 'utf8' });
  return /\d+(?:\.\d+)+[\w.+-]*/.exec(`${stdout}${stderr}`)?.[0] ?? '?';
}
