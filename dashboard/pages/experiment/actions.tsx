/** The actions on an experiment: pause, resume, cancel, compare. */
import { useId, useState } from 'preact/hooks';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import { call } from '../../client/call.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { attempt, tell } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { comparisonAddress } from '../experiments/address.ts';
import { useSiblings } from '../experiments/load.ts';
import { withBaselineFirst } from '../experiments/words.ts';

type Verb = 'pause' | 'resume' | 'cancel';
type ActionsProps = { experiment: ExperimentJson; onChange: () => void };

const OPEN: readonly ExperimentJson['state'][] = ['running', 'paused', 'budget'];

/** Shows the buttons that fit the state, to keys that may write. */
export function Actions({ experiment: { id, state }, onChange }: ActionsProps) {
  const [isAsking, setAsking] = useState(false);
  if (!OPEN.includes(state)) return null;
  if (!may('write')) return <MissingScope scope="write" what="Pausing and cancelling an experiment" />;
  const run = async (verb: Verb) => {
    await call('POST', `/v1/experiment/${encodeURIComponent(id)}/${verb}`);
    onChange();
  };
  return (
    <>
      {state === 'running' && (
        <button type="button" onClick={() => attempt(() => run('pause'), 'Paused: calls under way end')}>
          Pause
        </button>
      )}
      {state === 'paused' && (
        <button type="button" class="primary" onClick={() => attempt(() => run('resume'), 'Resumed')}>
          Resume
        </button>
      )}
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        Cancel the experiment
      </button>
      {isAsking && (
        <Confirm
          title="Cancel the experiment?"
          text="No more calls are made. The answers that it has stay, and can be compared. This cannot be taken back."
          verb="Cancel the experiment"
          run={async () => {
            await run('cancel');
            tell('Cancelled');
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** Chooses another experiment over the same dataset, and leads to the comparison with it. */
export function CompareWith({ experiment }: Pick<ActionsProps, 'experiment'>) {
  const { go } = useAddress();
  const id = useId();
  const [chosen, setChosen] = useState('');
  const { data, failure, reload } = useSiblings(experiment.dataset_id);
  const others = (data ?? []).filter((one) => one.id !== experiment.id);
  const other = others.find((one) => one.id === chosen);
  if (data !== null && others.length === 0)
    return <p class="muted">No other experiment is over this dataset: there is nothing to compare with.</p>;
  return (
    <form
      class="experiment-compare"
      onSubmit={(event) => {
        event.preventDefault();
        if (other !== undefined) go(comparisonAddress(withBaselineFirst([experiment, other])));
      }}
    >
      <FailureNotice failure={failure} retry={reload} />
      <label for={id}>Compare with</label>
      <select id={id} value={chosen} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
        <option value="">Choose an experiment</option>
        {others.map(({ id, name, dataset_version }) => (
          <option key={id} value={id}>
            {name} (version {dataset_version})
          </option>
        ))}
      </select>
      <button type="submit" disabled={other === undefined}>
        Compare
      </button>
    </form>
  );
}
