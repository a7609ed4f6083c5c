/**
 * Everything over TLS, as `npm start` runs it with a certificate of the operator's: clients, the API, judges through two
 * gateways, a renewal, a restart, the container's health check. Under Node and Deno.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { leafFingerprint } from '#platform/tls/mod.ts';
import { inheritedEnvironment, type Runtime, startAssay, waitFor } from '../../support/assay.ts';
import { certificateFiles, makeCertificate } from '../../support/make-certificate.ts';
import type { Behaviour } from '../../support/scripted-provider.ts';
import { scriptedProvider } from '../../support/world.ts';

const JUDGE_MODEL = 'gpt-4o';
const HEALTH_CHECK = fileURLToPath(new URL('../../../scripts/image/healthcheck.ts', import.meta.url));

type Json = Record<string, unknown>;

async function setUp(t: Test, runtime: Runtime) {
  const provider = await scriptedProvider(t);
  provider.script((asked): Behaviour => {
    const { model } = JSON.parse(asked.body.toString()) as { model: string };
    if (model !== JUDGE_MODEL) return { kind: 'answer', text: 'A polite answer.' };
    const verdict = JSON.stringify({ reasoning: 'As the rubric says.', score: true });
    return { kind: 'answer', text: null, toolCalls: [{ name: 'submit_verdict', arguments: verdict }] };
  });
  const files = certificateFiles(makeCertificate('llm.example.com'));
  const assay = await startAssay({
    runtime,
    environment: {
      HOST: '0.0.0.0',
      GATEWAYS: '2',
      TLS_CERT_FILE: files.certFile,
      TLS_KEY_FILE: files.keyFile,
      OPENAI_API_KEY: 'sk-operator',
      OPENAI_BASE_URL: provider.url,
    },
  });
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  t.teardown(async () => {
    await agent.destroy();
    await assay.stop();
    files.remove();
  });
  const post = async (url: string, body: unknown): Promise<Json> => {
    const headers = { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json' };
    const options = { method: 'POST', headers, dispatcher: agent, body: JSON.stringify(body) } as const;
    const answer = await request(url, options);
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode} ${text}`);
    return JSON.parse(text) as Json;
  };
  const call = () =>
    post(`${assay.gatewayUrl}/v1/chat/completions`, {
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hello' }],
    });
  const api = async (path: string, body: unknown) => (await post(assay.apiUrl + path, body)).data;
  const shown = async (url: string) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { fingerprint256 } = socket.getPeerCertificate();
    socket.destroy();
    return fingerprint256;
  };
  return { assay, files, call, api, shown };
}

/** What the image's health check says of a role, and whether it ends with 0. */
async function checkHealth(role: string, environment: Record<string, string>): Promise<string> {
  const env = { ...inheritedEnvironment(), ...environment };
  const parameters = ['--disable-warning=ExperimentalWarning', HEALTH_CHECK, role];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { env });
  return stdout.trim();
}

for (const runtime of ['node', 'deno'] as const) {
  t.test(`calls, judges, a renewal and a restart over TLS, under ${runtime}`, async (t) => {
    const { assay, files, call, api, shown } = await setUp(t, runtime);
    t.match(assay.gatewayUrl, /^https:/);
    t.match(assay.apiUrl, /^https:/);
    const polite = (await api('/v1/evaluator', {
      name: 'polite',
      scoring_type: 'LLM-BOOLEAN',
      llm_template: { model: JUDGE_MODEL, prompt: 'Is this answer polite?' },
    })) as Json;
    await api(`/v1/evaluator/${polite.id}/onlineEvaluators`, { config: { sampleRate: 100 } });
    const judged = async (count: number) =>
      waitFor(
        `${count} verdicts`,
        async () => {
          const filter = { evaluatorId: polite.id, state: 'completed', limit: 100 };
          return ((await api('/v1/evaluation/query', filter)) as Json[]).length >= count;
        },
        60_000,
      );
    await call();
    await judged(1);

    for (const [role, variable, url] of [
      ['gateway', 'GATEWAY_PORT', assay.gatewayUrl],
      ['api', 'API_PORT', assay.apiUrl],
    ] as const) {
      const environment = {
        HOST: '0.0.0.0',
        [variable]: new URL(url).port,
        TLS_CERT_FILE: files.certFile,
        TLS_KEY_FILE: files.keyFile,
      };
      t.equal(await checkHealth(role, environment), 'healthy', `the ${role} is found healthy over TLS`);
    }

    const renewed = makeCertificate('llm.example.com');
    files.write(renewed);
    for (const url of [assay.gatewayUrl, assay.apiUrl])
      await waitFor('the renewal', async () => (await shown(url)) === leafFingerprint(renewed.cert));
    await call();
    await judged(2);

    assay.process.kill('SIGUSR2');
    await waitFor('the restart', () => assay.stderr().includes('Restarted the gateways'), 60_000);
    await call();
    await judged(3);
    t.notMatch(assay.stderr(), /HOST is not loopback/, 'there is nothing to warn of');
    t.same(await assay.stop(), { code: 0, signal: null });
  });
}
