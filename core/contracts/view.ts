/** Saved views: the bodies and replies of `/v1/view`. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, OneOf, Timestamp } from './shapes.ts';

const MAX_NAME_LENGTH = 100;
/** Longer than what a person filters by; an address of this length passes every proxy. */
const MAX_QUERY_LENGTH = 4_000;
/** Most views of an organization, over all pages. */
export const MAX_VIEWS = 200;

/** The pages of the dashboard that have lists. */
const VIEW_PAGES = [
  'overview',
  'requests',
  'sessions',
  'users',
  'evaluators',
  'alerts',
  'prompts',
  'limits',
] as const;
export type ViewPage = (typeof VIEW_PAGES)[number];
const Page = Type.Unsafe<ViewPage>({ ...OneOf(VIEW_PAGES), description: 'The page of the dashboard' });

const fields = {
  name: Type.String({
    minLength: 1,
    maxLength: MAX_NAME_LENGTH,
    pattern: '^\\S(.*\\S)?$',
    rule: `must have 1 to ${MAX_NAME_LENGTH} characters in one line, the first and the last of which are no spaces`,
    description: 'Unique among the views of the page, ignoring case',
  }),
  query: Type.String({
    maxLength: MAX_QUERY_LENGTH,
    pattern: "^[\\w\\-.~!$&'()*+,;=:@/%]*$",
    rule: `must be the query string of an address, without its "?", of at most ${MAX_QUERY_LENGTH} characters`,
    description:
      'The query string of the page, as in `q=status:%3E=500&range=24h&cols=model,cost`: its filter, time, order and columns',
  }),
};

/** The body that creates a view. */
export const ViewBody = Type.Object({ name: fields.name, page: Page, query: fields.query }, closed);
export type ViewBody = Static<typeof ViewBody>;

/** The body that changes a view: what is left out stays as it is. */
export const ViewPatch = Type.Partial(Type.Object(fields), { ...closed, minProperties: 1 });
export type ViewPatch = Static<typeof ViewPatch>;

/** The parameters of the list. */
export const ViewsQuery = Type.Object({ page: Type.Optional(Page) }, closed);
export type ViewsQuery = Static<typeof ViewsQuery>;

/** A view as the API shows it. */
export const ViewJson = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    page: Page,
    query: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, $id: 'View' },
);
export type ViewJson = Static<typeof ViewJson>;
