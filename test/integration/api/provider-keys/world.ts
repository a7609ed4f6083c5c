/** The API with a SECRET_KEY, or with several, and what its answers about provider keys look like. */
import { startTestApi, type TestApi, type TestApiOptions } from '../../../support/api.ts';
import type { Owner } from '../../../support/world.ts';

export const PATH = '/v1/provider-keys';

/** As an answer shows one. */
export type ShownKey = {
  provider: string;
  hint: string | null;
  readable: boolean;
  created_at: string;
  updated_at: string;
};

export const secretKeyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');

export function startProviderKeyApi(
  owner: Owner,
  secretKey: string = secretKeyOf(7),
  options: TestApiOptions = {},
): Promise<TestApi> {
  return startTestApi(owner, { ...options, environment: { SECRET_KEY: secretKey, ...options.environment } });
}

/** `PUT`, expected to succeed. */
export async function put(
  api: TestApi,
  provider: string,
  key: string,
  apiKey = api.own.key,
): Promise<ShownKey> {
  const answer = await api.call(`${PATH}/${provider}`, { method: 'PUT', body: { key }, key: apiKey });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body.data as ShownKey;
}

/** All that are listed. */
export async function list(api: TestApi, apiKey = api.own.key): Promise<ShownKey[]> {
  const answer = await api.call(PATH, { key: apiKey });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body.data as ShownKey[];
}
