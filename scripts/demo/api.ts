/** A client of the management API for the demo: plain `fetch` with the key. */
export type RequestRecord = {
  request_id: string;
  response_status: number;
  model: string;
  request_user_id: string | null;
  delay_ms: number | null;
  time_to_first_token: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cost: number | null;
  properties: Record<string, string>;
  feedback_rating: boolean | null;
  scores: Record<string, number> | null;
};

export type Api = {
  /** Returns `data` of the response, or throws with the API's own sentence. */
  call<T>(method: 'POST' | 'PUT', path: string, body: unknown): Promise<T>;
};

/** Makes a client of the API at `url`. */
export function createApi(url: string, key: string): Api {
  return {
    call: async <T>(method: string, path: string, body: unknown) => {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { data, error } = (await response.json()) as { data: T; error: string | null };
      if (error !== null) throw new Error(`${method} ${path}: ${error}`);
      return data;
    },
  };
}
