import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { SandboxTier } from '../../../../evaluators/python/zygote.ts';
import { checkEndings } from './support/check-endings.ts';
import { type Endings, runPrograms } from './support/run-programs.ts';
import { TIERS_HERE } from './support/sandbox.ts';

/** The user id of `nobody`, who owns no files. */
const NOBODY = 65_534;
const PROGRAM = fileURLToPath(new URL('./support/run-programs.ts', import.meta.url));
/** Runs all programs as `nobody`; returns a text with the reason when that fails. */
async function runAsNobody(tier: SandboxTier): Promise<Endings | string> {
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
    checkEndings(t, await runPrograms(tier), tier);
  });
}

for (const tier of ['namespaces', 'process'] as const) {
  const skip = process.getuid?.() !== 0 && 'the tests above have run as an unprivileged user';
  t.test(`every escape is refused or stopped, tier ${tier}, user ${NOBODY}`, { skip }, async (t) => {
    const endings = await runAsNobody(tier);
    if (typeof endings !== 'string') {
      checkEndings(t, endings, tier);
      return;
    }
    const isClosed = /EACCES|permission denied|Cannot find module/i.test(endings);
    if (!isClosed) t.fail(endings);
    else t.pass(`SKIPPED, NOT TESTED: user ${NOBODY} cannot reach Node or this checkout: ${endings}`);
  });
}
