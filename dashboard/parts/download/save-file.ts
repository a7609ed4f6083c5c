/** Files that a page hands to the browser's downloads. */
import { type Method, readFailure, send } from '../../client/call.ts';

/** Hands a file to the browser's downloads. */
function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/**
 * Saves what the API answers as a file. The browser keeps what comes outside of the page's memory.
 * @throws ApiFailure
 */
export async function saveAnswer(
  name: string,
  { method, path, body }: { method: Method; path: string; body?: unknown },
): Promise<void> {
  const response = await send(method, path, body);
  if (!response.ok) throw await readFailure(response);
  save(await response.blob(), name);
}
