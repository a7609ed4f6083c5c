/** Fields and operators in a few words, for those who write a query. */
import { FIXED_SECTIONS, type FieldType, type OpenSection } from '../../fields.ts';
import { type NamedField, OPEN_NAMES, printName, SHORT_NAMES } from '../names.ts';

const FIELDS: Readonly<Record<string, string>> = {
  'request.id': 'id of the request',
  'request.created_at': 'when the request came: 2026-11-01, or a range',
  'request.user_id': 'user that the caller named',
  'request.path': 'path of the endpoint',
  'request.model': 'model as the caller wrote it',
  'request.model_used': 'model that answered, else the one that was called',
  'request.provider': 'provider that was called',
  'request.api_key_id': 'id of the API key that made the call',
  'request.source': 'where the call came from: gateway, api, playground, experiment',
  'request.prompt_id': 'prompt that was filled in',
  'request.prompt_version': 'version of the prompt',
  'request.session_id': 'session of the request',
  'request.session_name': 'name of the session',
  'request.session_path': 'place in the session',
  'request.body': 'text of the request: slow',
  'response.id': 'id that the provider gave',
  'response.created_at': 'when the response came',
  'response.status': 'HTTP status',
  'response.error_code': "code of the gateway's own error: rate_limit_exceeded",
  'response.model': 'model that answered',
  'response.latency': 'time to the whole response: 500ms, 10s',
  'response.time_to_first_token': 'time to the first token: 500ms, 2s',
  'response.prompt_tokens': 'tokens of the prompt',
  'response.completion_tokens': 'tokens of the completion',
  'response.total_tokens': 'tokens of both',
  'response.cost': 'US dollars: 0.01',
  'response.body': 'text of the response: slow',
  'feedback.rating': "a person's rating: true or false",
  'feedback.created_at': 'when it was rated',
};

const OPEN: Readonly<Record<OpenSection, string>> = {
  properties: 'a property of the request',
  scores: 'a score of an evaluator',
  values: 'a variable of the prompt',
};

/** A name that a query can have before its colon, or the beginning of one. */
export type FieldName = {
  readonly name: string;
  readonly description: string;
  readonly type: FieldType | null;
  /** Whether more must follow, as behind `property.`. */
  readonly isBeginning: boolean;
};

/** Returns all names: first those that are printed short. */
export function fieldNames(): readonly FieldName[] {
  const short = new Set(SHORT_NAMES.map(([, section, field]) => `${section}.${field}`));
  const fixed = [...FIXED_SECTIONS].flatMap(([section, fields]) =>
    [...fields].map(([name, { type }]) => ({ id: `${section}.${name}`, section, name, type })),
  );
  const named = ({ id, section, name, type }: (typeof fixed)[number]): FieldName => ({
    name: printName({ section, name, type, unit: null }),
    description: FIELDS[id] ?? '',
    type,
    isBeginning: false,
  });
  const beginning = (name: string, description: string): FieldName => ({
    name,
    description,
    type: null,
    isBeginning: true,
  });
  const order = SHORT_NAMES.map(([, section, field]) => `${section}.${field}`);
  return [
    ...fixed
      .filter(({ id }) => short.has(id))
      .sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
      .map(named),
    ...OPEN_NAMES.map(([[name = ''], section]) => beginning(`${name}.`, OPEN[section])),
    ...fixed.filter(({ id }) => !short.has(id)).map(named),
    beginning('request.', 'a place in the request, as request.temperature'),
    beginning('response.', 'a place in the response, as response.choices.0.finish_reason'),
  ];
}

type OperatorText = readonly [text: string, description: string];

const NOT: OperatorText = ['!=', 'is not'];
const GROUP: OperatorText = ['(', 'one of several: (a OR b)'];
const ORDER: readonly OperatorText[] = [
  ['>', 'more than'],
  ['>=', 'at least'],
  ['<', 'less than'],
  ['<=', 'at most'],
  NOT,
  GROUP,
];
const PATTERNS: readonly OperatorText[] = [
  ['~', 'contains, ignoring case'],
  NOT,
  ['*', 'any text, as in gpt-4*'],
  GROUP,
];
const OPERATORS: Readonly<Record<FieldType, readonly OperatorText[]>> = {
  text: PATTERNS,
  uuid: [NOT, GROUP],
  number: ORDER,
  timestamp: [['>', 'after'], ['>=', 'at or after'], ['<', 'before'], ['<=', 'at or before'], NOT],
  boolean: [NOT],
  value: [...PATTERNS.slice(0, 3), ...ORDER.slice(0, 4), GROUP],
};

/** Returns the operators of a type, as they are written behind the colon, where nothing is `equals`. */
export function operatorsOf(type: FieldType): readonly OperatorText[] {
  return OPERATORS[type];
}

const FACETS: Readonly<Record<string, string>> = {
  'request.user_id': 'user',
  'request.model': 'model',
  'request.model_used': 'model',
  'response.model': 'model',
  'request.provider': 'provider',
  'request.api_key_id': 'api_key',
  'request.source': 'source',
  'request.path': 'path',
  'request.prompt_id': 'prompt_id',
  'request.prompt_version': 'prompt_version',
  'response.status': 'status',
  'response.error_code': 'error_code',
};

/** Returns the field of `/v1/request/facets` that lists the values of a field; null: none does. */
export function facetOf({ section, name }: Pick<NamedField, 'section' | 'name'>): string | null {
  if (section === 'properties') return name === '' ? null : `property:${name}`;
  return FACETS[`${section}.${name}`] ?? null;
}
