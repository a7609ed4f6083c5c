/** The button below a list whose older entries are fetched when they are asked for. */

/** Shows the button while there are older entries. `next` is the place where they begin; null: there are none. */
export function OlderButton({ next, onClick }: { next: string | null; onClick: () => void }) {
  if (next === null) return null;
  return (
    <p class="more">
      <button type="button" onClick={onClick}>
        Older
      </button>
    </p>
  );
}
