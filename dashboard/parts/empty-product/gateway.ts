/** Where the gateway is, for calls that pages show. */
import { identity } from '../../state/me.ts';
import { USUAL_GATEWAY } from './snippets.ts';

/** Returns the gateway's address as the API knows it; null: it does not. */
export function gatewayUrl(): string | null {
  const now = identity.value;
  return now.kind === 'signed-in' ? now.me.gateway_url : null;
}

/** Returns the address to show in a call, without a slash at its end. */
export function gatewayAddress(): string {
  return (gatewayUrl() ?? USUAL_GATEWAY).replace(/\/$/, '');
}
