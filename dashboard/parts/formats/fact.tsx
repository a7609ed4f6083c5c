/** Facts in a row: each its name, and its value below. */
import type { ComponentChildren } from 'preact';

/** Holds facts. */
export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="fact-list">{children}</dl>;
}

/** @example <Fact name="Cost">{dollars(cost)}</Fact> */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
