/**
 * What is built on the `openai` package, unmodified: `@openai/agents` over both of its surfaces, and `@langchain/openai`
 * beyond chat completions.
 */
import * as agents from './agents.ts';
import * as langchain from './langchain-surfaces.ts';
import { runCases } from './run-cases.ts';

runCases([
  ['agents: a tool, then an answer', agents.steps],
  ['agents: the same streamed', agents.streamedSteps],
  ['agents: a conversation over two runs', agents.conversation],
  ['agents: structured output', agents.structured],
  ['agents: errors', agents.errors],
  ['agents: an abort stops the provider', agents.abort],
  ['langchain: Responses', langchain.invoke],
  ['langchain: a stream of Responses', langchain.stream],
  ['langchain: tool calls and their results', langchain.tools],
  ['langchain: structured output', langchain.structured],
  ['langchain: embeddings', langchain.embeddings],
  ['langchain: errors', langchain.errors],
  ['langchain: an abort stops the provider', langchain.abort],
]);
