/** A key makes no key that is wider than itself, in any respect. */
import fc from 'fast-check';
import t from 'tap';
import { findExcess, type Grant, matchesAny, SCOPES } from '#core/keys/mod.ts';
import { createWindow, parsePolicy, windowShape } from '#core/rate-limit/mod.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { admit } from '../../../support/window-model.ts';

const WIDEST: Grant = {
  scopes: SCOPES,
  models: null,
  providers: null,
  paths: null,
  rateLimitPolicy: null,
  expiresAt: null,
};

const globs = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 4 });
const lists = fc.option(fc.array(globs, { minLength: 1, maxLength: 3 }), { nil: null });
const policies = fc.option(
  fc
    .tuple(
      fc.integer({ min: 1, max: 30 }),
      fc.constantFrom(60, 90, 120, 300),
      fc.constantFrom('', ';u=cents', ';s=user'),
    )
    .map(([quota, windowS, rest]) => parsePolicy(`${quota};w=${windowS}${rest}`).text),
  { nil: null },
);
const grants: fc.Arbitrary<Grant> = fc.record({
  scopes: fc.subarray([...SCOPES], { minLength: 1 }),
  models: lists,
  providers: fc.option(fc.subarray(['openai', 'anthropic', 'azure'], { minLength: 1 }), { nil: null }),
  paths: lists,
  rateLimitPolicy: policies,
  expiresAt: fc.option(
    fc.integer({ min: 1, max: 5 }).map((day) => new Date(Date.UTC(2030, 0, day))),
    { nil: null },
  ),
});

/** A key to be made and its maker, alike in most respects, so that many are no wider. */
const pairs = fc
  .tuple(grants, grants, fc.array(fc.nat(3), { minLength: 6, maxLength: 6 }))
  .map(([own, other, dice]): [wanted: Grant, own: Grant] => {
    const fields = Object.keys(own) as (keyof Grant)[];
    const copied = fields.filter((_, index) => dice[index]! > 0).map((field) => [field, own[field]]);
    return [{ ...other, ...Object.fromEntries(copied) }, own];
  });

t.test('whatever a key that is no wider admits, its maker admits', async (t) => {
  const names = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 5 }), {
    minLength: 10,
    maxLength: 10,
  });
  const admits = (list: readonly string[] | null, name: string) => list === null || matchesAny(list, [name]);
  let compared = 0;
  const check = fc.property(pairs, names, ([wanted, own], words) => {
    if (findExcess(wanted, own) !== null) return true;
    compared += 1;
    return (
      wanted.scopes.every((scope) => own.scopes.includes(scope)) &&
      words.every((word) => !admits(wanted.models, word) || admits(own.models, word)) &&
      words.every((word) => !admits(wanted.paths, word) || admits(own.paths, word)) &&
      ['openai', 'anthropic', 'azure', 'groq'].every(
        (name) => !admits(wanted.providers, name) || admits(own.providers, name),
      ) &&
      (own.expiresAt === null || (wanted.expiresAt !== null && wanted.expiresAt <= own.expiresAt))
    );
  });
  fc.assert(check, runs(t, 5_000));
  t.ok(compared > 500, `${compared} were no wider`);
});

t.test('every key is no wider than itself, and than the key that is confined in nothing', async (t) => {
  const check = fc.property(
    grants,
    (grant) => findExcess(grant, grant) === null && findExcess(grant, WIDEST) === null,
  );
  fc.assert(check, runs(t, 1_000));
});

t.test(
  'calls under a policy that is no wider stay within the quota of the wider one in every interval',
  async (t) => {
    const own = parsePolicy('20;w=300');
    const narrower = fc.record({
      quota: fc.integer({ min: 1, max: 20 }),
      windowS: fc.integer({ min: 60, max: 700 }),
    });
    const gaps = fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 40, maxLength: 200 });
    const check = fc.property(narrower, gaps, ({ quota, windowS }, gapsMs) => {
      const rateLimitPolicy = `${quota};w=${windowS}`;
      if (findExcess({ ...WIDEST, rateLimitPolicy }, { ...WIDEST, rateLimitPolicy: own.text }) !== null)
        return true;
      const window = createWindow(windowShape(windowS));
      const admitted: number[] = [];
      let now = 1_000_000;
      for (const gap of gapsMs) {
        now += gap;
        if (admit(window, now, 1, quota)) admitted.push(now);
      }
      const within = (from: number) =>
        admitted.filter((at) => at >= from && at < from + own.windowS * 1_000).length;
      return admitted.every((from) => within(from) <= own.quota);
    });
    fc.assert(check, runs(t, 1_000));
  },
);

t.test(
  'a policy of a longer window and a smaller quota is no wider, and the same quota in a shorter one is',
  async (t) => {
    const excess = (wanted: string | null, own: string | null) =>
      findExcess({ ...WIDEST, rateLimitPolicy: wanted }, { ...WIDEST, rateLimitPolicy: own });
    t.equal(excess('10;w=60', '10;w=60'), null);
    t.equal(excess('10;w=3600', '10;w=60'), null);
    t.equal(excess('1;w=60', '60;w=3600'), null, 'sixty windows of one');
    t.match(excess('2;w=60', '60;w=3600'), { field: 'rate_limit_policy', reason: /admits more/ });
    t.match(excess('1;w=61', '1;w=120'), { reason: /admits more/ }, 'two of its windows begin within one');
    t.match(excess('1;w=60;s=user', '10;w=60'), { reason: /counts something else/ });
    t.match(excess('1;w=60;u=cents', '10;w=60'), { reason: /counts something else/ });
    t.match(excess(null, '10;w=60'), { reason: /would have none/ });
    t.equal(excess('1000;w=60;s=plan', null), null);
  },
);

t.test('the respect in which a key is too wide is named, with what is too much', async (t) => {
  const own: Grant = {
    ...WIDEST,
    scopes: ['write'],
    models: ['gpt-4o*', 'claude-*'],
    expiresAt: new Date('2030-01-02T00:00:00Z'),
  };
  const wanted = { ...own, models: ['gpt-4o-mini'] };
  t.equal(findExcess(wanted, own), null);
  t.match(findExcess({ ...wanted, scopes: ['write', 'read'] }, own), { field: 'scopes', reason: /"read"/ });
  t.match(findExcess({ ...wanted, models: ['gpt-4o-mini', 'gpt-*'] }, own), {
    field: 'models',
    reason: /cover "gpt-\*"/,
  });
  t.match(findExcess({ ...wanted, models: null }, own), { field: 'models' });
  t.match(findExcess({ ...wanted, expiresAt: null }, own), {
    field: 'expires_at',
    reason: /2030-01-02T00:00:00.000Z/,
  });
  t.match(findExcess({ ...wanted, expiresAt: new Date('2030-01-02T00:00:00.001Z') }, own), {
    field: 'expires_at',
  });
});
