/** Says that a page is not shown, and why. */
import { MISSING_PART } from '../later/missing-part.ts';

/** Says a reason, with a button that loads everything anew. */
export function LoadAgain({ why }: { why: string }) {
  return (
    <div class="failure" role="alert">
      <p>{why}</p>
      <button type="button" onClick={() => location.reload()}>
        Load again
      </button>
    </div>
  );
}

/** Stands in the place of a page whose files cannot be fetched. */
export function MissingPage() {
  return <LoadAgain why={MISSING_PART} />;
}
