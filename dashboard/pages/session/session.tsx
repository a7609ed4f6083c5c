/** One session: its requests by path, by time, and as a conversation. */
import { useCallback, useMemo } from 'preact/hooks';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count } from '../../parts/formats/numbers.ts';
import { useLater } from '../../parts/later/use-later.ts';
import { Tabs } from '../../parts/tabs/tabs.tsx';
import { SessionHead } from './head.tsx';
import { TreeView } from './tree-view.tsx';
import { Turns } from './turns.tsx';
import { type LoadedSession, useSession } from './use-session.ts';
import { useSessionKeys } from './use-session-keys.ts';
import { type SessionView, TAB_PARAMETER, useSessionView } from './use-view.ts';
import { Waterfall } from './waterfall.tsx';

const loadDrawer = () => import('../../parts/drawer/drawer.tsx').then(({ Drawer }) => Drawer);

function ErrorsOnly({ view: { address, isErrorsOnly, failed } }: { view: SessionView }) {
  return (
    <p class="session-errors">
      <button
        type="button"
        aria-pressed={isErrorsOnly}
        disabled={failed.size === 0 && !isErrorsOnly}
        title="Next error: e"
        onClick={() => address.set({ errors: isErrorsOnly ? null : '1' }, { replace: true })}
      >
        Errors only ({count(failed.size)})
      </button>
    </p>
  );
}

function Nothing({ view }: { view: SessionView }) {
  return view.isErrorsOnly && view.shown.length === 0 ? <p class="muted">No request failed.</p> : null;
}

function Views({ id, view }: { id: string; view: SessionView }) {
  const tabs = [
    { name: 'tree', title: 'Tree', show: () => <TreeView view={view} /> },
    { name: 'waterfall', title: 'Waterfall', show: () => <Waterfall view={view} /> },
    { name: 'conversation', title: 'Conversation', show: () => <Turns id={id} view={view} /> },
  ];
  return (
    <>
      <ErrorsOnly view={view} />
      <Nothing view={view} />
      <Tabs label="Session" tabs={tabs} parameter={TAB_PARAMETER} />
    </>
  );
}

function Loaded({
  loaded,
  onChanged,
  onMore,
}: {
  loaded: LoadedSession;
  onChanged: () => void;
  onMore: () => void;
}) {
  const { session, isWhole } = loaded;
  const view = useSessionView(loaded);
  useSessionKeys(view);
  const { address, order } = view;
  const opened = address.query.r ?? null;
  const close = useCallback(() => address.set({ r: null, tab: null, p: null }), [address.set]);
  const Drawer = useLater(loadDrawer, true);
  const neighbours = useMemo(() => {
    const at = opened === null ? -1 : order.indexOf(opened);
    return at === -1 ? [] : [1, 2, -1].flatMap((step) => order[at + step] ?? []);
  }, [order, opened]);
  return (
    <div class="session">
      <div class="session-main">
        <p>
          <a href="/sessions">All sessions</a>
        </p>
        <SessionHead session={session} leaves={view.all} onChanged={onChanged} />
        <Views id={session.session_id} view={view} />
        {!isWhole && (
          <p class="session-more">
            The first {count(view.all.length)} of {count(session.total_requests)} requests.{' '}
            <button type="button" onClick={onMore}>
              Load more
            </button>
          </p>
        )}
      </div>
      {opened !== null && Drawer !== null && <Drawer id={opened} neighbours={neighbours} onClose={close} />}
    </div>
  );
}

/** The page /sessions/:id. */
export function SessionPage({ id }: { id: string }) {
  const { data, dataKey, failure, reload, more } = useSession(id);
  const isOwn = dataKey?.endsWith(` ${id}`) ?? false;
  if (failure !== null && !isOwn)
    return (
      <>
        <p>
          <a href="/sessions">All sessions</a>
        </p>
        <FailureNotice failure={failure} retry={reload} />
      </>
    );
  if (data === null || !isOwn) return <p class="muted">Loading…</p>;
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      <Loaded key={id} loaded={data} onChanged={reload} onMore={more} />
    </>
  );
}
