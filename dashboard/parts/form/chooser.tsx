/** A choice of one out of many things by their names: the newest are listed, the others are found by a text. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { type Choices, MOST_CHOICES } from './choices.ts';
import { Field } from './field.tsx';

export type ChooserProps<Thing> = {
  label: string;
  choices: Choices<Thing>;
  /** Stands for no choice; absent: there always is one. */
  none?: string;
  value: string;
  /** The thing is null where none is chosen. */
  onChange: (id: string, thing: Thing | null) => void;
  labelOf?: (thing: Thing) => string;
  /** Ids that cannot be chosen. */
  without?: readonly string[];
  hint?: ComponentChildren;
  /** Said in place of the hint when there is nothing to choose. */
  empty?: ComponentChildren;
};

/** @example <Chooser label="Dataset" choices={DATASETS} none="Choose a dataset" value={id} onChange={setId} /> */
export function Chooser<Thing extends { id: string; name: string }>(props: ChooserProps<Thing>) {
  const { label, choices, none, value, onChange, labelOf = ({ name }) => name, without = [] } = props;
  const [search, setSearch] = useState('');
  const { data, failure, reload } = useResource(`${choices.key} named ${search}`, (signal) =>
    choices.find(search, signal),
  );
  const listed = data ?? [];
  // Once there were more than are listed the field stays, also while few are found.
  const isLong = useRef(false);
  isLong.current ||= listed.length >= MOST_CHOICES;
  const isOther = value !== '' && listed.every(({ id }) => id !== value);
  const other = useResource(data !== null && isOther ? `${choices.key} ${value}` : null, (signal) =>
    choices.load(value, signal),
  ).data;
  const found = listed.filter(({ id }) => !without.includes(id));
  const isEmpty = data !== null && search === '' && found.length === 0;
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      <Field
        label={label}
        hint={isEmpty ? (props.empty ?? props.hint) : props.hint}
        control={(attributes) => (
          <>
            {isLong.current && (
              <input
                type="search"
                aria-label={`Find: ${label}`}
                placeholder="A part of the name"
                value={search}
                onInput={({ currentTarget }) => setSearch(currentTarget.value)}
                // Enter must not send a form that this is no field of.
                onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
              />
            )}
            <select
              {...attributes}
              value={value}
              onChange={({ currentTarget: { value: id } }) =>
                onChange(id, listed.find((one) => one.id === id) ?? null)
              }
            >
              {none !== undefined && (
                <option value="">
                  {search !== '' && found.length === 0 ? 'No name has this text' : none}
                </option>
              )}
              {isOther && <option value={value}>{other === null ? value : labelOf(other)}</option>}
              {found.map((one) => (
                <option key={one.id} value={one.id}>
                  {labelOf(one)}
                </option>
              ))}
            </select>
          </>
        )}
      />
    </>
  );
}
