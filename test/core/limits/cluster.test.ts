/**
 * Four processes on one database, each with its own leases. `--full`: 200,000 attempts and more, quotas up to 50,000;
 * `SEED=…`: other moments.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Counter, Policy } from '#core/limits/mod.ts';
import { testDatabase } from '../../support/postgres.ts';
import { seededRandom } from '../../support/random.ts';
import { type MemberTask, RECORD_BYTES } from './member.ts';

const MEMBERS = 4;
const IS_FULL = process.argv.includes('--full');
/** Of the processes that live, and of those that are killed, which are asked harder. */
const CALM = IS_FULL ? { attempts: 200_000, perSecond: 5_000 } : { attempts: 24_000, perSecond: 2_400 };
const KILLED = IS_FULL ? { forMs: 60_000, perSecond: 20_000 } : { forMs: 10_000, perSecond: 3_000 };
const SEED = Number(process.env.SEED ?? 11);

const database = await testDatabase();
const directory = mkdtempSync(join(tmpdir(), 'assay-limits-'));
t.teardown(async () => {
  await database.close();
  rmSync(directory, { recursive: true });
});

type Limit = MemberTask['limits'][number];

function limitsOf(quotas: readonly number[], windowS: number): Limit[] {
  const organizationId = randomUUID();
  const apiKeyId = randomUUID();
  return quotas.map((quota) => {
    const policy: Policy = {
      text: `${quota};w=${windowS}`,
      unit: 'request',
      quota,
      windowS,
      segment: 'user',
    };
    const counter: Counter = {
      organizationId,
      apiKeyId,
      unit: 'request',
      segment: 'user',
      value: `${quota} ${windowS}`,
    };
    return { counter, policy };
  });
}

type Member = { exited: Promise<number | null>; child: ChildProcess };

/** Starts a member; what it says on stderr is the test's. */
function startMember(name: string, seed: number, task: Omit<MemberTask, 'url' | 'file' | 'seed'>): Member {
  const given: MemberTask = { ...task, url: database.url, file: join(directory, name), seed };
  const program = fileURLToPath(new URL('./member.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', program, JSON.stringify(given)],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, exited };
}

type Admission = { notBefore: number; notAfter: number };

/** When calls were admitted, by limit. */
function admissions(names: readonly string[], limits: readonly Limit[]): Admission[][] {
  const admitted: Admission[][] = limits.map(() => []);
  for (const file of names.map((name) => join(directory, name)).filter(existsSync)) {
    const records = readFileSync(file);
    for (let at = 0; at + RECORD_BYTES <= records.length; at += RECORD_BYTES) {
      const [notBefore, notAfter, place] = [0, 8, 16].map((offset) => records.readDoubleLE(at + offset));
      admitted[place!]!.push({ notBefore: notBefore!, notAfter: notAfter! });
    }
  }
  return admitted;
}

/** The most that is for certain in any interval of the window, both its ends in it. */
function mostInWindow(admitted: readonly Admission[], windowMs: number): number {
  // A process was frozen between the two readings: no such interval holds both.
  const certain = admitted.filter(({ notBefore, notAfter }) => notAfter - notBefore <= windowMs);
  const begins = certain.map(({ notBefore }) => notBefore).sort((a, b) => a - b);
  const ends = certain.map(({ notAfter }) => notAfter).sort((a, b) => a - b);
  let most = 0;
  let left = 0;
  ends.forEach((end, place) => {
    while (begins[left]! < end - windowMs) left += 1;
    most = Math.max(most, place + 1 - left);
  });
  return most;
}

t.test('processes that live admit everything up to the quota, and no more', async (t) => {
  const quotas = [IS_FULL ? 50_000 : 2_500, 1_000, 333, 50, 7, 2, 1];
  const limits = limitsOf(quotas, 3_600);
  const names = Array.from({ length: MEMBERS }, (_, number) => `whole-${number}`);
  const { attempts, perSecond } = CALM;
  const task = { limits, attempts: attempts / MEMBERS, perSecond: perSecond / MEMBERS, tailMs: 2_000 };
  const members = names.map((name, number) => startMember(name, SEED + number, task));
  t.same(
    await Promise.all(members.map(({ exited }) => exited)),
    members.map(() => 0),
  );
  t.same(
    admissions(names, limits).map((admitted) => admitted.length),
    quotas,
  );
});

t.test('processes that are killed and frozen at any moment never admit more in any interval', async (t) => {
  const limits = [
    ...limitsOf(IS_FULL ? [50_000] : [3_000], IS_FULL ? 10 : 5),
    ...limitsOf([600, 40, 3], 2),
    ...limitsOf([300, 60, 5, 1], 1),
    ...limitsOf([900, 10], 5),
  ];
  const { forMs, perSecond } = KILLED;
  const task = { limits, attempts: forMs * perSecond, perSecond: perSecond / MEMBERS, tailMs: 0 };
  const random = seededRandom(SEED);
  const names: string[] = [];
  const start = () => {
    const name = `killed-${names.length}`;
    names.push(name);
    return startMember(name, SEED + names.length, task);
  };
  const members = Array.from({ length: MEMBERS }, start);
  const until = performance.now() + forMs;
  let kills = 0;
  let stops = 0;
  while (performance.now() < until) {
    await sleep(100 + random() * 500);
    const place = Math.floor(random() * MEMBERS);
    const { child, exited } = members[place]!;
    if (random() < 0.4) {
      child.kill('SIGKILL');
      await exited;
      members[place] = start();
      kills += 1;
    } else {
      child.kill('SIGSTOP');
      await sleep(20 + random() * 1_500);
      child.kill('SIGCONT');
      stops += 1;
    }
  }
  for (const { child } of members) child.kill('SIGKILL');
  await Promise.all(members.map(({ exited }) => exited));

  const admitted = admissions(names, limits);
  limits.forEach(({ policy }, place) => {
    const most = mostInWindow(admitted[place]!, policy.windowS * 1_000);
    t.ok(
      most <= policy.quota,
      `${policy.quota} in ${policy.windowS} s: ${most} at most, ${admitted[place]!.length} in all`,
    );
    t.ok(admitted[place]!.length > 0, 'some were admitted');
  });
  t.comment(`seed ${SEED}: ${kills} kills, ${stops} stops`);
});
