/** Several choices out of some, each with a sentence that says what it means. */

export type Check = { name: string; label: string; hint?: string };

/** @example <Checks legend="Scopes" checks={SCOPES} chosen={scopes} onChange={setScopes} /> */
export function Checks<Name extends string>({
  legend,
  checks,
  chosen,
  onChange,
}: {
  legend: string;
  checks: readonly (Check & { name: Name })[];
  chosen: readonly Name[];
  onChange: (chosen: Name[]) => void;
}) {
  return (
    <fieldset class="checks">
      <legend>{legend}</legend>
      {checks.map(({ name, label, hint }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(checked ? [...chosen, name] : chosen.filter((one) => one !== name))
            }
          />
          <span>
            {label}
            {hint !== undefined && <span class="field-hint"> {hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
