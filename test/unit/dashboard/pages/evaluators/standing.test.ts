import t from 'tap';
import type { OnlineEvaluator, Run, Stats } from '../../../../../dashboard/client/evaluators.ts';
import { openRuns, sampling, standingOf } from '../../../../../dashboard/pages/evaluators/standing.ts';

const free = { paused: null, waiting: null };
const online = (sampleRate: number) => ({ config: { sampleRate } }) as OnlineEvaluator;
const run = (state: Run['state']) => ({ state }) as Run;
const facts = (total: number, rates: number[], states: Run['state'][]) => ({
  stats: { evaluations: { total } } as Stats,
  online: rates.map(online),
  runs: states.map(run),
});

t.test('A paused evaluator says why before anything else', async (t) => {
  const paused = { reason: 'auth', message: '401 of the provider' } as const;
  t.match(standingOf({ paused, waiting: 'No process' }, null), {
    word: 'Paused',
    why: 'The judge refuses the key: 401 of the provider',
  });
  t.match(standingOf({ ...free, waiting: 'No process' }, null), { word: 'Waiting', why: 'No process' });
});

t.test(
  'What an evaluator does is known by what it is attached to, its runs and its evaluations',
  async (t) => {
    t.equal(standingOf(free, null), null);
    t.equal(standingOf(free, facts(5, [0, 10], []))?.word, 'Active');
    t.equal(standingOf(free, facts(5, [0], ['completed', 'running']))?.word, 'Running');
    t.equal(standingOf(free, facts(5, [], ['completed']))?.word, 'Idle');
    t.equal(standingOf(free, facts(0, [], []))?.word, 'Draft');
  },
);

t.test('Runs in progress are those that run and those that are paused', async (t) => {
  t.equal(
    openRuns([run('running'), run('paused'), run('completed'), run('budget'), run('cancelled')]).length,
    2,
  );
});

t.test('The shares of several attachments are all told', async (t) => {
  t.equal(sampling([online(10), online(2.5)]), '10% + 2.5%');
  t.equal(sampling([]), '');
});
