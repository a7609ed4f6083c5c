/** The filters of the list of evaluations. */
import type { ComponentChildren } from 'preact';
import { EVALUATION_STATES } from '#core/evaluations/mod.ts';
import type { Evaluator } from '../../../client/evaluators.ts';
import { useAddressText } from '../../../parts/form/use-address-text.ts';
import { useAddress } from '../../../state/address.ts';

type TextFilterProps = { label: string; name: 'code' | 'request' | 'run'; placeholder: string };

function TextFilter({ label, name, placeholder }: TextFilterProps) {
  return (
    <label>
      {label}{' '}
      <input
        type="search"
        {...useAddressText(name, { at: null })}
        class="mono"
        autocomplete="off"
        placeholder={placeholder}
      />
    </label>
  );
}

/** Shows the filters; they are in the address. */
export function Filters({ evaluator, children }: { evaluator: Evaluator; children: ComponentChildren }) {
  const { query, set } = useAddress();
  const versions = Array.from({ length: evaluator.version }, (_, index) => evaluator.version - index);
  return (
    <search class="evaluator-options">
      <label>
        State{' '}
        <select
          value={query.state ?? ''}
          onChange={({ currentTarget: { value } }) => set({ state: value || null, at: null })}
        >
          <option value="">any</option>
          <option value="failed">failed (error or dead)</option>
          {EVALUATION_STATES.map((state) => (
            <option key={state} value={state}>
              {state}
            </option>
          ))}
        </select>
      </label>
      <label>
        Version{' '}
        <select
          value={query.version ?? ''}
          onChange={({ currentTarget: { value } }) => set({ version: value || null, at: null })}
        >
          <option value="">any</option>
          {versions.map((version) => (
            <option key={version} value={version}>
              {version}
            </option>
          ))}
        </select>
      </label>
      <TextFilter label="Code" name="code" placeholder="judge_timeout" />
      <TextFilter label="Request" name="request" placeholder="Request id" />
      <TextFilter label="Run" name="run" placeholder="Run id" />
      {children}
    </search>
  );
}
