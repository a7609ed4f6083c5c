import { type Static, Type } from '@sinclair/typebox';
import { filterOrQ } from './filter-or-q.ts';
import { QueryBody } from './query.ts';
import { closed, OneOf } from './shapes.ts';

const { isCached, isPartOfExperiment, isScored, includeInputs, includeExpected } = QueryBody.properties;

/** The key of a record, in the words of the record itself: an export goes on after it. */
const ExportCursor = Type.Object(
  {
    request_created_at: Type.String({ maxLength: 40, description: 'As in the record: RFC 3339' }),
    request_id: Type.String({ minLength: 1, maxLength: 200 }),
  },
  { ...closed, description: 'The last whole record of an export that was cut: this one begins behind it' },
);
export type ExportCursor = Static<typeof ExportCursor>;

/** The body of an export. */
export const ExportBody = Type.Object(
  {
    ...filterOrQ,
    format: OneOf(['ndjson', 'csv']),
    bodies: Type.Optional(
      Type.Boolean({ description: 'True: with request_body and response_body. Default: false' }),
    ),
    after: Type.Optional(ExportCursor),
    isCached,
    isPartOfExperiment,
    isScored,
    includeInputs,
    includeExpected,
  },
  closed,
);
export type ExportBody = Static<typeof ExportBody>;
