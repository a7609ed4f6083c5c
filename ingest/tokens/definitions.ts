/**
 * Tools and the response format as OpenAI's models see them: declarations of TypeScript, and JSON. This is undocumented, but
 * matches OpenAI's counts within a few tokens. Other providers write them in other ways.
 */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';

/** Maximum nesting: deeper than the schemas of real tools. */
const MAX_DEPTH = 32;

/** Returns the tools of a request in any dialect, as text; '' when it has only a provider's built-in tools or none. */
export function toolsText({ tools, functions }: JsonObject): string {
  const given = [tools, functions].flatMap((list) => (Array.isArray(list) ? list : []));
  const declarations = given.map(declaration).join('');
  if (declarations === '') return '';
  return `# Tools\n\n## functions\n\nnamespace functions {\n\n${declarations}} // namespace functions`;
}

/** Returns the schema that an answer must fit, of chat completions or Responses, as text; '' when there is none. */
export function responseFormatText({ response_format, text }: JsonObject): string {
  const format = isObject(response_format)
    ? response_format.json_schema
    : isObject(text)
      ? text.format
      : null;
  if (!isObject(format) || !isObject(format.schema)) return '';
  return `# Response Formats\n\n## ${textOrNull(format.name) ?? ''}\n\n${schemaJson(format.schema)}`;
}

/** Writes a schema as JSON, without keywords that the model does not see; '' when it is nested too deep for JSON. */
function schemaJson(schema: JsonObject): string {
  const isShown = (name: string) => name !== 'additionalProperties' && name !== 'required';
  try {
    return JSON.stringify(schema, (name, value) => (isShown(name) ? value : undefined));
  } catch {
    return '';
  }
}

function declaration(tool: unknown): string {
  if (!isObject(tool)) return '';
  const definition = isObject(tool.function) ? tool.function : tool;
  const { name, description, parameters, input_schema: inputSchema } = definition;
  if (typeof name !== 'string') return '';
  const given = parameters ?? inputSchema;
  const input = hasProperties(given) ? `_: ${typeText(given, 0)}` : '';
  return `${comment(description)}type ${name} = (${input}) => any;\n\n${definitions(given)}`;
}

function comment(description: unknown): string {
  return typeof description === 'string' && description !== '' ? `// ${description}\n` : '';
}

function hasProperties(schema: unknown): schema is JsonObject {
  return isObject(schema) && isObject(schema.properties) && Object.keys(schema.properties).length > 0;
}

/** Writes the types that a schema refers to by name. */
function definitions(schema: unknown): string {
  if (!isObject(schema)) return '';
  const named = [schema.$defs, schema.definitions].flatMap((list) =>
    isObject(list) ? Object.entries(list) : [],
  );
  return named.map(([name, type]) => `type ${name} = ${typeText(type, 0)};\n\n`).join('');
}

function typeText(schema: unknown, depth: number): string {
  if (!isObject(schema) || depth > MAX_DEPTH) return 'any';
  const { enum: values, anyOf, oneOf, items, type } = schema;
  if (Array.isArray(values)) return values.map((value) => `"${String(value)}"`).join(' | ');
  const either = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(either)) return either.map((one) => typeText(one, depth + 1)).join(' | ');
  if (hasProperties(schema)) return objectText(schema, depth);
  if (type === 'array') return `${typeText(items, depth + 1)}[]`;
  return textOrNull(type) ?? 'any';
}

function objectText(schema: JsonObject, depth: number): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const members = Object.entries(schema.properties as JsonObject).map(([name, property]) => {
    const description = isObject(property) ? comment(property.description) : '';
    return `${description}${name}${required.has(name) ? '' : '?'}: ${typeText(property, depth + 1)},\n`;
  });
  return `{\n${members.join('')}}`;
}
