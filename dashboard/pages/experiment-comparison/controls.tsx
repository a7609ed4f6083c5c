/** The state of a comparison's page: all of it is in the address. */
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import { Chooser } from '../../parts/form/chooser.tsx';
import { Field } from '../../parts/form/field.tsx';
import { Select } from '../../parts/form/select.tsx';
import { useAddressText } from '../../parts/form/use-address-text.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { useAddress } from '../../state/address.ts';
import { experimentAddress, MOST_COMPARED } from '../experiments/address.ts';
import { choiceName, experimentsOver } from '../experiments/load.ts';
import { readMargin, type Wanted, withBaseline } from './address.ts';
import { CLUSTERS_SHOWN } from './words.ts';

export type ControlsProps = {
  wanted: Wanted;
  /** Those that are wanted. */
  experiments: readonly ExperimentJson[];
  datasetId: string;
};

const clusterOptions = Object.entries(CLUSTERS_SHOWN).map(([name, label]) => ({ name, label }));

/** Lets the address name other experiments; what was open belongs to those before. */
function useChange() {
  const { set } = useAddress();
  return ([baseline = '', ...candidates]: readonly string[]) =>
    set({ baseline, candidates: candidates.join(','), candidate: null, metric: null, item: null });
}

function Candidates({ wanted: { baseline, candidates }, experiments, datasetId }: ControlsProps) {
  const change = useChange();
  return (
    <div class="field">
      <span id="comparison-candidates">Candidates</span>
      <ul class="chips plain-list" aria-labelledby="comparison-candidates">
        {candidates.map((id) => {
          const name = experiments.find((one) => one.id === id)?.name ?? id;
          return (
            <li key={id} class="chip text-chip">
              <a href={experimentAddress(id)}>
                <Hostile text={name} />
              </a>
              <button
                type="button"
                class="quiet"
                aria-label={`Remove ${name}`}
                onClick={() => change([baseline, ...candidates.filter((one) => one !== id)])}
              >
                ✕
              </button>
            </li>
          );
        })}
      </ul>
      {candidates.length < MOST_COMPARED - 1 && (
        <Chooser
          label="Add a candidate"
          choices={experimentsOver(datasetId)}
          none="Choose an experiment"
          value=""
          onChange={(id) => change([baseline, ...candidates, id])}
          labelOf={choiceName}
          without={[baseline, ...candidates]}
          empty="There is no other one over this dataset."
        />
      )}
    </div>
  );
}

/** Is taken when it is finished, not at each key: the API draws thousands of samples for a comparison. */
function Margin() {
  const { margin = '' } = useAddress().query;
  const text = useAddressText('margin');
  return (
    <Field
      label="Margin"
      hint="The loss of a score that is accepted, such as 0.02"
      fault={margin !== '' && readMargin(margin) === null ? 'Must be a number from 0 to 1,000,000' : null}
      control={(attributes) => <input {...attributes} {...text} type="number" step="any" />}
    />
  );
}

/** Shows the choices. */
export function Controls(props: ControlsProps) {
  const { wanted, datasetId } = props;
  const { set } = useAddress();
  const change = useChange();
  return (
    <section class="card comparison-controls" aria-label="What is compared">
      <Chooser
        label="Baseline"
        choices={experimentsOver(datasetId)}
        value={wanted.baseline}
        onChange={(id) => change(withBaseline(wanted, id))}
        labelOf={choiceName}
      />
      <Candidates {...props} />
      <Select
        label="Not independent"
        options={clusterOptions}
        value={wanted.cluster}
        onChange={(cluster) => set({ cluster: cluster === 'cluster' ? null : cluster })}
        hint="What counts as one"
      />
      <Margin />
    </section>
  );
}
