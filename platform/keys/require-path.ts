import { AssayError } from '#core/contracts/errors.ts';
import { type AllowLists, matchesAny } from '#core/keys/mod.ts';

/**
 * Checks a call by the paths that its key is confined to.
 * @param names the paths that lead where the call goes; one of them must be allowed
 * @throws AssayError path_not_allowed
 */
export function requirePath({ paths }: Pick<AllowLists, 'paths'>, names: readonly string[]): void {
  if (paths === null || matchesAny(paths, names)) return;
  throw new AssayError(
    'path_not_allowed',
    `This API key may not call ${names[0]}: it is confined to ${paths.join(', ')}`,
  );
}
