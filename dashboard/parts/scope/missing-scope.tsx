/** Says what is not offered, because the key that is logged in lacks a scope. */
import type { Scope } from '#core/keys/mod.ts';
import { may } from '../../state/me.ts';

/**
 * Shows nothing to a key with the scope.
 * @example <MissingScope scope="write" what="Creating and changing webhooks" />
 */
export function MissingScope({ scope, what }: { scope: Scope; what: string }) {
  if (may(scope)) return null;
  return (
    <p class="missing-scope" role="note">
      {what} needs the scope <code>{scope}</code>, which the key that is logged in lacks.
    </p>
  );
}
