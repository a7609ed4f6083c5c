import { execFile } from 'node:child_process';
import t from 'tap';
import { isAlive, waitFor } from '../../../support/assay.ts';
import { makeCounter, makePolicy } from './world.ts';

/** No server listens there: the program is degraded, and refused without a round trip once its share is used. */
const NO_DATABASE = 'postgres://127.0.0.1:1/none';

t.test('a program started by startProgram exits when its parent is killed', async (t) => {
  const counter = makeCounter({ unit: 'cents' });
  const limit = JSON.stringify({ counter, policy: makePolicy(1_000, 60, 'cents') });
  const script = `
    import { startProgram } from ${JSON.stringify(new URL('./with-parent.ts', import.meta.url).href)};
    console.log(startProgram('./spender.ts', ${JSON.stringify([NO_DATABASE, '1', limit])}).pid);`;
  const parent = execFile(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    script,
  ]);
  const pid = await new Promise<number>((resolve) =>
    parent.stdout!.once('data', (text) => resolve(Number(text))),
  );
  t.ok(isAlive(pid));
  // By then it has used its share, and is refused.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  t.ok(isAlive(pid), 'the program runs as long as its parent');
  parent.kill('SIGKILL');
  await waitFor('the program to exit', () => !isAlive(pid), 10_000);
});
