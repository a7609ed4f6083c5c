/**
 * The API endpoints: the paths that clients call. What differs between them is a row of this table; how a call is admitted,
 * relayed, limited, cached and logged is the same for all.
 */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import { isMessageStopFrame, userOfMetadata } from '../dialects/mod.ts';
import type { ProviderEndpoint } from '../providers/registry.ts';
import { isDoneFrame, isResponseEndFrame } from './end-of-stream.ts';
import { ANTHROPIC_ERRORS, type ErrorFormat, OPENAI_ERRORS, RESPONSES_ERRORS } from './error-format.ts';

export type ApiEndpoint = {
  /** The provider's endpoint that it corresponds to. */
  providerEndpoint: ProviderEndpoint;
  /** As records and cache keys have it, whichever of its addresses was called. */
  path: string;
  /** The paths at which it is served. */
  addresses: readonly string[];
  errors: ErrorFormat;
  /** The model of a body that names none; null: it must name one. */
  defaultModel: string | null;
  /** True when the body has a field that asks for a stream. */
  canStream: boolean;
  /** True when a stream has its usage only when `stream_options` asks for it. */
  hasUsageOption: boolean;
  /** Providers charge nothing for it, so that it needs no known price under a limit in money. */
  isFree: boolean;
  /** Returns the end user that the body names. */
  userOf(body: JsonObject): string | null;
  isLastFrame(frame: Buffer): boolean;
};

/** `safety_identifier` has taken the place of `user` at OpenAI: https://platform.openai.com/docs/api-reference/chat/create */
const userField = ({ user, safety_identifier }: JsonObject): string | null =>
  nameOrNull(user) ?? nameOrNull(safety_identifier);

/** Returns a name; null for an empty one, which clients send where they have none. */
const nameOrNull = (value: unknown): string | null => textOrNull(value) || null;

const OPENAI = {
  errors: OPENAI_ERRORS,
  defaultModel: null,
  canStream: false,
  hasUsageOption: false,
  isFree: false,
  userOf: userField,
  isLastFrame: isDoneFrame,
} as const;

/** OpenAI's own address, and the bare one that the interface has for chat completions. */
function openAiAddresses(name: string) {
  return { path: `/v1/${name}`, addresses: [`/v1/${name}`, `/${name}`] };
}

function metadataUser({ metadata }: JsonObject): string | null {
  const id = isObject(metadata) ? nameOrNull(metadata.user_id) : null;
  return id === null ? null : userOfMetadata(id);
}

const ANTHROPIC = {
  errors: ANTHROPIC_ERRORS,
  defaultModel: null,
  hasUsageOption: false,
  userOf: metadataUser,
  isLastFrame: isMessageStopFrame,
} as const;

/** @internal Exported for tests of single steps of a call. */
export const CHAT: ApiEndpoint = {
  ...OPENAI,
  ...openAiAddresses('chat/completions'),
  providerEndpoint: 'chat',
  canStream: true,
  hasUsageOption: true,
};

export const API_ENDPOINTS: readonly ApiEndpoint[] = [
  CHAT,
  {
    ...OPENAI,
    ...openAiAddresses('completions'),
    providerEndpoint: 'completions',
    canStream: true,
    hasUsageOption: true,
  },
  {
    ...OPENAI,
    ...openAiAddresses('responses'),
    providerEndpoint: 'responses',
    errors: RESPONSES_ERRORS,
    canStream: true,
    isLastFrame: isResponseEndFrame,
  },
  {
    // Codex asks for it when its context is full, and cannot go on without.
    ...OPENAI,
    ...openAiAddresses('responses/compact'),
    providerEndpoint: 'compact',
    errors: RESPONSES_ERRORS,
  },
  {
    ...OPENAI,
    ...openAiAddresses('responses/input_tokens'),
    providerEndpoint: 'inputTokens',
    errors: RESPONSES_ERRORS,
    isFree: true,
  },
  { ...OPENAI, ...openAiAddresses('embeddings'), providerEndpoint: 'embeddings' },
  {
    ...OPENAI,
    ...openAiAddresses('moderations'),
    providerEndpoint: 'moderations',
    // https://platform.openai.com/docs/api-reference/moderations/create
    defaultModel: 'omni-moderation-latest',
    isFree: true,
  },
  {
    ...ANTHROPIC,
    providerEndpoint: 'messages',
    path: '/v1/messages',
    addresses: ['/v1/messages'],
    canStream: true,
    isFree: false,
  },
  {
    ...ANTHROPIC,
    providerEndpoint: 'countTokens',
    path: '/v1/messages/count_tokens',
    addresses: ['/v1/messages/count_tokens'],
    canStream: false,
    isFree: true,
  },
];
