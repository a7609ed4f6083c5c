/**
 * The providers, and the dialect of each: OpenAI's, of which bytes pass through untouched, or Anthropic's, which is
 * translated. What differs between providers of one dialect is a row of this table and nothing else.
 */
import type { ProviderName } from '#core/config/mod.ts';

export type ProviderRow = {
  dialect: 'openai' | 'anthropic';
  /** As records show it. */
  label: string;
  /** Where `chatPath` lies below, as the maker's own clients have it; null when there is no public address. */
  baseUrl: string | null;
  chatPath: string;
  /** The header that carries the provider key. */
  keyHeader: 'authorization' | 'api-key' | 'x-api-key';
  /** Sent with every call: flat list of names and values. */
  headers: readonly string[];
  /**
   * Whether a stream has a usage chunk only because the gateway asks for it, or makes one. Mistral refuses unknown fields
   * and sends usage unasked.
   */
  asksForUsage: boolean;
  /** The variable that sets the operator's key, for error sentences. */
  keyVariable: string;
};

const OPENAI = { dialect: 'openai', chatPath: '/chat/completions', asksForUsage: true, headers: [] } as const;
const BEARER = { ...OPENAI, keyHeader: 'authorization' } as const;

export const PROVIDERS: Record<ProviderName, ProviderRow> = {
  openai: { ...BEARER, label: 'OPENAI', baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  google: {
    ...BEARER,
    label: 'GOOGLE',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
  },
  mistral: {
    ...BEARER,
    label: 'MISTRAL',
    baseUrl: 'https://api.mistral.ai/v1',
    asksForUsage: false,
    keyVariable: 'MISTRAL_API_KEY',
  },
  groq: { ...BEARER, label: 'GROQ', baseUrl: 'https://api.groq.com/openai/v1', keyVariable: 'GROQ_API_KEY' },
  deepseek: {
    ...BEARER,
    label: 'DEEPSEEK',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariable: 'DEEPSEEK_API_KEY',
  },
  xai: { ...BEARER, label: 'XAI', baseUrl: 'https://api.x.ai/v1', keyVariable: 'XAI_API_KEY' },
  together: {
    ...BEARER,
    label: 'TOGETHER',
    baseUrl: 'https://api.together.xyz/v1',
    keyVariable: 'TOGETHER_API_KEY',
  },
  openrouter: {
    ...BEARER,
    label: 'OPENROUTER',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
  },
  anthropic: {
    label: 'ANTHROPIC',
    dialect: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    chatPath: '/v1/messages',
    keyHeader: 'x-api-key',
    headers: ['anthropic-version', '2023-06-01'],
    asksForUsage: true,
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  azure: {
    ...OPENAI,
    label: 'AZURE',
    baseUrl: null,
    keyHeader: 'api-key',
    keyVariable: 'AZURE_OPENAI_API_KEY',
  },
  custom: { ...BEARER, label: 'CUSTOM', baseUrl: null, keyVariable: 'CUSTOM_API_KEY' },
};
