/** Whose model a name means. Gateway and evaluators must agree: a judge's cost is its provider's. */
import { PROVIDER_NAMES, type ProviderName } from '../contracts/provider.ts';
import { isFineTuned } from './fine-tuned.ts';
import { knowsModel } from './registry.ts';

/** Whose catalog is asked first for a bare model name: authors before those who host others' models. */
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

/** The registry's patterns for Google find Claude under names of other hosts too, which Google knows nothing of. */
const GOOGLES_OWN = /^(?:models\/)?gem(?:ini|ma)/;

function isModelOf(candidate: ProviderName, asked: string): boolean {
  return knowsModel(candidate, asked) && (candidate !== 'google' || GOOGLES_OWN.test(asked));
}

/** The provider and its name for a model asked for by its catalog id or as `provider/model`; null: nobody's. */
export function providerOf(asked: string): { provider: ProviderName; model: string } | null {
  // The registry reads over spaces; providers do not.
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
