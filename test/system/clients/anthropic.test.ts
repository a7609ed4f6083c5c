/**
 * The unmodified `@anthropic-ai/sdk` package, only its base URL and key set: models of Anthropic's answer as they are,
 * those of others as if they were, and every call is found with its tokens and cost.
 */
import * as anthropic from './anthropic.ts';
import * as errors from './anthropic-errors.ts';
import { runCases } from './run-cases.ts';

runCases([
  ['a plain call', anthropic.plain],
  ['what was sent is what Anthropic hears', anthropic.passedThrough],
  ['a caller brings its own provider key', anthropic.ownProviderKey],
  ['a stream', anthropic.stream],
  ['the stream helper', anthropic.streamHelper],
  ['tool calls, plain and streamed', anthropic.tools],
  ['the tool runner', anthropic.toolRunner],
  ['the tool runner over a thread', anthropic.toolRunnerThread],
  ['the tool runner where there are no threads', anthropic.toolRunnerWithoutThreads],
  ['structured output', anthropic.structured],
  ['counting tokens', anthropic.countTokens],
  ['the model list, in pages and in one', anthropic.models],
  ['the provider’s errors come as their own classes', errors.providerErrors],
  ['a stream that breaks is an error after what came', errors.brokenStream],
  ['a model that fails in the middle of a stream is an error', errors.failedStream],
  ['an answer that breaks is an error', errors.brokenAnswer],
  ['the gateway’s own errors come as their own classes', errors.gatewayErrors],
  ['a rate limit is not tried again at once', errors.rateLimit],
  ['each of the client’s own retries is a record', errors.retries],
  ['an abort stops the provider', errors.abort],
]);
