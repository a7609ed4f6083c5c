/**
 * The provider of a run, in a process of its own: `node provider-process.ts <file>`. Tells its port, and writes the
 * number of each call that reaches it into the file, before it answers.
 */
import { openSync, writeSync } from 'node:fs';
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { behaviourFor } from './wish.ts';

const file = openSync(process.argv[2]!, 'a');
const provider = await startScriptedProvider();
provider.script(({ body }) => {
  const { call, behaviour } = behaviourFor(body);
  writeSync(file, `${call}\n`);
  // It keeps all requests for tests to look at: of hundreds of thousands nobody will.
  provider.requests.length = 0;
  return behaviour;
});
process.send?.(provider.port);
process.once('disconnect', () => process.exit());
