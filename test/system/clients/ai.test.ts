/**
 * The unmodified `ai` package with its own providers for OpenAI and Anthropic, only their base URL and key set: Responses,
 * chat completions, Messages and embeddings, as they are and translated, and every call is found.
 */
import * as ai from './ai-providers.ts';
import * as trouble from './ai-trouble.ts';
import { runCases } from './run-cases.ts';

runCases([
  ['generateText', ai.generate],
  ['streamText', ai.stream],
  ['a tool loop, plain and streamed', ai.tools],
  ['structured output, plain and streamed', ai.structured],
  ['embed and embedMany', ai.embeddings],
  ['the provider’s errors', trouble.errors],
  ['errors of embeddings', trouble.embeddingErrors],
  ['the gateway’s own errors', trouble.gatewayErrors],
  ['each of the package’s own retries is a record', trouble.retries],
  ['streams that break or fail are errors after what came', trouble.brokenStreams],
  ['an abort stops the provider', trouble.abort],
]);
