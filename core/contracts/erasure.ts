import { type Static, Type } from '@sinclair/typebox';
import { filterOrQ } from './filter-or-q.ts';
import { closed } from './shapes.ts';

/** The body that erases all requests that pass a filter. */
export const ErasureBody = Type.Object(
  {
    ...filterOrQ,
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
