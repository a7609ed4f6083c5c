/** The properties of compose.yaml, and that its services work together: they run from the image, without an engine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { documentedVariables } from '#platform/config/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';
import { natsIsMissing } from '../../support/nats.ts';
import { configOf, databaseFor, scriptedProvider } from '../../support/world.ts';
import { networksOf, readCompose, type Service, servicesCalled } from './compose.ts';
import { buildImage, type Container, type Image, PROJECT } from './container.ts';
import { environmentOf, oneOf, readDockerfile } from './dockerfile.ts';
import { sandboxIsMissing } from './sandbox.ts';

/** Nine processes start at once, on two cores that others use as well. */
const START_TIMEOUT_MS = 60_000;

const { services, networks, volumes } = readCompose();
const all = Object.entries(services);
/** Those that run the image. */
const roles = all.filter(([name]) => name !== 'postgres' && name !== 'nats');
const { final } = readDockerfile(join(PROJECT, 'Dockerfile'));

function serviceNamed(name: string): Service {
  const service = services[name];
  if (service === undefined) throw new Error(`compose.yaml has no service ${name}`);
  return service;
}

/** The services that run a role, by its name. */
function servicesOf(role: string): [string, Service][] {
  return all.filter(([, { command }]) => command[0] === role);
}

t.test('compose.yaml runs two of each role that scales out', async (t) => {
  for (const role of ['gateway', 'ingest', 'evaluators']) {
    const count = servicesOf(role).reduce((sum, [, { deploy }]) => sum + (deploy?.replicas ?? 1), 0);
    t.equal(count, 2, role);
  }
  t.equal(servicesOf('api').length, 1);
});

t.test(
  'every service of compose.yaml has minimal rights, and publishes ports on loopback only',
  async (t) => {
    for (const [name, service] of all) {
      t.same(service.cap_drop, ['ALL'], name);
      t.same(service.security_opt, ['no-new-privileges:true'], name);
      t.equal(service.read_only, true, name);
      for (const port of service.ports ?? []) t.match(port, /^127\.0\.0\.1:\d+:\d+$/, `${name} ${port}`);
    }
    for (const store of ['postgres', 'nats']) {
      t.same(serviceNamed(store).networks, ['stores'], `${store} is in the stores' network only`);
      t.same(serviceNamed(store).ports, undefined, `${store} is not published`);
    }
    t.equal(networks.stores?.internal, true, 'which has no way out');
  },
);

t.test(
  'each service of compose.yaml declares what it needs, and starts when that is healthy or done',
  async (t) => {
    for (const [name, service] of all) {
      for (const network of networksOf(service)) t.ok(network in networks, `${name} in ${network}`);
      for (const volume of service.volumes ?? [])
        t.ok(volume.split(':')[0]! in volumes, `${name} on ${volume}`);
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        const ends = serviceNamed(other).command[0] === 'migrate';
        t.equal(
          condition,
          ends ? 'service_completed_successfully' : 'service_healthy',
          `${name} after ${other}`,
        );
      }
    }
    for (const store of ['postgres', 'nats'])
      t.ok(serviceNamed(store).healthcheck, `${store} tells its health`);
    t.ok(oneOf(final, 'HEALTHCHECK'), 'and the image that of every role');
  },
);

t.test('each outbox has its own volume, and roles have no other', async (t) => {
  const { DATA_DIR = '' } = environmentOf(final);
  const kept = [...servicesOf('gateway'), ...servicesOf('api')];
  const sources = kept.map(([name, service]) => {
    t.equal(service.volumes?.length, 1, name);
    const [source, path] = service.volumes?.[0]?.split(':') ?? [];
    t.equal(path, DATA_DIR, name);
    return source;
  });
  t.equal(new Set(sources).size, kept.length, 'no two share one');
  for (const role of ['ingest', 'evaluators', 'migrate']) {
    for (const [name, service] of servicesOf(role)) {
      t.same(service.volumes, undefined, name);
      t.ok(service.tmpfs?.includes(DATA_DIR), `${name} leaves no anonymous volume behind`);
    }
  }
});

t.test('roles are given the account that the PostgreSQL service creates', async (t) => {
  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = serviceNamed('postgres').environment;
  const url = `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`;
  for (const [name, { environment }] of roles) t.equal(environment.DATABASE_URL, url, name);
});

t.test('each role has a grace period that is long enough to stop', async (t) => {
  const config = configOf({});
  /** main.ts's, for what comes after the calls under way. */
  const graceMs = 4_000;
  for (const [name, service] of all) {
    const seconds = Number(/^(\d+)s$/.exec(service.stop_grace_period)?.[1]);
    t.ok(seconds * 1_000 > config.shutdownMs + graceMs, `${name}: ${service.stop_grace_period}`);
  }
});

