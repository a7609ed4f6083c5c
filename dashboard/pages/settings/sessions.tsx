/** The log-ins of browsers with the same key: which there are, and their end. */
import { useState } from 'preact/hooks';
import type { BrowserSessionJson } from '#core/contracts/login.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { attempt } from '../../parts/toast/toast.tsx';
import { browserName } from './browser-name.ts';

const PATH = '/v1/login/sessions';

function columns(end: (session: BrowserSessionJson) => void): Column<BrowserSessionJson>[] {
  return [
    {
      name: 'browser',
      title: 'Browser',
      cell: ({ user_agent, is_current }) => (
        <>
          <Hostile text={browserName(user_agent)} />{' '}
          {is_current && <span class="chip chip-good">this one</span>}
        </>
      ),
    },
    { name: 'began', title: 'Logged in', cell: ({ created_at }) => <Moment at={created_at} /> },
    { name: 'used', title: 'Last used', cell: ({ last_used_at }) => <Moment at={last_used_at} /> },
    { name: 'ends', title: 'Ends at the latest', cell: ({ expires_at }) => <Moment at={expires_at} /> },
    {
      name: 'end',
      title: 'Action',
      cell: (session) =>
        !session.is_current && (
          <div class="row-actions">
            <button type="button" class="danger" onClick={() => end(session)}>
              End
            </button>
          </div>
        ),
    },
  ];
}

/** Lists the log-ins, and ends one or all others. */
export function BrowserSessions() {
  const { data, failure, isLoading, reload } = useResource('browser sessions', (signal) =>
    call<BrowserSessionJson[]>('GET', PATH, undefined, signal),
  );
  const [isAsking, setAsking] = useState(false);
  const end = async ({ id }: BrowserSessionJson) => {
    await attempt(() => call('DELETE', `${PATH}/${id}`), 'The log-in has ended');
    reload();
  };
  const endOthers = async () => {
    await call('DELETE', PATH);
    reload();
  };
  const sessions = data ?? [];
  return (
    <section class="browser-sessions">
      <h2>Log-ins with this key</h2>
      <p class="muted">A log-in ends 12 hours after its last use, and with its key.</p>
      <FailureNotice failure={failure} retry={reload} />
      <Table
        caption="Log-ins with this key"
        columns={columns(end)}
        rows={sessions}
        keyOf={({ id }) => id}
        isLoading={isLoading}
        empty="No browser is logged in with this key."
      />
      {sessions.some(({ is_current }) => !is_current) && (
        <button type="button" class="danger" onClick={() => setAsking(true)}>
          End all others
        </button>
      )}
      {isAsking && (
        <Confirm
          title="End all other log-ins?"
          text="Every other browser that is logged in with this key has to log in again."
          verb="End them"
          run={endOthers}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}
