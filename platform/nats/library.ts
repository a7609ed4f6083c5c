/** The client library of NATS, which connect.ts loads where a broker is configured: it is 30 ms of a start, and 2 MB. */
export {
  AuthorizationError,
  connect,
  credsAuthenticator,
  nkeyAuthenticator,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node';
