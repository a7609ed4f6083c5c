import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import type { CalledConfig, ExternalSecrets } from '#core/contracts/external.ts';
import type { Outcome, Subject } from '#core/scoring/mod.ts';
import { createOutbound, type Outbound, parseAllowList } from '#platform/outbound/mod.ts';
import { runExternalMany } from '../../../../evaluators/external/mod.ts';

export const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0, 750);
export const clock = { now: () => NOW_MS, monotonic: () => NOW_MS };

export function subjectOf(given: Partial<Subject> = {}): Subject {
  return {
    requestId: '01JD7Q0000000000000000000A',
    input: 'What is the capital of France?',
    output: 'Paris',
    request: { model: 'gpt-4o-mini', messages: [] },
    response: { choices: [] },
    inputs: { answer: 'Paris', 'a.b': 'dotted', list: ['x'] },
    expected: { city: 'Paris' },
    properties: { 'expected-city': 'Paris' },
    model: 'gpt-4o-mini',
    ...given,
  };
}

export type Received = { url: string; headers: IncomingHttpHeaders; body: string };

/** Starts a real service on loopback, with an outbound that may call it. */
export async function startService(
  t: Test,
  answer: (received: Received, response: ServerResponse) => void,
): Promise<{ url: string; received: Received[]; outbound: Outbound }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const got = {
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(got);
      answer(got, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const parsed = parseAllowList(['127.0.0.1']);
  if ('badEntry' in parsed) throw new Error(parsed.badEntry);
  const outbound = createOutbound({ allow: parsed.allow });
  t.teardown(async () => {
    await outbound.close();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/score`, received, outbound };
}

export const evaluator = { id: '7b0e6a52-6f3c-4f6e-9a57-1b1f1f3a2f10', version: 3, name: 'Capital check' };

/** Runs one evaluation and returns its outcome. */
export async function outcomeOf(options: {
  config: CalledConfig;
  secrets?: ExternalSecrets;
  subject?: Partial<Subject>;
  outbound: Outbound;
  evaluationId?: string;
}): Promise<Outcome> {
  const [evaluated] = await runExternalMany({
    config: options.config,
    secrets: options.secrets ?? {},
    evaluator,
    items: [{ subject: subjectOf(options.subject), evaluationId: options.evaluationId ?? '42' }],
    outbound: options.outbound,
    clock,
  });
  const { outcome, use } = evaluated!;
  if (use !== null) throw new Error('an external evaluator uses no judge');
  return outcome;
}
