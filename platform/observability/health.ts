import { Elysia } from 'elysia';
import { describeError } from '#core/contracts/errors.ts';
import { Reply } from '../http-server/exchange/mod.ts';
import { settlesWithin } from '../process/deadline.ts';

export type HealthOptions = {
  /** Prometheus text of this process. */
  metrics: { text(): Promise<string>; contentType: string };
  /** What must answer for the process to be of use, by name: each rejects when it does not. */
  checks: Record<string, () => Promise<unknown>>;
  /** What else an operator should see of it beside them; decides nothing. */
  facts?: Record<string, string>;
};

const CHECK_TIMEOUT_MS = 2_000;

async function runCheck(check: () => Promise<unknown>): Promise<string> {
  try {
    return (await settlesWithin(check(), CHECK_TIMEOUT_MS))
      ? 'ok'
      : `no answer within ${CHECK_TIMEOUT_MS} ms`;
  } catch (error) {
    return describeError(error) || 'failed';
  }
}

function json(status: number, body: unknown): Response {
  return new Reply(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}

/**
 * `/healthz` (the process serves), `/readyz` (its stores answer; 503 names the part that does not) and `/metrics`.
 */
export function healthRoutes(options: HealthOptions) {
  return new Elysia({ name: 'core/health' })
    .get('/healthz', () => json(200, { status: 'ok' }))
    .get('/readyz', async () => {
      const names = Object.keys(options.checks);
      const results = await Promise.all(Object.values(options.checks).map(runCheck));
      const ready = results.every((result) => result === 'ok');
      const checks = Object.fromEntries(
        names.map((name, index) => [name, results[index] === 'ok' ? 'ok' : 'failed']),
      );
      return json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks, ...options.facts });
    })
    .get(
      '/metrics',
      async () =>
        new Reply(await options.metrics.text(), { headers: { 'content-type': options.metrics.contentType } }),
    );
}

/** For a role that serves nothing else. */
export function healthApp(options: HealthOptions) {
  return new Elysia({ normalize: false, handler: { standardHostname: false } })
    .use(healthRoutes(options))
    .compile();
}
