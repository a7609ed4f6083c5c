/** The gateway whose calls are counted: with everything that `npm start` runs, before a scripted provider. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startAssay } from '../../support/assay.ts';
import { jobFor, startLoadGenerator } from '../gateway/measure.ts';
import { endProcess, spawnNode } from '../gateway/process.ts';
import { INSPECTABLE, type Inspector, openInspector } from './inspector.ts';
import type { CostScenario } from './scenarios.ts';

export type Subject = AsyncDisposable & {
  /** The gateway process; ingest and PostgreSQL are others. */
  pid: number;
  inspector: Inspector;
  /**
   * Makes the calls of a scenario.
   * @throws Error when one fails or is not logged
   */
  makeCalls(scenario: CostScenario): Promise<void>;
};

const PROVIDER = fileURLToPath(new URL('provider-process.ts', import.meta.url));

export async function startSubject(): Promise<Subject> {
  await using stack = new AsyncDisposableStack();
  const provider = stack.adopt(spawnNode([PROVIDER], { ipc: true }), (child) => endProcess(child));
  const [port] = (await once(provider, 'message')) as [number];
  const load = stack.adopt(startLoadGenerator(), ({ stop }) => stop());
  const environment = {
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    OPENAI_API_KEY: 'sk-benchmark',
    NODE_OPTIONS: INSPECTABLE,
  };
  const assay = stack.adopt(await startAssay({ environment }), async ({ stop }) => {
    await stop();
  });
  const pid = assay.pidOf('gateway');
  const inspector = await openInspector(pid, assay.stderr);
  stack.defer(inspector.close);
  const started = stack.move();
  return {
    pid,
    inspector,
    async makeCalls(scenario) {
      const target = {
        port: Number(new URL(assay.gatewayUrl).port),
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${assay.key}`, 'x-title': scenario.name },
      };
      const { failure, unlogged } = await load.run(jobFor(target, scenario, { calls: scenario.calls }));
      if (failure !== null) throw new Error(`A call of "${scenario.name}" failed: ${failure}`);
      if (unlogged > 0) throw new Error(`${unlogged} calls of "${scenario.name}" were not logged`);
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
