/** Compares how the programs ended with how they must end. */
import { existsSync } from 'node:fs';
import type { Test } from 'tap';
import type { SandboxTier } from '../../../../../evaluators/python/zygote.ts';
import { ANYHOW, REFUSAL, REFUSED } from './programs/program.ts';
import { PROGRAMS } from './programs.ts';
import { type Endings, SLOW_LIMITS } from './run-programs.ts';
import { brief, messageOf } from './sandbox.ts';

const TRACES = ['/tmp/assay-escaped', '/dev/shm/assay-escaped'];
/** Time that a program may take beyond its limit. */
const SLACK_MS = 10_000;

export function checkEndings(
  t: Test,
  { tier, why, deaths, endings, afterwards }: Endings,
  wanted: SandboxTier,
): void {
  t.equal(tier, wanted, why ?? '');
  t.equal(endings.length, PROGRAMS.length);
  for (const [index, { name, outcome, durationMs }] of endings.entries()) {
    const { ends, isSlow } = PROGRAMS[index]!;
    const isExpected =
      ends === ANYHOW ||
      (typeof ends === 'number' ? brief(outcome) === ends : ends.includes(String(brief(outcome))));
    const isAsSaid = ends !== REFUSED || REFUSAL.test(messageOf(outcome));
    t.ok(isExpected && isAsSaid, `${name}: ${brief(outcome)} ${messageOf(outcome).slice(0, 80)}`, { ends });
    if (isSlow)
      t.ok(durationMs < SLOW_LIMITS.wallMs + SLACK_MS, `${name} is stopped in time: ${durationMs} ms`);
  }
  t.equal(brief(afterwards), 0.5, 'the sandbox works as before');
  t.equal(deaths, 0, 'the zygote has lived through all of it');
  for (const path of TRACES) t.notOk(existsSync(path), `nothing was written to ${path}`);
}
