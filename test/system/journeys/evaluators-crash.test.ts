/**
 * Exactly once, tested where it hurts: evaluators processes are killed with SIGKILL in the middle of their work, so are
 * their Python zygotes, and their connections are cut. Every evaluation must come to its one outcome, with its own score,
 * written once. ASSAY_SEED repeats a run's choices; ASSAY_EVALUATIONS makes it longer.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Run, runMain, waitFor } from '../../support/assay.ts';
import { type Evaluator, startWorld, type World } from '../../support/evaluation-queue.ts';
import { descendantsOf, eventually, isRunning, type Process } from '../../support/processes.ts';
import { seededRandom } from '../../support/random.ts';
import { createWorld, type Database } from '../../support/world.ts';

/** Half of them Python's, half a judge's. */
const EVALUATIONS = Number(process.env.ASSAY_EVALUATIONS ?? 1_500);
const FAULTS = Math.max(8, Math.round(EVALUATIONS / 500));
const PROCESSES = 3;
const ORGANIZATIONS = 3;
const JUDGE_MODEL = 'gpt-4o';
/** A fault comes this long after its share of the work is done. */
const JITTER_MS = 150;

t.setTimeout(EVALUATIONS * 60 + 240_000);

type Fault = 'process' | 'zygote' | 'connections';

/** A gateway, ingest and a provider whose judge gives each answer the number that stands in it. */
async function startJudge(t: Test, database: Database) {
  const services = await createWorld(t, database);
  const provider = await services.provider();
  const settings = {
    DATA_DIR: services.directory(),
    OPENAI_API_KEY: 'sk-operator',
    OPENAI_BASE_URL: provider.url,
  };
  await services.start('ingest', settings);
  const gateway = await services.start('gateway', settings);
  const calls = new Map<number, number>();
  provider.script((request) => {
    const number = Number(/output (\d+)/.exec(request.body.toString())?.[1]);
    calls.set(number, (calls.get(number) ?? 0) + 1);
    const verdict = JSON.stringify({ reasoning: `It says ${number}.`, score: number });
    return {
      kind: 'answer',
      text: null,
      toolCalls: [{ name: 'submit_verdict', arguments: verdict }],
    };
  });
  return { url: gateway.url, calls };
}

/** Processes that can be killed and started again. */
function startProcesses(t: Test, databaseUrl: string, gatewayUrl: string) {
  const directories = Array.from({ length: PROCESSES }, () => mkdtempSync(join(tmpdir(), 'assay-crash-')));
  const runs: Run[] = [];
  /** Everything that they ever had below them. */
  const offspring = new Map<number, Process>();
  const start = (index: number) => {
    runs[index] = runMain(['evaluators'], {
      DATABASE_URL: databaseUrl,
      DATA_DIR: directories[index]!,
      GATEWAY_URL: gatewayUrl,
      PYTHON_CONCURRENCY: '2',
      EVALUATOR_CONCURRENCY: '8',
    });
  };
  const look = (index: number): Process[] => {
    const found = descendantsOf(runs[index]!.process.pid!);
    for (const one of found) offspring.set(one.pid, one);
    return found;
  };
  const kill = async (index: number) => {
    look(index);
    runs[index]!.process.kill('SIGKILL');
    await runs[index]!.ended;
  };
  const serves = (index: number) => runs[index]!.stderr().includes('evaluators serve');
  t.teardown(async () => {
    for (const index of runs.keys()) await kill(index);
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });
  for (let index = 0; index < PROCESSES; index += 1) start(index);
  return {
    runs,
    start,
    kill,
    look,
    serves,
    orphans: () => [...offspring.values()].filter(isRunning),
  };
}

type Expected = { evaluator: Evaluator; requestId: string; score: number };

