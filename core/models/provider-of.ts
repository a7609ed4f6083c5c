/** The provider of a model name. Gateways and evaluators must agree on it: a judge's cost depends on its provider. */
import { PROVIDER_NAMES, type ProviderName } from '../contracts/provider.ts';
import { isFineTuned } from './fine-tuned.ts';
import { knowsModel } from './registry.ts';

/** The providers in the order in which a bare model name is looked up: makers before hosts of others' models. */
export const CATALOG_ORDER: readonly ProviderName[] = [
  'openai',
  'anthropic',
  'google',
  'mistral',
  'deepseek',
  'xai',
  'groq',
  'together',
  'openrouter',
];

/** Google's own models. The registry's patterns for Google also match other hosts' names of Claude, which Google does not serve. */
const GOOGLES_OWN = /^(?:models\/)?gem(?:ini|ma)/;

function isModelOf(candidate: ProviderName, asked: string): boolean {
  return knowsModel(candidate, asked) && (candidate !== 'google' || GOOGLES_OWN.test(asked));
}

/** Returns the provider and its name for a model that is requested by its id or as `provider/model`; null: none has it. */
export function providerOf(asked: string): { provider: ProviderName; model: string } | null {
  // The registry ignores spaces; providers do not.
  if (asked.trim() !== asked) return null;
  const slash = asked.indexOf('/');
  const prefix = slash > 0 ? asked.slice(0, slash).toLowerCase() : '';
  if (isProviderName(prefix) && slash < asked.length - 1) {
    return { provider: prefix, model: asked.slice(slash + 1) };
  }
  // Fine-tuned models are OpenAI's, and in no catalog.
  const provider = isFineTuned(asked)
    ? 'openai'
    : CATALOG_ORDER.find((candidate) => isModelOf(candidate, asked));
  return provider === undefined ? null : { provider, model: asked };
}

function isProviderName(name: string): name is ProviderName {
  return (PROVIDER_NAMES as readonly string[]).includes(name);
}
