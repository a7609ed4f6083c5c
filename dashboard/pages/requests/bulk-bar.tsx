/** What can be done with the selected requests. */

import { useId, useState } from 'preact/hooks';
import { MAX_LEAVES } from '#core/filter/query-text/mod.ts';
import { copyText } from '../../parts/copy/copy.tsx';
import { count } from '../../parts/formats/numbers.ts';
import { href } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import type { BulkAction } from './bulk-action.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import type { Selection } from './selection.ts';

/** Requests that can be compared at once. */
const MOST_COMPARED = 4;
/** Requests that one call adds to a dataset. */
const MOST_ADDED = 1_000;

/** Is there while something is selected. */
export function BulkBar({ selection, onChanged }: { selection: Selection; onChanged: () => void }) {
  const limitId = useId();
  const [action, setAction] = useState<BulkAction | null>(null);
  const ids = [...selection.ids];
  if (ids.length === 0) return null;
  // Each id is a condition of the query that names them.
  const isTooMany = ids.length > MAX_LEAVES;
  const canCompare = ids.length >= 2 && ids.length <= MOST_COMPARED;
  const limited = { disabled: isTooMany, 'aria-describedby': isTooMany ? limitId : undefined };
  return (
    <section class="requests-bulk" aria-label="Selected requests">
      <strong>{count(ids.length)} selected</strong>
      {isTooMany && <span id={limitId}>At most {MAX_LEAVES} can be scored, exported or erased at once</span>}
      {canCompare && (
        <a class="button" href={href('/compare', { ids: ids.join(',') })}>
          Compare
        </a>
      )}
      {may('write') && (
        <>
          <button type="button" {...limited} onClick={() => setAction('score')}>
            Score with an evaluator
          </button>
          <button type="button" onClick={() => setAction('property')}>
            Add a property
          </button>
          <button
            type="button"
            disabled={ids.length > MOST_ADDED}
            title={ids.length > MOST_ADDED ? `At most ${count(MOST_ADDED)} at once` : undefined}
            onClick={() => setAction('dataset')}
          >
            Add to a dataset
          </button>
        </>
      )}
      <button type="button" {...limited} onClick={() => setAction('export')}>
        Export
      </button>
      <button type="button" onClick={() => copyText(ids.join('\n'), `${ids.length} ids`)}>
        Copy ids
      </button>
      {may('write') && (
        <button type="button" class="danger" {...limited} onClick={() => setAction('erase')}>
          Erase
        </button>
      )}
      <button type="button" class="quiet" onClick={selection.clear}>
        Clear
      </button>
      {action !== null && (
        <BulkDialog
          action={action}
          ids={ids}
          onClose={() => setAction(null)}
          onChanged={onChanged}
          onDone={selection.clear}
        />
      )}
    </section>
  );
}
