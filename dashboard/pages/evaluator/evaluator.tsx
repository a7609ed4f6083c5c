/** The page /evaluators/:id: one evaluator, a tab for each thing to do with it. `new` is the form that creates one. */
import { useRoute } from 'preact-iso/router';
import { call } from '../../client/call.ts';
import type { Evaluator } from '../../client/evaluators.ts';
import { remember } from '../../client/recent.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { useAddress } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { evaluatorAddress, readTab, TABS, type Tab } from './address.ts';
import { Backfill } from './backfill/backfill.tsx';
import { Definition } from './definition/definition.tsx';
import { NewEvaluator } from './definition/new-evaluator.tsx';
import { Evaluations } from './evaluations/evaluations.tsx';
import { Head } from './head.tsx';
import { Statistics } from './statistics/statistics.tsx';
import { Traffic } from './traffic/traffic.tsx';
import { Versions } from './versions/versions.tsx';

const TITLES: Readonly<Record<Tab, string>> = {
  statistics: 'Statistics',
  evaluations: 'Evaluations',
  definition: 'Definition',
  traffic: 'Attached traffic',
  backfill: 'Score history',
  versions: 'Versions',
};

function TabLinks({ id, tab }: { id: string; tab: Tab }) {
  return (
    <nav class="evaluator-tabs" aria-label="Parts of the evaluator">
      {TABS.map((one) => (
        <a
          key={one}
          href={evaluatorAddress(id, { tab: one })}
          aria-current={one === tab ? 'page' : undefined}
        >
          {TITLES[one]}
        </a>
      ))}
    </nav>
  );
}

type TabContentProps = { tab: Tab; evaluator: Evaluator; onSaved: (evaluator: Evaluator) => void };

function TabContent({ tab, evaluator, onSaved }: TabContentProps) {
  switch (tab) {
    case 'statistics':
      return <Statistics evaluator={evaluator} />;
    case 'evaluations':
      return <Evaluations evaluator={evaluator} />;
    case 'definition':
      return <Definition evaluator={evaluator} onSaved={onSaved} />;
    case 'traffic':
      return <Traffic evaluator={evaluator} />;
    case 'backfill':
      return <Backfill evaluator={evaluator} />;
    case 'versions':
      return <Versions evaluator={evaluator} />;
  }
}

function OneEvaluator({ id }: { id: string }) {
  const { query, go } = useAddress();
  const tab = readTab(query.tab);
  const key = `evaluator ${id}`;
  const { data, dataKey, failure, reload } = useResource(key, (signal) =>
    call<Evaluator>('GET', `/v1/evaluator/${encodeURIComponent(id)}`, undefined, signal),
  );
  const step = (by: number) => {
    const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length]!;
    go(evaluatorAddress(id, { tab: next }));
  };
  useKeys('Evaluator', {
    '[': { what: 'Tab before', run: () => step(-1) },
    ']': { what: 'Next tab', run: () => step(1) },
  });
  const isCurrent = dataKey === key;
  const showSaved = (evaluator: Evaluator) => {
    // Shown at once: until the next answer, the form would be as it was before.
    remember(key, evaluator);
    reload();
  };
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      {data === null && failure === null && <p class="muted">Loading the evaluator …</p>}
      {data !== null && isCurrent && (
        <>
          <Head evaluator={data} onChange={reload} />
          <TabLinks id={id} tab={tab} />
          <TabContent tab={tab} evaluator={data} onSaved={showSaved} />
        </>
      )}
    </>
  );
}

/** Shows the evaluator of the address, or the form for a new one. */
export function EvaluatorPage() {
  const { params } = useRoute();
  const id = params.id ?? '';
  return id === 'new' ? <NewEvaluator /> : <OneEvaluator key={id} id={id} />;
}
