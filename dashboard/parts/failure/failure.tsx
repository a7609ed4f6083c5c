/** A failure as the API words it. */
import type { ApiFailure } from '../../client/call.ts';
import { Hostile } from '../text/hostile.tsx';

/** Shows nothing without a failure. */
export function FailureNotice({ failure, retry }: { failure: ApiFailure | null; retry?: () => void }) {
  if (failure === null) return null;
  return (
    <div class="failure" role="alert">
      <p>
        <Hostile text={failure.message} />
      </p>
      {failure.requestId !== null && (
        <p class="muted">
          Request id <code>{failure.requestId}</code>
        </p>
      )}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
