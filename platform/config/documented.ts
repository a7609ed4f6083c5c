/** The variables as their documentation and tests see them. */
import type { TSchema } from '@sinclair/typebox';
import { PROVIDER_VARIABLES } from './providers.ts';
import { type About, formOf, GROUPS } from './variable.ts';
import { VARIABLES } from './variables.ts';

export type DocumentedVariable = Omit<About, 'defaultText' | 'hasLowerCaseName'> & {
  name: string;
  /** Its allowed values. */
  form: string;
  /** Markdown; null: there is none. */
  defaultText: string | null;
};

/** Returns every variable, in the order of the groups. */
export function documentedVariables(): DocumentedVariable[] {
  const all = Object.entries<TSchema & Partial<About>>({
    ...VARIABLES.properties,
    ...PROVIDER_VARIABLES.properties,
  });
  return GROUPS.flatMap((group) =>
    all
      .filter(([, schema]) => schema.group === group)
      .map(([name, schema]) => ({
        name,
        group,
        roles: schema.roles ?? [],
        description: schema.description ?? '',
        form: formOf(schema),
        defaultText: schema.defaultText ?? (schema.default === undefined ? null : `\`${schema.default}\``),
        ...(schema.unit && { unit: schema.unit }),
        ...(schema.isSecret && { isSecret: schema.isSecret }),
      })),
  );
}
