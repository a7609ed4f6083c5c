/** A gateway whose calls to providers leave through a proxy. */
import t from 'tap';
import { startConnectProxy } from '../../support/connect-proxy.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { scriptedProvider } from '../../support/world.ts';

const HELLO = { messages: [{ role: 'user', content: 'Hello' }] };

t.test('providers are called through the proxy of the environment, except those in NO_PROXY', async (t) => {
  const hosts: Record<string, number> = {};
  const credentials = 'ada:s3cret';
  const proxy = await startConnectProxy(t, { hosts, credentials });
  const near = await scriptedProvider(t);
  const { chat, record, provider } = await startTestGateway(t, {
    http_proxy: `http://${credentials}@127.0.0.1:${proxy.port}`,
    OPENAI_BASE_URL: 'http://openai.test:8000/v1',
    GROQ_BASE_URL: 'http://groq.test/v1',
    GROQ_API_KEY: 'sk-groq',
    NO_PROXY: 'groq.test:80',
    CUSTOM_BASE_URL: near.url,
    CUSTOM_API_KEY: 'sk-custom',
  });
  hosts['openai.test'] = provider.port;

  const far = await chat({ ...HELLO, model: 'gpt-4o-mini' });
  t.equal(far.status, 200);
  t.match(await record(far), { status: 200, provider: 'OPENAI' });
  t.equal(provider.requests[0]?.headers.host, 'openai.test:8000');
  t.equal(provider.requests[0]?.headers['proxy-authorization'], undefined);

  t.equal(
    (await chat({ ...HELLO, model: 'custom/m' })).status,
    200,
    'what is on this machine is called directly',
  );
  const exempt = await chat({ ...HELLO, model: 'groq/llama' });
  t.equal(exempt.status, 502, 'what is exempt is looked for here, where there is no such name');
  t.same(
    proxy.requests.map(({ authority }) => authority),
    ['openai.test:8000'],
  );
});

t.test(
  "a proxy's refusal is reported to the client and in the record, and the next model is tried",
  async (t) => {
    const proxy = await startConnectProxy(t, { credentials: 'ada:s3cret' });
    const near = await scriptedProvider(t);
    const { chat, record } = await startTestGateway(t, {
      HTTP_PROXY: `http://ada:wr0ng@127.0.0.1:${proxy.port}`,
      OPENAI_BASE_URL: 'http://openai.test/v1',
      CUSTOM_BASE_URL: near.url,
      CUSTOM_API_KEY: 'sk-custom',
    });
    const refused = await chat({ ...HELLO, model: 'gpt-4o-mini' });
    t.equal(refused.status, 502);
    t.match(await refused.json(), {
      error: {
        code: 'provider_unreachable',
        message: 'The provider OPENAI could not be reached: the proxy refused the user name and the password',
      },
    });
    t.notMatch((await record(refused)).response_text, /wr0ng/);
    const elsewhere = await chat({ ...HELLO, model: 'gpt-4o-mini,custom/m' });
    t.equal(elsewhere.status, 200);
    t.equal(elsewhere.headers.get('service-fallback-index'), '1');
  },
);
