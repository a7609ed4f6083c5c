import t from 'tap';
import { combineDecisions, type Decision, parsePolicy } from '#core/rate-limit/mod.ts';

const decision = (policy: string, given: Partial<Decision>): Decision => ({
  isAdmitted: true,
  policy: parsePolicy(policy),
  remaining: 5,
  resetMs: 1_000,
  retryAfterMs: 0,
  isDegraded: false,
  ...given,
});
const own = (given: Partial<Decision> = {}) => decision('10;w=60', given);
const named = (given: Partial<Decision> = {}) => decision('100;w=60;s=user', given);
const described = (one: Decision, other: Decision) => combineDecisions(one, other).policy.text;

t.test(
  'of two policies the one with the least left is described, the key’s own when both have as much',
  async (t) => {
    t.equal(described(own({ remaining: 4 }), named({ remaining: 5 })), own().policy.text);
    t.equal(described(own({ remaining: 5 }), named({ remaining: 4 })), named().policy.text);
    t.equal(described(own({ remaining: 5 }), named({ remaining: 5 })), own().policy.text);
  },
);

t.test('rests in different units are compared by their share of the quota', async (t) => {
  const cents = (remaining: number) => decision('1;w=60;u=cents', { remaining });
  t.equal(described(own({ remaining: 5 }), cents(4_000_000)), cents(0).policy.text);
  t.equal(described(own({ remaining: 5 }), cents(6_000_000)), own().policy.text);
});

t.test('a refusal is described by the policy that refuses, for the later time', async (t) => {
  const refused = { isAdmitted: false, remaining: 0 };
  const byOwn = combineDecisions(own({ ...refused, retryAfterMs: 2_000 }), named({ remaining: 0 }));
  t.match(byOwn, { isAdmitted: false, policy: { quota: 10 }, retryAfterMs: 2_000 });
  const byBoth = combineDecisions(
    own({ ...refused, retryAfterMs: 2_000 }),
    named({ ...refused, retryAfterMs: 9_000, isDegraded: true }),
  );
  t.match(byBoth, { isAdmitted: false, policy: { quota: 100 }, retryAfterMs: 9_000, isDegraded: true });
});
