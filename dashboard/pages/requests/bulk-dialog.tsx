/** The dialogs of what is done with selected requests. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { call } from '../../client/call.ts';
import type { DryRun, Evaluator } from '../../client/evaluators.ts';
import { useResource } from '../../client/resource.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Field } from '../../parts/form/field.tsx';
import { Form } from '../../parts/form/form.tsx';
import { dollars, plural } from '../../parts/formats/numbers.ts';
import { NO_PROPERTY, PropertyFields } from '../../parts/request/property-fields.tsx';
import { tell } from '../../parts/toast/toast.tsx';
import type { BulkAction } from './bulk-action.ts';
import { DatasetDialog } from './dataset-dialog.tsx';
import { ExportDialog } from './export-dialog.tsx';

export type BulkDialogProps = {
  action: BulkAction;
  ids: readonly string[];
  onClose: () => void;
  /** Told when what the list shows has changed. */
  onChanged: () => void;
  /** Told when the requests are no more. */
  onDone: () => void;
};
type OneProps = Omit<BulkDialogProps, 'action'>;

/** Returns the query that finds these requests. */
function queryOf(ids: readonly string[]): string {
  const quoted = ids.map((id) => JSON.stringify(id));
  return quoted.length === 1 ? `id:${quoted[0]}` : `id:(${quoted.join(' OR ')})`;
}

/** Times the estimate that a run may cost: less would stop runs whose requests are a little longer than the average. */
const MARGIN = 2;

/** Returns the most that a run may cost, to the nano-dollar; undefined: not known, or it costs nothing. */
function maxCostOf({ estimated_cost_usd: cost }: DryRun): number | undefined {
  const nano = Math.round((cost ?? 0) * MARGIN * 1e9);
  // The API's least.
  return nano === 0 ? undefined : Math.max(1_000, nano) / 1e9;
}

/** Says what a run would do and cost. */
function priceSentence(dry: DryRun): string {
  const { matching, already_scored: scored, estimated_cost_usd: cost } = dry;
  const most = maxCostOf(dry);
  const end = most === undefined ? '' : `, and it ends at ${dollars(most)}`;
  const price = cost === null ? '; what it costs is not known yet' : `, about ${dollars(cost)}${end}`;
  const rest =
    scored === 0 ? '' : ` ${plural(scored, 'request')} that this version has scored stay as they are.`;
  return `${plural(matching - scored, 'request')} to score${price}.${rest}`;
}

function ScoreDialog({ ids, onClose }: OneProps) {
  const [chosen, setChosen] = useState('');
  const { data: evaluators, failure } = useResource('evaluators', (signal) =>
    call<Evaluator[]>('POST', '/v1/evaluator/query', {}, signal),
  );
  const body = { q: queryOf(ids), limit: ids.length };
  const path = `/v1/evaluator/${encodeURIComponent(chosen)}/run`;
  const priceKey = chosen === '' ? null : `price ${chosen} ${body.q}`;
  const price = useResource(priceKey, (signal) =>
    call<DryRun>('POST', path, { ...body, dryRun: true }, signal),
  );
  // Of these requests and this evaluator, as they are now.
  const dry = price.dataKey === priceKey && !price.isLoading && price.failure === null ? price.data : null;
  const start = async () => {
    if (dry === null) return;
    await call('POST', path, { ...body, maxCost: maxCostOf(dry) });
    tell('The evaluator has begun; scores appear in the list as they come');
    onClose();
  };
  return (
    <Dialog title={`Score ${plural(ids.length, 'request')}`} onClose={onClose}>
      <FailureNotice failure={failure ?? price.failure} />
      <Form verb="Score" onSubmit={start} isReady={dry !== null}>
        <Field
          label="Evaluator"
          hint={dry !== null && priceSentence(dry)}
          control={(attributes) => (
            <select
              {...attributes}
              required
              value={chosen}
              onChange={(event) => setChosen(event.currentTarget.value)}
            >
              <option value="">Choose one</option>
              {evaluators?.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        />
      </Form>
    </Dialog>
  );
}

function PropertyDialog({ ids, onClose, onChanged }: OneProps) {
  const [property, setProperty] = useState(NO_PROPERTY);
  const [closing] = useState(() => new AbortController());
  const { signal } = closing;
  useLayoutEffect(() => () => closing.abort(), [closing]);
  const add = async () => {
    let done = 0;
    try {
      // One after the other: the first failure ends it, and so does closing the dialog.
      for (const id of ids) {
        await call('PUT', `/v1/request/${encodeURIComponent(id)}/property`, property, signal);
        done += 1;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      const of = done === ids.length ? '' : `${done} of `;
      if (done > 0) tell(`Added to ${of}${plural(ids.length, 'request')}`);
      onChanged();
    }
    // Once closed, another dialog may be open.
    if (!signal.aborted) onClose();
  };
  return (
    <Dialog title={`Add a property to ${plural(ids.length, 'request')}`} onClose={onClose}>
      <Form verb="Add" onSubmit={add}>
        <PropertyFields property={property} onChange={setProperty} />
      </Form>
    </Dialog>
  );
}

/** Shows the dialog of an action. */
export function BulkDialog({ action, ...props }: BulkDialogProps) {
  const { ids, onClose, onDone } = props;
  if (action === 'score') return <ScoreDialog {...props} />;
  if (action === 'property') return <PropertyDialog {...props} />;
  if (action === 'dataset') return <DatasetDialog ids={ids} onClose={onClose} />;
  if (action === 'export') return <ExportDialog q={queryOf(ids)} onClose={onClose} />;
  return (
    <Confirm
      title={`Erase ${plural(ids.length, 'request')}?`}
      text="Their records, bodies, scores and evaluations go for good. The answers have been given, and what they cost stays counted."
      verb="Erase"
      run={async () => {
        await call('POST', '/v1/request/delete', { q: queryOf(ids) });
        tell('They are being erased');
        onDone();
      }}
      onClose={onClose}
    />
  );
}
