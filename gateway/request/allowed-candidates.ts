import { AssayError } from '#core/contracts/errors.ts';
import { type AllowLists, matchesAny } from '#core/keys/mod.ts';
import type { Candidate } from '../providers/resolve.ts';

/** The parts of a candidate by which a key can be confined. */
type Named = Pick<Candidate, 'provider' | 'model'>;

/**
 * Checks where a call may go by what its key is confined to. What counts is the candidate, not the text that led to it: a
 * group or another name of a model is no way around a list. A model is allowed by its name at the provider, or by
 * `provider/model`. One that is not allowed refuses the whole list, which would otherwise fail on the day that its first
 * model does.
 * @throws AssayError provider_not_allowed, model_not_allowed; the sentence names all that are refused
 */
export function requireAllowedCandidates(
  { models, providers }: AllowLists,
  candidates: readonly Named[],
): void {
  if (providers !== null) {
    const refused = candidates.filter(({ provider }) => !providers.includes(provider));
    if (refused.length > 0)
      throw notAllowed('provider', [...new Set(refused.map(({ provider }) => provider))], providers);
  }
  if (models !== null) {
    const refused = candidates.filter(
      ({ provider, model }) => !matchesAny(models, [model, `${provider}/${model}`]),
    );
    if (refused.length > 0) {
      throw notAllowed(
        'model',
        refused.map(({ provider, model }) => `${provider}/${model}`),
        models,
      );
    }
  }
}

function notAllowed(
  what: 'provider' | 'model',
  refused: readonly string[],
  allowed: readonly string[],
): AssayError {
  const plural = refused.length === 1 ? what : `${what}s`;
  return new AssayError(
    `${what}_not_allowed`,
    `This API key may not use the ${plural} ${refused.join(', ')}: it is confined to ${allowed.join(', ')}`,
  );
}
