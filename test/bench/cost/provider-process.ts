/** The provider of all scenarios, in its own process: a call names its scenario in `x-title`. Tells its port. */
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { fixedAnswers } from '../gateway/payloads.ts';
import { SCENARIOS } from './scenarios.ts';

const answers = new Map(
  SCENARIOS.map(({ name, bytes, everyMs }) => [
    name,
    { ...fixedAnswers(bytes), ...(everyMs !== undefined && { everyMs }) },
  ]),
);
const provider = await startScriptedProvider({
  fixed: ({ headers }) => answers.get(String(headers['x-title']))!,
});
process.send?.(provider.port);
process.once('disconnect', () => process.exit());
