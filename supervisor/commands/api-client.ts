/** The client of the management API that commands call: the key decides whose records they see, and the API's limits hold. */
import { describeError } from '#core/contracts/errors.ts';

/** Posts JSON to a path of the API; a body that is a text is sent as it is. */
export type Post = (path: string, body: object | string) => Promise<Response>;

/** Returns the client of one API. */
export function clientOf(url: string, key: string): Post {
  return (path, body) =>
    fetch(new URL(path, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }).catch((error: unknown) => {
      const reason = describeError((error as { cause?: unknown }).cause ?? error);
      throw new Error(`The API at ${url} cannot be reached: ${reason}`);
    });
}

/** Returns the sentence of a failure. */
export async function errorOf(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    return (JSON.parse(text) as { error: string }).error;
  } catch {
    return `The API answered with status ${answer.status}`;
  }
}
