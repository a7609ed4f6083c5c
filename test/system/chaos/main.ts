/**
 * `npm run chaos`: kills, freezes and starves everything at random while calls are made, and shows that nothing that was
 * answered is lost or stored twice. Ends with 1 when something was.
 */
import { Command, InvalidArgumentError } from 'commander';
import { natsIsMissing } from '../../support/nats.ts';
import { ProgressLine } from './progress.ts';
import { formatReport } from './report.ts';
import { runChaos } from './run.ts';

type Options = {
  minutes: number;
  seed: number;
  connections: number;
  rate: number;
  drainSeconds: number;
  keep: boolean;
  json: boolean;
};

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('It must be a whole number.');
  return value;
}

async function chaos({
  minutes,
  seed,
  connections,
  rate,
  drainSeconds,
  keep,
  json,
}: Options): Promise<number> {
  const missing = natsIsMissing();
  if (missing !== false) throw new Error(missing);
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  process.stderr.write(`Seed ${seed}: npm run chaos -- --seed ${seed} --minutes ${minutes}\n`);
  const progress = new ProgressLine(minutes);
  const report = await runChaos({
    minutes,
    seed,
    connections,
    perSecond: rate,
    drainWithinMs: drainSeconds * 1_000,
    keep,
    signal: interrupted.signal,
    onProgress: (state) => progress.show(state),
  }).finally(() => progress.end());
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : formatReport(report));
  return report.failures.length === 0 ? 0 : 1;
}

const command = new Command('chaos')
  .description('Hurts everything at random under load; nothing that was answered may be lost or stored twice')
  .option('--minutes <number>', 'length of the load', positive, 3)
  .option('--seed <number>', 'repeats the faults of another run', whole, Date.now() % 1_000_000)
  .option('--connections <number>', 'clients at a time, a quarter of them with slow streams', whole, 16)
  .option('--rate <number>', 'calls begun a second', positive, 400)
  .option('--drain-seconds <number>', 'longest time for the backlog to be stored', positive, 600)
  .option('--keep', 'keep logs, ledgers and data, also when all is well', false)
  .option('--json', 'print the report as JSON', false)
  .parse();
try {
  process.exitCode = await chaos(command.opts<Options>());
} catch (error) {
  const isInterrupted = (error as Error).name === 'AbortError';
  if (!isInterrupted) process.stderr.write(`The run could not be made: ${(error as Error).message}\n`);
  process.exitCode = isInterrupted ? 130 : 2;
}
