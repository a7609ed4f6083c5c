/** The command that imports judgments from a file, with the requests that they are of. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { newRequestId } from '#platform/process/ids.ts';
import { judgmentsCommand } from '../../../../../supervisor/commands/judgments/judgments.ts';
import { temporaryDirectory } from '../../../../support/world.ts';
import { call, startLogWorld } from '../../../api/log/world.ts';

const { api, ingest } = await startLogWorld(t);
const directory = temporaryDirectory(t);

/** Stores what is logged as ingest would, until the work is done. */
async function whileIngesting<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => {});
  while (!isDone) {
    await ingest();
    await sleep(50);
  }
  return ended;
}

async function run(lines: readonly string[], options: string[], key: string | null = api.own.key) {
  const file = join(directory, `${newRequestId()}.jsonl`);
  writeFileSync(file, lines.join('\n'));
  const printed: string[] = [];
  const shown: string[] = [];
  const command = judgmentsCommand(() => ({
    url: api.url,
    key,
    progress: { write: (text) => shown.push(text) },
    print: (line) => printed.push(line),
  }));
  const work = command.exitOverride().parseAsync(['import', file, ...options], { from: 'user' });
  const failure = await whileIngesting(work).then(
    () => null,
    (error: Error) => error.message,
  );
  return { printed: printed.join('\n'), shown: shown.join(''), failure };
}

async function evaluator(name: string): Promise<string> {
  const body = { name, scoring_type: 'EXTERNAL', external_config: { adapter: 'imported' } };
  return ((await api.call('/v1/evaluator', { body })).body.data as { id: string }).id;
}
const countOf = async (evaluatorId: string) =>
  ((await api.call('/v1/evaluation/query', { body: { evaluatorId, limit: 100 } })).body.data as unknown[])
    .length;

t.test('requests are logged and their judgments imported; a second run stores nothing', async (t) => {
  const id = await evaluator('From a file');
  const lines = Array.from({ length: 30 }, (_, index) => {
    const log = JSON.stringify(call({ expected: 'E' })).replace('"E"', '1.10');
    return `{"requestId":"${newRequestId()}","score":${index % 2},"log":${log}}`;
  });
  const first = await run(lines, ['--evaluator', 'From a file']);
  t.strictSame(first, { printed: '30 judgments stored, 0 were there already', shown: '', failure: null });
  t.equal(await countOf(id), 30);
  const again = await run(lines, ['--evaluator', id]);
  t.equal(again.printed, '0 judgments stored, 30 were there already');
  t.equal(await countOf(id), 30);
  const { requestId } = JSON.parse(lines[0]!) as { requestId: string };
  const { text } = await api.call(`/v1/request/${requestId}?includeExpected=true`);
  t.ok(text.includes('"expected":1.10'), 'what is logged is sent as it is written');
});

t.test('lines that cannot be imported are named with their rule, and the others are stored', async (t) => {
  const id = await evaluator('Mixed');
  const good = { requestId: newRequestId(), score: 1, log: call() };
  const lines = [
    JSON.stringify(good),
    '',
    '{"requestId":',
    '[1]',
    '{"requestId":"never logged","score":1}',
    `{"requestId":"${good.requestId}","score":"high"}`,
    JSON.stringify({ requestId: newRequestId(), score: 1, log: { provider: 'openai' } }),
    JSON.stringify({ score: 1, log: call() }),
  ];
  const { shown, failure } = await run(lines, ['--evaluator', id]);
  t.equal(
    failure,
    '1 judgments stored, 0 were there already; 1 of unknown requests, 0 of requests that are not stored yet, 5 invalid',
  );
  t.match(shown, /^Line 3: This is not JSON/m);
  t.match(shown, /^Line 4: A line must be an object$/m);
  t.match(shown, /^Line 5: There is no such request$/m);
  t.match(shown, /^Line 6: score must be a number or a boolean or null, but is "high"$/m);
  t.match(shown, /^Line 7: model is required$/m);
  t.match(shown, /^Line 8: log must be an object/m);
  t.equal(await countOf(id), 1);
});

t.test('an unknown evaluator and a missing key are told before anything is sent', async (t) => {
  t.match(await run(['{}'], ['--evaluator', 'Nobody']), {
    failure: 'There is no evaluator with the id or the name "Nobody"',
  });
  t.match(await run(['{}'], ['--evaluator', 'x'], null), { failure: /^Set ASSAY_API_KEY/ });
  t.match(await run(['{}'], ['--evaluator', 'x'], 'sk-assay-wrong'), { failure: /API key/ });
});
