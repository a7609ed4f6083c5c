/**
 * `npm run demo`: the product in a minute, without a provider key. Starts everything on free ports in a directory of its own,
 * sends calls as an application would, and shows the results of queries.
 */
import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import OpenAI from 'openai';
import { processEnvironment } from '#platform/config/mod.ts';
import { type Api, createApi } from './demo/api.ts';
import type { Call } from './demo/call.ts';
import { demoCalls } from './demo/calls.ts';
import { logHistory } from './demo/history.ts';
import { launchAssay, type RunningAssay } from './demo/launch.ts';
import { heading, quiet, say } from './demo/print.ts';
import { startDemoProvider } from './demo/provider.ts';
import { callPrompt, gradeAnswers } from './demo/quality.ts';
import { showFeedback, showQueries } from './demo/tour.ts';

/** Concurrent calls, as from an application with some users. */
const CONCURRENCY = 4;
const FINDABLE_WITHIN_MS = 10_000;

async function sendAll(client: OpenAI, calls: readonly Call[]): Promise<void> {
  const bar = new SingleBar({
    format: '  {bar} {value} of {total}  {title}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    noTTYOutput: true,
    notTTYSchedule: 1_000,
  });
  bar.start(calls.length, 0, { title: '' });
  const waiting = [...calls];
  const work = async () => {
    for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) {
      await call.run(client);
      bar.increment(1, { title: call.title.padEnd(28) });
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    bar.update({ title: ''.padEnd(28) });
  } finally {
    bar.stop();
  }
}

/** Waits until queries find every call: records are stored a moment after the responses. */
async function waitForRecords(api: Api, expected: number): Promise<number> {
  const startedAt = performance.now();
  while (true) {
    const found = await api.call<number>('POST', '/v1/request/count/query', { filter: 'all' });
    const waitedMs = performance.now() - startedAt;
    if (found >= expected) return waitedMs;
    if (waitedMs > FINDABLE_WITHIN_MS) throw new Error(`Only ${found} of ${expected} calls were found`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Clients of an application: one of the gateway, and one of the management API. */
type Clients = { client: OpenAI; api: Api };

function clientsOf({ gatewayUrl, apiUrl, apiKey }: RunningAssay): Clients {
  const client = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey, maxRetries: 0 });
  return { client, api: createApi(apiUrl, apiKey) };
}

async function tour({ client, api }: Clients): Promise<void> {
  const calls = demoCalls();
  const records = calls.reduce((sum, call) => sum + call.records, 0);

  heading(`Sending ${records} calls with the openai package; only its base URL and key are changed`);
  await sendAll(client, calls);
  const waitedMs = await waitForRecords(api, records);
  say(
    `  All ${records} are logged; the last was found ${Math.max(1, Math.round(waitedMs))} ms after its answer`,
  );
  await showQueries(api);
  await showFeedback(api);
}

function addresses({ gatewayUrl, apiUrl, apiKey, dashboardUrl }: RunningAssay): string {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] });
  return [
    `  dashboard  ${dashboardUrl}`,
    '             (the link logs in once, within ten minutes)',
    `  gateway    ${gatewayUrl}/v1`,
    `  API        ${apiUrl}`,
    `  key        ${apiKey}`,
    '',
    `  curl ${gatewayUrl}/v1/chat/completions \\`,
    `    -H 'Authorization: Bearer ${apiKey}' \\`,
    `    -H 'Content-Type: application/json' -d '${body}'`,
    '',
    '  The programs in examples/ run with',
    `  export KEY=${apiKey} GATEWAY=${gatewayUrl} API=${apiUrl}`,
  ].join('\n');
}

async function showDashboard(assay: RunningAssay, { client, api }: Clients): Promise<void> {
  const count = await logHistory(api, Date.now());
  await callPrompt(api, client);
  await gradeAnswers(api);
  heading(`Logged ${count} requests of the week before; open the dashboard. Ctrl-C stops everything`);
  say(addresses(assay));
}

/** Resolves at Ctrl-C, which the services get too, because they share the terminal. */
function interruption(): Promise<'interrupted'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
  });
}

async function demo(options: { keep: boolean }): Promise<void> {
  heading('Assay: an LLM gateway that logs every request and grades the answers');
  quiet('Starting a scripted provider, PostgreSQL, the gateway, the API …');
  const interrupted = interruption();
  const provider = await startDemoProvider();
  const { PATH = '', HOME = '' } = processEnvironment();
  const assay = await launchAssay(
    { PATH, HOME },
    { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'sk-demo' },
  );
  const clients = clientsOf(assay);
  let ending: 'interrupted' | undefined;
  try {
    ending = await Promise.race([tour(clients).then(() => undefined), interrupted]);
    if (ending === undefined) {
      if (options.keep) {
        await showDashboard(assay, clients);
        ending = await interrupted;
      }
    }
  } finally {
    quiet('\nStopping …');
    await assay.stop();
    await provider.stop();
  }
  if (ending === 'interrupted') process.exit(options.keep ? 0 : 130);
  heading('Go on');
  say(
    '  npm run demo -- --keep          the same, left running: a dashboard to look around in, and your own calls',
  );
  say('  OPENAI_API_KEY=sk-… npm start   the real thing; point any OpenAI client at it');
}

const command = new Command('demo')
  .description('Shows the product at work, without a provider key')
  .option('--keep', 'go on running until Ctrl-C; the default in a terminal', process.stdout.isTTY === true)
  .option('--no-keep', 'end after the tour')
  .parse();
try {
  await demo(command.opts<{ keep: boolean }>());
} catch (error) {
  process.stderr.write(`The demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
