import { type Static, Type } from '@sinclair/typebox';
import { FilterShape } from './query.ts';
import { closed } from './shapes.ts';

/** The body that erases all requests that pass a filter. */
export const ErasureBody = Type.Object(
  {
    filter: FilterShape,
    dryRun: Type.Optional(Type.Boolean({ description: 'Counts the requests, and erases none' })),
    confirm: Type.Optional(
      Type.Literal('all', {
        description: 'Required for a filter that has no condition, and refused for any other',
      }),
    ),
  },
  closed,
);
export type ErasureBody = Static<typeof ErasureBody>;
