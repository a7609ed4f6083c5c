/** Groups of evaluations that are scored together, and those that must be alone. */
import fc from 'fast-check';
import t from 'tap';
import type { Job } from '../../../../evaluators/queue/mod.ts';
import { groupJobs } from '../../../../evaluators/worker/group.ts';

const EXTERNAL = { http: { adapter: 'http' }, autoeval: { adapter: 'autoeval' } };

type Kind = { id: string; version: number; isBatch: boolean; type: keyof typeof TYPES };

const TYPES = {
  PYTHON: { scoringType: 'PYTHON', externalConfig: null },
  judge: { scoringType: 'LLM-BOOLEAN', externalConfig: null },
  http: { scoringType: 'EXTERNAL', externalConfig: EXTERNAL.http },
  autoeval: { scoringType: 'EXTERNAL', externalConfig: EXTERNAL.autoeval },
} as const;

let made = 0;
function job({ id, version, isBatch, type }: Kind): Job {
  made += 1;
  return { evaluationId: String(made), isBatch, evaluator: { id, version, ...TYPES[type] } } as Job;
}

const kinds = fc.record({
  id: fc.constantFrom('a', 'b'),
  version: fc.constantFrom(1, 2),
  isBatch: fc.boolean(),
  type: fc.constantFrom(...(Object.keys(TYPES) as (keyof typeof TYPES)[])),
});

t.test('every evaluation is in exactly one group, all of one evaluator and version', async (t) => {
  fc.assert(
    fc.property(fc.array(kinds, { maxLength: 300 }), (some) => {
      const jobs = some.map(job);
      const groups = groupJobs(jobs);
      t.same(groups.flat().map(idOf).sort(), jobs.map(idOf).sort());
      for (const group of groups) {
        t.equal(new Set(group.map(({ evaluator }) => `${evaluator.id}/${evaluator.version}`)).size, 1);
      }
    }),
    { numRuns: 50 },
  );
});

t.test(
  'Python is alone unless its run allows batches, and judges and http services are always alone',
  async (t) => {
    const one = (type: Kind['type'], isBatch: boolean) => ({ id: type, version: 1, isBatch, type });
    const sizesOf = (kind: Kind, count: number) =>
      groupJobs(Array.from({ length: count }, () => job(kind))).map((group) => group.length);
    t.same(sizesOf(one('PYTHON', false), 3), [1, 1, 1]);
    t.same(sizesOf(one('PYTHON', true), 3), [3]);
    t.same(
      sizesOf(one('PYTHON', true), 450),
      [200, 200, 50],
      'batches have the size that the sandbox takes in one process',
    );
    t.same(sizesOf(one('judge', true), 3), [1, 1, 1]);
    t.same(sizesOf(one('http', true), 3), [1, 1, 1]);
    t.same(
      sizesOf(one('autoeval', false), 120),
      [50, 50, 20],
      'batches have the size that the service takes in one request',
    );
  },
);

t.test('a batch does not include evaluations of the same evaluator that must be alone', async (t) => {
  const kind: Kind = { id: 'a', version: 1, isBatch: true, type: 'PYTHON' };
  const jobs = [kind, { ...kind, isBatch: false }, kind].map(job);
  t.same(
    groupJobs(jobs).map((group) => group.map(idOf)),
    [[idOf(jobs[0]!), idOf(jobs[2]!)], [idOf(jobs[1]!)]],
  );
});

function idOf({ evaluationId }: Job): string {
  return evaluationId;
}
