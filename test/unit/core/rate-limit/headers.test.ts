import t from 'tap';
import { type Decision, parsePolicy, rateLimitHeaders } from '#core/rate-limit/mod.ts';

const decision = (given: Partial<Decision>): Decision => ({
  isAdmitted: true,
  policy: parsePolicy('100;w=60;s=user'),
  remaining: 41,
  resetMs: 60_500,
  retryAfterMs: 0,
  isDegraded: false,
  ...given,
});

t.test(
  'the headers of an admitted call give the limit, the policy, the remaining quota and the reset time',
  async (t) => {
    t.same(rateLimitHeaders(decision({})), [
      ['Service-RateLimit-Limit', '100'],
      ['Service-RateLimit-Policy', '100;w=60;u=request;s=user'],
      ['Service-RateLimit-Remaining', '41'],
      ['Service-RateLimit-Reset', '61'],
      ['RateLimit-Policy', '"default";q=100;w=60'],
      ['RateLimit', '"default";r=41;t=61'],
    ]);
  },
);

t.test(
  'the headers of a refused call tell the client when to retry, and not to retry automatically',
  async (t) => {
    const headers = new Map(
      rateLimitHeaders(decision({ isAdmitted: false, remaining: 0, retryAfterMs: 12_001 })),
    );
    t.equal(headers.get('Retry-After'), '13');
    t.equal(headers.get('x-should-retry'), 'false');
    t.equal(headers.get('Service-RateLimit-Remaining'), '0');
    t.equal(headers.get('RateLimit'), '"default";r=0;t=13', 'Retry-After is not earlier than t');
    const soon = new Map(rateLimitHeaders(decision({ isAdmitted: false, remaining: 0, retryAfterMs: 0 })));
    t.equal(soon.get('Retry-After'), '1', 'a refused client waits at least a second');
  },
);

t.test(
  'a policy in cents reports whole cents, and omits the draft fields that would read them as requests',
  async (t) => {
    const policy = parsePolicy('12.50;w=60;u=cents');
    t.same(rateLimitHeaders(decision({ policy, remaining: 29_999_999, isDegraded: true })), [
      ['Service-RateLimit-Limit', '12.5'],
      ['Service-RateLimit-Policy', '12.5;w=60;u=cents'],
      ['Service-RateLimit-Remaining', '2'],
      ['Service-RateLimit-Reset', '61'],
      ['Service-RateLimit-Degraded', 'true'],
    ]);
  },
);

t.test('Service-RateLimit-Remaining is a whole number and never negative', async (t) => {
  const headers = new Map(rateLimitHeaders(decision({ remaining: -3.5 })));
  t.equal(headers.get('Service-RateLimit-Remaining'), '0');
});
