import { invalidField } from '#core/contracts/invalid.ts';
import { JsonSchemaError, readJsonSchema } from '#core/json-schema/mod.ts';

/**
 * Returns a JSON Schema as it is stored; null: there is none.
 * @param path of the member that holds it
 * @throws AssayError invalid_body for an invalid schema, or one that is too large
 */
export function schemaText(path: string, schema: unknown): string | null {
  if (schema === null) return null;
  try {
    readJsonSchema(schema);
  } catch (error) {
    if (error instanceof JsonSchemaError) throw invalidField(`${path}${error.path}`, error.rule);
    throw error;
  }
  return JSON.stringify(schema);
}
