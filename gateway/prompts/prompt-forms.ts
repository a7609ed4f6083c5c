/**
 * The API endpoints that take stored prompts. A prompt is stored in the form of chat completions; for Responses and Messages
 * it is rewritten, unless it is stored in that endpoint's own form.
 */
import { AssayError } from '#core/contracts/errors.ts';
import { type JsonObject, parseExactObject } from '#core/json/mod.ts';
import type { ExpandedMembers, ListMember } from '#core/prompts/mod.ts';
import { scanMembersInTurns } from '#platform/process/turns.ts';
import type { ProviderEndpoint } from '../providers/registry.ts';
import { isMessagesForm, toMessagesForm } from './messages-form.ts';
import { toResponsesForm } from './responses-form.ts';

type PromptForm = {
  /** The members that are joined with the call's. */
  readonly lists: readonly ListMember[];
  /**
   * Rewrites an expanded prompt for the endpoint. Returns a promise only where it has to be rewritten.
   * @param callModel the model of the call; null: it names none
   * @throws AssayError invalid_body, naming the field that the endpoint cannot express
   */
  shape(members: ExpandedMembers, callModel: string | null): ExpandedMembers | Promise<ExpandedMembers>;
};

/** Characters up to which a prompt is rewritten unseen: that takes a few milliseconds at worst. */
const LARGEST_UNSEEN = 64 * 1024;
/** Values of a larger one, of which texts are the bulk. Rewriting so many takes some ten milliseconds. */
const MAX_REWRITTEN_VALUES = 20_000;
/** Levels: what a template may have, and an input in it. */
const MAX_REWRITTEN_DEPTH = 2_048;

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

const asMessages = (members: ExpandedMembers, callModel: string | null) =>
  reshape(withoutStream(members), '/v1/messages', (body) =>
    isMessagesForm(body) ? null : toMessagesForm(body, callModel),
  );

/** The form of a prompt for each API endpoint that takes one, by its endpoint of providers. */
export const PROMPT_FORMS: Partial<Record<ProviderEndpoint, PromptForm>> = {
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
    shape: async (members, callModel) =>
      new Map([...(await asMessages(members, callModel))].filter(([name]) => COUNTED.has(name))),
  },
};

/** Returns whether calls of an endpoint may name a stored prompt. */
export function takesPrompts(endpoint: ProviderEndpoint): boolean {
  return PROMPT_FORMS[endpoint] !== undefined;
}

/** @param rewrite returns null when the body can be used as it is */
async function reshape(
  members: ExpandedMembers,
  path: string,
  rewrite: (body: JsonObject) => JsonObject | null,
): Promise<ExpandedMembers> {
  const json = `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`;
  try {
    if (json.length > LARGEST_UNSEEN) await checkValues(json);
    const rewritten = rewrite(parseExactObject(json) ?? {});
    if (rewritten === null) return members;
    return new Map(Object.entries(rewritten).map(([name, value]) => [name, JSON.stringify(value)]));
  } catch (error) {
    if (!(error instanceof AssayError)) throw error;
    throw new AssayError('invalid_body', `The stored prompt cannot be sent to ${path}: ${error.message}`, {
      cause: error,
    });
  }
}

async function checkValues(json: string): Promise<void> {
  const options = { names: [], maxDepth: MAX_REWRITTEN_DEPTH, isValid: true };
  const { values } = await scanMembersInTurns(Buffer.from(json), options);
  if (values <= MAX_REWRITTEN_VALUES) return;
  throw new AssayError(
    'invalid_body',
    `expanded, it holds ${values} values, of which at most ${MAX_REWRITTEN_VALUES} can be rewritten`,
  );
}
