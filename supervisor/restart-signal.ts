/**
 * The signal for a rolling restart. SIGHUP would be wrong: a closing terminal sends it, and processes started there should
 * end. So would SIGUSR1: Node opens its debugger on it.
 */

import type { Logger } from '#platform/observability/log.ts';
import { operatorSentence } from '#platform/process/lifecycle.ts';

const RESTART_SIGNAL = 'SIGUSR2';

/** Calls `restart` at each signal. Signals that arrive during a restart cause one more run after it. */
export function restartOnSignal(restart: () => Promise<void>, log: Logger): void {
  let isRunning = false;
  let isAskedAgain = false;

  async function run(): Promise<void> {
    const startedAt = performance.now();
    log.info('Restarting the gateways');
    try {
      await restart();
      log.info({ restartMs: performance.now() - startedAt }, 'Restarted the gateways');
    } catch (error) {
      log.error(
        { reason: operatorSentence(error) },
        'The restart of the gateways failed; the running processes continue',
      );
    }
  }

  process.on(RESTART_SIGNAL, async () => {
    isAskedAgain = true;
    if (isRunning) return;
    isRunning = true;
    while (isAskedAgain) {
      isAskedAgain = false;
      await run();
    }
    isRunning = false;
  });
}
