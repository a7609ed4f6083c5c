import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { systemClock } from '#platform/process/clock.ts';
import { createJudgeClient } from '../../../../evaluators/llm/mod.ts';
import { certificateFiles, makeCertificate } from '../../../support/make-certificate.ts';

/** Starts a gateway with one certificate, and a judge client that trusts the certificate in a file. */
async function setUp(t: Test) {
  const shown = makeCertificate('llm.example.com');
  const trusted = certificateFiles(shown);
  const heads: string[] = [];
  const gateway = createServer(shown, (request, response) => {
    heads.push(`${request.method} ${request.url}`);
    response.setHeader('connection', 'close');
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  const edge = createJudgeClient({
    gatewayUrl: `https://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    gatewayCertFile: trusted.certFile,
    internalHeaders: () => ({ 'service-internal': 'hush' }),
    timeouts: { connectMs: 5_000, firstByteMs: 5_000, totalMs: 10_000 },
    clock: systemClock,
  });
  t.teardown(async () => {
    await edge.close();
    gateway.close();
    gateway.closeAllConnections();
    trusted.remove();
  });
  return { gateway, trusted, heads, call: () => edge.sessionFor('o', 'e').send({ model: 'gpt-4o' }) };
}

t.test('a judge is called at a gateway with the trusted certificate, whatever name is in it', async (t) => {
  const { call } = await setUp(t);
  t.match(await call(), { kind: 'answer', status: 200 });
});

t.test('a gateway with another certificate of the same name receives no byte of a judge call', async (t) => {
  const { trusted, heads, call, gateway } = await setUp(t);
  gateway.setSecureContext(makeCertificate('llm.example.com'));
  t.match(await call(), {
    kind: 'unreachable',
    detail: 'The gateway does not show the certificate in GATEWAY_CERT_FILE',
  });
  t.same(heads, []);
  trusted.remove();
  t.match(await call(), { kind: 'unreachable' }, 'nor does one when the file is gone');
});

t.test(
  'judge calls succeed throughout a renewal of the certificate, whichever side reads it first',
  async (t) => {
    const { trusted, call, gateway } = await setUp(t);
    const renewed = makeCertificate('llm.example.com');
    trusted.write(renewed);
    t.match(await call(), { kind: 'answer' }, 'the gateway still shows the former one');
    gateway.setSecureContext(renewed);
    t.match(await call(), { kind: 'answer' });
    const third = makeCertificate('llm.example.com');
    trusted.write(third);
    gateway.setSecureContext(third);
    t.match(await call(), { kind: 'answer' });
  },
);
