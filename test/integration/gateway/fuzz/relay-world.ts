/**
 * One call through the relay in this process: what its client reads and what its record says. Everything between the
 * provider's socket and the client's is the gateway's own; those two and the outbox are stand-ins.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { AssayError } from '#core/contracts/errors.ts';
import { type ProviderResponse, ResponseBody, type ResponseHeaders } from '#platform/http-client/mod.ts';
import { sendableOf } from '#platform/http-server/exchange/reply.ts';
import type { BodySource, BodyWriter } from '#platform/http-server/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { NO_PROVIDER_KEYS } from '#platform/provider-keys/mod.ts';
import { API_ENDPOINTS, type ApiEndpoint } from '../../../../gateway/endpoints/endpoint.ts';
import { LOGGED } from '../../../../gateway/limits/logging-rate.ts';
import { createResolver } from '../../../../gateway/providers/resolve.ts';
import { parseRequestBody } from '../../../../gateway/request/body.ts';
import type { Call, Outcome } from '../../../../gateway/request/call.ts';
import { readCallHeaders } from '../../../../gateway/request/headers.ts';
import { relayCall } from '../../../../gateway/response/relay.ts';
import { translatedResponse } from '../../../../gateway/response/translated.ts';
import type { Translation } from '../../../../gateway/translations/mod.ts';
import { configOf } from '../../../support/world.ts';

export type Exchange = {
  surface: ApiEndpoint;
  /** Null: the provider speaks the surface's dialect. */
  translation: Translation | null;
  hidesUsage: boolean;
  status: number;
  headers: ResponseHeaders;
  /** The provider's answer, as its bytes arrive. */
  chunks: readonly Buffer[];
  /** `cut`: the connection breaks behind the last chunk. */
  ending: 'end' | 'cut';
  /** Each chunk has a turn of the event loop; else they come as fast as they are taken. */
  hasTurns: boolean;
};

export type Relayed = {
  status: number;
  headers: string[];
  /** What the client has read. */
  bytes: Buffer;
  /** How much of it before the record was committed. */
  bytesBeforeRecord: number;
  outcome: Outcome;
};

const CREATED_AT_MS = 1_700_000_000_000;

const config = configOf({ OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2' });
const candidate = createResolver(config.providers)('gpt-4o-mini');
const CALLER: Call['caller'] = {
  organizationId: 'acme',
  apiKeyId: null,
  source: 'gateway',
  evaluationId: null,
  experimentId: null,
  rateLimitPolicy: null,
  countedAs: null,
  allowed: null,
  logsPer5s: null,
  providerKeys: NO_PROVIDER_KEYS,
};
const log = createLogger({ role: 'test', level: 'silent' });
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** So little that the provider is paused now and then. */
const CLIENT_BUFFER_BYTES = 256;

/** The client's end of the connection, as far as the gateway uses it. */
class SlowReader implements BodyWriter {
  status = 0;
  headers: string[] = [];
  readonly chunks: Buffer[] = [];
  size = 0;
  readonly #whole = Promise.withResolvers<void>();
  #unread = 0;
  #hearDrain = (): void => {};

  /** Resolves when all of it is read. */
  async read(response: Response): Promise<void> {
    const { status, pairs, body } = sendableOf(response);
    this.status = status;
    this.headers = [...pairs].flat();
    if (body instanceof Uint8Array) {
      this.write(body);
      this.end();
    } else (body as BodySource).pipe(this);
    await this.#whole.promise;
  }

  write(bytes: Uint8Array): boolean {
    this.chunks.push(Buffer.from(bytes));
    this.size += bytes.length;
    this.#unread += bytes.length;
    if (this.#unread <= CLIENT_BUFFER_BYTES) return true;
    queueMicrotask(() => {
      this.#unread = 0;
      this.#hearDrain();
    });
    return false;
  }

  end(last: Uint8Array = Buffer.alloc(0)): void {
    if (last.length > 0) this.write(last);
    this.#whole.resolve();
  }

  onDrain(hear: () => void): void {
    this.#hearDrain = hear;
  }

  onClose(): void {}
  flushHeaders(): void {}
}

/** Returns a provider's response, and what feeds its body in, as fast as it may. */
function provider(exchange: Exchange): { response: ProviderResponse; feed(): Promise<void> } {
  const { status, headers, chunks, ending, hasTurns, translation } = exchange;
  let paused: PromiseWithResolvers<void> | null = null;
  const body = new ResponseBody({
    pause: () => {
      paused ??= Promise.withResolvers();
    },
    resume: () => {
      paused?.resolve();
      paused = null;
    },
    stop: () => {},
  });
  const feed = async (): Promise<void> => {
    for (const chunk of chunks) {
      body.onData(chunk);
      if (paused !== null) await paused.promise;
      if (hasTurns) await nextTurn();
    }
    if (ending === 'end') body.onEnd();
    else body.onError(new AssayError('provider_unreachable', 'The provider TEST closed the connection'));
  };
  const response = { status, headers, body };
  const created = CREATED_AT_MS / 1_000;
  if (translation === null) return { response, feed };
  return { response: translatedResponse(response, { translation, label: 'TEST', created }), feed };
}

/** Carries an exchange out. Resolves when the client has read all of it. */
export async function relayed(exchange: Exchange): Promise<Relayed> {
  const { surface, hidesUsage } = exchange;
  const client = new SlowReader();
  let outcome: Outcome | null = null;
  let bytesBeforeRecord = -1;
  const call: Call = {
    id: 'call',
    caller: CALLER,
    endpoint: surface,
    headers: readCallHeaders([]),
    body: await parseRequestBody(Buffer.from('{"model":"gpt-4o-mini"}'), surface),
    candidates: [candidate],
    createdAtMs: CREATED_AT_MS,
    startedAt: 0,
    signal: new AbortController().signal,
  };
  const { response: result, feed } = provider(exchange);
  const response = await relayCall(
    {
      logged: { call, cachedFrom: null, logging: LOGGED },
      headers: [['service-request-id', 'call']],
      record: async (ended) => {
        outcome = ended.outcome;
        await nextTurn();
        bytesBeforeRecord = client.size;
        return true;
      },
    },
    async () => {
      void feed();
      return { candidate, hidesUsage, attempts: [], cachedFrom: null, headers: [], result };
    },
    {
      clock: { now: () => CREATED_AT_MS, monotonic: () => 0 },
      log,
      recorder: { begin: async () => true },
      maxBodyBytes: MAX_BODY_BYTES,
    },
  );
  await client.read(response);
  const { status, headers, chunks } = client;
  return { status, headers, bytes: Buffer.concat(chunks), bytesBeforeRecord, outcome: outcome! };
}

/** The row of an endpoint. */
export function endpointOf(endpoint: ApiEndpoint['providerEndpoint']): ApiEndpoint {
  return API_ENDPOINTS.find((surface) => surface.providerEndpoint === endpoint)!;
}

/** More than any stream here has bytes. */
const EVERYWHERE = Array.from({ length: 20_000 }, (_, place) => place);

/** Where a stream is cut: here and there, or at every byte. */
export const cuts: fc.Arbitrary<readonly number[]> = fc.oneof(
  { arbitrary: fc.array(fc.nat(), { maxLength: 30 }), weight: 9 },
  { arbitrary: fc.constant(EVERYWHERE), weight: 1 },
);

/** Cuts bytes at places, each of which may be anywhere and come twice; no piece is empty. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length]
    .map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
    .filter(({ length }) => length > 0);
}
