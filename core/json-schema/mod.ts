/** JSON Schemas that strangers send: a subset of draft 2020-12 whose checks take time in proportion to schema and value. */
export { type JsonSchema, JsonSchemaError, readJsonSchema } from './read-schema.ts';
export { findBreach, type SharedSteps } from './validate.ts';
