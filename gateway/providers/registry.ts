/**
 * The providers: the address of each, its endpoints, and how it authenticates calls. What differs between providers is a
 * row of this table and nothing else.
 */
import type { ProviderName } from '#platform/config/mod.ts';

/** A provider endpoint: OpenAI's chat completions and their kin, Anthropic's Messages. */
export type ProviderEndpoint =
  | 'chat'
  | 'completions'
  | 'responses'
  | 'embeddings'
  | 'moderations'
  | 'messages'
  | 'countTokens';

export type ProviderRow = {
  /** Whether it reads the headers of OpenAI or of Anthropic. */
  dialect: 'openai' | 'anthropic';
  /** As records show it. */
  label: string;
  /** Where `paths` lie below, as the maker's own clients have it; null when there is no public address. */
  baseUrl: string | null;
  /** Its endpoints. Where it has one of chat completions and Messages alone, the other is translated. */
  paths: Readonly<Partial<Record<ProviderEndpoint, string>>>;
  /** The header that carries the provider key. */
  keyHeader: 'authorization' | 'api-key' | 'x-api-key';
  /** Sent with every call: flat list of names and values. */
  headers: readonly string[];
  /**
   * Whether it takes `stream_options`, and must be asked for a stream's usage by it. Mistral refuses the field, and says
   * the usage unasked.
   */
  takesUsageOption: boolean;
  /** The field that bounds a completion: OpenAI's newer models take the second alone, others the first. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** The dialect whose fields its chat completions take beside OpenAI's: OpenRouter passes Anthropic's on. */
  extensions: 'none' | 'anthropic';
  /** The variable that sets the operator's key, for error sentences. */
  keyVariable: string;
  /** Whether it refuses calls without a key: servers of one's own, such as Ollama and vLLM, often have none. */
  needsKey: boolean;
};

const OPENAI_PATHS = {
  chat: '/chat/completions',
  completions: '/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  moderations: '/moderations',
} as const;

function openAiPaths(...endpoints: (keyof typeof OPENAI_PATHS)[]): ProviderRow['paths'] {
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint, OPENAI_PATHS[endpoint]]));
}

const OPENAI = {
  dialect: 'openai',
  takesUsageOption: true,
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
    maxTokensField: 'max_completion_tokens',
    label: 'OPENAI',
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
  },
  google: {
    ...BEARER,
    paths: openAiPaths('chat', 'embeddings'),
    label: 'GOOGLE',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
  },
  mistral: {
    ...BEARER,
    paths: openAiPaths('chat', 'embeddings', 'moderations'),
    label: 'MISTRAL',
    baseUrl: 'https://api.mistral.ai/v1',
    takesUsageOption: false,
    keyVariable: 'MISTRAL_API_KEY',
  },
  groq: {
    ...BEARER,
    paths: openAiPaths('chat', 'responses'),
    maxTokensField: 'max_completion_tokens',
    label: 'GROQ',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
  },
  deepseek: {
    ...BEARER,
    paths: openAiPaths('chat'),
    label: 'DEEPSEEK',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariable: 'DEEPSEEK_API_KEY',
  },
  xai: {
    ...BEARER,
    paths: openAiPaths('chat', 'completions', 'responses'),
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
    maxTokensField: 'max_tokens',
    extensions: 'anthropic',
    needsKey: true,
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  azure: {
    ...OPENAI,
    paths: openAiPaths('chat', 'completions', 'responses', 'embeddings'),
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
