/** What is said when a file of the page cannot be fetched: after an upgrade, those of the version before are gone. */
import { tell } from '../toast/toast.tsx';

export const MISSING_PART = 'A part of this page could not be fetched: reload the page';

/** Tells it; for the failure of an import that somebody has asked for. */
export function tellMissingPart(): void {
  tell(MISSING_PART, { isBad: true });
}
