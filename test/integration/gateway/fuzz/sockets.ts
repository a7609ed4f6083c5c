/** A gateway with Postgres, its providers at one address, and a client that sends bytes as they are. */
import { Agent, request } from 'node:http';
import fc from 'fast-check';
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts';
import type { Behaviour, RecordedRequest, ScriptedProvider } from '../../../support/scripted-provider.ts';
import { type Owner, scriptedProvider } from '../../../support/world.ts';

export type Sent = {
  path: string;
  body: Buffer;
  /** Where the body is cut into writes. */
  cuts?: readonly number[];
  headers?: Record<string, string>;
  /** What the provider does. */
  behaviour: Behaviour;
};

export type Answered = {
  id: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  /** What the provider was sent; null: it heard of nothing. */
  heard: RecordedRequest | null;
};

/** A call that the provider will know. */
export type Expected = {
  /** To be sent with it. */
  headers: Record<string, string>;
  heard(): RecordedRequest | null;
};

export type World = {
  gateway: TestGateway;
  provider: ScriptedProvider;
  /** Has the provider do something with a call to come. */
  expect(behaviour: Behaviour): Expected;
  send(sent: Sent): Promise<Answered>;
};

/** Of all that clients send, providers are passed this on. */
const MARK = 'x-client-request-id';

/** Starts it all, until the test ends; `environment` overrides configuration variables. */
export async function startWorld(owner: Owner, environment: Record<string, string> = {}): Promise<World> {
  const provider = await scriptedProvider(owner);
  const gateway = await startTestGateway(owner, {
    OPENAI_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'sk-ant-operator',
    ANTHROPIC_BASE_URL: provider.url.replace(/\/v1$/, ''),
    MISTRAL_API_KEY: 'sk-mistral-operator',
    MISTRAL_BASE_URL: provider.url,
    ...environment,
  });
  const behaviours = new Map<string, Behaviour>();
  provider.script(({ headers }) => behaviours.get(String(headers[MARK])) ?? { kind: 'reset' });
  const agent = new Agent({ keepAlive: true });
  owner.teardown(() => agent.destroy());
  let calls = 0;

  const expect = (behaviour: Behaviour): Expected => {
    calls += 1;
    const mark = `call-${calls}`;
    behaviours.set(mark, behaviour);
    return {
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', [MARK]: mark },
      heard: () => provider.requests.findLast(({ headers }) => headers[MARK] === mark) ?? null,
    };
  };

  const send = async ({ path, body, cuts = [], headers = {}, behaviour }: Sent): Promise<Answered> => {
    const expected = expect(behaviour);
    const answer = await exchange({
      agent,
      url: `${gateway.url}${path}`,
      headers: { ...expected.headers, ...headers },
      body,
      cuts,
    });
    return { ...answer, id: String(answer.headers['service-request-id']), heard: expected.heard() };
  };

  return { gateway, provider, expect, send };
}

type Outgoing = {
  agent: Agent;
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  cuts: readonly number[];
};

/** Node's own client: fetch would undo a content-encoding. */
function exchange({ agent, url, headers, body, cuts }: Outgoing): Promise<Omit<Answered, 'id' | 'heard'>> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', agent, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('error', reject);
      answer.once('end', () =>
        resolve({ status: answer.statusCode!, headers: answer.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    call.once('error', reject);
    let start = 0;
    for (const end of cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b)) {
      call.write(body.subarray(start, end));
      start = end;
    }
    call.end(body.subarray(start));
  });
}

/** How many calls are under way at once. */
const AT_ONCE = 8;

/** Runs `check` on samples of an arbitrary, several at once; the failure says which sample it was. */
export async function sampled<T>(
  arbitrary: fc.Arbitrary<T>,
  { numRuns, seed }: { numRuns: number; seed: number },
  check: (sample: T) => Promise<void>,
): Promise<void> {
  const samples = fc.sample(arbitrary, { numRuns, seed }).entries();
  const work = async (): Promise<void> => {
    for (const [index, sample] of samples) {
      try {
        await check(sample);
      } catch (cause) {
        throw new Error(`Sample ${index} of FUZZ_SEED=${seed}: ${(cause as Error).message}`, { cause });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
