/** A service with a busy sandbox, for a test to kill: it reports its tier, and runs on. */

import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { DEFAULT_LIMITS, startSandbox } from '../../../../../evaluators/python/mod.ts';
import type { SandboxTier } from '../../../../../evaluators/python/zygote.ts';

const [tier, directory] = process.argv.slice(2) as [SandboxTier, string];
const log = createLogger({ role: 'test', level: 'fatal' });
const sandbox = await startSandbox({ directory, concurrency: 3, log, clock: systemClock, wantedTier: tier });
const limits = { ...DEFAULT_LIMITS, cpuSeconds: 10, wallMs: 10_000 };
for (const body of ['while True: pass', 'import time; time.sleep(60)', 'import signal\n    signal.pause()']) {
  void sandbox.evaluate({ code: `def evaluate(input, output):\n    ${body}`, input: '', output: '', limits });
}
process.stdout.write(`${sandbox.tier}\n`);
