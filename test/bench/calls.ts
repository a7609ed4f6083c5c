/** Calls of the management API, and how long they take. */

/** Posts a body to a path; returns the `data` of the answer. */
export type Call = (path: string, body: object) => Promise<unknown>;

const MAX_WARM_UP_ROUNDS = 3;

/** Returns calls with an API key. They throw for any status but 200. */
export function callerOf(url: string, key: string): Call {
  return async (path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
    return (JSON.parse(text) as { data: unknown }).data;
  };
}

/** Runs a call so many times, after a few that do not count. Returns how long each took, in milliseconds, sorted. */
export async function timed(call: () => Promise<unknown>, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = -Math.min(MAX_WARM_UP_ROUNDS, rounds >> 1); round < rounds; round += 1) {
    const start = performance.now();
    await call();
    if (round >= 0) times.push(performance.now() - start);
  }
  return times.sort((left, right) => left - right);
}
