/** A scripted model that OpenAI serves by `/v1/responses`, plain and streamed. */
import { errorJson } from '../../../support/scripted/openai-dialect.ts';
import type { Behaviour, RecordedRequest } from '../../../support/scripted-provider.ts';
import { type Asked, idOf, piecesOf, type Said, textOf, tokensOf } from './asked.ts';
import { behave, frameOf, type ModelDialect } from './behave.ts';

type Item = { type?: string; role?: string; content?: unknown; output?: unknown };
type Request = {
  model: string;
  stream?: boolean;
  input: string | Item[];
  tools?: { type: string; name?: string }[];
  tool_choice?: unknown;
  text?: { format?: { type?: string } };
};

function read(body: Record<string, unknown>): Asked {
  const { model, stream = false, input, tools, tool_choice, text } = body as Request;
  const items: Item[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const last = items.at(-1);
  const called = tools?.find(({ type }) => type === 'function')?.name ?? null;
  return {
    model,
    stream,
    question: textOf(items.findLast(({ role }) => role === 'user')?.content),
    tool: tool_choice === 'none' ? null : called,
    toolResult: last?.type === 'function_call_output' ? textOf(last.output) : null,
    wantsJson: text?.format?.type === 'json_schema',
  };
}

/** The one item of a response, empty when it is going to be streamed. */
function outputItem(asked: Asked, said: Said, isWhole: boolean) {
  const id = idOf(asked, said);
  const status = isWhole ? 'completed' : 'in_progress';
  if (said.kind === 'call') {
    const given = isWhole ? JSON.stringify(said.input) : '';
    const call = { call_id: `call_${id}`, name: said.tool, arguments: given };
    return { type: 'function_call', id: `fc_${id}`, status, ...call };
  }
  const content = isWhole ? [textPart(said.text)] : [];
  return { type: 'message', id: `msg_${id}`, status, role: 'assistant', content };
}

function textPart(text: string) {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** https://platform.openai.com/docs/api-reference/responses/object */
function answer(asked: Asked, said: Said) {
  const { input, output } = tokensOf(asked, said);
  return {
    id: `resp_${idOf(asked, said)}`,
    object: 'response',
    created_at: 1_767_225_600,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: asked.model,
    output: [outputItem(asked, said, true)],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
    user: null,
    metadata: {},
  };
}

/** The events between an item's beginning and its end. */
function itemEvents(said: Said, itemId: string) {
  const at = { item_id: itemId, output_index: 0 };
  const deltas = piecesOf(said);
  if (said.kind === 'call') {
    const type = 'response.function_call_arguments';
    return [
      ...deltas.map((delta) => ({ type: `${type}.delta`, ...at, delta })),
      { type: `${type}.done`, ...at, arguments: deltas.join('') },
    ];
  }
  const inPart = { ...at, content_index: 0 };
  return [
    { type: 'response.content_part.added', ...inPart, part: textPart('') },
    ...deltas.map((delta) => ({ type: 'response.output_text.delta', ...inPart, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...inPart, text: said.text, logprobs: [] },
    { type: 'response.content_part.done', ...inPart, part: textPart(said.text) },
  ];
}

function stream(asked: Asked, said: Said): string[] {
  const whole = answer(asked, said);
  const [item] = whole.output;
  const begun = { ...whole, status: 'in_progress', output: [], usage: null };
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: outputItem(asked, said, false) },
    ...itemEvents(said, item!.id),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ];
  return events.map((event, sequence_number) => frameOf({ ...event, sequence_number }));
}

function error(status: number, message: string) {
  return errorJson(status, { message });
}

const failure: ModelDialect['failure'] = (asked, said) => {
  const told = { code: 'server_error', message: 'The model failed' };
  const response = { ...answer(asked, said), status: 'failed', error: told, output: [] };
  return { type: 'response.failed', sequence_number: 99, response };
};

const RESPONSES: ModelDialect = { read, answer, stream, endingFrames: 4, failure, error };

/** What the model does with a call of `/v1/responses`. */
export function respond(request: RecordedRequest): Behaviour {
  return behave(RESPONSES, request);
}