/** Schedules Python and judge evaluations of the same requests for each organization. */
async function schedule(world: World): Promise<Expected[]> {
  const expected: Expected[] = [];
  const each = Math.round(EVALUATIONS / ORGANIZATIONS / 2);
  for (let index = 0; index < ORGANIZATIONS; index += 1) {
    const organizationId = await world.organization();
    // Judges' records are many in a few seconds.
    await world.sql`update assay.organizations set tier = 'enterprise' where organization_id = ${organizationId}`;
    const python = await world.evaluator(organizationId, {
      code: 'def evaluate(input, output):\n  return float(output.split()[1])',
    });
    const judge = await world.evaluator(organizationId, {
      scoringType: 'LLM-RANGE',
      llmTemplate: { model: JUDGE_MODEL, prompt: 'Which number is it?', min: 0, max: 1e9 },
    });
    // As requests come they are all judged; a judge's own must not be.
    await world.sql`
      insert into assay.online_evaluators (organization_id, evaluator_id, sample_rate, created_at)
      values (${organizationId}, ${judge.evaluatorId}, 100, now()), (${organizationId}, ${python.evaluatorId}, 100, now())`;
    const requestIds = await world.requests(organizationId, each);
    for (const evaluator of [python, judge]) {
      await world.schedule(evaluator, requestIds);
      for (const requestId of requestIds) {
        expected.push({ evaluator, requestId, score: Number(requestId.split('-')[1]) });
      }
    }
  }
  return expected;
}

/** Has Postgres itself write down each time that an evaluation is completed, and each time that a score is written. */
async function audit({ sql }: World): Promise<void> {
  await sql.unsafe(`
    create table assay.audit (what text not null, id text not null);
    create function assay.audit() returns trigger language plpgsql as $$
    begin
      insert into assay.audit values (tg_table_name, case tg_table_name
        when 'evaluations' then to_jsonb(new) ->> 'evaluation_id'
        else (to_jsonb(new) ->> 'request_id') || '/' || (to_jsonb(new) ->> 'key') end);
      return null;
    end $$;
    create trigger audit after update on assay.evaluations for each row
      when (new.state in ('completed', 'skipped', 'error', 'dead') and old.finished_at is distinct from new.finished_at)
      execute function assay.audit();
    create trigger audit after insert or update on assay.request_scores for each row execute function assay.audit();`);
}

