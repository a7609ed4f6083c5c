/** Calls of the API. The page is served by the API itself, so every address is relative and the browser sends the cookie. */

import { keepAhead, takeAhead } from './ahead.ts';

/** A call that failed, in the API's own sentence. */
export class ApiFailure extends Error {
  /** 0: no response came. */
  readonly status: number;
  /** The id to find the call by in the logs; null: the API was not reached. */
  readonly requestId: string | null;
  /** When to try again; null: the API did not say. */
  readonly retryAfterS: number | null;

  constructor(
    message: string,
    { status, requestId, retryAfterS }: Pick<ApiFailure, 'status' | 'requestId' | 'retryAfterS'>,
  ) {
    super(message);
    this.name = 'ApiFailure';
    this.status = status;
    this.requestId = requestId;
    this.retryAfterS = retryAfterS;
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Receives every refusal for want of a log-in. */
let onSignedOut: () => void = () => {};

/** Names the listener that is told when the API asks for a log-in. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

/**
 * Sends a call and returns the response, whatever its status is.
 * @throws ApiFailure with status 0: the API was not reached; AbortError: the signal was aborted
 */
export async function send(
  method: Method,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  // The API takes no cookie without this header, which a page of another origin cannot add unasked.
  const headers: Record<string, string> = { 'service-csrf': '1' };
  const init: RequestInit = { method, headers, credentials: 'same-origin', redirect: 'error' };
  if (signal !== undefined) init.signal = signal;
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
    init.body = JSON.stringify(body);
  }
  try {
    return await fetch(path, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiFailure('The API cannot be reached: is it running?', {
      status: 0,
      requestId: null,
      retryAfterS: null,
    });
  }
}

function readSentence(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === 'string' ? error : null;
  } catch {
    return null;
  }
}

/** Reads the failure that a response tells, and tells a missing log-in on. */
export async function readFailure(response: Response): Promise<ApiFailure> {
  const { status, headers } = response;
  const sentence = readSentence(await response.text().catch(() => ''));
  const retryAfter = headers.get('retry-after');
  if (status === 401) onSignedOut();
  return new ApiFailure(sentence ?? `The API answered with status ${status}`, {
    status,
    requestId: headers.get('service-request-id'),
    retryAfterS: retryAfter === null ? null : Number(retryAfter),
  });
}

/**
 * Sends a call and returns the `data` of its answer.
 * @throws ApiFailure, AbortError
 * @example const { rows } = await call<Rows>('POST', '/v1/request/rows', { q: 'status:>=500' });
 */
export async function call<T>(
  method: Method,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await (takeAhead([method, path, body], signal) ?? send(method, path, body, signal));
  if (!response.ok) throw await readFailure(response);
  try {
    return ((await response.json()) as { data: T }).data;
  } catch (error) {
    if (signal?.aborted) throw error;
    // Such as the page on which a proxy asks for a log-in.
    throw new ApiFailure("The answer broke off, or is not the API's: reload the page", {
      status: 0,
      requestId: response.headers.get('service-request-id'),
      retryAfterS: null,
    });
  }
}

/** Makes a call whose answer a later `call` of the same takes. */
export function callAhead(method: Method, path: string, body?: unknown): void {
  keepAhead([method, path, body], (signal) => send(method, path, body, signal));
}
