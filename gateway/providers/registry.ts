/**
 * The providers: the address of each, its endpoints, and how it authenticates calls. This table holds all differences
 * between providers of one dialect.
 */
import type { ProviderName } from '#platform/config/mod.ts';

/** A provider endpoint: one of OpenAI's, or Anthropic's Messages and its count of tokens. */
export type ProviderEndpoint =
  | 'chat'
  | 'completions'
  | 'responses'
  | 'compact'
  | 'inputTokens'
  | 'embeddings'
  | 'moderations'
  | 'messages'
  | 'countTokens';

export type ProviderRow = {
  /** The dialect whose headers the provider reads. */
  dialect: 'openai' | 'anthropic';
  /** The name in records. */
  label: string;
  /** The address above `paths`, as in the provider's own clients; null when there is no public address. */
  baseUrl: string | null;
  /** The provider's endpoints. With only one of chat completions and Messages, calls of the other are translated. */
  paths: Readonly<Partial<Record<ProviderEndpoint, string>>>;
  /** The header that carries the provider key. */
  keyHeader: 'authorization' | 'api-key' | 'x-api-key';
  /** Headers of every provider request: flat list of names and values. */
  headers: readonly string[];
  /**
   * True when the provider takes `stream_options`, and sends a stream's usage only when that asks for it. Mistral refuses the
   * field, and always sends the usage.
   */
  takesUsageOption: boolean;
  /** True when the provider takes `user` and `service_tier`, which change no answer. Mistral refuses them. */
  takesUserAndTier: boolean;
  /** The highest `reasoning_effort` that the provider takes. */
  highestEffort: 'high' | 'max';
  /** The models that take `reasoning_effort`, where others are known to refuse it; null: all are given it. */
  effortModels: RegExp | null;
  /** True when OpenAI's reasoning models are called by Responses there, where they keep their reasoning between turns. */
  reasonsInResponses: boolean;
  /** The field that limits a completion: OpenAI's newer models take only the second, other providers the first. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /**
   * Makers whose fields and ids chat completions take beside OpenAI's: OpenRouter forwards Anthropic's, DeepSeek's and Google's
   * models refuse earlier tool calls without their own, and Mistral those with ids of other providers.
   */
  extensions: 'none' | 'anthropic' | 'deepseek' | 'google' | 'mistral';
  /** The environment variable of the operator's key, for error sentences. */
  keyVariable: string;
  /** True when the provider refuses calls without a key: self-hosted servers, such as Ollama and vLLM, often have none. */
  needsKey: boolean;
};

const OPENAI_PATHS = {
  chat: '/chat/completions',
  completions: '/completions',
  responses: '/responses',
  compact: '/responses/compact',
  inputTokens: '/responses/input_tokens',
  embeddings: '/embeddings',
  moderations: '/moderations',
} as const;

function openAiPaths(...endpoints: (keyof typeof OPENAI_PATHS)[]): ProviderRow['paths'] {
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint, OPENAI_PATHS[endpoint]]));
}

/** OpenAI's models that reason, as OpenAI and Azure name them. */
export const REASONING_MODEL = /^(?:gpt-(?:[5-9]|1\d)(?!\d)|o\d|codex)(?!.*-chat)/;

const OPENAI = {
  dialect: 'openai',
  takesUsageOption: true,
  takesUserAndTier: true,
  highestEffort: 'max',
  effortModels: null,
  reasonsInResponses: false,
  maxTokensField: 'max_tokens',
  extensions: 'none',
  headers: [],
  needsKey: true,
} as const;
const BEARER = { ...OPENAI, keyHeader: 'authorization' } as const;

export const PROVIDERS: Record<ProviderName, ProviderRow> = {
  openai: {
    ...BEARER,
    paths: OPENAI_PATHS,
    effortModels: REASONING_MODEL,
    reasonsInResponses: true,
    maxTokensField: 'max_completion_tokens',
    label: 'OPENAI',
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
  },
  google: {
    ...BEARER,
    paths: openAiPaths('chat', 'embeddings'),
    extensions: 'google',
    highestEffort: 'high',
    label: 'GOOGLE',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
  },
  mistral: {
    ...BEARER,
    paths: openAiPaths('chat', 'embeddings', 'moderations'),
    extensions: 'mistral',
    label: 'MISTRAL',
    baseUrl: 'https://api.mistral.ai/v1',
    takesUsageOption: false,
    takesUserAndTier: false,
    keyVariable: 'MISTRAL_API_KEY',
  },
  groq: {
    ...BEARER,
    paths: openAiPaths('chat', 'responses'),
    maxTokensField: 'max_completion_tokens',
    highestEffort: 'high',
    effortModels: /gpt-oss|qwen/,
    label: 'GROQ',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
  },
  deepseek: {
    ...BEARER,
    paths: openAiPaths('chat'),
    extensions: 'deepseek',
    label: 'DEEPSEEK',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariable: 'DEEPSEEK_API_KEY',
  },
  xai: {
    ...BEARER,
    paths: openAiPaths('chat', 'completions', 'responses'),
    // https://docs.x.ai/developers/model-capabilities/text/reasoning. Grok 4.20 is older than 4.3.
    effortModels: /grok-(?:3-mini|4\.[3-9](?!\d)|[5-9]|latest)/,
    label: 'XAI',
    baseUrl: 'https://api.x.ai/v1',
    keyVariable: 'XAI_API_KEY',
  },
  together: {
    ...BEARER,
    paths: openAiPaths('chat', 'completions', 'embeddings'),
    label: 'TOGETHER',
    baseUrl: 'https://api.together.xyz/v1',
    keyVariable: 'TOGETHER_API_KEY',
  },
  openrouter: {
    ...BEARER,
    paths: openAiPaths('chat', 'completions', 'responses', 'embeddings'),
    extensions: 'anthropic',
    label: 'OPENROUTER',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
  },
  anthropic: {
    label: 'ANTHROPIC',
    dialect: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    paths: { messages: '/v1/messages', countTokens: '/v1/messages/count_tokens' },
    keyHeader: 'x-api-key',
    headers: ['anthropic-version', '2023-06-01'],
    takesUsageOption: true,
    takesUserAndTier: true,
    highestEffort: 'max',
    effortModels: null,
    reasonsInResponses: false,
    maxTokensField: 'max_tokens',
    extensions: 'anthropic',
    needsKey: true,
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  azure: {
    ...OPENAI,
    // https://learn.microsoft.com/en-us/azure/foundry/reference/rest/compactconversation. It does not tell of a count of tokens.
    paths: openAiPaths('chat', 'completions', 'responses', 'compact', 'embeddings'),
    effortModels: REASONING_MODEL,
    reasonsInResponses: true,
    maxTokensField: 'max_completion_tokens',
    label: 'AZURE',
    baseUrl: null,
    keyHeader: 'api-key',
    keyVariable: 'AZURE_OPENAI_API_KEY',
  },
  custom: {
    ...BEARER,
    paths: OPENAI_PATHS,
    label: 'CUSTOM',
    baseUrl: null,
    keyVariable: 'CUSTOM_API_KEY',
    needsKey: false,
  },
};
