/** A gateway with Postgres whose provider CUSTOM writes exactly the bytes that a test says, and a client that reads any head. */
import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { Test } from 'tap';
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts';
import { startWire } from '../../platform/http-client/wire.ts';

/** Answers a request on its connection. */
export type Act = (socket: Socket) => void;

export type Answered = {
  /** The request id; empty when the answer has none. */
  id: string;
  status: number;
  /** Of a name that came several times, the values joined. */
  headers: Record<string, string>;
  text: string;
};

export type HostileWorld = {
  gateway: TestGateway;
  /** Has CUSTOM act on a call to come, which is to be sent with these headers. */
  expect(act: Act): Record<string, string>;
  /** Calls CUSTOM, which acts. */
  call(act: Act, more?: object): Promise<Answered>;
  /** How many entries could not be stored. */
  deadLetters(): Promise<number>;
};

/** A head as large as a provider may send, and what the gateway adds. */
const MAX_HEADER_BYTES = 256 * 1024;

/** Starts it all, until the end of the test. */
export async function startHostileWorld(
  t: Test,
  environment: Record<string, string> = {},
): Promise<HostileWorld> {
  const acts = new Map<string, Act>();
  const wire = await startWire(t, {
    onRequest: (socket, _place, text) => {
      const [, mark = ''] = /^x-client-request-id: (.*)\r$/im.exec(text) ?? [];
      acts.get(mark)?.(socket);
    },
  });
  const gateway = await startTestGateway(t, {
    CUSTOM_BASE_URL: `${wire.origin}/v1`,
    CUSTOM_API_KEY: 'k',
    ...environment,
  });
  let calls = 0;

  const expect = (act: Act): Record<string, string> => {
    calls += 1;
    const mark = `call-${calls}`;
    acts.set(mark, act);
    return { authorization: `Bearer ${gateway.key}`, 'x-client-request-id': mark };
  };

  const call = (act: Act, more: object = {}): Promise<Answered> => {
    const body = JSON.stringify({
      model: 'custom/m',
      messages: [{ role: 'user', content: 'Hi' }],
      ...more,
    });
    const headers = expect(act);
    return new Promise((resolve, reject) => {
      const sent = request(
        `${gateway.url}/v1/chat/completions`,
        { method: 'POST', headers, maxHeaderSize: MAX_HEADER_BYTES },
        (answer) => {
          let text = '';
          answer.on('data', (piece: Buffer) => {
            text += piece.toString('latin1');
          });
          answer.once('error', reject);
          answer.once('end', () => {
            const told = joined(answer.rawHeaders);
            const id = told['service-request-id'] ?? '';
            resolve({ id, status: answer.statusCode!, headers: told, text });
          });
        },
      );
      sent.maxHeadersCount = 0;
      sent.once('error', reject);
      sent.end(body);
    });
  };

  return {
    gateway,
    expect,
    call,
    deadLetters: async () => {
      const [row] = await gateway.sql<
        { count: number }[]
      >`select count(*)::int as count from assay.dead_letters`;
      return row!.count;
    },
  };
}

function joined(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    const value = rawHeaders[at + 1]!;
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

/** Writes a response with a length, whatever its header lines say. */
export function respondWith(statusLine: string, lines: readonly string[], body: Buffer | string): Act {
  const bytes = Buffer.from(body);
  const head = [`HTTP/1.1 ${statusLine}`, ...lines, `content-length: ${bytes.length}`, '', ''].join('\r\n');
  return (socket) => {
    socket.write(Buffer.concat([Buffer.from(head, 'latin1'), bytes]));
  };
}

export const COMPLETION =
  '{"id":"c1","model":"m","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}';
export const EVENTS =
  'data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n' +
  'data: [DONE]\n\n';
export const JSON_TYPE = 'content-type: application/json';
export const EVENTS_TYPE = 'content-type: text/event-stream';
