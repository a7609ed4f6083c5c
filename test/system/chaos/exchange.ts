/** One HTTP exchange as a client of a run has it: made once, never again, and told as it went. */
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

export type Exchange = {
  url: string;
  agent: Agent;
  key: string;
  headers?: Record<string, string>;
  body: Buffer;
  /** Is shown each piece of the answer; true: the client hangs up now. */
  isEnough?(piece: Buffer): boolean;
};

export type Received = {
  /** Null: not even the head of an answer came. */
  status: number | null;
  headers: IncomingHttpHeaders;
  /** What came of the body. */
  text: string;
  /** The body came to its end. */
  isWhole: boolean;
  /** The client hung up, as it wished. */
  hasLeft: boolean;
  /** Why the exchange ended early. */
  why: string | null;
};

/** Longer than a process is ever frozen, and than the slowest stream takes. */
const GIVE_UP_MS = 60_000;

/** Posts, and reads the answer. Never rejects. */
export function post({ url, agent, key, headers, body, isEnough }: Exchange): Promise<Received> {
  return new Promise((resolve) => {
    let response: IncomingMessage | null = null;
    let hasLeft = false;
    let why: string | null = null;
    const pieces: Buffer[] = [];
    const note = (error: Error) => {
      why ??= error.message;
    };
    const outgoing = request(url, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
        ...headers,
      },
    });
    const late = setTimeout(
      () => outgoing.destroy(new Error(`no whole answer within ${GIVE_UP_MS} ms`)),
      GIVE_UP_MS,
    );
    outgoing.on('error', note);
    outgoing.once('close', () => {
      clearTimeout(late);
      resolve({
        status: response?.statusCode ?? null,
        headers: response?.headers ?? {},
        text: Buffer.concat(pieces).toString(),
        isWhole: response?.complete === true,
        hasLeft,
        why,
      });
    });
    outgoing.once('response', (incoming) => {
      response = incoming;
      incoming.on('error', note);
      incoming.on('data', (piece: Buffer) => {
        pieces.push(piece);
        if (hasLeft || isEnough?.(piece) !== true) return;
        hasLeft = true;
        outgoing.destroy();
      });
    });
    outgoing.end(body);
  });
}
