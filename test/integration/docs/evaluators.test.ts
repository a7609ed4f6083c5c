import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { MAX_CODE_LIMITS } from '#core/contracts/evaluator.ts';

import {
  EVALUATION_ERROR_CODES,
  EVALUATION_STATES,
  PROBES,
  SCORERS,
  SCORING_TYPES,
  SKIP_REASONS,
} from '#core/scoring/mod.ts';
import type { EvaluatorService } from '../../../api/evaluators/mod.ts';
import { evaluationRoutes } from '../../../api/routes/evaluations.ts';
import { evaluatorRoutes } from '../../../api/routes/evaluators.ts';
import { webhookHeaders } from '../../../evaluators/external/webhook-headers.ts';
import { DEFAULT_LIMITS } from '../../../evaluators/python/mod.ts';
import { IMPORTABLE_MODULES } from '../../../evaluators/python/modules.ts';
import { SANDBOX_TIERS } from '../../../evaluators/python/zygote.ts';
import { waitFor } from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/guides/evaluators.md'), 'utf8');

/** The first column of the table whose head begins with this, without its backticks. */
function firstColumn(head: string): string[] {
  const table = document.slice(document.indexOf(`\n| ${head} |`)).split('\n\n')[0]!;
  return table
    .split('\n')
    .slice(3)
    .map((row) => (row.split('|')[1] ?? '').replaceAll('`', '').trim());
}

t.test('the tables of docs/guides/evaluators.md list exactly the values of the code', async (t) => {
  for (const [head, inCode] of [
    ['code', EVALUATION_ERROR_CODES],
    ['reason', SKIP_REASONS],
    ['state', EVALUATION_STATES],
    ['`scoring_type`', SCORING_TYPES],
    ['`scorer`', SCORERS],
    ['tier', SANDBOX_TIERS],
  ] as const) {
    t.same(firstColumn(head).sort(), [...inCode].sort(), head);
  }
});

t.test('docs/guides/evaluators.md has every route that is served, and no other', async (t) => {
  const options = {
    keys: { find: async () => null, ofBrowser: async () => null },
    evaluators: {} as EvaluatorService,
  };
  const served = [...evaluatorRoutes(options).routes, ...evaluationRoutes(options).routes]
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, '{}')}`);
  const documented = firstColumn('route').map((route) => route.replaceAll(/\{\w+\}/g, '{}'));
  t.same(documented.sort(), served.sort());
});

t.test('docs/guides/evaluators.md lists the importable modules, every probe, and the limits', async (t) => {
  const [, listed = ''] = /<!-- modules -->(.*)<!-- \/modules -->/s.exec(document) ?? [];
  t.same(
    [...listed.matchAll(/`([\w.]+)`/g)].map(([, name]) => name),
    IMPORTABLE_MODULES,
  );
  for (const probe of PROBES) t.match(document, `\`${probe}\` (`);
  for (const name of ['wallMs', 'cpuSeconds', 'memoryMb'] as const) {
    t.match(document, `| \`${name}\` | ${DEFAULT_LIMITS[name]} | ${MAX_CODE_LIMITS[name]} |`);
  }
});

t.test('the JSON examples in docs/guides/evaluators.md can be parsed', async (t) => {
  const examples = [...document.matchAll(/```json\n(.*?)```/gs)];
  t.ok(examples.length > 5);
  for (const [, example = ''] of examples) t.doesNotThrow(() => JSON.parse(example), example);
});

t.test(
  'the example service in docs/guides/evaluators.md accepts signed messages and refuses all others',
  async (t) => {
    const [, program = ''] = /```js\n(.*?)```/s.exec(document) ?? [];
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const port = await freePort();
    const parameters = ['--input-type=module', '--eval', program];
    const service = spawn(process.execPath, parameters, {
      env: { SIGNING_SECRET: secret, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    t.teardown(async () => {
      service.kill();
      await once(service, 'exit');
    });
    const url = `http://127.0.0.1:${port}/`;
    const isUp = () =>
      fetch(url).then(
        () => true,
        () => false,
      );
    await waitFor('the service', isUp);
    const body = JSON.stringify({ data: { request: { input: 'Where?', output: 'Here.' } } });
    const signed = webhookHeaders({ id: 'evaluation_1', atMs: Date.now(), body, secret });
    const post = (headers: Record<string, string>, sent = body) =>
      fetch(url, { method: 'POST', headers, body: sent });
    const answer = await post(signed);
    t.equal(answer.status, 200);
    t.match(await answer.json(), { score: 1 });
    t.equal((await post({})).status, 401);
    t.equal((await post(signed, `${body} `)).status, 401);
    t.equal((await post({ ...signed, 'webhook-id': 'evaluation_2' })).status, 401);
    const old = webhookHeaders({ id: 'evaluation_1', atMs: Date.now() - 600_000, body, secret });
    t.equal((await post(old)).status, 401);
  },
);
