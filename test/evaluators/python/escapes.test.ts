import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { Tier } from '../../../evaluators/python/mod.ts';
import { PROGRAMS } from './support/programs.ts';
import { type Endings, runPrograms, SLOW_LIMITS } from './support/run-programs.ts';
import { brief, messageOf, TIERS_HERE } from './support/sandbox.ts';

/** Who owns nothing. */
const NOBODY = 65_534;
const PROGRAM = fileURLToPath(new URL('./support/run-programs.ts', import.meta.url));
const TRACES = ['/tmp/assay-escaped', '/dev/shm/assay-escaped'];
/** What a program may take beyond its limit. */
const SLACK_MS = 500;

function check(t: Test, { tier, why, deaths, endings, afterwards }: Endings, wanted: Tier): void {
  t.equal(tier, wanted, why ?? '');
  t.equal(endings.length, PROGRAMS.length);
  for (const [index, { name, outcome, durationMs }] of endings.entries()) {
    const { ends, isSlow } = PROGRAMS[index]!;
    const isExpected =
      typeof ends === 'number' ? brief(outcome) === ends : ends.includes(String(brief(outcome)));
    t.ok(isExpected, `${name}: ${brief(outcome)} ${messageOf(outcome).slice(0, 80)}`, { ends });
    if (isSlow)
      t.ok(durationMs < SLOW_LIMITS.wallMs + SLACK_MS, `${name} is stopped in time: ${durationMs} ms`);
  }
  t.equal(brief(afterwards), 0.5, 'the sandbox works as before');
  t.equal(deaths, 0, 'the zygote has lived through all of it');
  for (const path of TRACES) t.notOk(existsSync(path), `nothing was written to ${path}`);
}

/** As the user who owns nothing; a text with the reason when that fails. */
async function runAsNobody(tier: Tier): Promise<Endings | string> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, tier], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  let complaint = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  try {
    await once(child, 'close');
    return JSON.parse(said) as Endings;
  } catch (error) {
    return `${complaint.trim().slice(0, 500)} ${error}`;
  }
}

for (const tier of TIERS_HERE) {
  t.test(`every escape is refused or stopped, tier ${tier}, user ${process.getuid?.()}`, async (t) => {
    check(t, await runPrograms(tier), tier);
  });
}

for (const tier of ['namespaces', 'process'] as const) {
  const skip = process.getuid?.() !== 0 && 'the tests above have run as an unprivileged user';
  t.test(`every escape is refused or stopped, tier ${tier}, user ${NOBODY}`, { skip }, async (t) => {
    const endings = await runAsNobody(tier);
    if (typeof endings !== 'string') {
      check(t, endings, tier);
      return;
    }
    const isClosed = /EACCES|permission denied|Cannot find module/i.test(endings);
    if (!isClosed) t.fail(endings);
    else t.pass(`SKIPPED, NOT TESTED: user ${NOBODY} cannot reach Node or this checkout: ${endings}`);
  });
}
