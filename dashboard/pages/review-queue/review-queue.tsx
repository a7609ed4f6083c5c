/** The page /review/:id: the items of a review queue, one at a time, graded by keys. */
import { useRoute } from 'preact-iso/router';
import type { CriterionJson } from '#core/contracts/grade.ts';
import type { ProgressJson, WholeReviewQueueJson } from '#core/contracts/review.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { plural } from '../../parts/formats/numbers.ts';
import { useCriteria } from '../../parts/grades/load.ts';
import { Reviewer } from '../../parts/grades/reviewer.tsx';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { may } from '../../state/me.ts';
import { isOwn, personKey } from '../../state/reviewer.ts';
import { Item } from './item.tsx';
import { type Items, useItems } from './use-items.ts';

/** Others grade, too. */
const EVERY_MS = 30_000;

function Progress({ progress: { items, done, people } }: { progress: ProgressJson }) {
  const own = people.find(isOwn);
  return (
    <div class="review-progress">
      <progress value={done} max={Math.max(1, items)} aria-label="Items that are done" />
      <span role="status">
        {done} of {plural(items, 'item')} done · {own?.graded ?? 0} graded by you
        {own !== undefined && own.skipped > 0 && ` · ${own.skipped} skipped by you`}
      </span>
    </div>
  );
}

/** Grades that are not stored, whichever item is shown. */
function UnsavedNotices({ items: { unsaved, current, show } }: { items: Items }) {
  return [...unsaved].map(([requestId, { failure, again }]) => (
    <div key={requestId} class="review-unsaved">
      <strong>
        The work on request <code class="break">{requestId}</code> is not saved.
      </strong>{' '}
      Nothing that you wrote is lost.
      {requestId !== current && (
        <button type="button" onClick={() => show(requestId)}>
          Go to it
        </button>
      )}
      <FailureNotice failure={failure} retry={again} />
    </div>
  ));
}

function Ended({ items }: { items: Items }) {
  return (
    <div class="empty">
      <h2>Nothing is left for you</h2>
      <p>
        All items are done, skipped by you, or with others at the moment: theirs come back after ten minutes.
      </p>
      <div class="form-actions review-ended">
        {items.hasPrevious && (
          <button type="button" onClick={items.previous}>
            Look at your last item
          </button>
        )}
        <button type="button" onClick={items.look}>
          Look again
        </button>
        <a class="button" href="/review">
          All queues
        </a>
      </div>
    </div>
  );
}

type WorkProps = {
  queue: WholeReviewQueueJson;
  criteria: readonly CriterionJson[];
  onChanged: () => void;
};

/** The work of one person. */
function Work({ queue, criteria, onChanged }: WorkProps) {
  const items = useItems(queue.id, onChanged);
  const { current, isEnded, failure, look } = items;
  return (
    <>
      <UnsavedNotices items={items} />
      <FailureNotice failure={failure} retry={look} />
      {current === null && !isEnded && failure === null && <p class="muted">Loading the next item…</p>}
      {current === null && isEnded && <Ended items={items} />}
      {current !== null && (
        <Item key={current} queueId={queue.id} requestId={current} criteria={criteria} items={items} />
      )}
    </>
  );
}

function Content({ queue, reload }: { queue: WholeReviewQueueJson; reload: () => void }) {
  const { data, failure, reload: reloadCriteria } = useCriteria();
  const criteria = queue.criterion_ids.flatMap((id) => data?.find((one) => one.id === id) ?? []);
  const isOpen = queue.archived_at === null;
  return (
    <>
      <Progress progress={queue.progress} />
      <MissingScope scope="write" what="Grading" />
      <FailureNotice failure={failure} retry={reloadCriteria} />
      {!isOpen && <p class="empty">This queue is archived: it gives out no items.</p>}
      {isOpen && data !== null && criteria.length === 0 && (
        <p class="empty">All criteria of this queue are archived.</p>
      )}
      {isOpen && criteria.length > 0 && may('write') && (
        <Work key={personKey()} queue={queue} criteria={criteria} onChanged={reload} />
      )}
    </>
  );
}

function OneQueue({ id }: { id: string }) {
  const path = `/v1/review-queue/${encodeURIComponent(id)}`;
  const { data, failure, reload } = useResource(
    path,
    (signal) => call<WholeReviewQueueJson>('GET', path, undefined, signal),
    { everyMs: EVERY_MS },
  );
  return (
    <>
      <p class="evaluator-back">
        <a href="/review">Review queues</a>
      </p>
      <header class="page-head">
        <h1 class="break">{data === null ? 'Review queue' : <Hostile text={data.name} />}</h1>
        {may('write') && <Reviewer />}
      </header>
      <FailureNotice failure={failure} retry={reload} />
      {data === null && failure === null && <p class="muted">Loading the queue…</p>}
      {data !== null && <Content queue={data} reload={reload} />}
    </>
  );
}

/** Shows the queue of the address. */
export function ReviewQueuePage() {
  const { params } = useRoute();
  const id = params.id ?? '';
  return <OneQueue key={id} id={id} />;
}
