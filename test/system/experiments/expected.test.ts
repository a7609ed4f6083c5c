/** Expectations of items, as evaluators of an experiment get them; and judgments of its answers that were made elsewhere. */
import t from 'tap';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import type { ImportedJson } from '#core/contracts/judgment.ts';
import { questions, startWorld } from './world.ts';

const { api, sql, ended, runs } = await startWorld(t);

t.test(
  'an evaluator gets what each item expects, and imported judgments count as graded answers',
  async (t) => {
    const code = [
      'def evaluate(input, output, record):',
      "    return record['expected'] == {'answer': input} and output != ''",
    ].join('\n');
    const python = await api<{ id: string }>('POST', '/v1/evaluator', {
      name: 'as expected',
      scoring_type: 'PYTHON',
      code_template: { code },
    });
    const elsewhere = await api<{ id: string }>('POST', '/v1/evaluator', {
      name: 'elsewhere',
      scoring_type: 'EXTERNAL',
      external_config: { adapter: 'imported' },
    });
    const { id: datasetId } = await api<{ id: string }>('POST', '/v1/dataset', { name: 'expecting' });
    const items = questions(6).map((request, index) => ({
      request,
      expected: { answer: index === 5 ? 'another' : `Question ${index}` },
    }));
    await api('POST', `/v1/dataset/${datasetId}/items`, { items });
    const ids: string[] = [];
    for (const model of ['gpt-4o-mini', 'gpt-4o']) {
      const { id } = await api<ExperimentJson>('POST', '/v1/experiment', {
        name: model,
        datasetId,
        target: { kind: 'model', model },
        evaluatorIds: [python.id, elsewhere.id],
      });
      ids.push(id);
      t.match(await ended(id), { completed: 6, ungraded: 0 }, 'nothing waits for the imported judgments');
      const answers = await runs(id);
      const imported = await api<ImportedJson>('POST', `/v1/evaluator/${elsewhere.id}/evaluations`, {
        evaluations: answers.map(({ request_id: requestId }, index) => ({ requestId, score: index / 10 })),
      });
      t.match(imported, { stored: 6 });
    }
    const scores = await sql<{ score: number; count: number }[]>`
      select score, count(*)::int4 as count from assay.evaluations where evaluator_id = ${python.id}
      group by score order by score`;
    t.same(
      scores.map(({ score, count }) => [score, count]),
      [
        [0, 2],
        [1, 10],
      ],
    );
    const [baseline, candidate] = ids;
    const compared = await api('POST', '/v1/experiment/compare', { baseline, candidates: [candidate] });
    t.match(JSON.stringify(compared), new RegExp(elsewhere.id), 'a comparison has their scores');
  },
);
