/**
 * `npm run bench scan`: what reading a body costs the gateway: scanned, as it reads bodies above 8 KiB, and parsed with its
 * text made of the bytes. Both in turn, in one process.
 */
import { Command } from 'commander';
import { MAX_BODY_DEPTH, scanMembers } from '#core/json/mod.ts';
import { describeMachine } from './machine.ts';
import { wholeNumber } from './options.ts';
import { prose } from './prose.ts';
import { formatTable, print } from './table.ts';

const NAMES = ['model', 'stream', 'user', 'metadata', 'max_tokens', 'prompt_id'];
/** Calls that are timed together. */
const CALLS = 50;

/** Returns the text with a line break after each `every` characters. */
const broken = (text: string, every: number) => text.replaceAll(new RegExp(`.{${every}}`, 'g'), '$&\n');

const user = (content: string) => ({ role: 'user', content });

function casesOf(bytes: number): [name: string, messages: object[]][] {
  const text = prose(bytes);
  return [
    ['prose', [user(text)]],
    ['a line break each 20 characters', [user(broken(text, 20))]],
    ['nothing is escaped', [user(text.replaceAll(/["\n]/g, ' '))]],
    ['messages of 200 characters', text.match(/.{1,200}/gs)!.map(user)],
  ];
}

/** Returns the shortest time of a call among rounds, in microseconds. */
function leastUs(rounds: number, call: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    for (let index = 0; index < CALLS; index += 1) call();
    least = Math.min(least, (performance.now() - start) / CALLS);
  }
  return least * 1_000;
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench scan')
    .description('What it costs to read the members of a body that the gateway needs')
    .option('--bytes <number>', 'size of the text', wholeNumber, 51_200)
    .option('--rounds <number>', 'rounds of 50 calls', wholeNumber, 100)
    .parse(args, { from: 'user' });
  const { bytes, rounds } = command.opts<{ bytes: number; rounds: number }>();
  const rows = [['body', 'bytes', 'scanned, µs', 'parsed, µs']];
  for (const [name, messages] of casesOf(bytes)) {
    const body = Buffer.from(JSON.stringify({ model: 'gpt-4o-mini', messages, stream: false }));
    const scan = () => scanMembers(body, { names: NAMES, maxDepth: MAX_BODY_DEPTH });
    const parse = () => JSON.parse(body.toString('utf8'));
    // Once each, so that neither is measured before it is compiled.
    leastUs(rounds, scan);
    leastUs(rounds, parse);
    const [scanned, parsed] = [leastUs(rounds, scan), leastUs(rounds, parse)];
    rows.push([name, String(body.length), scanned.toFixed(1), parsed.toFixed(1)]);
  }
  print(`${describeMachine()}, the fastest of ${rounds} rounds\n`);
  print(formatTable(rows));
}
