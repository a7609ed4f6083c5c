/**
 * `npm run bench comparison`: compares two experiments of many items over HTTP, by one metric and by all. Tells how long it
 * takes and the CPU time of the API; the experiments are written to the tables as their answers and grades would be.
 */
import { Command } from 'commander';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import { insertAnswers, insertItems } from '../support/many-items.ts';
import { dataDirectory, serveApi, startCluster } from './cluster.ts';
import { cpuMicroseconds } from './gateway/process.ts';
import { describeMachine } from './machine.ts';
import { wholeNumber } from './options.ts';
import { formatTable, median, print } from './table.ts';

type Options = { items: number; rounds: number };
type Target = { url: string; key: string };

/** Calls the API, and returns the data of its answer. */
async function post<Data>({ url, key }: Target, path: string, body: object): Promise<Data> {
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { data, error } = (await response.json()) as { data: Data; error: string | null };
  if (error !== null) throw new Error(`${path}: ${error}`);
  return data;
}

/** Makes two experiments over one dataset, graded by one evaluator that passes and fails and one of a scale. */
async function makeSides(sql: Sql, target: Target, organizationId: string, items: number) {
  const make = (path: string, body: object) => post<{ id: string }>(target, path, body);
  const judge = (name: string) =>
    make('/v1/evaluator', {
      name,
      scoring_type: 'LLM-BOOLEAN',
      llm_template: { model: 'gpt-4o-mini', prompt: 'Is the answer right?' },
    });
  const [passes, scale] = [await judge('passes'), await judge('scale')];
  const { id: datasetId } = await make('/v1/dataset', { name: 'many items' });
  await insertItems(sql, { organizationId, datasetId, items });
  const sides = [];
  for (const name of ['before', 'after']) {
    const { id: experimentId } = await make('/v1/experiment', {
      name,
      datasetId,
      target: { kind: 'external' },
      evaluatorIds: [passes.id, scale.id],
    });
    await insertAnswers(sql, { organizationId, experimentId, datasetId, name }, [
      { evaluatorId: passes.id, expression: '(random() < 0.7)::int4' },
      { evaluatorId: scale.id, expression: 'random()' },
    ]);
    sides.push(experimentId);
  }
  await sql`vacuum (analyze) assay.experiment_runs, assay.evaluations, assay.requests, assay.dataset_items`;
  return { baseline: sides[0]!, candidates: [sides[1]!] };
}

/** Runs the benchmark with the arguments after its name. */
export async function run(args: string[]): Promise<void> {
  const command = new Command('bench comparison')
    .description('How long a comparison of two experiments takes over HTTP')
    .option('--items <number>', 'items of the dataset', wholeNumber, 10_000)
    .option('--rounds <number>', 'comparisons of each kind', wholeNumber, 15)
    .parse(args, { from: 'user' });
  const { items, rounds } = command.opts<Options>();
  using directory = dataDirectory('comparison');
  await using cluster = await startCluster(directory.path, createLogger({ role: 'bench', level: 'warn' }));
  const sql = connectPostgres({ url: cluster.url, max: 1, applicationName: 'bench', statementTimeoutMs: 0 });
  const { organizationId } = await createOrganization(sql, { name: 'bench' });
  const { key } = await createKey(sql, { organizationId, scopes: ['read', 'write'] });
  await using api = await serveApi(cluster);
  const target = { url: api.url, key };
  const sides = await makeSides(sql, target, organizationId, items);
  await sql.end();
  const rows = [['metrics', 'seconds, median', 'fastest', 'slowest', 'CPU of the API, s']];
  for (const metrics of [['passes'], ['scale'], undefined]) {
    const body = { ...sides, ...(metrics !== undefined && { metrics }) };
    // The first one starts the thread.
    await post(target, '/v1/experiment/compare', body);
    const before = cpuMicroseconds(api.pid);
    const seconds = [];
    for (let round = 0; round < rounds; round += 1) {
      const start = performance.now();
      await post(target, '/v1/experiment/compare', body);
      seconds.push((performance.now() - start) / 1_000);
    }
    const cpu = (cpuMicroseconds(api.pid) - before) / 1e6 / rounds;
    const all = [median(seconds), Math.min(...seconds), Math.max(...seconds), cpu];
    rows.push([metrics?.join() ?? 'all six', ...all.map((value) => value.toFixed(2))]);
  }
  print(`${describeMachine()}, ${items} items on both sides\n`);
  print(formatTable(rows));
}
