import { PROVIDER_NAMES, type ProviderName } from '#core/contracts/provider.ts';
import type { EnvironmentReader } from './read.ts';

export type ProviderConfig = {
  /** The operator's own key; null: only callers who bring their own can use the provider. */
  apiKey: string | null;
  /** Overrides the provider's public address; no trailing slash. */
  baseUrl: string | null;
  /** Azure's alone: deployments are called by their address, in this version; null: at its endpoint without versions. */
  apiVersion: string | null;
};

/** Variables begin with the provider's name, but for these two. */
const PREFIXES: Partial<Record<ProviderName, string>> = { google: 'GEMINI', azure: 'AZURE_OPENAI' };
/** https://learn.microsoft.com/azure/ai-foundry/openai/reference */
const AZURE_VERSION = { pattern: /^\d{4}-\d{2}-\d{2}(?:-preview)?$/, example: '2024-10-21' };
const API_KEY_LENGTH = { min: 1, max: 4_096 };

function readProvider(name: ProviderName, reader: EnvironmentReader): ProviderConfig {
  const prefix = PREFIXES[name] ?? name.toUpperCase();
  const address = (variable: string) => reader.url(variable, ['http:', 'https:'], 'https://host/v1');
  const overridden = address(`${prefix}_BASE_URL`);
  const endpoint = name === 'azure' ? address('AZURE_OPENAI_ENDPOINT') : null;
  const apiVersion = name === 'azure' ? reader.matching('AZURE_OPENAI_API_VERSION', AZURE_VERSION) : null;
  const apiKey = reader.secret(`${prefix}_API_KEY`, API_KEY_LENGTH);
  return { apiKey, baseUrl: overridden ?? endpoint, apiVersion };
}

/** Keys and addresses of all providers. */
export function readProviders(reader: EnvironmentReader): Record<ProviderName, ProviderConfig> {
  const entries = PROVIDER_NAMES.map((name) => [name, readProvider(name, reader)] as const);
  return Object.fromEntries(entries) as Record<ProviderName, ProviderConfig>;
}
