/**
 * Loaded into Portkey's gateway before itself. With any @hono/node-server above 1.14.2, which is what npm installs, it answers
 * every stream with status 500: it writes into headers that fetch has made immutable
 * (https://github.com/Portkey-AI/gateway/issues/1389). This gives it headers that can be written. It costs it some
 * microseconds of the thousand and more that it takes for a stream.
 */
const fetchImmutable = globalThis.fetch;
// The gateway's server replaces the global one later.
const NativeResponse = globalThis.Response;

globalThis.fetch = async (input, init) => {
  const response = await fetchImmutable(input, init);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return isStream ? new NativeResponse(response.body, response) : response;
};
