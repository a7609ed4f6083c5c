/** The conversation of a session: of each request what is new in it. */
import { useState } from 'preact/hooks';
import { useResource } from '../../client/resource.ts';
import { Sides, TextView } from '../../parts/conversation/conversation.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, plural } from '../../parts/formats/numbers.ts';
import { openTurns } from '../../parts/record/open-record.ts';
import type { TurnHead } from '../../parts/record/record-protocol.ts';
import { useBodies } from '../../parts/record/use-bodies.ts';
import { StatusChip } from '../../parts/request/status-chip.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href } from '../../state/address.ts';
import { isFailed } from './tree.ts';
import { apiPath } from './use-session.ts';
import type { SessionView } from './use-view.ts';

/** Turns that come at once. */
const PAGE = 20;

/** Of a stable identity, so that it runs when a turn becomes the current one, and not at each rendering. */
function showTurn(turn: HTMLElement | null): void {
  turn?.scrollIntoView({ block: 'nearest' });
}

function Messages({ turn: { request_id: id }, page, of }: { turn: TurnHead; page: string; of: string }) {
  const source = useBodies(id, page);
  return <Sides source={source} of={of} />;
}

function TurnView({
  turn,
  number,
  page,
  view,
}: {
  turn: TurnHead;
  number: number;
  page: string;
  view: SessionView;
}) {
  const { request_id: id, session_path: path, seen_messages: seen } = turn;
  const { address, current, open } = view;
  const isCurrent = id === current;
  return (
    <article
      class="turn card"
      aria-label={`Turn ${number}`}
      aria-current={isCurrent ? 'true' : undefined}
      ref={isCurrent ? showTurn : undefined}
    >
      <header class="turn-head">
        <h2>{number}</h2>
        <StatusChip status={turn.status} />
        {path !== null && (
          <code>
            <Hostile text={path} />
          </code>
        )}
        <span class="muted">
          <Hostile text={turn.model} />
        </span>
        <span class="muted">
          <Moment at={turn.created_at} />
        </span>
        <a
          href={href(address.path, { ...address.query, r: id })}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
            event.preventDefault();
            open(id);
          }}
        >
          Request
        </a>
      </header>
      {seen > 0 && <p class="muted">After {plural(seen, 'message')} shown above</p>}
      {turn.is_too_large ? (
        <p>
          Its bodies are too large to compare:{' '}
          <a href={`/requests/${encodeURIComponent(id)}`}>the request by itself</a>
        </p>
      ) : (
        <Messages turn={turn} page={page} of={`Turn ${number}`} />
      )}
    </article>
  );
}

type PageProps = { id: string; after: string | null; from: number; view: SessionView };

/** A page of turns, and below it the next one when it is asked for. */
function Page({ id, after, from, view }: PageProps) {
  const [isMore, setMore] = useState(false);
  const cursor = after === null ? '' : `&after=${encodeURIComponent(after)}`;
  const page = `${apiPath(id)}/conversation?limit=${PAGE}${cursor}`;
  const { data, failure, isLoading, reload } = useResource(`turns ${page}`, (signal) =>
    openTurns(page, signal),
  );
  if (data === null)
    return isLoading ? <p class="muted">Loading…</p> : <FailureNotice failure={failure} retry={reload} />;
  const turns = data.turns.map((turn, index) => ({ turn, number: from + index + 1 }));
  const shown = view.isErrorsOnly ? turns.filter(({ turn }) => isFailed(turn)) : turns;
  const end = from + data.turns.length;
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      {shown.map(({ turn, number }) => (
        <TurnView key={turn.request_id} turn={turn} number={number} page={page} view={view} />
      ))}
      {shown.length === 0 && <p class="muted">No error among these turns</p>}
      {data.next !== null && !isMore && (
        <button type="button" onClick={() => setMore(true)}>
          More turns after the {count(end)} shown
        </button>
      )}
      {data.next !== null && isMore && <Page id={id} after={data.next} from={end} view={view} />}
    </>
  );
}

/** Shows the turns, 20 at a time. */
export function Turns({ id, view }: { id: string; view: SessionView }) {
  return (
    <div class="turns conversation">
      <TextView />
      <Page key={id} id={id} after={null} from={0} view={view} />
    </div>
  );
}
