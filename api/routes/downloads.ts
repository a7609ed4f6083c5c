/** Programs for other machines. They hold no secrets, so anybody may have them. */
import { Elysia } from 'elysia';
import { Reply } from '#platform/http-server/mod.ts';
import { readGateProgram } from '../downloads/mod.ts';

const HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
};

/** `/cli/…` */
export function downloadRoutes() {
  return new Elysia({ name: 'api/downloads' }).get(
    '/cli/assay-gate.mjs',
    async () => new Reply(await readGateProgram(), { headers: HEADERS }),
  );
}
