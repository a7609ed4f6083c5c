import { Elysia } from 'elysia';
import { describeError } from '#core/contracts/errors.ts';
import { Reply } from '../http-server/exchange/mod.ts';
import { settlesWithin } from '../process/deadline.ts';

export type HealthOptions = {
  /** Prometheus text of this process. */
  metrics: { text(): Promise<string>; contentType: string };
  /** Checks of the stores that the process needs, by name. Each rejects when its store does not respond. */
  checks: Record<string, () => Promise<unknown>>;
  /** Other facts for the operator in the response of `/readyz`; they do not affect its status. */
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
 * Creates the routes `/healthz` (the process serves), `/readyz` (its stores respond; a 503 names those that do not) and
 * `/metrics`.
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

/** Returns what answers the requests of a role that serves no other routes. The first of them compiles it. */
export function answerHealth(options: HealthOptions): (request: Request) => Response | Promise<Response> {
  const app = new Elysia({ normalize: false, handler: { standardHostname: false } }).use(
    healthRoutes(options),
  );
  return (request) => app.fetch(request);
}
