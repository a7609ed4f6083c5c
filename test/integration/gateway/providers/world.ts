/** A gateway with a key and an address for every provider; all addresses are one scripted provider's. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProviderName } from '#platform/config/mod.ts';
import { PROVIDERS } from '../../../../gateway/providers/registry.ts';
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts';
import type { ScriptedProvider } from '../../../support/scripted-provider.ts';
import { type Owner, scriptedProvider, temporaryDirectory } from '../../../support/world.ts';
import type { Fixture } from './fixture.ts';

export type World = {
  gateway: TestGateway;
  provider: ScriptedProvider;
};

/** USD for a million tokens, the same for all models: a cost then tells how tokens of each kind were counted. */
const PRICE = { input: 1, cached_input: 0.25, cache_write: 1.25, output: 4 };

/** The key of the operator's account at a provider. */
export function operatorKey(provider: ProviderName): string {
  return `key-for-${provider}`;
}

/** Starts it, until the test ends, with prices for the models of these fixtures; `environment` overrides variables. */
export async function startWorld(
  owner: Owner,
  fixtures: readonly Fixture[],
  environment: Record<string, string> = {},
): Promise<World> {
  const provider = await scriptedProvider(owner);
  const modelsFile = join(temporaryDirectory(owner), 'models.json');
  writeFileSync(modelsFile, JSON.stringify({ models: pricedModels(fixtures) }));
  const gateway = await startTestGateway(owner, {
    ...variables(new URL(provider.url).origin),
    MODELS_FILE: modelsFile,
    ...environment,
  });
  return { gateway, provider };
}

function pricedModels(fixtures: readonly Fixture[]) {
  const models = fixtures.map(({ provider, call }) => ({
    id: String(call.body.model),
    provider,
    price: PRICE,
  }));
  return [...new Map(models.map((model) => [model.id, model])).values()];
}

/** Keys, and addresses with the path that each provider's own address has. */
function variables(origin: string): Record<string, string> {
  const all: [string, string][] = [
    ['AZURE_OPENAI_ENDPOINT', origin],
    ['CUSTOM_BASE_URL', `${origin}/v1`],
  ];
  for (const [name, { keyVariable, baseUrl }] of Object.entries(PROVIDERS)) {
    all.push([keyVariable, operatorKey(name as ProviderName)]);
    if (baseUrl === null) continue;
    all.push([keyVariable.replace(/API_KEY$/, 'BASE_URL'), `${origin}${new URL(baseUrl).pathname}`]);
  }
  return Object.fromEntries(all);
}
