import { parse } from 'postgres-array';

/** A type in the form of postgres.js: its OID, and the functions that write and read its text. */
type ArrayType = {
  to: number;
  from: number[];
  serialize(values: unknown): string;
  parse(text: string): unknown[];
};

/** Reads an element. Elements are written by `String`, and JSON by `JSON.stringify`. */
type Read = (text: string) => unknown;

const asWritten: Read = (text) => text;
const truth: Read = (text) => text === 't';
const json: Read = (text) => JSON.parse(text);
const moment: Read = (text) => new Date(text);
const bytes: Read = (text) => Buffer.from(text.slice(2), 'hex');

/** The OIDs of array types (PostgreSQL's pg_type.dat, which never change them), with the readers of their elements. */
const ARRAYS: readonly [oid: number, Read][] = [
  [1000, truth], // bool
  [1001, bytes], // bytea
  [1005, Number], // int2
  [1007, Number], // int4
  [1021, Number], // float4
  [1022, Number], // float8
  [1009, asWritten], // text
  [1015, asWritten], // varchar
  [1016, asWritten], // int8
  [1231, asWritten], // numeric
  [2951, asWritten], // uuid
  [1185, moment], // timestamptz
  [199, json], // json
  [3807, json], // jsonb
];

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;

function serialize(values: unknown, write: (value: unknown) => string): string {
  // A statement may pass the array literal itself.
  if (!Array.isArray(values)) return String(values);
  const written = values.map((value) => {
    if (Array.isArray(value)) return serialize(value, write);
    return value === null ? 'null' : quoted(write(value));
  });
  return `{${written.join(',')}}`;
}

/**
 * The array types of a pool. postgres.js can ask the server for them at the beginning of every connection, but a connection
 * that ends before the response then ends the process, with a rejection that cannot be caught
 * (https://github.com/porsager/postgres/issues/1192).
 */
export const ARRAY_TYPES: Record<string, ArrayType> = Object.fromEntries(
  ARRAYS.map(([oid, read]) => [
    `array_${oid}`,
    {
      to: oid,
      from: [oid],
      serialize: (values) => serialize(values, read === json ? JSON.stringify : String),
      parse: (text) => parse(text, read),
    } satisfies ArrayType,
  ]),
);
