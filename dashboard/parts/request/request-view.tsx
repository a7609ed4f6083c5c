/** One request, in the drawer and on its page. */
import { useEffect } from 'preact/hooks';
import { useResource } from '../../client/resource.ts';
import { noteAsked } from '../../state/ratings.ts';
import { Conversation } from '../conversation/conversation.tsx';
import { FailureNotice } from '../failure/failure.tsx';
import { JsonBody } from '../json/json-body.tsx';
import { openRecord } from '../record/open-record.ts';
import type { RecordHead } from '../record/record-protocol.ts';
import { useBodies } from '../record/use-bodies.ts';
import { Tabs } from '../tabs/tabs.tsx';
import { Delivery } from './delivery.tsx';
import { Evaluations } from './evaluations.tsx';
import { Grades } from './grades.tsx';
import { Properties } from './properties.tsx';
import { RequestHead } from './request-head.tsx';
import { Timeline } from './timeline.tsx';

export type RequestViewProps = {
  id: string;
  /** Requests that will probably be opened next: they are fetched ahead. */
  neighbours?: readonly string[];
};

function useAhead(neighbours: readonly string[], isReady: boolean): void {
  const names = neighbours.join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `names` stands for the neighbours
  useEffect(() => {
    if (!isReady) return;
    const controller = new AbortController();
    for (const id of neighbours) openRecord(id, controller.signal).catch(() => {});
    return () => controller.abort();
  }, [names, isReady]);
}

/** Shows the request; another one takes its place when it has come. */
export function RequestView({ id, neighbours = [] }: RequestViewProps) {
  const key = `record ${id}`;
  const { data, dataKey, failure, isLoading, reload } = useResource<RecordHead>(key, async (signal) => {
    const askedMs = performance.now();
    const head = await openRecord(id, signal);
    noteAsked([head], askedMs);
    return head;
  });
  useAhead(neighbours, dataKey === key);
  // Of this request what is there stays; another one's would be taken for it.
  if (data === null || (failure !== null && dataKey !== key))
    return failure === null ? (
      <p class="muted">Loading…</p>
    ) : (
      <FailureNotice failure={failure} retry={reload} />
    );
  return (
    <div aria-busy={isLoading}>
      <FailureNotice failure={failure} retry={reload} />
      <RequestHead head={data} onChanged={reload} />
      <RequestTabs head={data} onChanged={reload} />
    </div>
  );
}

function RequestTabs({ head, onChanged }: { head: RecordHead; onChanged: () => void }) {
  const { request_id: id } = head;
  const source = useBodies(id);
  const tabs = [
    { name: 'conversation', title: 'Conversation', show: () => <Conversation source={source} /> },
    { name: 'request', title: 'Raw request', show: () => <JsonBody source={source} side="request" /> },
    { name: 'response', title: 'Raw response', show: () => <JsonBody source={source} side="response" /> },
    { name: 'evaluations', title: 'Evaluations', show: () => <Evaluations id={id} /> },
    { name: 'grades', title: 'Grades', show: () => <Grades id={id} /> },
    { name: 'delivery', title: 'Delivery', show: () => <Delivery id={id} /> },
    { name: 'timeline', title: 'Timeline', show: () => <Timeline head={head} /> },
    {
      name: 'properties',
      title: 'Properties',
      show: () => <Properties head={head} onChanged={onChanged} />,
    },
  ];
  return <Tabs label="Request" tabs={tabs} />;
}
