/** The fields of a property that is added to requests. */
import { TextField } from '../form/text-field.tsx';

export type Property = { key: string; value: string };
export const NO_PROPERTY: Property = { key: '', value: '' };

/** @example <PropertyFields property={property} onChange={setProperty} /> */
export function PropertyFields({
  property,
  onChange,
}: {
  property: Property;
  onChange: (property: Property) => void;
}) {
  const { key, value } = property;
  return (
    <>
      <TextField
        label="Name"
        value={key}
        maxLength={200}
        isRequired
        onInput={(next) => onChange({ ...property, key: next })}
      />
      <TextField
        label="Value"
        value={value}
        maxLength={10_000}
        isRequired
        onInput={(next) => onChange({ ...property, value: next })}
      />
    </>
  );
}
