import t from 'tap';
import {
  isUnderWay,
  progressOf,
  targetText,
  withBaselineFirst,
} from '../../../../../dashboard/pages/experiments/words.ts';

const nameOf = (id: string) => (id === 'p1' ? 'Support' : id);

t.test('a target is told in words, with the members that it replaces', async (t) => {
  const cases: [object, string][] = [
    [{ kind: 'model', model: 'gpt-4o-mini' }, 'Model gpt-4o-mini'],
    [
      { kind: 'model', model: 'm', parameters: { temperature: 0, top_p: 1 } },
      'Model m with temperature 0, top_p 1',
    ],
    [{ kind: 'prompt', promptId: 'p1', environment: 'production' }, 'Prompt Support, production'],
    [{ kind: 'prompt', promptId: 'p2', versionId: 'v', model: 'm' }, 'Prompt p2 on m'],
    [{ kind: 'replay' }, 'The same requests again'],
    [
      { kind: 'replay', overrides: { a: 1, b: null, c: 'x'.repeat(100), d: 2, e: 3 } },
      `The same requests again with a 1, b null, c "${'x'.repeat(39)}… and 2 more`,
    ],
    [{ kind: 'recorded' }, 'The recorded answers'],
    [{ kind: 'external' }, 'Answers of a job of yours'],
  ];
  for (const [target, text] of cases) t.equal(targetText(target, nameOf), text);
});

t.test('progress counts every end of a run, and nothing to do is done', async (t) => {
  t.equal(progressOf({ runs: 8, completed: 2, failed: 1, skipped: 1 }), 0.5);
  t.equal(progressOf({ runs: 0, completed: 0, failed: 0, skipped: 0 }), 1);
});

t.test('an experiment is under way while it runs, and while answers are graded', async (t) => {
  t.ok(isUnderWay({ state: 'running', ungraded: 0 }));
  t.ok(isUnderWay({ state: 'completed', ungraded: 3 }));
  t.notOk(isUnderWay({ state: 'completed', ungraded: 0 }));
  t.notOk(isUnderWay({ state: 'paused', ungraded: 0 }));
});

t.test('the recorded answers are the baseline, else the oldest experiment', async (t) => {
  const one = (id: string, kind: string, created_at: string) => ({ id, target: { kind }, created_at });
  const old = one('old', 'model', '2026-01-01');
  const recorded = one('recorded', 'recorded', '2026-02-01');
  const late = one('late', 'model', '2026-03-01');
  t.same(withBaselineFirst([late, recorded, old]), ['recorded', 'old', 'late']);
  t.same(withBaselineFirst([late, old]), ['old', 'late']);
});
