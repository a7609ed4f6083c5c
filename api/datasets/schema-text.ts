/** Returns a JSON Schema as it is stored; null: there is none. */
export function schemaText(_path: string, schema: unknown): string | null {
  return schema === null ? null : JSON.stringify(schema);
}
