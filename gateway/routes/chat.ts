import { Elysia } from 'elysia';
import { AssayError } from '#core/errors.ts';
import { newRequestId } from '#core/ids.ts';
import { errorReply, idHeaders } from '../chat/answer.ts';

/** The paths of a chat completion: OpenAI's own, and the bare one of the interface. */
const PATHS = ['/v1/chat/completions', '/chat/completions'];

/**
 * Chat completions. `parse: 'none'`: the handler reads the body itself, from the socket, and passes its bytes on.
 */
export function chatRoutes(handleChat: (request: Request) => Promise<Response>) {
  const routes = new Elysia({ name: 'gateway/chat' });
  for (const path of PATHS) {
    routes.post(path, ({ request }) => handleChat(request), { parse: 'none' });
    routes.all(
      path,
      ({ request }) => {
        const error = new AssayError(
          'method_not_allowed',
          `${request.method} is not allowed on ${path}; use POST`,
        );
        const reply = errorReply(error, idHeaders(newRequestId()));
        reply.headers.set('allow', 'POST');
        return reply;
      },
      { parse: 'none' },
    );
  }
  return routes;
}
