/**
 * `npm run bench ingest`: from the gateway's answer to the row in Postgres, with everything on two cores: rows a second,
 * how soon, and what CPU each process takes for a record; beside bare inserts of the same rows into the same Postgres.
 */
import { Command, InvalidArgumentError } from 'commander';
import { type LoadGenerator, startLoadGenerator } from './gateway/measure.ts';
import { busyTimes, pin, shareOfOthers } from './gateway/process.ts';
import { startAssembly } from './ingest/assembly.ts';
import { measureBare } from './ingest/bare.ts';
import { measureDisk } from './ingest/disk.ts';
import { type Load, measureEndToEnd, type Rate } from './ingest/end-to-end.ts';
import { nameOf, type Round, report } from './ingest/report.ts';
import { describeMachine } from './machine.ts';

const RATES: Rate[] = [100, 1_000, 'follow', 'backlog'];
/** A record is a request and an answer: "2 KB" and "100 KB". */
const SIZES = [1_024, 50 * 1_024];
const WARM_UP_SECONDS = 3;
/** Of bare inserts: as many as take some seconds. */
const BARE_BYTES = 40 * 1024 * 1024;

type Options = {
  seconds: number;
  bytes: number[];
  rates: Rate[];
  nats: boolean;
  disk: boolean;
  json: boolean;
};

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a positive number.');
  return value;
}

const rateOf = (text: string): Rate => (text === 'follow' || text === 'backlog' ? text : positive(text));

const listOf =
  <T>(parse: (text: string) => T) =>
  (text: string): T[] =>
    text.split(',').map((item) => parse(item.trim()));

async function measure(
  generator: LoadGenerator,
  bytes: number,
  options: Options,
  nats: boolean,
): Promise<Round> {
  const assembly = await startAssembly(bytes, { nats });
  try {
    const loads: Round['loads'] = [];
    const runLoad = (load: Omit<Load, 'bytes'>) => measureEndToEnd(assembly, generator, { ...load, bytes });
    await runLoad({ rate: 'follow', seconds: WARM_UP_SECONDS });
    for (const rate of options.rates) {
      process.stderr.write(`2 × ${bytes} bytes, ${nats ? 'NATS' : 'outbox'}: ${nameOf(rate)}\n`);
      loads.push({ rate, found: await runLoad({ rate, seconds: options.seconds }) });
    }
    if (options.disk) process.stderr.write(`2 × ${bytes} bytes: bodies on disk\n`);
    const disk = options.disk ? await measureDisk(assembly.sql) : null;
    process.stderr.write(`2 × ${bytes} bytes: bare inserts\n`);
    const bare = await measureBare(assembly, Math.round(BARE_BYTES / (2 * bytes)));
    return { bytes, transport: nats ? 'NATS' : 'outbox', loads, disk, bare };
  } finally {
    await assembly.stop();
  }
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench ingest')
    .description('From the answer to the row: records a second, latency, CPU a record')
    .option('--seconds <number>', 'length of one measurement', positive, 10)
    .option('--bytes <list>', 'sizes of request and answer', listOf(positive), SIZES)
    .option(
      '--rates <list>',
      'calls a second; "follow": as many as become rows; "backlog": rows of calls made while ingest stood still',
      listOf(rateOf),
      RATES,
    )
    .option('--nats', 'through a real nats-server too', false)
    .option('--disk', 'the room of the bodies on disk too, when they are compressed', false)
    .option('--json', 'print every figure as JSON', false)
    .parse(args, { from: 'user' });
  const options = command.opts<Options>();
  // What this process starts stays on its cores.
  pin(process.pid, 'two');
  const generator = startLoadGenerator();
  const rounds: Round[] = [];
  const before = busyTimes();
  try {
    for (const bytes of options.bytes) {
      for (const nats of options.nats ? [false, true] : [false])
        rounds.push(await measure(generator, bytes, options, nats));
    }
  } finally {
    await generator.stop();
  }
  const othersBusy = shareOfOthers(before, busyTimes());
  const machine = describeMachine();
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ machine, othersBusy, rounds }, null, 2)}\n`
      : report(machine, othersBusy, rounds),
  );
}
