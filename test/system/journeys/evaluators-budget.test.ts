/** The cost of judges counts towards budgets to the nano-dollar while evaluators processes are killed. */
import t, { type Test } from 'tap';
import { runMain, waitFor } from '../../support/assay.ts';
import { startWorld } from '../../support/evaluation-queue.ts';
import { createWorld, type Database } from '../../support/world.ts';

const EVALUATIONS = 24;
const CONCURRENCY = 8;
const KILLS = 2;
/** Usage and cost of a judge call: gpt-4o is 2.50 USD for a million prompt tokens, 10 for a million completion tokens. */
const USAGE = { promptTokens: 1_000, completionTokens: 100, totalTokens: 1_100 };
const COST_NANO = 1_000 * 2_500 + 100 * 10_000;

async function startServices(t: Test, database: Database) {
  const services = await createWorld(t, database);
  const provider = await services.provider();
  provider.script(() => ({
    kind: 'answer',
    text: null,
    toolCalls: [{ name: 'submit_verdict', arguments: '{"reasoning":"It is.","score":true}' }],
    usage: USAGE,
  }));
  const settings = {
    DATA_DIR: services.directory(),
    OPENAI_API_KEY: 'sk-operator',
    OPENAI_BASE_URL: provider.url,
  };
  await services.start('ingest', settings);
  const gateway = await services.start('gateway', settings);
  const start = () => {
    const run = runMain(['evaluators'], {
      DATABASE_URL: database.url,
      DATA_DIR: settings.DATA_DIR,
      GATEWAY_URL: gateway.url,
      PYTHON_CONCURRENCY: '1',
      EVALUATOR_CONCURRENCY: String(CONCURRENCY),
    });
    const kill = async () => {
      run.process.kill('SIGKILL');
      await run.ended;
    };
    t.teardown(kill);
    return { kill };
  };
  return { provider, start };
}

t.test('each judge call that was served is charged once, also after kills of its process', async (t) => {
  const world = await startWorld(t);
  const { sql } = world;
  const { provider, start } = await startServices(t, world);
  const evaluator = await world.evaluator(await world.organization(), {
    scoringType: 'LLM-BOOLEAN',
    llmTemplate: { model: 'gpt-4o', prompt: 'Polite?' },
  });
  await world.schedule(evaluator, await world.requests(evaluator.organizationId, EVALUATIONS));
  const records = async (): Promise<number> => {
    const [row] = await sql`select count(*)::int4 as count from assay.requests where source = 'evaluator'`;
    return row!.count as number;
  };

  for (let kill = 1; kill <= KILLS; kill += 1) {
    const before = await records();
    const process = start();
    // An outcome can be settled only when this is over.
    await sql.unsafe(`
      create or replace function assay.hold() returns trigger language plpgsql as
        $$ begin perform pg_sleep(60); return new; end $$;
      create or replace trigger hold before update on assay.evaluations for each row
        when (new.judge_calls > old.judge_calls) execute function assay.hold();`);
    await waitFor(
      'the records of calls whose outcome is not settled',
      async () => {
        return (await records()) > before && (await records()) === provider.requests.length;
      },
      60_000,
    );
    await process.kill();
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'assay-evaluators'`;
    await sql.unsafe('drop trigger hold on assay.evaluations');
    await sql`update assay.evaluations set due_at = now() - interval '1 s' where state = 'running'`;
  }
  const lost = provider.requests.length;
  t.ok(lost > 0, `${lost} calls were made by processes that were killed before they could report them`);
  t.same(await world.spent(), { [evaluator.evaluatorId]: lost * COST_NANO }, 'and are counted');

  start();
  await waitFor(
    'all evaluations',
    async () => {
      const [row] =
        await sql`select count(*)::int4 as count from assay.evaluations where state = 'completed'`;
      return row!.count === EVALUATIONS;
    },
    60_000,
  );
  await waitFor('all records', async () => (await records()) === provider.requests.length, 60_000);
  t.equal(provider.requests.length, EVALUATIONS + lost);
  t.same(await world.spent(), { [evaluator.evaluatorId]: provider.requests.length * COST_NANO });
});
