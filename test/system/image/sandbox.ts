/** Whether evaluators' Python can be run in containers on this machine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startSandbox } from '../../../evaluators/python/mod.ts';

/** The image's Python, and the tier that needs nothing of an engine: why the two do not go together here; false when they do. */
export async function sandboxIsMissing(): Promise<string | false> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-test-sandbox-'));
  const log = createLogger({ role: 'test', level: 'fatal' });
  const options = { directory, python: '/usr/bin/python3', concurrency: 1, log, clock: systemClock };
  const sandbox = await startSandbox({ ...options, wantedTier: 'process' });
  await sandbox.stop();
  rmSync(directory, { recursive: true });
  return sandbox.tier === 'none' ? `there is no sandbox on this machine: ${sandbox.why}` : false;
}
