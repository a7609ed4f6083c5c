/** The gate as CI runs it: the file that the API hands out, over everything that `npm start` runs. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { ExperimentListJson } from '#core/contracts/experiment.ts';
import type { GateJson } from '#core/contracts/gate.ts';
import { waitFor } from '../../support/assay.ts';
import type { Behaviour } from '../../support/scripted-provider.ts';
import { startWorld } from './world.ts';

const ITEMS = 60;

const world = await startWorld(t);
const { api, provider, assay } = world;
const directory = mkdtempSync(join(tmpdir(), 'assay-gate-'));
t.teardown(() => rmSync(directory, { recursive: true }));
const program = join(directory, 'assay-gate.mjs');
const downloaded = await fetch(`${assay.apiUrl}/cli/assay-gate.mjs`);
writeFileSync(program, await downloaded.text());

type Ended = { status: number | null; stdout: string; stderr: string };

/** Runs the program where there is nothing of Assay. */
function gate(
  parameters: string[],
  more: { key?: string; signalWhen?: () => Promise<void> } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...parameters], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      ASSAY_URL: assay.apiUrl,
      ASSAY_API_KEY: more.key ?? assay.key!,
      GITHUB_SHA: 'abc123',
      GITHUB_REF_NAME: 'main',
    },
  });
  void more.signalWhen?.().then(() => child.kill('SIGTERM'));
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
}

const { id: datasetId } = await api<{ id: string }>('POST', '/v1/dataset', { name: 'refunds' });
await api('POST', `/v1/dataset/${datasetId}/items`, {
  items: Array.from({ length: ITEMS }, (_, index) => ({
    externalId: `refund ${index}`,
    request: { model: 'gpt-4o', max_tokens: 20, messages: [{ role: 'user', content: `Question ${index}` }] },
  })),
});
await api('POST', '/v1/evaluator', {
  name: 'polite',
  scoring_type: 'PYTHON',
  code_template: { code: 'def evaluate(input, output):\n    return "please" in output' },
});

/** The first model is polite in two answers of three, the small one in each, the large one in none of the first ten. */
const answersOf = (model: string, index: number): boolean => {
  if (model === 'gpt-4o-mini') return true;
  if (model === 'gpt-4-turbo') return index >= 10 && index % 3 !== 0;
  return index % 3 !== 0;
};
provider.script((request): Behaviour => {
  const { model, messages } = JSON.parse(request.body.toString());
  const index = Number(/\d+/.exec(messages[0].content)![0]);
  if (model === 'gpt-3.5-turbo') return { kind: 'error', status: 400, message: 'No' };
  return { kind: 'answer', text: answersOf(model, index) ? 'Wait, please.' : 'Wait.' };
});

const common = ['--dataset', 'refunds', '--baseline', 'model:gpt-4o', '--concurrency', '32'];
const politely = [...common, '--rule', 'polite not-worse 0.02'];

t.test('a better model passes, and says by how much in JUnit and Markdown', async (t) => {
  const files = ['--junit', 'out.xml', '--markdown', 'summary.md'];
  const rules = ['--rule', 'cost <= 1x', '--rule', 'ungraded <= 1%'];
  const passed = await gate([...politely, '--target', 'model:gpt-4o-mini', ...rules, ...files]);
  t.match(passed, {
    status: 0,
    stdout: /The gate passed .*\n {2}pass {7}polite not-worse 0\.02\n\s+better: \+0\.3333 over 60 items/,
  });
  t.match(passed.stdout, /pass {7}errors = 0\n\s+0 of 60 answers failed/);
  t.match(passed.stdout, /pass {7}ungraded <= 1%\n\s+0 of 60 answers have no grade/);
  t.match(readFileSync(join(directory, 'out.xml'), 'utf8'), /tests="4" failures="0"/);
  t.match(
    readFileSync(join(directory, 'summary.md'), 'utf8'),
    /### ✅ The gate passed: `Gate: model:gpt-4o-mini`/,
  );
});

