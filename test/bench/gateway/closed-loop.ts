/**
 * The load generator of the benchmarks, in its own process: so many connections, each with one call under way, the next
 * as soon as the last is answered, or at a steady rate. Takes jobs as messages and answers each with its measurements.
 */
import { connect } from 'node:net';
import { type Answered, type Seen, sharedClockMs } from './answered.ts';
import { ResponseReader } from './http-response.ts';

export type Job = {
  port: number;
  /** The whole request: head and body. */
  request: Uint8Array;
  connections: number;
  /** Stops after so many seconds … */
  seconds?: number;
  /** … or so many calls. */
  calls?: number;
  /** A whole answer has exactly so many bytes (null: any number) … */
  bodyBytes: number | null;
  /** … and ends so. */
  endsWith: string;
  /** Calls begun a second, as far as a connection is free. Without it each connection goes on as soon as it can. */
  perSecond?: number;
  /** Of so many calls, one is told of as it is answered. */
  sampleEvery?: number;
  /** No call is begun while so many have been since the last whose effect was seen. */
  maxBehind?: number;
};

export type Measurements = {
  calls: number;
  /** Answers that were not what they should be. */
  failures: number;
  /** The first of them, for the report. */
  failure: string | null;
  /** Calls that the gateway said it did not log. */
  unlogged: number;
  seconds: number;
  /** Milliseconds, sorted. */
  totalMs: Float32Array;
  firstByteMs: Float32Array;
};

/** Says when the next call may begin. */
class Pace {
  readonly #job: Job;
  readonly #startedAt = performance.now();
  readonly #waiting: (() => void)[] = [];
  #begun = 0;
  #seen = 0;

  constructor(job: Job) {
    this.#job = job;
  }

  /** Calls `begin` with the next call's number when its time has come, or with null when the job is done. */
  next(begin: (number: number | null) => void): void {
    const { seconds = Number.POSITIVE_INFINITY, calls = Number.POSITIVE_INFINITY, perSecond } = this.#job;
    if (this.#begun - this.#seen >= (this.#job.maxBehind ?? Number.POSITIVE_INFINITY)) {
      this.#waiting.push(() => this.next(begin));
      return;
    }
    const elapsedMs = performance.now() - this.#startedAt;
    const dueMs = perSecond === undefined ? elapsedMs : (this.#begun * 1_000) / perSecond;
    if (Math.max(dueMs, elapsedMs) >= seconds * 1_000 || this.#begun >= calls) {
      begin(null);
      return;
    }
    this.#begun += 1;
    const number = this.#begun;
    if (dueMs > elapsedMs) setTimeout(() => begin(number), dueMs - elapsedMs);
    else begin(number);
  }

  seen(number: number): void {
    this.#seen = Math.max(this.#seen, number);
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

async function run(job: Job, pace: Pace): Promise<Measurements> {
  const total: number[] = [];
  const firstByte: number[] = [];
  const result = { failures: 0, failure: null as string | null, unlogged: 0 };
  const startedAt = performance.now();

  const connection = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port: job.port, host: '127.0.0.1', noDelay: true });
      let sentAt = 0;
      let firstByteAt = 0;
      let number = 0;
      const begin = (next: number | null) => {
        if (next === null) {
          socket.end();
          resolve();
          return;
        }
        number = next;
        sentAt = performance.now();
        socket.write(job.request);
      };
      const reader = new ResponseReader({
        firstByte: () => {
          firstByteAt = performance.now();
        },
        end: ({ status, bodyBytes, head, tail }) => {
          total.push(performance.now() - sentAt);
          firstByte.push(firstByteAt - sentAt);
          if (head.includes('service-logged: false')) result.unlogged += 1;
          if (status !== 200 || (job.bodyBytes ?? bodyBytes) !== bodyBytes || !tail.endsWith(job.endsWith)) {
            result.failures += 1;
            result.failure ??= `status ${status}, ${bodyBytes} bytes, ending in ${JSON.stringify(tail)}`;
          }
          if (job.sampleEvery !== undefined && number % job.sampleEvery === 0) tell(number, head);
          pace.next(begin);
        },
      });
      socket.on('data', (bytes: Buffer) => reader.push(bytes));
      socket.once('connect', () => pace.next(begin));
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('The connection was closed in the middle of a call')));
    });

  await Promise.all(Array.from({ length: job.connections }, connection));
  return {
    ...result,
    calls: total.length,
    seconds: (performance.now() - startedAt) / 1_000,
    totalMs: Float32Array.from(total).sort(),
    firstByteMs: Float32Array.from(firstByte).sort(),
  };
}

function tell(number: number, head: string): void {
  const requestId = /\r\nservice-request-id: *(\S+)/i.exec(head)?.[1];
  if (requestId === undefined) return;
  const answered: Answered = { number, requestId, atMs: sharedClockMs() };
  process.send?.({ answered });
}

let pace: Pace | null = null;
process.on('message', (message: Job | Seen) => {
  if ('seen' in message) {
    pace?.seen(message.seen);
    return;
  }
  pace = new Pace(message);
  run(message, pace).then(
    (measurements) => process.send?.({ measurements }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
