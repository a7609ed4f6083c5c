/**
 * The header by which calls of Assay itself pass the gateway without a key: those of judges and of experiments, which the
 * evaluators sign, and those of the playground, which the API signs for the key of whoever is logged in. The secret is one that all roles read
 * from Postgres. A client that sends the header without it is treated as if it had not.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Sql } from '../postgres/mod.ts';

export const INTERNAL_HEADER = 'service-internal';

/** The property that leads from a judge's record to the evaluation it was made for. */
export const EVALUATION_PROPERTY = 'Assay-Evaluation-Id';

/** On whose behalf, and for which evaluation. */
export type InternalCall = { organizationId: string; evaluationId: string };

/** On whose behalf, and for which experiment. */
export type ExperimentCall = { organizationId: string; experimentId: string };

/** Long enough for clocks of machines to differ, short enough for a header that got into a log. */
const VALID_MS = 300_000;

/**
 * Reads the secret of this installation; the first migration of evaluators made it.
 * @throws what Postgres throws
 */
export async function readInternalSecret(sql: Sql): Promise<string> {
  const [row] = await sql`select secret from assay.internal_secrets where name = 'internal-calls'`;
  return row!.secret as string;
}

/** Begins the value for a key, and that for an experiment. A gateway that knows only judges refuses a value of three parts. */
const FOR_KEY = 'key';
const FOR_EXPERIMENT = 'experiment';

function signatureOf(secret: string, payload: string): string {
  return createHmac('sha256', secret).update(payload).digest('base64url');
}

/** The header's value for one call. */
export function signInternalCall(secret: string, call: InternalCall, nowMs: number): string {
  const payload = Buffer.from(JSON.stringify([call.organizationId, call.evaluationId, nowMs])).toString(
    'base64url',
  );
  return `${payload}.${signatureOf(secret, payload)}`;
}

/** The header's value for one call that a key is to have made. */
export function signKeyCall(secret: string, keyId: string, nowMs: number): string {
  return signFor(FOR_KEY, secret, [keyId, nowMs]);
}

/** The header's value for one call of an experiment. */
export function signExperimentCall(secret: string, call: ExperimentCall, nowMs: number): string {
  return signFor(FOR_EXPERIMENT, secret, [call.organizationId, call.experimentId, nowMs]);
}

function signFor(kind: string, secret: string, content: readonly unknown[]): string {
  const payload = `${kind}.${Buffer.from(JSON.stringify(content)).toString('base64url')}`;
  return `${payload}.${signatureOf(secret, payload)}`;
}

/** Returns the content of a header's value; null when it was not signed with this secret, or too long ago. */
export function readInternalCall(secret: string, value: string, nowMs: number): InternalCall | null {
  const [payload = '', signature = '', ...rest] = value.split('.');
  if (rest.length > 0 || !isSignature(secret, payload, signature)) return null;
  const [organizationId, evaluationId, signedAtMs] = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return Math.abs(nowMs - signedAtMs) > VALID_MS ? null : { organizationId, evaluationId };
}

/** Returns the id of the key that a call is signed for; null as for `readInternalCall`. */
export function readKeyCall(secret: string, value: string, nowMs: number): string | null {
  const content = readFor(FOR_KEY, secret, value);
  if (content === null) return null;
  const [keyId, signedAtMs] = content as [string, number];
  return Math.abs(nowMs - signedAtMs) > VALID_MS ? null : keyId;
}

/** Returns the experiment that a call is signed for; null as for `readInternalCall`. */
export function readExperimentCall(secret: string, value: string, nowMs: number): ExperimentCall | null {
  const content = readFor(FOR_EXPERIMENT, secret, value);
  if (content === null) return null;
  const [organizationId, experimentId, signedAtMs] = content as [string, string, number];
  return Math.abs(nowMs - signedAtMs) > VALID_MS ? null : { organizationId, experimentId };
}

/** Returns what was signed for this kind of call; null: nothing was. */
function readFor(wanted: string, secret: string, value: string): unknown {
  const [kind = '', payload = '', signature = '', ...rest] = value.split('.');
  if (kind !== wanted || rest.length > 0 || !isSignature(secret, `${kind}.${payload}`, signature))
    return null;
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}

function isSignature(secret: string, payload: string, signature: string): boolean {
  // Compared as texts: many texts decode to the same bytes, as what is no base64 is passed over.
  const given = Buffer.from(signature);
  const wanted = Buffer.from(signatureOf(secret, payload));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