t.test('a worse model fails, and the baseline is not measured again', async (t) => {
  const before = provider.requests.length;
  const failed = await gate([...politely, '--target', 'model:gpt-4-turbo', '--markdown', 'summary.md']);
  t.match(failed, {
    status: 1,
    stdout: /The gate failed .*\n {2}fail {7}polite not-worse 0\.02\n\s+worse: -0\.1/,
  });
  t.equal(provider.requests.length - before, ITEMS);
  t.match(
    readFileSync(join(directory, 'summary.md'), 'utf8'),
    /Largest losses of `polite`:[\s\S]*`refund \d`/,
  );
  const { experiments } = await api<ExperimentListJson>('POST', '/v1/experiment/query', { datasetId });
  t.match(experiments[0], { git: { sha: 'abc123', branch: 'main' }, rules: ['polite not-worse 0.02'] });
  const again = await gate(['--experiment', experiments[0]!.id, '--rule', 'polite >= 0.5']);
  t.match(
    again,
    { status: 0, stdout: /The mean is 0\.5667, and must be >= 0\.5/ },
    'other rules on the same answers',
  );
});

t.test('what the data do not decide is undecided, or passes where that is wished', async (t) => {
  const same = [...common, '--target', '{"kind":"replay"}', '--rule', 'polite better'];
  t.match(await gate(same), { status: 2, stdout: /The gate is undecided/ });
  t.match(await gate([...same, '--undecided', 'pass']), { status: 0 });
});

t.test('answers that fail are no reason to pass', async (t) => {
  const failing = await gate([...politely, '--target', 'model:gpt-3.5-turbo']);
  t.match(failing, { status: 1, stdout: /fail {7}errors = 0\n\s+60 of 60 answers failed/ });
});

t.test('what cannot be run ends with 3 and the reason, before anything is spent', async (t) => {
  const before = provider.requests.length;
  const target = ['--target', 'model:gpt-4o'];
  const cases: [parameters: string[], why: RegExp][] = [
    [['--dataset', 'refunds'], /--dataset, --target, --baseline and --rule are required/],
    [[...politely, ...target, '--colour', 'red'], /Unknown option '--colour'/],
    [[...politely, ...target, '--dataset', 'unknown'], /there is no dataset named "unknown"/],
    [[...politely, ...target, '--dataset', 'refunds@9'], /datasetVersion must be from 1 to 1, but is 9/],
    [[...politely, '--target', 'gpt-4o'], /a target is model:<model>, prompt:<prompt>/],
    [[...politely, '--target', 'prompt:none'], /there is no prompt named "none"/],
    [[...common, ...target, '--rule', 'kind better'], /there is no evaluator named "kind"/],
    // This baseline is not measured yet.
    [
      [...common, '--baseline', 'model:gpt-4', ...target, '--rule', 'polite > very'],
      /The rule "polite > very" has no number/,
    ],
    [[...politely, ...target, '--junit', 'none/gate.xml'], /"none\/gate.xml" cannot be written: ENOENT/],
    [[...politely, ...target, '--junit', '.'], /"\." cannot be written: it is a directory/],
    [['--experiment', datasetId, '--dry-run'], /--dry-run tells what an experiment would take/],
    [[...politely, ...target, '--url', 'assay.example.com'], /must be like https:.*is "assay.example.com"/],
    [[...politely, ...target, '--url', ''], /set ASSAY_URL, or --url, to the address of the API/],
    [[...politely, ...target, '--repetitions', 'two'], /--repetitions must be a number, but is "two"/],
    [
      [...politely, ...target, '--max-cost', '0.0000001', '--target', 'model:gpt-4o-mini'],
      /has spent its budget/,
    ],
  ];
  for (const [parameters, why] of cases)
    t.match(await gate(parameters), { status: 3, stdout: why }, String(why));
  t.match(await gate([...politely, ...target], { key: 'sk-assay-wrong' }), {
    status: 3,
    stdout: /could not be run: /,
  });
  t.equal(provider.requests.length, before);
});

t.test('grades that do not come end with 3 and the reason, not after an hour', async (t) => {
  const judge = { scoring_type: 'LLM-BOOLEAN', llm_template: { model: 'gpt-4.1', prompt: 'Kind?' } };
  const { id } = await api<{ id: string }>('POST', '/v1/evaluator', { name: 'kind', ...judge });
  await api('POST', '/v1/evaluator', { name: 'unpaid', ...judge, daily_budget_usd: 0 });
  provider.script((request): Behaviour => {
    const isJudge = JSON.parse(request.body.toString()).model === 'gpt-4.1';
    return isJudge
      ? { kind: 'error', status: 401, message: 'Incorrect API key' }
      : { kind: 'answer', text: 'Wait.' };
  });
  const asked = [...common, '--target', 'model:gpt-4o-mini', '--timeout', '1'];
  t.match(await gate([...asked, '--rule', 'unpaid better']), {
    status: 3,
    stdout: /grades of "Baseline: model:gpt-4o" by "unpaid" wait for the next day \(UTC\), as the budget/,
  });
  const paused = /the evaluator "kind" is paused \(auth: .*401.*\); mend the cause, then resume it/;
  t.match(await gate([...asked, '--rule', 'kind better']), { status: 3, stdout: paused });
  t.not((await api<{ paused: object | null }>('GET', `/v1/evaluator/${id}`)).paused, null);
  const made = () => api<ExperimentListJson>('POST', '/v1/experiment/query', { datasetId, limit: 100 });
  const { length: before } = (await made()).experiments;
  t.match(await gate([...asked, '--rule', 'kind better']), { status: 3, stdout: paused });
  t.equal((await made()).experiments.length, before, 'it is known before anything is spent');
});

