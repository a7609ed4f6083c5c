/** The record that an evaluator is tried out on: `r=` in the address. */
import { call } from '../../../client/call.ts';
import { type Resource, useResource } from '../../../client/resource.ts';
import { useAddress } from '../../../state/address.ts';

/** What a try-out takes of a request. */
export type PickedRecord = {
  request_id: string;
  request_created_at: string;
  request_body: unknown;
  response_body: unknown;
  response_status: number;
  model: string;
  properties: Record<string, string>;
  inputs?: Record<string, unknown>;
};

export type Picked = {
  /** Empty: none is picked. */
  id: string;
  /** Null: none is picked, it is not there yet, or there is none of this id. */
  record: PickedRecord | null;
  /** Whether the answer has come, and the API has no such request. */
  isUnknown: boolean;
  resource: Resource<PickedRecord[]>;
  pick: (id: string) => void;
};

/** Returns the picked record, with the values of its prompt variables. */
export function usePicked(): Picked {
  const { query, set } = useAddress();
  const id = query.r ?? '';
  const key = id === '' ? null : `record with inputs ${id}`;
  const resource = useResource(key, (signal) =>
    call<PickedRecord[]>(
      'POST',
      '/v1/request/query',
      { filter: { request: { id: { equals: id } } }, includeInputs: true, limit: 1 },
      signal,
    ),
  );
  const isCurrent = key !== null && resource.dataKey === key;
  const record = isCurrent ? (resource.data?.[0] ?? null) : null;
  const isUnknown = isCurrent && record === null && !resource.isLoading;
  return { id, record, isUnknown, resource, pick: (next) => set({ r: next.trim() || null }) };
}

/** Returns variables that a prompt could name for this record. */
export function offeredVariables(record: PickedRecord | null): string[] {
  if (record === null) return [];
  const names = (root: string, values: object) => Object.keys(values).map((name) => `${root}.${name}`);
  return [...names('inputs', record.inputs ?? {}), ...names('properties', record.properties)].filter(
    // A brace would end the variable.
    (name) => !/[{}]/.test(name),
  );
}
