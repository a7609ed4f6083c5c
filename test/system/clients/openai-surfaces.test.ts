/**
 * The unmodified `openai` package beyond chat completions of OpenAI's, only its base URL and key set: its other endpoints,
 * models of Anthropic's, lists of models, retries.
 */
import * as claude from './openai-claude.ts';
import * as surfaces from './openai-surfaces.ts';
import * as trouble from './openai-trouble.ts';
import { runCases } from './run-cases.ts';

runCases([
  ['Responses: a plain call', surfaces.responses],
  ['Responses: a stream', surfaces.responsesStream],
  ['Responses: the stream helper', surfaces.responsesHelper],
  ['Responses: tool calls and their results', surfaces.responsesTools],
  ['Responses: structured output', surfaces.responsesParse],
  ['embeddings, in base64 and as numbers', surfaces.embeddings],
  ['moderations', surfaces.moderations],
  ['completions, plain and streamed', surfaces.completions],
  ['the model list', surfaces.models],
  ['the provider’s errors come as their own classes', trouble.errors],
  ['a stream that breaks is an error after what came', trouble.brokenStream],
  ['a model that fails in the middle of a stream is a failure', trouble.failedStream],
  ['what a provider lacks is an error of its own', trouble.notSupported],
  ['an abort stops the provider', trouble.abort],
  ['Claude: a plain call', claude.plain],
  ['Claude: a stream, with and without usage', claude.stream],
  ['Claude: the package runs the tools', claude.runTools],
  ['Claude: structured output', claude.parse],
  ['Claude: errors come as OpenAI’s', claude.errors],
  ['Claude: streams that break or fail are errors after what came', claude.brokenStreams],
  ['Claude: an abort stops the provider', claude.abort],
  ['the next model of a list answers', trouble.fallback],
  ['nobody of a list answers', trouble.fallbackFailed],
  ['the gateway tries again', trouble.retries],
]);
