/** The actions on an experiment: pause, resume, cancel, compare. */
import { useState } from 'preact/hooks';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import { call } from '../../client/call.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { Chooser } from '../../parts/form/chooser.tsx';
import { MissingScope } from '../../parts/scope/missing-scope.tsx';
import { attempt, tell } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { comparisonAddress } from '../experiments/address.ts';
import { choiceName, experimentsOver } from '../experiments/load.ts';
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
  const [other, setOther] = useState<ExperimentJson | null>(null);
  return (
    <form
      class="experiment-compare"
      onSubmit={(event) => {
        event.preventDefault();
        if (other !== null) go(comparisonAddress(withBaselineFirst([experiment, other])));
      }}
    >
      <Chooser
        label="Compare with"
        choices={experimentsOver(experiment.dataset_id)}
        none="Choose an experiment"
        value={other?.id ?? ''}
        onChange={(_, chosen) => setOther(chosen)}
        labelOf={choiceName}
        without={[experiment.id]}
        empty="No other experiment is over this dataset: there is nothing to compare with."
      />
      <button type="submit" disabled={other === null}>
        Compare
      </button>
    </form>
  );
}
