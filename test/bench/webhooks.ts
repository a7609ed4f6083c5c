/**
 * `npm run bench webhooks`: events are delivered to one webhook while the receiver and the two processes that send are
 * killed at random; then without trouble.
 */
import { Command, InvalidArgumentError } from 'commander';
import { runWebhookStorm, type Storm } from '../support/webhook-chaos.ts';
import { describeMachine } from './machine.ts';
import { formatTable, percentile } from './table.ts';

type Options = { events: number; kills: number; absences: number };

function whole(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('must be a whole number of at least 0');
}

const say = (text: string) => process.stdout.write(`${text}\n`);

async function storm(options: Options): Promise<Storm> {
  const stops: (() => Promise<unknown> | unknown)[] = [];
  try {
    return await runWebhookStorm({ teardown: (stop) => stops.push(stop) }, { ...options, log: say });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

export async function run(parameters: string[]): Promise<void> {
  const command = new Command('bench webhooks')
    .description('Delivers events while the receiver and the senders are killed, and counts what is lost')
    .option('--events <count>', 'events', whole, 10_000)
    .option('--kills <count>', 'kills of the two processes that send', whole, 20)
    .option('--absences <count>', 'times that the receiver is away', whole, 40);
  const options = command.parse(parameters, { from: 'user' }).opts<Options>();
  say(describeMachine());
  const found = await storm(options);
  const rows = [
    ['events', found.events],
    ['lost', found.lost.length],
    ['attempts', found.attempts],
    ['made too early', found.early],
    ['signatures refused', found.unverified],
    ['taken more than once', found.repeated],
    ['processes killed', found.kills],
    ['receiver away, times', found.absences],
    ['later than due, p50, ms', Math.round(percentile(found.lateMs, 0.5))],
    ['later than due, p99, ms', Math.round(percentile(found.lateMs, 0.99))],
    ['from the first event to the last delivery, s', (found.tookMs / 1_000).toFixed(1)],
  ];
  say(formatTable([['', ''], ...rows.map((row) => row.map(String))]));
  if (found.lost.length > 0 || found.early > 0) process.exitCode = 1;
}
