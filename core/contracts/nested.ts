/** Schemas of values that lie deep in a body: the paths in their errors begin at the body. */
import { type TSchema, Type } from '@sinclair/typebox';
import { Compile, parseWith } from './check.ts';

/**
 * Compiles a schema for values that lie at `path`.
 * @returns a function that throws AssayError invalid_body for a value that breaks the schema
 */
export function compileAt(path: readonly string[], schema: TSchema): (value: unknown) => void {
  const [root = '', ...inner] = path;
  const below = inner.reduceRight<TSchema>((nested, name) => Type.Object({ [name]: nested }), schema);
  const checker = Compile(Type.Object({ [root]: below }));
  return (value) => {
    parseWith(
      checker,
      path.reduceRight<unknown>((nested, name) => ({ [name]: nested }), value),
    );
  };
}
