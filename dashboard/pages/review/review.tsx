/** The page /review: queues of requests to grade, and the criteria to grade them by. */
import { Reviewer } from '../../parts/grades/reviewer.tsx';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { Tabs } from '../../parts/tabs/tabs.tsx';
import { may } from '../../state/me.ts';
import { Criteria } from './criteria.tsx';
import { Queues } from './queues.tsx';

const TABS = [
  { name: 'queues', title: 'Queues', show: () => <Queues /> },
  { name: 'criteria', title: 'Criteria', show: () => <Criteria /> },
];

/** The page. */
export function Review() {
  return (
    <>
      <header class="page-head">
        <h1>Review</h1>
        {may('write') && <Reviewer />}
      </header>
      <MissingScope scope="write" what="Grading, and making queues and criteria," />
      <Tabs label="Review" tabs={TABS} />
    </>
  );
}
