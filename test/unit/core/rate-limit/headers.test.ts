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

t.test('an admitted call says the limit, the policy, what is left and when all is free', async (t) => {
  t.same(rateLimitHeaders(decision({})), [
    ['Service-RateLimit-Limit', '100'],
    ['Service-RateLimit-Policy', '100;w=60;u=request;s=user'],
    ['Service-RateLimit-Remaining', '41'],
    ['Service-RateLimit-Reset', '61'],
    ['RateLimit-Policy', '"default";q=100;w=60'],
    ['RateLimit', '"default";r=41;t=61'],
  ]);
});

t.test(
  'a refused call says when one more would pass, and that the client need not try by itself',
  async (t) => {
    const headers = new Map(
      rateLimitHeaders(decision({ isAdmitted: false, remaining: 0, retryAfterMs: 12_001 })),
    );
    t.equal(headers.get('Retry-After'), '13');
    t.equal(headers.get('x-should-retry'), 'false');
    t.equal(headers.get('Service-RateLimit-Remaining'), '0');
    t.equal(headers.get('RateLimit'), '"default";r=0;t=13', 'Retry-After does not come before t');
    const soon = new Map(rateLimitHeaders(decision({ isAdmitted: false, remaining: 0, retryAfterMs: 0 })));
    t.equal(soon.get('Retry-After'), '1', 'a client that is refused waits a second at least');
  },
);

t.test(
  'cents are told in cents, whole ones as left, and not in fields that would take them for requests',
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

t.test('what is left is whole and never negative', async (t) => {
  const headers = new Map(rateLimitHeaders(decision({ remaining: -3.5 })));
  t.equal(headers.get('Service-RateLimit-Remaining'), '0');
});
