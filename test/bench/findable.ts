/**
 * `npm run bench findable`: from the last byte of an answer to the moment when its record is found through the API.
 * Calls come at a steady rate, plain and streamed in turn; a sample of them is asked for until it is there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { type Assay, startAssay } from '../support/assay.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';
import { describeMachine } from './machine.ts';
import { formatTable, percentile } from './table.ts';

const RATES = [10, 100, 500];
/** Records asked for, at most, per second: asking is work too, and must not be what is measured. */
const SAMPLES_PER_SECOND = 20;
const ASK_EVERY_MS = 5;
const GIVE_UP_MS = 30_000;

/** Makes one call and reads its answer whole; returns the request's id. */
async function call(assay: Assay, stream: boolean): Promise<string> {
  const answer = await fetch(`${assay.gatewayUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${assay.key}`, 'service-property-plan': 'pro' },
    body: JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`The gateway answered ${answer.status}`);
  return answer.headers.get('service-request-id')!;
}

/** Milliseconds until the record is found. */
async function timeUntilFound(assay: Assay, requestId: string): Promise<number> {
  const answeredAt = performance.now();
  for (;;) {
    const found = await fetch(`${assay.apiUrl}/v1/request/${requestId}`, {
      headers: { authorization: `Bearer ${assay.key}` },
    });
    await found.arrayBuffer();
    const waited = performance.now() - answeredAt;
    if (found.status === 200) return waited;
    if (waited > GIVE_UP_MS) throw new Error(`${requestId} was not found within ${GIVE_UP_MS} ms`);
    await sleep(ASK_EVERY_MS);
  }
}

async function measureRate(assay: Assay, perSecond: number, seconds: number): Promise<number[]> {
  const everyMs = 1_000 / perSecond;
  const sampleEvery = Math.max(1, Math.round(perSecond / SAMPLES_PER_SECOND));
  const waits: Promise<number>[] = [];
  const calls: Promise<unknown>[] = [];
  const startedAt = performance.now();
  for (let number = 0; number < perSecond * seconds; number += 1) {
    await sleep(Math.max(0, startedAt + number * everyMs - performance.now()));
    const answered = call(assay, number % 2 === 1);
    if (number % sampleEvery === 0) waits.push(answered.then((id) => timeUntilFound(assay, id)));
    else calls.push(answered);
  }
  await Promise.all(calls);
  return (await Promise.all(waits)).toSorted((a, b) => a - b);
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench findable')
    .description('How soon after its answer a record is found')
    .option('--seconds <number>', 'length of each measurement', Number, 15)
    .parse(args, { from: 'user' });
  const { seconds } = command.opts<{ seconds: number }>();
  const provider = await startScriptedProvider();
  const assay = await startAssay({
    environment: { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'sk-benchmark' },
  });
  try {
    await measureRate(assay, 100, 3);
    const rows = [];
    for (const rate of RATES) {
      process.stderr.write(`${rate} calls a second for ${seconds} s\n`);
      const waits = await measureRate(assay, rate, seconds);
      const figures = [0.5, 0.99, 1].map((fraction) => percentile(waits, fraction).toFixed(0));
      rows.push([String(rate), String(waits.length), ...figures]);
    }
    const table = formatTable([['calls/s', 'asked for', 'p50 ms', 'p99 ms', 'worst ms'], ...rows]);
    process.stdout.write(
      `\n${describeMachine()}\nFrom the last byte of the answer to the record found through the API\n\n${table}\n`,
    );
  } finally {
    await assay.stop();
    await provider.stop();
  }
}
