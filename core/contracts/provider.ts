/** The providers for which the gateway can be given a key or an address. */
export const PROVIDER_NAMES = [
  'openai',
  'anthropic',
  'azure',
  'google',
  'mistral',
  'groq',
  'deepseek',
  'xai',
  'together',
  'openrouter',
  'custom',
] as const;

export type ProviderName = (typeof PROVIDER_NAMES)[number];
