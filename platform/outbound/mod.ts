/**
 * Calls that leave this process: to our own gateway, and to addresses that users chose. The guard against server-side request forgery is at the socket:
 * the look-up that the connection itself uses checks every address that a name resolves to.
 */
export { isLoopback } from './address.ts';
export { allowListOf, parseAllowList } from './allow-list.ts';
export { checkOutboundUrl } from './check-url.ts';
export { createOutbound, type Outbound } from './client.ts';
export { gatewayConnector } from './gateway-connector.ts';
export { OutboundError } from './outbound-error.ts';
export { requestOrResend, watchReuse } from './resend.ts';
