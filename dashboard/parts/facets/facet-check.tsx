/** The check before a value. */
import { Hostile } from '../text/hostile.tsx';

export type FacetCheckProps = {
  isOn: boolean;
  label: string;
  /** Whether the label is about the value instead of being it. */
  isAbout?: boolean;
  title?: string;
  onToggle: (isAlt: boolean) => void;
};

/** Shows what the query says, also between a click and the change of the query. */
export function FacetCheck({ isOn, label, isAbout = false, title = label, onToggle }: FacetCheckProps) {
  return (
    <label title={title}>
      <input
        type="checkbox"
        aria-label={label}
        checked={isOn}
        onClick={(event) => {
          event.preventDefault();
          // The browser puts the check back when the event is over; what is drawn before that would be lost.
          setTimeout(onToggle, 0, event.altKey);
        }}
      />
      <span class={isAbout ? 'facet-value muted' : 'facet-value'}>
        <Hostile text={label} />
      </span>
    </label>
  );
}
