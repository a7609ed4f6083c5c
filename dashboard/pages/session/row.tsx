/** What the rows of tree and waterfall have in common. */
import type { ComponentChildren } from 'preact';
import type { SessionRequest } from '#core/contracts/session.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';
import { isFailed } from './tree.ts';

export const ROW_PX = 30;
/** Further levels are not indented: they would leave no room. */
const DEEPEST = 12;

/** Moves what is in it to the right by the depth in the tree. */
export function Indented({ depth, children }: { depth: number; children: ComponentChildren }) {
  return (
    <span class="session-place" style={{ paddingInlineStart: `${Math.min(DEEPEST, depth)}rem` }}>
      {children}
    </span>
  );
}

/** A request's status as a sign, and the model as a link that opens the request beside the session. */
export function RequestLink({ request, onOpen }: { request: SessionRequest; onOpen: (id: string) => void }) {
  const { path, query } = useAddress();
  const { request_id: id, model, status } = request;
  const failed = isFailed(request);
  return (
    <>
      {failed ? (
        <span class="chip chip-bad">
          <span aria-hidden="true">✕</span> {status}
        </span>
      ) : (
        <span class="good" aria-hidden="true">
          ✓
        </span>
      )}{' '}
      <a
        class="session-text"
        href={href(path, { ...query, r: id })}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          onOpen(id);
        }}
      >
        <Hostile text={model} />
      </a>
    </>
  );
}

export type RequestRowProps = {
  request: SessionRequest;
  index: number;
  isCurrent: boolean;
  onOpen: (id: string) => void;
  /** Cells. */
  children: ComponentChildren;
};

/** A click anywhere opens the request; on a value it does what the value does. */
export function RequestRow({ request, index, isCurrent, onOpen, children }: RequestRowProps) {
  return (
    <tr
      class={isCurrent ? 'grid-row grid-row-current' : 'grid-row'}
      style={{ height: `${ROW_PX}px` }}
      aria-rowindex={index + 2}
      aria-current={isCurrent ? 'true' : undefined}
      onClick={(event) => {
        if (event.defaultPrevented || (event.target as Element).closest('a, button') !== null) return;
        if (getSelection()?.isCollapsed === false) return;
        onOpen(request.request_id);
      }}
    >
      {children}
    </tr>
  );
}
