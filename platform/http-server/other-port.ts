/**
 * The paths that each of the two ports serves, so that the 404 of a call at the wrong port names the right one. Neither role
 * may import the other's routes; a test compares these lists with the routes of both.
 */
export type PortName = 'gateway' | 'api';

/** The ports of both roles; null: unknown, because the role runs elsewhere. */
export type KnownPorts = Readonly<Record<PortName, number | null>>;

const NAMES: Readonly<Record<PortName, string>> = { gateway: 'the gateway', api: 'the management API' };

/**
 * Route patterns: `*` stands for the rest of the path, of at least one segment.
 * @internal Exported so that a test compares it with the routes.
 */
export const SERVED_PATHS: Readonly<Record<PortName, readonly string[]>> = {
  gateway: [
    '/v1/chat/completions',
    '/chat/completions',
    '/v1/completions',
    '/completions',
    '/v1/responses',
    '/responses',
    '/v1/responses/compact',
    '/responses/compact',
    '/v1/responses/input_tokens',
    '/responses/input_tokens',
    '/v1/embeddings',
    '/embeddings',
    '/v1/moderations',
    '/moderations',
    '/v1/messages',
    '/v1/messages/count_tokens',
    '/v1/models',
    '/v1/models/*',
    '/models',
    '/models/*',
  ],
  api: [
    '/assets/*',
    '/cli/*',
    '/mcp',
    '/openapi',
    '/v1/alert',
    '/v1/alert/*',
    '/v1/audit',
    '/v1/criterion',
    '/v1/criterion/*',
    '/v1/dataset',
    '/v1/dataset/*',
    '/v1/dead-letter',
    '/v1/dead-letter/*',
    '/v1/evaluation/*',
    '/v1/evaluator',
    '/v1/evaluator/*',
    '/v1/experiment',
    '/v1/experiment/*',
    '/v1/grade/*',
    '/v1/keys',
    '/v1/keys/*',
    '/v1/log/request',
    '/v1/login',
    '/v1/login/*',
    '/v1/logout',
    '/v1/me',
    '/v1/metrics/query',
    '/v1/model',
    '/v1/organization',
    '/v1/playground',
    '/v1/prompt-2025',
    '/v1/prompt-2025/*',
    '/v1/property/*',
    '/v1/provider-keys',
    '/v1/provider-keys/*',
    '/v1/rate-limit/usage',
    '/v1/request/*',
    '/v1/review-queue',
    '/v1/review-queue/*',
    '/v1/score/keys',
    '/v1/session/*',
    '/v1/system',
    '/v1/user/*',
    '/v1/view',
    '/v1/view/*',
    '/v1/webhook',
    '/v1/webhook/*',
    '/v2/prompt-2025/*',
  ],
};

/** @param path without a slash at its end */
function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  // No further than the comparison looks: a path may be 60 KB of slashes, and there are many patterns.
  const given = path.split('/', wanted.length + 1);
  for (const [at, segment] of wanted.entries()) {
    if (segment === '*') return given.length > at;
    if (segment !== given[at]) return false;
  }
  return given.length === wanted.length;
}

/** Returns the sentence of a 404 at `port`, which names the other port if that one serves the path. */
export function notFoundSentence(
  port: PortName,
  { method, path }: { method: string; path: string },
  ports: KnownPorts,
): string {
  const sentence = `There is no ${method} ${path} here`;
  const other = port === 'gateway' ? 'api' : 'gateway';
  const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (!SERVED_PATHS[other].some((pattern) => matches(pattern, bare))) return sentence;
  const where = ports[other] === null ? 'on a port of its own' : `at port ${ports[other]}`;
  return `${sentence}: ${path} is served by ${NAMES[other]}, ${where}`;
}