t.test(`each of ${EVALUATIONS} evaluations ends in exactly one outcome over ${FAULTS} faults`, async (t) => {
  const seed = Number(process.env.ASSAY_SEED ?? Date.now() % 1_000_000);
  t.comment(`ASSAY_SEED=${seed}`);
  const random = seededRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const world = await startWorld(t);
  const { sql } = world;
  const judge = await startJudge(t, world);
  const expected = await schedule(world);
  await audit(world);
  const processes = startProcesses(t, world.url, judge.url);
  await waitFor('a process', () => processes.runs.some((_, index) => processes.serves(index)));

  const completed = async (): Promise<number> => {
    const [row] = await sql`select count(*)::int4 as count from assay.evaluations where state = 'completed'`;
    return row!.count as number;
  };
  const counts: Record<Fault, number> = { process: 0, zygote: 0, connections: 0 };
  const faults: Record<Fault, () => Promise<void>> = {
    process: async () => {
      const index = pick(PROCESSES);
      await processes.kill(index);
      processes.start(index);
    },
    zygote: async () => {
      // Whichever has one: another may be starting.
      const first = pick(PROCESSES);
      const zygotesOf = (index: number) =>
        processes.look(index).filter((one) => one.parent === processes.runs[index]!.process.pid);
      let zygotes: Process[] = [];
      await waitFor('a zygote', () => {
        zygotes = processes.runs.flatMap((_, step) => zygotesOf((first + step) % PROCESSES)).slice(0, 1);
        return zygotes.length > 0;
      });
      for (const { pid } of zygotes) process.kill(pid, 'SIGKILL');
    },
    connections: async () => {
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'assay-evaluators' and random() < 0.7`;
    },
  };
  const KINDS: Fault[] = ['process', 'connections', 'process', 'zygote'];
  const start = performance.now();
  for (let fault = 1; fault <= FAULTS; fault += 1) {
    const share = (expected.length * fault) / (FAULTS + 2);
    await waitFor('a share of the work', async () => (await completed()) >= share, 240_000);
    await sleep(random() * JITTER_MS);
    const kind = KINDS[fault % KINDS.length]!;
    await faults[kind]();
    counts[kind] += 1;
  }
  const left = expected.length - (await completed());
  t.ok(left > 0, `the faults came under load: ${left} were left`);

  // All die at once, time goes by, and what they held comes back.
  await Promise.all(processes.runs.map((_, index) => processes.kill(index)));
  const [held] = await sql`select count(*)::int4 as count from assay.evaluations where state = 'running'`;
  await sql`update assay.evaluations set due_at = now() - interval '1 s' where state in ('pending', 'running')`;
  for (const index of processes.runs.keys()) processes.start(index);
  await waitFor('all', async () => (await completed()) === expected.length, 240_000).catch(() => {});
  const seconds = (performance.now() - start) / 1_000;

  const states = await sql`
    select state, error_code, error_message, count(*)::int4 as count from assay.evaluations
     group by 1, 2, 3 order by 4 desc`;
  t.same(
    states.map(({ state, count }) => ({ state, count })),
    [{ state: 'completed', count: expected.length }],
    'all are completed, and nothing was scheduled beside them',
  );
  const repeated =
    await sql`select what, id, count(*) from assay.audit group by what, id having count(*) > 1`;
  t.same([...repeated], [], 'no outcome and no score was written twice');
  const [written] = await sql`
    select count(*) filter (where what = 'evaluations')::int4 as outcomes,
           count(*) filter (where what <> 'evaluations')::int4 as scores from assay.audit`;
  t.same(written, { outcomes: expected.length, scores: expected.length });

  const keyOf = (evaluatorId: string, requestId: string) => `${evaluatorId}/${requestId}`;
  const wanted = new Map(
    expected.map(({ evaluator, requestId, score }) => [keyOf(evaluator.evaluatorId, requestId), score]),
  );
  const scores = await world.scores();
  t.equal(scores.length, expected.length);
  const wrong = scores.filter((row) => wanted.get(keyOf(row.evaluator_id!, row.request_id)) !== row.value);
  t.same(wrong, [], 'each has the score of its own answer');

  type Judged = { number: number; attempts: number; judge_calls: number };
  const judged = await sql<Judged[]>`
    select score::int4 as number, attempts, judge_calls from assay.evaluations where lane = 'remote'`;
  const unlike = judged.filter(({ number, attempts, judge_calls }) => {
    const made = judge.calls.get(number) ?? 0;
    return made < 1 || made > attempts || judge_calls < 1 || judge_calls > made;
  });
  t.same(unlike, [], 'a judge was called for each, and no more often than it was tried');
  const total = [...judge.calls.values()].reduce((sum, count) => sum + count, 0);
  const records = async (): Promise<number> => {
    const [row] = await sql`select count(*)::int4 as count from assay.requests where source = 'evaluator'`;
    return row!.count as number;
  };
  await waitFor('the records of all judge calls', async () => (await records()) >= total, 60_000).catch(
    () => {},
  );
  t.same([...(await sql`select reason from assay.dead_letters`)], [], 'no record was set aside');
  const [money] = await sql`
    select (select sum(cost_nano)::int8 from assay.evaluations) as told,
           (select sum(cost_nano)::int8 from assay.evaluation_spend) as spent,
           (select sum(cost_nano)::int8 from assay.requests where source = 'evaluator') as recorded,
           (select count(*)::int4 from assay.requests where source = 'evaluator') as records,
           (select count(*)::int4 from assay.requests where source = 'evaluator' and status = 499) as left_early,
           (select count(*)::int4 from assay.evaluations) as evaluations,
           (select max(attempts)::int4 from assay.evaluations) as attempts,
           (select sum(attempts - 1)::int4 from assay.evaluations) as repeats`;
  // A process may be killed after the gateway has its call and before the provider has it: that is a record without a call.
  const unsent = money!.records - total;
  t.ok(
    unsent >= 0 && unsent <= money!.left_early,
    `each judge call has its one record; ${unsent} were not sent on`,
  );
  t.equal(money!.spent, money!.recorded, 'what each of them cost is counted, whoever was killed');
  t.ok(BigInt(money!.told) <= BigInt(money!.spent) && BigInt(money!.told) > 0n);
  t.equal(money!.evaluations, expected.length, 'and no judge call was judged');
  const busiest = Math.max(...judge.calls.values());
  t.comment(
    `${expected.length} evaluations in ${seconds.toFixed(1)} s over ${counts.process} killed processes, ` +
      `${counts.zygote} killed zygotes, ${counts.connections} cut connections; ${money!.repeats} attempts repeated, ` +
      `${held!.count} of them held by the dead until the end; ` +
      `${total} judge calls for ${judged.length} (at most ${busiest} for one), ${money!.attempts} attempts at most`,
  );

  for (const [index, run] of processes.runs.entries()) {
    processes.look(index);
    run.process.kill('SIGTERM');
    t.match(await run.ended, { code: 0 }, 'the last processes stop in order');
  }
  t.ok(await eventually(() => processes.orphans().length === 0), 'and nothing of Python is left of any');
});
