import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { BrowserSessionJson, EndedSessions, LoginBody, MeJson } from '#core/contracts/login.ts';
import type { LoginService } from '../login/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, reply, uuids } from './declare.ts';
import { dataReply } from './reply.ts';

export type LoginRoutesOptions = { keys: Keys; login: LoginService };

const TAG = 'Log-in';

/** A key and a token, even if every character of them were escaped. Strangers may send no more: each body of theirs is in memory. */
const MAX_LOGIN_BYTES = 4 * 1024;

/** `/v1/login…`, `/v1/logout` and `/v1/me`: log-in of browsers. */
export function loginRoutes({ keys, login }: LoginRoutesOptions) {
  const open = new Elysia({ detail: { tags: [TAG] } })
    .onParse(({ request }) => request)
    .derive(({ request }) => ({ origin: login.admit(request) }))
    .post(
      '/v1/login',
      async ({ request, origin, body }) => withCookie(await login.logIn(request, origin, body)),
      {
        body: jsonBody(LoginBody, { key: 'sk-assay-…' }, { maxBytes: MAX_LOGIN_BYTES }),
        response: reply(MeJson),
        detail: { summary: 'Logs a browser in with an API key, or with the token of a link; sets a cookie' },
      },
    )
    .post('/v1/logout', async ({ request, origin }) => withCookie(await login.logOut(request, origin)), {
      response: reply(Type.Null()),
      detail: { summary: 'Ends the log-in of this browser' },
    });
  const own = authorized(keys, 'read', TAG, { needsPath: false })
    .get('/v1/me', ({ request, key, session }) => login.me(request, { key, session }), {
      response: reply(MeJson),
      detail: { summary: 'Returns whom this call is made as: organization, key, log-in' },
    })
    .get('/v1/login/sessions', ({ key, session }) => login.list({ key, session }), {
      response: reply(Type.Array(BrowserSessionJson)),
      detail: { summary: "Lists the log-ins of browsers with the caller's key, the latest used first" },
    })
    .delete('/v1/login/sessions/:id', ({ key, session, params }) => login.end({ key, session }, params.id), {
      params: uuids({ id: 'log-in' }),
      response: reply(Type.Null()),
      detail: { summary: "Ends a log-in with the caller's key, within a second" },
    })
    .delete('/v1/login/sessions', ({ key, session }) => login.endOthers({ key, session }), {
      response: reply(EndedSessions),
      detail: { summary: "Ends all log-ins with the caller's key, except this one" },
    });
  return new Elysia({ name: 'api/login' }).use(open).use(own);
}

function withCookie({ data, cookie }: { data: unknown; cookie: string }): Response {
  const response = dataReply(JSON.stringify(data));
  response.headers.set('set-cookie', cookie);
  return response;
}