/** For the greeting of `npm start`, which no service prints. */
const OF_GREETING = ['API_DASHBOARD', 'PUBLIC_URL'];
/** The defaults are right inside: ports and programs are what they are, and a file would have to be mounted. */
const NOT_NEEDED = [
  'GATEWAY_PORT',
  'API_PORT',
  'NATS_CREDS',
  'NATS_CERT_FILE',
  'NATS_KEY_FILE',
  'MODELS_FILE',
  'TLS_CERT_FILE',
  'TLS_KEY_FILE',
  'GATEWAY_CERT_FILE',
  'PYTHON',
  // For a command that is run by hand.
  'ASSAY_API_KEY',
].concat(['GATEWAYS', 'GATEWAY_SHARE_PORT', 'GATEWAY_SOCKET_FD', 'GATEWAY_SOCKET_FDS']);

t.test('every variable reaches exactly the services whose role uses it', async (t) => {
  const variables = documentedVariables();
  const ofImage = Object.keys(environmentOf(final));
  // Variables that every service is given, used or not.
  const shared = new Set(Object.keys(serviceNamed('ingest').environment));
  for (const [name, { command, environment }] of roles) {
    // Commands are what the supervisor does at its start.
    const role = command[0] === 'migrate' ? 'supervisor' : command[0];
    const used = variables
      .filter(({ roles }) => roles.some((one) => one === role))
      .filter(({ name }) => role !== 'supervisor' || !OF_GREETING.includes(name));
    const given = new Set([...Object.keys(environment), ...ofImage, ...NOT_NEEDED]);
    t.same(
      used.filter((variable) => !given.has(variable.name)).map((variable) => variable.name),
      [],
      `${name} is given all that it uses`,
    );
    const known = new Set(used.map((variable) => variable.name));
    t.same(
      Object.keys(environment).filter((variable) => !known.has(variable) && !shared.has(variable)),
      [],
      `${name} is given nothing else`,
    );
  }
  t.same(
    [...shared].filter((name) => !variables.some((variable) => variable.name === name)),
    [],
    'what all are given exists',
  );
  // An evaluator that gave up before the gateway does would ask a judge twice.
  const name = 'PROVIDER_FIRST_BYTE_TIMEOUT_MS';
  for (const [evaluators, { environment }] of servicesOf('evaluators')) t.ok(name in environment, evaluators);
});

t.test('calls of judges and of the playground go to every gateway under one host name', async (t) => {
  for (const [name, { environment, ...service }] of [...servicesOf('evaluators'), ...servicesOf('api')]) {
    const { hostname, port } = new URL(environment.GATEWAY_URL ?? '');
    const called = servicesCalled(hostname, services);
    t.same(called.map(([gateway]) => gateway).sort(), ['gateway-1', 'gateway-2'], name);
    for (const [gateway, { ports, networks }] of called) {
      t.ok(
        ports?.every((mapping) => mapping.endsWith(`:${port}`)),
        `${gateway} listens on ${port}`,
      );
      const aliased = Object.entries(networks).filter(([, one]) => one?.aliases?.includes(hostname));
      t.ok(aliased.some(([network]) => networksOf({ environment, ...service }).includes(network)));
    }
  }
});

/** Returns a service's variables, with local addresses in place of those in containers. */
function environmentHere(
  service: Service,
  stores: { postgres: string; nats: string },
  gateway: string | undefined,
): Record<string, string> {
  const { DATABASE_URL, NATS_URL, GATEWAY_URL, ...others } = service.environment;
  const set = Object.entries(others).filter((entry): entry is [string, string] => entry[1] !== null);
  const nats = NATS_URL?.replace('@nats:4222', `@${stores.nats}`) ?? '';
  return {
    ...Object.fromEntries(set),
    DATABASE_URL: stores.postgres,
    NATS_URL: nats,
    ...(GATEWAY_URL && { GATEWAY_URL: gateway ?? GATEWAY_URL }),
  };
}

/** Starts nats-server by the service's own command, but for where it listens and stores; returns `host:port`. */
async function startNats(t: Test, image: Image): Promise<string> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const service = serviceNamed('nats');
  const [program, ...flags] = service.command.map((part) =>
    part.replace('--store_dir=/data', `--store_dir=${image.volume()}`).replace('=8222', `=${healthPort}`),
  );
  const server = spawn(program!, [...flags, '--addr=127.0.0.1', `--port=${port}`], { stdio: 'ignore' });
  t.teardown(async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
  });
  const probe = service.healthcheck?.test.at(-1)?.replace(':8222', `:${healthPort}`) ?? '';
  const isHealthy = () =>
    fetch(probe).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitFor('NATS to be healthy', isHealthy);
  return `127.0.0.1:${port}`;
}

