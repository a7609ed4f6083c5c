/** The provider of a benchmark, in its own process: `node provider-process.ts <answer bytes>`; tells its port. */
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { fixedAnswers } from './payloads.ts';

const provider = await startScriptedProvider({ fixed: fixedAnswers(Number(process.argv[2])) });
process.send?.(provider.port);
process.once('disconnect', () => process.exit());
