/**
 * The 404s of paths that clients call although the gateway does not serve them: base URLs with a part too many or too few,
 * and the APIs that are not passed on. Their sentences say what to change.
 */
import { API_ENDPOINTS } from '../endpoints/endpoint.ts';

const SERVED = API_ENDPOINTS.flatMap(({ addresses }) => addresses);
const VERSION = '/v1';
/**
 * Parts that clients put before a path: versions, and the folders of other hosts. Groq's adds `/openai/v1`, Azure's the deployment.
 * Whoever takes the address of a call for the base URL has its path twice.
 */
const ADDED =
  /^(?:\/(?:v1|v1beta|api|openai|anthropic|deployments\/[^/]+|(?:chat\/)?completions|responses|embeddings|messages))+$/;
/** The methods of Google's own API. */
const GOOGLE = /:(?:(?:streamG|g)enerateContent|countTokens|(?:batchE|e)mbedContents?)$/;
/** Paths that OpenAI's and Anthropic's clients call besides models. */
const STORED =
  /^(?:\/v1)?\/(?:responses|chat\/completions|conversations|files|uploads|batches|messages\/batches|images|audio|videos|realtime|vector_stores|fine_tuning|assistants|threads|containers|evals)(?:\/|$)/;

/** Returns the sentence of a 404 for a path that clients are known to call; null for any other. */
export function notServedSentence(method: string, path: string): string | null {
  const sentence = `There is no ${method} ${path} here`;
  if (GOOGLE.test(path))
    return `${sentence}: Google's own API is not served; clients of OpenAI and Anthropic reach Google's models`;
  const mended = method === 'POST' ? mendedBaseUrl(path) : null;
  if (mended !== null) return `${sentence}, ${mended}`;
  if (STORED.test(path))
    return `${sentence}: the gateway passes on calls of models alone, and no stored responses, files, batches, images or audio`;
  return null;
}

/** Returns what to change about the base URL of a client that calls `path`; null when another would not help. */
function mendedBaseUrl(path: string): string | null {
  if (SERVED.includes(VERSION + path))
    return `but ${VERSION + path}: the base URL of this client has to end in ${VERSION}`;
  // The longest first: `/v1/chat/completions` ends in `/chat/completions`, too.
  const end = SERVED.filter((served) => path.endsWith(served)).sort((a, b) => b.length - a.length)[0];
  const added = end === undefined ? '' : path.slice(0, -end.length);
  if (!ADDED.test(added)) return null;
  return `but ${end}: the base URL has ${added} too much, or the client adds it`;
}
