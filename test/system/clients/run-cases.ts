/** Runs what a client does against everything running as an operator runs it, under one runtime after the other. */
import t, { type Test } from 'tap';
import { startWorld, type World } from './world.ts';

export type ClientCase = [title: string, run: (t: Test, world: World) => Promise<void>];

/** Declares the tests. At the end each case must have left the records that it counted, and no more. */
export function runCases(cases: readonly ClientCase[]): void {
  for (const runtime of ['node', 'deno'] as const) {
    t.test(`services under ${runtime}`, async (t) => {
      const world = await startWorld(t, runtime);
      for (const [title, run] of cases) await t.test(title, (t) => run(t, world));
      await t.test('no call of a client is recorded twice', (t) => world.checkNoneTwice(t));
    });
  }
}
