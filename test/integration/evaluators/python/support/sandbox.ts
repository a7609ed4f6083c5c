/** Sandboxes for tests, each with its own directory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Outcome } from '#core/scoring/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { type Sandbox, startSandbox } from '../../../../../evaluators/python/mod.ts';
import type { SandboxOptions } from '../../../../../evaluators/python/start.ts';
import type { SandboxTier } from '../../../../../evaluators/python/zygote.ts';

const quietLog = createLogger({ role: 'test', level: 'fatal' });

/** The tiers that a process can run when it is root, and when it is not. */
export const TIERS_HERE: readonly SandboxTier[] =
  process.getuid?.() === 0 ? ['chroot', 'namespaces', 'process'] : ['namespaces', 'process'];

/** Starts a sandbox; when the test ends it is stopped and its directory removed. */
export async function openSandbox(
  t: Test,
  options: Partial<SandboxOptions> = {},
  start = startSandbox,
): Promise<Sandbox & { directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-test-python-'));
  const sandbox = await start({
    directory,
    concurrency: 2,
    log: quietLog,
    clock: systemClock,
    ...options,
  });
  t.teardown(async () => {
    await sandbox.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return Object.assign(sandbox, { directory });
}

/** Returns `def evaluate(input, output):` with this body. */
export function define(body: string): string {
  return `def evaluate(input, output):\n${body.trim().replaceAll(/^/gm, '    ')}\n`;
}

/** Returns an outcome in one word: its score, or its code. */
export function brief(outcome: Outcome): number | string {
  if (outcome.state === 'completed') return outcome.score!;
  return outcome.state === 'failed' ? outcome.code : outcome.reason;
}

export const messageOf = (outcome: Outcome) => (outcome.state === 'failed' ? outcome.message : '');