t.test('a dry run tells the price and the smallest difference that can be found', async (t) => {
  const told = await gate([...politely, '--target', 'model:gpt-4o-mini', '--dry-run']);
  t.match(told, {
    status: 0,
    stdout: /60 items, 60 calls\nanswers: \$0\.\d+, at most \$0\.\d+; judges: \$0\.0000\n/,
  });
  t.match(told.stdout, /polite: a difference of 0\.\d+ is found four times in five, by its last \d+ scores/);
});

t.test(
  'a dry run has the price of a baseline that is not measured yet, and the scale of the evaluator',
  async (t) => {
    await api('POST', '/v1/evaluator', {
      name: 'depth',
      scoring_type: 'LLM-RANGE',
      llm_template: { model: 'gpt-4o', prompt: 'How deep?', min: 0, max: 10 },
    });
    const told = await gate([
      ...common,
      '--rule',
      'depth better',
      '--target',
      'model:gpt-4o-mini',
      '--dry-run',
    ]);
    t.match(told.stdout, /the baseline is not measured yet: 60 calls more\nanswers: \$0\.\d+, at most/);
    t.match(
      told.stdout,
      /depth: a difference of \d\.\d is found .*, if its scores spread over its whole scale\n$/,
    );
    const measured = await gate([...politely, '--target', 'model:gpt-4o-mini', '--dry-run']);
    t.notMatch(measured.stdout, /baseline/);
  },
);

t.test('a dataset is found by its name beside a hundred newer ones that hold it', async (t) => {
  for (let made = 0; made < 101; made += 1)
    await api('POST', '/v1/dataset', { name: `refunds ${made}`, description: '' });
  const told = await gate([...politely, '--target', 'model:gpt-4o-mini', '--dry-run']);
  t.match(told, { status: 0, stdout: /60 items/ });
});

t.test('a gate that is stopped cancels what it started', async (t) => {
  provider.script((): Behaviour => ({ kind: 'hang' }));
  const before = provider.requests.length;
  const signalWhen = () => waitFor('a call', () => provider.requests.length > before);
  const stopped = await gate([...politely, '--target', 'model:gpt-4o-mini', '--name', 'Stopped'], {
    signalWhen,
  });
  t.match(stopped, { status: 3, stdout: /it was stopped/ });
  const { experiments } = await api<ExperimentListJson>('POST', '/v1/experiment/query', { datasetId });
  t.match(experiments[0], { name: 'Stopped', state: 'cancelled' });
  await t.rejects(api<GateJson>('POST', `/v1/experiment/${experiments[0]!.id}/gate`, {}), {
    message: /409 The experiment "Stopped" is cancelled: \d+ answers and 0 grades are missing/,
  });
});

t.test('a baseline is cancelled when its candidate cannot be made', async (t) => {
  const waiting: string[] = [];
  for (let made = 0; made < 19; made += 1) {
    const body = { name: `Waits ${made}`, datasetId, target: { kind: 'external' } };
    waiting.push((await api<{ id: string }>('POST', '/v1/experiment', body)).id);
  }
  provider.script((): Behaviour => ({ kind: 'hang' }));
  const asked = [...common, '--rule', 'polite better', '--baseline', 'model:gpt-4.1-mini'];
  t.match(await gate([...asked, '--target', 'model:gpt-4o-mini']), { status: 3, stdout: /at most 20 exper/ });
  const { experiments } = await api<ExperimentListJson>('POST', '/v1/experiment/query', { datasetId });
  t.match(experiments[0], { name: 'Baseline: model:gpt-4.1-mini', state: 'cancelled' });
  for (const id of waiting) await api('POST', `/v1/experiment/${id}/cancel`);
});
