/** The variables of providers: a key and an address for each. */
import { type TOptional, type TString, Type } from '@sinclair/typebox';
import { PROVIDER_NAMES, type ProviderName } from '#core/contracts/provider.ts';
import { type Environment, readEnvironment } from './read-environment.ts';
import { address } from './texts.ts';
import { type About, matching, secret } from './variable.ts';

export type ProviderConfig = {
  /** The operator's own key; null: only callers who bring their own can use the provider. */
  apiKey: string | null;
  /** Overrides the provider's public address; no trailing slash. */
  baseUrl: string | null;
  /** For Azure alone: deployments are called by their address, in this version; null: at its endpoint without versions. */
  apiVersion: string | null;
};

/** Variables begin with the provider's name, except for these two. */
const PREFIXES: Partial<Record<ProviderName, string>> = { google: 'GEMINI', azure: 'AZURE_OPENAI' };
const prefixOf = (name: ProviderName) => PREFIXES[name] ?? name.toUpperCase();

const API_KEY_LENGTH = { min: 1, max: 4_096 };
const URL_PROTOCOLS = ['http:', 'https:'];
const ABOUT = { group: 'Providers', roles: ['gateway'] } satisfies Partial<About>;

/** The peculiarities of a provider's key and address. */
const KEY_NOTES: Partial<Record<ProviderName, string>> = {
  azure: ' Call `azure/<deployment>`.',
  custom: ' Optional: without a key none is sent.',
};
const ADDRESS_NOTES: Partial<Record<ProviderName, string>> = {
  openai: ' It includes `/v1`, as in the official SDKs.',
  anthropic: ' It does not include `/v1`, as in the official SDKs.',
  azure: ' It comes before `AZURE_OPENAI_ENDPOINT`.',
  custom: ' Any server of the dialect of OpenAI, such as vLLM or Ollama: call `custom/<model>`.',
};

const endpointOf = (description: string, extra: Partial<About> = {}) =>
  address(URL_PROTOCOLS, 'https://host/v1', { ...ABOUT, description, ...extra });

const keyVariable = (name: ProviderName) =>
  secret(API_KEY_LENGTH.min, API_KEY_LENGTH.max, {
    ...ABOUT,
    isSecret: true,
    description: `The operator's key for \`${name}\`. A key that an organization [stored through the API](guides/provider-keys.md) comes before it.${KEY_NOTES[name] ?? ''}`,
  });

const addressVariable = (name: ProviderName) =>
  endpointOf(
    `The address of \`${name}\`.${ADDRESS_NOTES[name] ?? ''}`,
    name === 'custom' || name === 'azure' ? {} : { defaultText: "the provider's own" },
  );

const AZURE_ENDPOINT = 'AZURE_OPENAI_ENDPOINT';
const AZURE_VERSION = 'AZURE_OPENAI_API_VERSION';

/** A key and an address for every provider, and what Azure needs besides. */
export const PROVIDER_VARIABLES = Type.Object<Record<string, TOptional<TString>>>({
  ...Object.fromEntries(
    PROVIDER_NAMES.flatMap((name) => [
      [`${prefixOf(name)}_API_KEY`, keyVariable(name)],
      [`${prefixOf(name)}_BASE_URL`, addressVariable(name)],
    ]),
  ),
  [AZURE_ENDPOINT]: endpointOf('The address of the resource of Azure.'),
  // https://learn.microsoft.com/azure/ai-foundry/openai/reference
  [AZURE_VERSION]: matching(/^\d{4}-\d{2}-\d{2}(?:-preview)?$/, 'a version like 2024-10-21', {
    ...ABOUT,
    description:
      'Without it Azure is called at `/openai/v1`; with it, by the deployment in the address and with this version.',
  }),
});

/** Reads the keys and addresses of all providers. */
export function readProviders(environment: Environment) {
  const { values, problems } = readEnvironment(PROVIDER_VARIABLES, environment);
  const valueNamed = (name: string): string | null => values[name] ?? null;
  const configOf = (name: ProviderName): ProviderConfig => ({
    apiKey: valueNamed(`${prefixOf(name)}_API_KEY`),
    baseUrl:
      valueNamed(`${prefixOf(name)}_BASE_URL`) ?? (name === 'azure' ? valueNamed(AZURE_ENDPOINT) : null),
    apiVersion: name === 'azure' ? valueNamed(AZURE_VERSION) : null,
  });
  const entries = PROVIDER_NAMES.map((name) => [name, configOf(name)] as const);
  return { providers: Object.fromEntries(entries) as Record<ProviderName, ProviderConfig>, problems };
}
