/** Stored prompts: the bodies that the management API takes, and the prompts and versions that it shows. */
import { type Static, Type } from '@sinclair/typebox';
import { VARIABLE_TYPES } from '../prompts/mod.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

/** The environment that a new prompt's first version gets. */
export const PRODUCTION = 'production';

/** Living prompts of one organization. */
export const MAX_PROMPTS = 10_000;
/** Environments of one prompt. */
export const MAX_ENVIRONMENTS = 20;

const MAX_TAGS = 20;
const MAX_PAGE = 100;
const DEFAULT_PAGE = 10;

/** An id in a body. The API answers a text that cannot be an id as an unknown one. */
const Id = Type.String({ minLength: 1, maxLength: 200, description: 'A UUID' });

const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  rule: 'must hold a character that is not a space',
  description: "Unique among the organization's prompts",
});

const Tags = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: MAX_TAGS,
  description: 'Stored without spaces around them, empty ones and repetitions',
});

const Environment = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\s\\x00-\\x1f\\x7f](?:[^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f])?$',
  rule: 'must be one line without spaces around it',
  description: 'A name such as production or staging. It names one version of a prompt',
});

/** The body of a chat completion, in which texts may hold variables. Members without a schema are stored as they are. */
const PromptBody = Type.Object(
  {
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
    messages: Type.Optional(Type.Array(Type.Object({}), { maxItems: 10_000 })),
  },
  {
    description:
      'The body of a chat completion: messages, model, tools, response_format and other parameters, all optional. ' +
      'Every text in it may hold variables: {{name}}, {{name:number}}, {{name:boolean}}, {{name:json}}',
  },
);

export const NewPromptBody = Type.Object(
  {
    name: Name,
    tags: Type.Optional(Tags),
    promptBody: PromptBody,
    environment: Type.Optional(Environment),
  },
  closed,
);
export type NewPromptBody = Static<typeof NewPromptBody>;

export const PromptUpdateBody = Type.Object(
  {
    promptId: Id,
    promptVersionId: Type.String({ ...Id, description: 'The version that the new one follows' }),
    newMajorVersion: Type.Optional(
      Type.Boolean({ description: 'Default: false, the next minor version of the same major version' }),
    ),
    environment: Type.Optional(Environment),
    commitMessage: Type.Optional(Type.String({ maxLength: 10_000 })),
    promptBody: PromptBody,
  },
  closed,
);
export type PromptUpdateBody = Static<typeof PromptUpdateBody>;

export const PromptNameBody = Type.Object({ name: Name }, closed);
export const PromptTagsBody = Type.Object({ tags: Tags }, closed);
export const PromptIdBody = Type.Object({ promptId: Id }, closed);
export const PromptVersionIdBody = Type.Object({ promptVersionId: Id }, closed);
export const PromptEnvironmentBody = Type.Object({ promptId: Id, environment: Environment }, closed);
export const VersionEnvironmentBody = Type.Object(
  { promptId: Id, promptVersionId: Id, environment: Environment },
  closed,
);
export type VersionEnvironmentBody = Static<typeof VersionEnvironmentBody>;

export const PromptQueryBody = Type.Object(
  {
    search: Type.Optional(Type.String({ maxLength: 1_000, description: 'A part of the name, in any case' })),
    tagsFilter: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: 100,
        description: 'Prompts with any of these tags; none: all prompts',
      }),
    ),
    page: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'The first is 0' }),
    ),
    pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE })),
  },
  closed,
);
export type PromptQueryBody = Static<typeof PromptQueryBody>;

export const VersionsQueryBody = Type.Object(
  {
    promptId: Id,
    majorVersion: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Versions to skip' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: MAX_PAGE })),
  },
  closed,
);
export type VersionsQueryBody = Static<typeof VersionsQueryBody>;

export const PromptInputsQuery = Type.Object(
  { requestId: Type.String({ minLength: 1 }) },
  { ...closed, nameRule: 'is not a known parameter: use requestId' },
);

export const PromptJson = Type.Object(
  { id: Type.String(), name: Type.String(), tags: Type.Array(Type.String()), created_at: Timestamp },
  { ...closed, $id: 'Prompt' },
);
export type PromptJson = Static<typeof PromptJson>;

const PromptVariableJson = Type.Object(
  {
    name: Type.String(),
    type: Nullable(
      OneOf(VARIABLE_TYPES),
      'null: no placeholder declares one, and the input is inserted as text',
    ),
  },
  { ...closed, $id: 'PromptVariable' },
);
export type PromptVariableJson = Static<typeof PromptVariableJson>;

const versionFields = {
  id: Type.String(),
  model: Nullable(Type.String(), "The body's model; null when it names none"),
  prompt_id: Type.String(),
  major_version: Type.Integer(),
  minor_version: Type.Integer(),
  commit_message: Type.String(),
  environments: Type.Array(Type.String(), { description: 'The environments that name this version' }),
  variables: Type.Array(PromptVariableJson, { description: "The variables of the body's texts" }),
  created_at: Timestamp,
};

/** A version as lists show it. */
export const PromptVersionJson = Type.Object(versionFields, { ...closed, $id: 'PromptVersion' });
export type PromptVersionJson = Static<typeof PromptVersionJson>;

/** One version, with its body. */
export const WholePromptVersionJson = Type.Object(
  { ...versionFields, prompt_body: Type.Object({}, { description: 'As it was sent' }) },
  { ...closed, $id: 'WholePromptVersion' },
);

/** One version as the first form of the routes shows it: clients of that form fetch the body from a URL. */
export const LinkedPromptVersionJson = Type.Object(
  {
    ...WholePromptVersionJson.properties,
    s3_url: Type.String({ description: 'The body as a `data:` URL, for clients that fetch it' }),
  },
  { ...closed, $id: 'LinkedPromptVersion' },
);

export const NewPromptJson = Type.Object({ id: Type.String(), versionId: Type.String() }, closed);
export const NewVersionJson = Type.Object({ id: Type.String() }, closed);

export const VersionTotalsJson = Type.Object(
  {
    totalVersions: Type.Integer(),
    majorVersions: Type.Integer({ description: 'The highest major version' }),
  },
  closed,
);

export const PromptInputsJson = Type.Object(
  {
    request_id: Type.String(),
    version_id: Type.String(),
    inputs: Type.Record(Type.String(), Type.Unknown()),
  },
  closed,
);
export type PromptInputsJson = Static<typeof PromptInputsJson>;
