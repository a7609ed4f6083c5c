/** Erasure of all requests that pass a filter: counted first, then confirmed; and the deletions that were started. */
import { useState } from 'preact/hooks';
import { call } from '../../client/call.ts';
import { toFailure, useResource } from '../../client/resource.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { findFault } from '../../parts/form/fault.ts';
import { Form } from '../../parts/form/form.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, plural } from '../../parts/formats/numbers.ts';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { attempt, tell } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';

/** A deletion of `GET /v1/request/delete`. */
type Deletion = {
  id: string;
  state: 'running' | 'completed' | 'cancelled' | 'failed';
  deleted: number;
  reached: string | null;
  error: string | null;
  created_at: string;
  finished_at: string | null;
};
type Counted = { q: string; matching: number };

const PATH = '/v1/request/delete';
const EVERY_MS = 2_000;
const STATE_CHIPS: Record<Deletion['state'], string> = {
  running: 'chip',
  completed: 'chip chip-good',
  cancelled: 'chip chip-warn',
  failed: 'chip chip-bad',
};

function columns(cancel: (id: string) => void): readonly Column<Deletion>[] {
  return [
    { name: 'started', title: 'Started', cell: ({ created_at }) => <Moment at={created_at} /> },
    {
      name: 'state',
      title: 'State',
      cell: ({ state, reached, error }) => (
        <>
          <span class={STATE_CHIPS[state]}>{state}</span> {error !== null && <Hostile text={error} />}
          {state === 'running' && reached !== null && (
            <span class="muted">
              back to <Moment at={reached} />
            </span>
          )}
        </>
      ),
    },
    { name: 'deleted', title: 'Erased', isNumber: true, cell: ({ deleted }) => count(deleted) },
    { name: 'finished', title: 'Ended', cell: ({ finished_at }) => <Moment at={finished_at} /> },
    {
      name: 'actions',
      title: 'Action',
      cell: ({ id, state }) =>
        state === 'running' && may('write') ? (
          <button type="button" onClick={() => cancel(id)}>
            Cancel
          </button>
        ) : null,
    },
  ];
}

function Start({ onStarted }: { onStarted: () => void }) {
  const [q, setQ] = useState(useAddress().query.q ?? '');
  const [fault, setFault] = useState<string | null>(null);
  const [counted, setCounted] = useState<Counted | null>(null);
  const [isConfirming, setConfirming] = useState(false);
  const countMatches = async () => {
    setFault(null);
    setCounted(null);
    try {
      const { matching } = await call<{ matching: number }>('POST', PATH, { q, dryRun: true });
      setCounted({ q, matching });
    } catch (error) {
      const found = findFault(toFailure(error), ['q'], { q: /./ });
      if (found === null) throw error;
      setFault(found.sentence);
    }
  };
  const erase = async () => {
    await call('POST', PATH, { q: counted!.q });
    tell('The deletion is running');
    setCounted(null);
    onStarted();
  };
  return (
    <section class="card form">
      <h2>Erase requests</h2>
      <Form verb="Count them" onSubmit={countMatches}>
        <TextField
          label="Requests that pass"
          hint="As in the query bar. They are counted first; nothing is erased yet."
          placeholder="user:ada@example.com"
          isRequired
          fault={fault}
          value={q}
          onInput={setQ}
        />
      </Form>
      {counted !== null && (
        <p role="status">
          {plural(counted.matching, 'request passes', 'requests pass')} <code class="break">{counted.q}</code>
          .{' '}
          {counted.matching > 0 && (
            <button type="button" class="danger" onClick={() => setConfirming(true)}>
              Erase them
            </button>
          )}
        </p>
      )}
      {isConfirming && counted !== null && (
        <Confirm
          title={`Erase ${count(counted.matching)} requests?`}
          text="With their bodies, scores, properties and cached answers, and those that come until it is done. This cannot be taken back."
          verb="Erase"
          run={erase}
          onClose={() => setConfirming(false)}
        />
      )}
    </section>
  );
}

/** Counts and erases requests; shows the progress of deletions. */
export function Erasure() {
  const { data, failure, reload } = useResource(
    'deletions',
    (signal) => call<Deletion[]>('GET', PATH, undefined, signal),
    { everyMs: EVERY_MS },
  );
  const cancel = (id: string) =>
    attempt(async () => {
      await call('POST', `${PATH}/${id}/cancel`);
      reload();
    }, 'Cancelled: what is erased stays erased');
  return (
    <>
      <MissingScope scope="write" what="Erasing requests" />
      {may('write') && <Start onStarted={reload} />}
      <section class="part">
        <h2>Deletions</h2>
        <FailureNotice failure={failure} retry={reload} />
        {data !== null && (
          <Table
            caption="Deletions"
            columns={columns(cancel)}
            rows={data}
            keyOf={({ id }) => id}
            empty={<p>Nothing has been erased by a filter.</p>}
          />
        )}
      </section>
    </>
  );
}
