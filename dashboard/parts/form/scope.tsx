/** What the key may not do is not offered; a sentence says what is missing. */
import type { ComponentChildren } from 'preact';
import { may } from '../../state/me.ts';

export type WithScopeProps = {
  scope: Parameters<typeof may>[0];
  /** What it is needed for, as the rest of "The key needs the scope … to". */
  what: string;
  children: ComponentChildren;
};

/** @example <WithScope scope="write" what="create evaluators"><a href="…">New</a></WithScope> */
export function WithScope({ scope, what, children }: WithScopeProps) {
  if (may(scope)) return children;
  return (
    <p class="muted">
      The key needs the scope <code>{scope}</code> to {what}.
    </p>
  );
}
