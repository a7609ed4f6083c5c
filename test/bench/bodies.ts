/**
 * `npm run bench bodies`: how long large and hostile bodies hold up the event loop of the gateway and of the API, and with it
 * every other caller. Each is sent several times, and the shortest of its longest stalls is shown.
 */
import { Command, InvalidArgumentError } from 'commander';
import { FAMILY_NAMES } from '../support/bodies/families.ts';
import type { Sent } from '../support/bodies/sender.ts';
import { type Served, startServed } from '../support/bodies/served.ts';
import { longestTurnMs } from '../support/turn-cpu.ts';
import { describeMachine } from './machine.ts';
import { formatTable } from './table.ts';

const MIB = 1024 * 1024;

/** What is called with a value of a family within `head` and `tail`. */
type Target = {
  name: string;
  url(served: Served): string;
  headers?: Record<string, string>;
  head: string;
  tail: string;
  isTorn?: boolean;
};

const CHAT = (served: Served) => `${served.gatewayUrl}/v1/chat/completions`;
const LOG = (served: Served) => `${served.apiUrl}/v1/log/request`;
const SENT = '"created_at":"2026-11-01T12:00:00Z"';
const MESSAGES = '"messages":[{"role":"user","content":"Hello"}]';

const TARGETS: readonly Target[] = [
  { name: 'relayed', url: CHAT, head: `{"model":"gpt-4o-mini",${MESSAGES},"x":`, tail: '}' },
  {
    name: 'edited',
    url: CHAT,
    head: `{"model":"openai/gpt-4o-mini","stream":true,${MESSAGES},"x":`,
    tail: '}',
  },
  { name: 'refused', url: CHAT, head: `{"model":"gpt-4o-mini",${MESSAGES},"x":`, tail: '}', isTorn: true },
  {
    name: 'cached',
    url: CHAT,
    headers: { 'service-cache-enabled': 'true' },
    head: `{"model":"gpt-4o-mini",${MESSAGES},"x":`,
    tail: '}',
  },
  {
    name: 'translated',
    url: CHAT,
    head: '{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":',
    tail: '}]}',
  },
  {
    name: 'log: request',
    url: LOG,
    head: '{"provider":"openai","model":"m","request":{"body":{"x":',
    tail: `},${SENT}},"response":{"body":{},"status":200,${SENT}}}`,
  },
  {
    name: 'log: answer',
    url: LOG,
    head: `{"provider":"openai","model":"m","request":{"body":{},${SENT}},"response":{"status":200,${SENT},"body":`,
    tail: '}}',
  },
];

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('It must be a positive number.');
  return value;
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench bodies')
    .description('How long large and hostile bodies hold up the event loop')
    .option('--mib <number>', 'size of a body', positive, 32)
    .option('--rounds <number>', 'how often each is sent', positive, 3)
    .option('--only <target...>', `of the targets: ${TARGETS.map(({ name }) => name).join(', ')}`)
    .option('--family <family...>', `of the families: ${FAMILY_NAMES.join(', ')}`)
    .option('--plain', 'not as gzip')
    .parse(args, { from: 'user' });
  const { mib, rounds, only, family, plain } = command.opts<{
    mib: number;
    rounds: number;
    only?: string[];
    family?: string[];
    plain?: boolean;
  }>();
  const targets = TARGETS.filter(({ name }) => only?.includes(name) ?? true);
  const served = await startServed();
  const rows: string[][] = [['', ...targets.flatMap(({ name }) => [name, 'status', 'ms'])]];
  try {
    for (const name of family ?? FAMILY_NAMES) {
      const row = [name];
      for (const target of targets) {
        process.stderr.write(`${name}: ${target.name}\n`);
        row.push(...(await measure(served, target, name, mib * MIB, rounds, plain !== true)));
      }
      rows.push(row);
    }
  } finally {
    await served.stop();
  }
  process.stdout.write(
    `\n${describeMachine()}\nCPU ms of the longest turn of the event loop, status and total ms; ${mib} MiB, least of ${rounds}\n\n${formatTable(rows)}\n`,
  );
}

async function measure(
  served: Served,
  { url, headers, head, tail, isTorn = false }: Target,
  family: string,
  bytes: number,
  rounds: number,
  isPacked: boolean,
): Promise<string[]> {
  // The API takes bodies as they are.
  const packed = isPacked && url !== LOG;
  let sent: Sent | null = null;
  let least = Number.POSITIVE_INFINITY;
  const stall = await longestTurnMs(rounds, 0, async () => {
    const sending = { url: url(served), headers: { ...served.headers, ...headers }, family, bytes };
    sent = await served.sender.send({ ...sending, head, tail, isPacked: packed, isTorn });
    least = Math.min(least, sent.ms);
  });
  if (process.env.SHOW !== undefined) process.stderr.write(`${JSON.stringify(sent).slice(0, 300)}\n`);
  return [stall.toFixed(0), String(sent!.status), least.toFixed(0)];
}
