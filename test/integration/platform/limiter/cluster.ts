/** A cluster of processes on one database, each with its own leases and holds, that are killed and frozen. */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Counter, Policy } from '#platform/limiter/mod.ts';
import { seededRandom } from '../../../support/random.ts';
import { databaseFor, temporaryDirectory } from '../../../support/world.ts';
import { DEGRADED, type MemberTask, RECORD_BYTES } from './member.ts';
import { startProgram } from './with-parent.ts';

const MEMBERS = 4;
/** `--full`: 200,000 attempts and more, quotas up to 50,000. `SEED=…`: kills at other moments. */
export const IS_FULL = process.argv.includes('--full');
/** Load on the processes that are never killed, and, harder, on those that are. */
const CALM = IS_FULL ? { attempts: 200_000, perSecond: 5_000 } : { attempts: 24_000, perSecond: 2_400 };
const KILLED = IS_FULL ? { forMs: 60_000, perSecond: 20_000 } : { forMs: 10_000, perSecond: 3_000 };
/** Rounds to try: one counts only if no process was degraded, as happens on a busy machine. */
const ROUNDS = 3;
const SEED = Number(process.env.SEED ?? 11);

export type Limit = MemberTask['limits'][number];
/** An admitted call: bounds of the time of its admission, in milliseconds, and the least that it uses. */
export type Admission = { notBefore: number; notAfter: number; amount: number };

export type Cluster = {
  /** Runs processes until they have made their attempts. Returns what was admitted, by limit. */
  calm(t: Test, limits: readonly Limit[]): Promise<Admission[][]>;
  /** Runs processes that are killed and frozen at random moments. Returns what was admitted, by limit. */
  killed(t: Test, limits: readonly Limit[]): Promise<Admission[][]>;
};

/** Returns a counter for each quota, of an organization of their own. */
export function limitsOf(
  quotas: readonly number[],
  windowS: number,
  unit: Policy['unit'] = 'request',
): Limit[] {
  const organizationId = randomUUID();
  const apiKeyId = randomUUID();
  return quotas.map((quota) => {
    const policy: Policy = {
      text: `${quota};w=${windowS};u=${unit}`,
      unit,
      quota,
      windowS,
      segment: 'user',
    };
    const counter: Counter = {
      organizationId,
      apiKeyId,
      unit,
      segment: 'user',
      value: `${quota} ${windowS}`,
    };
    return { counter, policy };
  });
}

type Member = { exited: Promise<number | null>; child: ChildProcess };

/** Creates a database and a directory, which are removed after the test. */
export async function startCluster(t: Test): Promise<Cluster> {
  const database = await databaseFor(t);
  const directory = temporaryDirectory(t);

  function startMember(name: string, seed: number, task: Omit<MemberTask, 'url' | 'file' | 'seed'>): Member {
    const given: MemberTask = { ...task, url: database.url, file: join(directory, name), seed };
    const child = startProgram('./member.ts', [JSON.stringify(given)]);
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    return { child, exited };
  }

  /** Reads the admitted calls, by limit; null if a process was degraded. */
  function admissions(names: readonly string[], limits: readonly Limit[]): Admission[][] | null {
    const admitted: Admission[][] = limits.map(() => []);
    for (const file of names.map((name) => join(directory, name)).filter(existsSync)) {
      const records = readFileSync(file);
      for (let at = 0; at + RECORD_BYTES <= records.length; at += RECORD_BYTES) {
        const [notBefore, notAfter, place, amount] = [0, 8, 16, 24].map((offset) =>
          records.readDoubleLE(at + offset),
        );
        if (place === DEGRADED) return null;
        admitted[place!]!.push({ notBefore: notBefore!, notAfter: notAfter!, amount: amount! });
      }
    }
    return admitted;
  }

  /** Kills and freezes processes at random moments. Returns the names of all processes started. */
  async function kill(t: Test, limits: readonly Limit[], random: () => number, prefix: string) {
    const { forMs, perSecond } = KILLED;
    const task = {
      limits: [...limits],
      attempts: forMs * perSecond,
      perSecond: perSecond / MEMBERS,
      tailMs: 0,
    };
    const names: string[] = [];
    const start = () => {
      const name = `${prefix}-${names.length}`;
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
    t.comment(`seed ${SEED}: ${kills} kills, ${stops} stops`);
    return names;
  }

  return {
    async calm(t, limits) {
      const names = Array.from({ length: MEMBERS }, (_, number) => `calm-${number}`);
      const { attempts, perSecond } = CALM;
      const task = {
        limits: [...limits],
        attempts: attempts / MEMBERS,
        perSecond: perSecond / MEMBERS,
        tailMs: 2_000,
      };
      const members = names.map((name, number) => startMember(name, SEED + number, task));
      const codes = await Promise.all(members.map(({ exited }) => exited));
      t.ok(
        codes.every((code) => code === 0),
        'every process exits with code 0',
      );
      const admitted = admissions(names, limits);
      if (admitted === null) throw new Error('A process was degraded');
      return admitted;
    },
    async killed(t, limits) {
      const random = seededRandom(SEED);
      for (let round = 0; round < ROUNDS; round += 1) {
        const admitted = admissions(await kill(t, limits, random, `killed-${round}`), limits);
        if (admitted !== null) return admitted;
        t.comment('the machine was too busy: a process was degraded');
      }
      throw new Error(`In each of ${ROUNDS} rounds a process was degraded`);
    },
  };
}

/** Returns the most that was certainly admitted in any interval of the window; both ends belong to the interval. */
export function mostInWindow(admitted: readonly Admission[], windowMs: number): number {
  // Leaves out calls of processes that were frozen between the two readings: no interval contains both bounds.
  const certain = admitted.filter(({ notBefore, notAfter }) => notAfter - notBefore <= windowMs);
  const begins = [...certain].sort((a, b) => a.notBefore - b.notBefore);
  const ends = [...certain].sort((a, b) => a.notAfter - b.notAfter);
  let most = 0;
  let sum = 0;
  let left = 0;
  for (const { notAfter, amount } of ends) {
    sum += amount;
    for (; begins[left]!.notBefore < notAfter - windowMs; left += 1) sum -= begins[left]!.amount;
    most = Math.max(most, sum);
  }
  return most;
}