t.test('the services of compose.yaml work together', { skip: natsIsMissing() }, async (t) => {
  const image = buildImage();
  t.teardown(() => image.remove());
  const database = await databaseFor(t, { migrated: false });
  const provider = await scriptedProvider(t);
  provider.script(({ body }) =>
    body.includes('"submit_verdict"')
      ? {
          kind: 'answer',
          text: null,
          toolCalls: [{ name: 'submit_verdict', arguments: '{"reasoning":"It is.","score":true}' }],
        }
      : { kind: 'answer', text: 'Hello' },
  );
  const gateways: string[] = [];
  const stores = { postgres: database.url, nats: await startNats(t, image) };

  async function start(service: Service, parameters = service.command) {
    const ports = {
      GATEWAY_PORT: String(await freePort()),
      API_PORT: String(await freePort()),
      INGEST_PORT: String(await freePort()),
      EVALUATORS_PORT: String(await freePort()),
    };
    const container = image.run(parameters, {
      ...environmentHere(service, stores, gateways[0]),
      ...ports,
      DATA_DIR: image.volume(),
      OPENAI_API_KEY: 'sk-test',
      OPENAI_BASE_URL: provider.url,
    });
    return { container, ports };
  }

  const migration = await start(serviceNamed('migrate'));
  t.same(await migration.container.ended, { code: 0, signal: null }, migration.container.stderr());
  const create = 'keys create --organization acme --scopes gateway,read,write'.split(' ');
  const creation = await start(serviceNamed('api'), create);
  t.same(await creation.container.ended, { code: 0, signal: null }, creation.container.stderr());
  const [key] = creation.container.stdout().split('\n');

  const running: { name: string; container: Container }[] = [];
  let api = '';
  for (const role of ['gateway', 'api', 'ingest', 'evaluators']) {
    for (const [name, service] of servicesOf(role)) {
      for (let replica = 1; replica <= (service.deploy?.replicas ?? 1); replica += 1) {
        const { container, ports } = await start(service);
        running.push({ name: `${name} ${replica}`, container });
        if (role === 'gateway') gateways.push(`http://127.0.0.1:${ports.GATEWAY_PORT}`);
        if (role === 'api') api = `http://127.0.0.1:${ports.API_PORT}`;
      }
    }
  }
  for (const { name, container } of running) {
    const isHealthy = async () => (await container.check()).healthy;
    await waitFor(`${name} to be healthy`, isHealthy, START_TIMEOUT_MS).catch((error: Error) =>
      t.fail(`${error.message}: ${container.stderr()}`),
    );
  }

  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(api + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as { data: { id: string } | null; error: string | null };
  };
  const evaluators: Record<string, unknown>[] = [
    {
      name: 'polite',
      scoring_type: 'LLM-BOOLEAN',
      llm_template: { model: 'gpt-4o', prompt: 'Is it polite?' },
    },
  ];
  if (!(await sandboxIsMissing())) {
    const code = 'def evaluate(input, output):\n    return len(output)';
    evaluators.push({ name: 'length', scoring_type: 'PYTHON', code_template: { code } });
  }
  for (const evaluator of evaluators) {
    const { data, error } = await post('/v1/evaluator', evaluator);
    t.equal(error, null);
    await post(`/v1/evaluator/${data?.id}/onlineEvaluators`, { config: { sampleRate: 100 } });
  }
  const withSecret = {
    adapter: 'http',
    url: 'https://example.com/',
    headers: { authorization: 'Bearer secret' },
  };
  t.match(
    await post('/v1/evaluator', {
      name: 'service',
      scoring_type: 'EXTERNAL',
      external_config: withSecret,
    }),
    { data: null, error: /Secrets cannot be stored, because SECRET_KEY is not set/ },
  );

  for (const gateway of gateways) {
    const answer = await fetch(`${gateway}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    t.equal(answer.status, 200);
    const found = `${api}/v1/request/${answer.headers.get('service-request-id')}`;
    await waitFor('the call to be found through the API', async () => (await fetch(found, { headers })).ok);
    const wanted = evaluators.length === 1 ? { polite: 1 } : { polite: 1, length: 5 };
    const scores = async () => {
      const { data } = (await (await fetch(found, { headers })).json()) as {
        data: { scores: object | null };
      };
      return data.scores ?? {};
    };
    await waitFor('its scores', async () => Object.keys(await scores()).length >= evaluators.length);
    t.same(await scores(), wanted);
  }
  const endings = await Promise.all(running.map(({ container }) => container.stop()));
  t.same(new Set(endings.map(({ code }) => code)), new Set([0]), 'all stop at SIGTERM');
});
