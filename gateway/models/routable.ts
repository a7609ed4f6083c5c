import { AssayError } from '#core/contracts/errors.ts';
import type { CatalogModel } from '#core/models/mod.ts';

/**
 * Returns the models that calls can be routed to: those whose provider has an address here. The operator needs no key for
 * the provider, because callers may bring their own.
 * @param route resolves a model, or throws an AssayError
 */
export function routableModels(
  models: readonly CatalogModel[],
  route: (model: string) => unknown,
): CatalogModel[] {
  return models.filter(({ id }) => {
    try {
      route(id);
      return true;
    } catch (error) {
      if (error instanceof AssayError) return false;
      throw error;
    }
  });
}
