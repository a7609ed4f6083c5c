import t from 'tap';
import { laneOf, probesFor, SCORING_TYPES } from '#core/evaluations/mod.ts';

t.test('only judges of one answer have probes, and only LLM-CHOICE has the probe `order`', async (t) => {
  t.same(Object.fromEntries(SCORING_TYPES.map((type) => [type, [...probesFor(type)].sort()])), {
    'LLM-BOOLEAN': ['injection', 'padding', 'repeat'],
    'LLM-CHOICE': ['injection', 'order', 'padding', 'repeat'],
    'LLM-RANGE': ['injection', 'padding', 'repeat'],
    PYTHON: [],
    EXTERNAL: [],
    'LLM-RUBRIC': [],
    'LLM-PAIRWISE': [],
  });
});

t.test('evaluations that run in process have the lane python, all others the lane remote', async (t) => {
  t.equal(laneOf('PYTHON', null), 'python');
  t.equal(laneOf('EXTERNAL', 'autoevals'), 'python');
  for (const adapter of ['http', 'autoeval']) t.equal(laneOf('EXTERNAL', adapter), 'remote');
  for (const type of SCORING_TYPES.filter((type) => type.startsWith('LLM-')))
    t.equal(laneOf(type, null), 'remote');
});
