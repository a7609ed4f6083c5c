/** Options of the language, with the values that the data have among them. */
import { type Completion, type Option, valueOptions } from '#core/filter/query-text/completion/mod.ts';
import { shortCount } from '../formats/numbers.ts';
import type { CountedValue } from './complete-values.ts';

export { completeAt } from '#core/filter/query-text/completion/mod.ts';

/** Values of the field that `facet` names in `/v1/request/facets`. */
export type LoadedValues = { readonly facet: string; readonly values: readonly CountedValue[] };

/** Returns the options of a completion, with the values that have been loaded for it. */
export function withValues(completion: Completion, loaded: LoadedValues | null): readonly Option[] {
  const { options, values, prefix } = completion;
  if (values === null || loaded?.facet !== values.facet) return options;
  // Those of a shorter text may still be here.
  const fitting = loaded.values.filter(({ value, name = '' }) =>
    `${value ?? ''} ${name}`.toLowerCase().includes(prefix.toLowerCase()),
  );
  const found = valueOptions(
    completion,
    values.field,
    fitting.map(({ value, count, name = '' }) => ({
      value,
      detail: `${name} ${shortCount(count)} requests`.trim(),
    })),
  );
  const isNew = ({ kind, insert }: Option) =>
    kind !== 'value' || !found.some((option) => option.insert === insert);
  const others = options.filter(isNew);
  return [
    ...others.filter(({ kind }) => kind !== 'value'),
    ...found,
    ...others.filter(({ kind }) => kind === 'value'),
  ];
}
