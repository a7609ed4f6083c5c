/**
 * `npm run bench dashboard`: what a person in front of the dashboard waits for, in Chromium, over the requests that `npm run bench
 * seed` has made, and the list in live mode while requests come in. The first load's size is a test of its own.
 */
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { launchChromium } from '../support/browser/chromium.ts';
import { callerOf } from './calls.ts';
import { dataDirectory, serveApi } from './cluster.ts';
import { measureLargeRecord } from './dashboard/large-record.ts';
import { type Figure, measureLive, measureStill } from './dashboard/measures.ts';
import { signIn } from './dashboard/page.ts';
import { startIncoming } from './incoming.ts';
import { describeMachine } from './machine.ts';
import { type SeededOptions, seededCommand } from './options.ts';
import { openSeeded } from './seed/cluster.ts';
import { makeRollups } from './seed/rollups.ts';
import { formatTable, percentile, print } from './table.ts';

type Options = SeededOptions & { minutes: number };

function rowOf({ name, value, unit, bar, samples }: Figure): string[] {
  const figure = (number: number) => `${number.toFixed(unit === 'ms' ? 0 : 1)} ${unit}`.trim();
  const sorted = samples?.toSorted((a, b) => a - b);
  const spread = sorted === undefined ? '' : `${figure(sorted[0]!)} to ${figure(percentile(sorted, 1))}`;
  return [name, figure(value), spread, figure(bar), value > bar ? 'missed' : ''];
}

async function makeRollupsOf(url: string): Promise<void> {
  const owner = connectPostgres({ url, max: 1, applicationName: 'bench', statementTimeoutMs: 0 });
  try {
    await makeRollups(owner);
  } finally {
    await owner.end();
  }
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const options = seededCommand('dashboard', 'How long a person waits for the dashboard', { rounds: 5 })
    .option('--minutes <number>', 'of live mode; 0: none', Number, 1)
    .parse(args, { from: 'user' })
    .opts<Options>();
  const log = createLogger({ role: 'bench', level: 'warn' });
  using directory = dataDirectory('dashboard', options.dataDir);
  await using cluster = await openSeeded(directory.path, options.requests, log);
  const { url, seeded } = cluster;
  await makeRollupsOf(url);
  await using api = await serveApi(cluster);
  await using browser = await launchChromium();
  const call = callerOf(api.url, seeded.key);
  const { rounds } = options;
  const signedIn = await signIn(browser, api.url, seeded.key);
  const figures = await measureStill({ browser, url: api.url, signedIn, seeded, call, rounds });
  figures.push(await measureLargeRecord({ browser, url: api.url, databaseUrl: url, rounds }));
  if (options.minutes > 0) {
    const { organizationId } = seeded;
    const perSecond = options.incoming > 0 ? options.incoming : 1_000;
    await using incoming = await startIncoming({ url, organizationId, perSecond });
    figures.push(...(await measureLive({ browser, url: api.url, signedIn }, options.minutes)));
    print(`Meanwhile ingest stored ${await incoming.stop()} requests a second`);
  }
  print(`${describeMachine()}\n${seeded.requests} requests over ${seeded.days} days\n`);
  print(formatTable([['median', '', 'least to most', 'bar', ''], ...figures.map(rowOf)]));
}
