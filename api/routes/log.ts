import type { KeyDirectory } from '#platform/keys/mod.ts';
import { BODY_PATHS, type LogRequest } from '../log/mod.ts';
import { readJsonBody } from './json-body.ts';
import { guarded, routesApp } from './route.ts';
import { dataReply } from './success.ts';

export type LogRoutesOptions = {
  keys: Pick<KeyDirectory, 'find'>;
  logRequest: LogRequest;
  /** The largest body: it holds those of a call and its answer. */
  maxBodyBytes: number;
};

/** `/v1/log…`: requests that were made elsewhere. */
export function logRoutes({ keys, logRequest, maxBodyBytes }: LogRoutesOptions) {
  return routesApp('api/log', [
    {
      method: 'POST',
      path: '/v1/log/request',
      handle: guarded(keys, 'write', async (key, { request }) => {
        const body = await readJsonBody(request, { maxBytes: maxBodyBytes, asWritten: BODY_PATHS });
        return dataReply(JSON.stringify({ request_id: await logRequest(key, body) }));
      }),
    },
  ]);
}
