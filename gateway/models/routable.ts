import { AssayError } from '#core/contracts/errors.ts';
import type { CatalogModel } from '#core/models/mod.ts';

/**
 * The models that a call could reach here: those whose provider has an address and a dialect that is spoken. Whether the
 * operator has a key for it does not matter, as callers may bring their own.
 * @param route finds the way of a call, or throws an AssayError
 */
export function routable(models: readonly CatalogModel[], route: (model: string) => unknown): CatalogModel[] {
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
