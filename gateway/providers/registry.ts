/**
 * The providers that speak OpenAI's dialect, so that bytes pass through untouched. What differs between them is a row
 * of this table and nothing else.
 */
import type { ProviderName } from '#core/config/mod.ts';

export type OpenAiDialectProvider = {
  /** As records show it. */
  label: string;
  /** Where `/chat/completions` lies below; null when there is no public address. */
  baseUrl: string | null;
  /** The header that carries the provider key. */
  keyHeader: 'authorization' | 'api-key';
  /**
   * Whether a stream must be asked for its usage with `stream_options`. Mistral refuses unknown fields and sends usage
   * unasked.
   */
  asksForUsage: boolean;
  /** The variable that sets the operator's key, for error sentences. */
  keyVariable: string;
};

const BEARER = { keyHeader: 'authorization', asksForUsage: true } as const;

export const OPENAI_DIALECT: Partial<Record<ProviderName, OpenAiDialectProvider>> = {
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
  azure: {
    label: 'AZURE',
    baseUrl: null,
    keyHeader: 'api-key',
    asksForUsage: true,
    keyVariable: 'AZURE_OPENAI_API_KEY',
  },
  custom: { ...BEARER, label: 'CUSTOM', baseUrl: null, keyVariable: 'CUSTOM_API_KEY' },
};
