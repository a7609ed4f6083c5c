/** One measurement: so many connections against one target, and the CPU time that its process used for it. */
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { percentile } from '../table.ts';
import type { Answered, Seen } from './answered.ts';
import type { Job, Measurements } from './closed-loop.ts';
import { chatRequestOf, fixedAnswers } from './payloads.ts';
import { cpuMicroseconds, endProcess, spawnNode } from './process.ts';
import type { Target } from './target.ts';

export type Scenario = { name: string; bytes: number; stream: boolean; connections: number };

/** What one round found. Times in milliseconds. */
export type Figures = {
  calls: number;
  failures: number;
  failure: string | null;
  unlogged: number;
  callsPerSecond: number;
  totalP50: number;
  totalP99: number;
  firstByteP50: number;
  firstByteP99: number;
  /** NaN when there is no process between, or its use cannot be read. */
  cpuMicrosecondsPerCall: number;
};

/** How long the load lasts. */
export type Extent = Pick<Job, 'seconds' | 'calls'>;

export type LoadGenerator = {
  /** Does a job; `onAnswered` is told of the calls of its sample. */
  run(job: Job, onAnswered?: (answered: Answered) => void): Promise<Measurements>;
  /** Tells of the last call whose effect was seen, for jobs with `maxBehind`. */
  seen(number: number): void;
  /** The process that makes the load. */
  pid: number;
  stop(): Promise<void>;
};

/** Starts the process that makes the load. */
export function startLoadGenerator(): LoadGenerator {
  const script = fileURLToPath(new URL('closed-loop.ts', import.meta.url));
  const child: ChildProcess = spawnNode([script], { ipc: true });
  type Reply = { measurements?: Measurements; error?: string; answered?: Answered };
  return {
    run: (job, onAnswered) =>
      new Promise((resolve, reject) => {
        const receive = (reply: Reply) => {
          if (reply.answered !== undefined) {
            onAnswered?.(reply.answered);
            return;
          }
          child.off('message', receive);
          if (reply.measurements !== undefined) resolve(reply.measurements);
          else reject(new Error(`The load generator failed: ${reply.error}`));
        };
        child.on('message', receive);
        child.send(job);
      }),
    seen: (number) => {
      const message: Seen = { seen: number };
      child.send(message);
    },
    pid: child.pid!,
    stop: () => endProcess(child),
  };
}

/** The job that puts a scenario on a target. */
export function jobFor(
  target: Pick<Target, 'port' | 'path' | 'headers'>,
  scenario: Scenario,
  extent: Extent,
): Job {
  const body = chatRequestOf(scenario.bytes, scenario.stream);
  const headers = {
    host: `127.0.0.1:${target.port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...target.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    port: target.port,
    request: Buffer.from(`POST ${target.path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`),
    connections: scenario.connections,
    bodyBytes: scenario.stream ? null : fixedAnswers(scenario.bytes).plain.length,
    endsWith: scenario.stream ? 'data: [DONE]\n\n' : '}',
    ...extent,
  };
}

/** Runs one round. */
export async function measure(
  load: LoadGenerator,
  target: Target,
  scenario: Scenario,
  extent: Extent,
): Promise<Figures> {
  const before = target.pid === null ? Number.NaN : cpuMicroseconds(target.pid);
  const found = await load.run(jobFor(target, scenario, extent));
  const used = (target.pid === null ? Number.NaN : cpuMicroseconds(target.pid)) - before;
  return {
    calls: found.calls,
    failures: found.failures,
    failure: found.failure,
    unlogged: found.unlogged,
    callsPerSecond: found.calls / found.seconds,
    totalP50: percentile(found.totalMs, 0.5),
    totalP99: percentile(found.totalMs, 0.99),
    firstByteP50: percentile(found.firstByteMs, 0.5),
    firstByteP99: percentile(found.firstByteMs, 0.99),
    cpuMicrosecondsPerCall: used / found.calls,
  };
}
