/**
 * The playground: passes calls of the dashboard on to the gateway, because a page may connect to its own origin only. They are
 * made with the rights, limits and provider keys of the key that is logged in, by a signature in place of the key itself.
 */
import { type Dispatcher, errors, Pool } from 'undici';
import { AssayError, describeError } from '#core/contracts/errors.ts';
import type { PlaygroundBody } from '#core/contracts/playground.ts';
import { Reply } from '#platform/http-server/mod.ts';
import { gatewayConnector } from '#platform/outbound/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { onFirstUse } from '#platform/process/on-first-use.ts';
import type { ProxyChoice } from '#platform/proxy/mod.ts';
import { INTERNAL_HEADER, signKeyCall } from '#platform/secrets/mod.ts';
import { callHeaders, passedHeaders } from './headers.ts';
import { createCallSlots } from './slots.ts';

/** A call, by the key that is logged in. */
export type PlaygroundCall = {
  organizationId: string;
  keyId: string;
  body: PlaygroundBody;
  /** The member `body` as it was written. */
  written: Buffer;
  /** Aborts when the page goes away. */
  signal: AbortSignal;
};

export type Playground = {
  /**
   * Makes a call. Resolves with the gateway's response, whatever its status, which is passed on as it arrives.
   * @throws AssayError too_many_playground_calls, playground_busy; gateway_unreachable, gateway_timeout; client_closed_request
   */
  call(call: PlaygroundCall): Promise<Response>;
  /** Closes all connections. */
  close(): Promise<void>;
};

export type PlaygroundOptions = {
  gateway: { url: string; certFile: string | null };
  /** The secret that calls within the installation are signed with. */
  internalSecret: string;
  clock: Clock;
  proxyFor?: ProxyChoice;
  /** Longest silence of the gateway. Default: longer than it waits for a provider. */
  silenceMs?: number;
};

const CONNECT_MS = 5_000;
/** The default of PROVIDER_FIRST_BYTE_TIMEOUT_MS, and time for the gateway to say so. */
const SILENCE_MS = 605_000;
/** Calls at a time; more are refused. Each is a person who looks at an answer. */
const CONNECTIONS = 128;

export function createPlayground(options: PlaygroundOptions): Playground {
  const { gateway, internalSecret, clock, proxyFor, silenceMs = SILENCE_MS } = options;
  const base = new URL(gateway.url);
  const prefix = base.pathname.replace(/\/$/, '');
  const takeSlot = createCallSlots(CONNECTIONS);
  const connect = gatewayConnector(base, { connectMs: CONNECT_MS, certFile: gateway.certFile, proxyFor });
  const pool = onFirstUse(
    () =>
      new Pool(base.origin, {
        connections: CONNECTIONS,
        connect,
        // A kept connection may close while the next call is sent, and a call must not be made twice.
        pipelining: 0,
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
      }),
  );

  return {
    async call({ organizationId, keyId, body, written, signal }) {
      const { path = '/v1/chat/completions' } = body;
      const headers = {
        ...callHeaders(body),
        [INTERNAL_HEADER]: signKeyCall(internalSecret, keyId, clock.now()),
      };
      const endCall = takeSlot(organizationId);
      try {
        const answer = await pool.get().request({
          method: 'POST',
          path: prefix + path,
          headers,
          body: written,
          signal,
        });
        // Comes however the response ends: in full, broken off, or because the page has gone away.
        answer.body.once('close', endCall);
        return new Reply(passedBody(answer.body), {
          status: answer.statusCode,
          headers: passedHeaders(answer.headers),
        });
      } catch (error) {
        endCall();
        if (signal.aborted) throw signal.reason;
        throw error instanceof errors.HeadersTimeoutError ? silent(error, silenceMs) : unreachable(error);
      }
    },
    close: async () => pool.made?.destroy(),
  };
}

/** The gateway has the call, and may have made it: who sends it again may pay twice. */
function silent(error: unknown, silenceMs: number): AssayError {
  return new AssayError(
    'gateway_timeout',
    `The gateway took the call and did not answer within ${silenceMs / 1_000} s: the model may have been called, so look at the requests before you send it again`,
    { cause: error, detail: describeError(error) },
  );
}

function unreachable(error: unknown): AssayError {
  return new AssayError(
    'gateway_unreachable',
    'The gateway cannot be reached from the management API: check that it runs, and GATEWAY_URL of the API',
    { cause: error, detail: describeError(error) },
  );
}

/** Passes on each piece as it comes. When the page goes away, the gateway's connection is closed, which ends its call. */
function passedBody(body: Dispatcher.ResponseData['body']): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel() {
        // undici reports the end that it is given as an error, which nobody waits for.
        body.on('error', () => {});
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
