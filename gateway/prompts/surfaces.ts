/**
 * The API endpoints that take stored prompts. A prompt is stored in the form of chat completions; for Responses and Messages
 * it is rewritten, unless it is stored in that endpoint's own form.
 */
import { AssayError } from '#core/contracts/errors.ts';
import { isObject, type JsonObject, parseExactJson } from '#core/json/mod.ts';
import type { ExpandedMembers, ListMember } from '#core/prompts/mod.ts';
import type { ProviderEndpoint } from '../providers/registry.ts';
import { isMessagesForm, toMessagesForm } from './messages-form.ts';
import { toResponsesForm } from './responses-form.ts';

type PromptSurface = {
  /** The members that are joined with the call's. */
  readonly lists: readonly ListMember[];
  /**
   * Rewrites an expanded prompt for the endpoint.
   * @throws AssayError invalid_body, naming the field that the endpoint cannot express
   */
  shape(members: ExpandedMembers): ExpandedMembers;
};

const MESSAGES: ListMember = { name: 'messages', wrap: null };
/** In Responses, a text alone is the user's. */
const INPUT: ListMember = { name: 'input', wrap: ['{"role":"user","content":', '}'] };
const SYSTEM: ListMember = { name: 'system', wrap: ['{"type":"text","text":', '}'] };

/** Whether a response is streamed is the client's affair: one that asks for none could not read a stream. */
const OF_CLIENT = ['stream', 'stream_options'];
/** The members of a Messages body whose tokens can be counted; the endpoint refuses all others. */
const COUNTED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
]);

function withoutStream(members: ExpandedMembers): ExpandedMembers {
  if (!OF_CLIENT.some((name) => members.has(name))) return members;
  return new Map([...members].filter(([name]) => !OF_CLIENT.includes(name)));
}

const asMessages = (members: ExpandedMembers) =>
  reshape(withoutStream(members), '/v1/messages', (body) =>
    isMessagesForm(body) ? null : toMessagesForm(body),
  );

/** By the endpoint of providers that each corresponds to. */
export const PROMPT_SURFACES: Partial<Record<ProviderEndpoint, PromptSurface>> = {
  chat: { lists: [MESSAGES], shape: withoutStream },
  completions: {
    lists: [],
    shape: (members) => {
      if (!members.has('messages')) return withoutStream(members);
      throw new AssayError(
        'invalid_body',
        'The stored prompt has messages, which /v1/completions cannot take: call /v1/chat/completions',
      );
    },
  },
  responses: {
    lists: [INPUT],
    shape: (members) => {
      const given = withoutStream(members);
      return given.has('messages') ? reshape(given, '/v1/responses', toResponsesForm) : given;
    },
  },
  messages: { lists: [MESSAGES, SYSTEM], shape: asMessages },
  countTokens: {
    lists: [MESSAGES, SYSTEM],
    shape: (members) => new Map([...asMessages(members)].filter(([name]) => COUNTED.has(name))),
  },
};

/** @param rewrite returns null when the body can be used as it is */
function reshape(
  members: ExpandedMembers,
  path: string,
  rewrite: (body: JsonObject) => JsonObject | null,
): ExpandedMembers {
  const json = [...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join();
  const body = parseExactJson(`{${json}}`);
  if (!isObject(body)) return members;
  try {
    const rewritten = rewrite(body);
    if (rewritten === null) return members;
    return new Map(Object.entries(rewritten).map(([name, value]) => [name, JSON.stringify(value)]));
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    throw new AssayError('invalid_body', `The stored prompt cannot be sent to ${path}: ${error.message}`, {
      cause: error,
    });
  }
}
