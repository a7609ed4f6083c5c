/** docs/guides/routing.md and what docs/guides/models.md says of groups. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ErrorCode } from '#core/contracts/errors.ts';
import { parseModelsFile } from '#core/models/mod.ts';
import { readConfig } from '#platform/config/mod.ts';
import { createResolver } from '../../../../gateway/providers/resolve.ts';
import { createPlanner } from '../../../../gateway/routing/mod.ts';
import {
  type AttemptOutcome,
  isWorthFallingBack,
  isWorthRetrying,
  parseRetries,
} from '../../../../gateway/routing/retry.ts';
import { rowsOf } from '../../../support/markdown-tables.ts';

const read = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../../../docs/guides', name), 'utf8');
const routing = read('routing.md');
const models = read('models.md');
const unquoted = (text: string) => text.replaceAll('`', '');

function planner(file: unknown) {
  const parsed = parseModelsFile(JSON.stringify(file));
  const config = readConfig({ CUSTOM_BASE_URL: 'http://127.0.0.1:9/v1' });
  if (!parsed.ok || !config.ok) throw new Error('The example cannot be used');
  const resolve = createResolver(config.config.providers);
  return createPlanner({ resolve, groups: parsed.value.groups, random: () => 0.5 });
}

/** A section with its heading. */
const sectionOf = (heading: string) =>
  `\n${routing.slice(routing.indexOf(`\n## ${heading}\n`)).split('\n## ')[1]}`;

t.test(
  'wrong lists in docs/guides/routing.md are refused with the code and message beside them',
  async (t) => {
    const plan = planner({});
    const rows = rowsOf(sectionOf('Lists'), '`model`');
    t.equal(rows.length, 5);
    for (const [model = '', code = '', message = ''] of rows) {
      t.throws(() => plan(unquoted(model)), { code, message }, model);
    }
  },
);

t.test('every form of model in docs/guides/routing.md is accepted', async (t) => {
  const [, example = ''] = /```json\n(\{\s*"groups".*?)```/s.exec(models) ?? [];
  const groups = JSON.parse(example.replace('"house-llama"', '"custom/house-llama"'));
  const plan = planner(groups);
  const rows = rowsOf(routing, '`model`').map(([model = '']) => [
    model,
    plan(unquoted(model)).candidates.length,
  ]);
  t.same(rows, [
    ['`gpt-4o-mini`', 1],
    ['`groq/llama-3.3-70b`', 1],
    ['`gpt-4o,claude-sonnet-5`', 2],
    ['`fast`', 3],
  ]);
});

t.test('the outcomes in docs/guides/routing.md are retried, or not, as its table says', async (t) => {
  const failed = (errorCode: ErrorCode): AttemptOutcome => ({ status: 0, headers: {}, errorCode });
  const answered = (status: number): AttemptOutcome => ({ status, headers: {}, errorCode: null });
  const outcomes: Record<string, AttemptOutcome[]> = {
    'no connection, a broken one, silence': [failed('provider_unreachable'), failed('provider_timeout')],
    '408, 409, 429, 5xx': [408, 409, 429, 500, 502, 503, 504, 529].map(answered),
    '401, 402, 403, 404': [401, 402, 403, 404].map(answered),
    'an answer that is no completion': [failed('provider_bad_answer')],
    "no connection of the gateway's was free (`provider_busy`)": [failed('provider_busy')],
    '400, 413, 422, any other 4xx': [400, 405, 410, 413, 415, 422, 451].map(answered),
    'an answer': [200, 204].map(answered),
  };
  const rows = rowsOf(routing, 'outcome');
  t.same(
    rows.map(([outcome]) => outcome),
    Object.keys(outcomes),
  );
  for (const [outcome = '', again, elsewhere] of rows) {
    for (const one of outcomes[outcome]!) {
      t.equal(isWorthRetrying(one) ? 'yes' : 'no', again, `${outcome}: ${one.status}`);
      t.equal(isWorthFallingBack(one) ? 'yes' : 'no', elsewhere, `${outcome}: ${one.status}`);
    }
  }
});

t.test('docs/guides/routing.md has the number of retries and their bounds', async (t) => {
  const [, num = ''] = rowsOf(routing, 'header')[1]!;
  const [, least, most, unlessGiven] = /(\d) to (\d); (\d) unless given/.exec(num) ?? [];
  t.equal(parseRetries({ isEnabled: true, num: null }), Number(unlessGiven));
  for (const allowed of [least!, most!])
    t.equal(parseRetries({ isEnabled: true, num: allowed }), Number(allowed));
  for (const beyond of [Number(least) - 1, Number(most) + 1]) {
    t.throws(() => parseRetries({ isEnabled: true, num: String(beyond) }), { code: 'invalid_header' });
  }
});

t.test('docs/guides/models.md has every field of a group, and no other', async (t) => {
  const fields = rowsOf(models, 'of a group').map(([field = '']) => unquoted(field));
  t.same(fields, ['id', 'routes', 'model', 'weight']);
});
