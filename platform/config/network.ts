/** The variables of ports, sockets and TLS. */
import { pageOrigins, pagesOrigin } from './texts.ts';
import { choice, integer, optionalInteger, optionalText, text } from './variable.ts';

const MAX_PORT = 65_535;

export const NETWORK_VARIABLES = {
  HOST: text('a host name or an address', {
    default: '127.0.0.1',
    group: 'Network',
    roles: ['gateway', 'api'],
    description: 'The address that the gateway and the API listen on.',
  }),
  GATEWAY_PORT: integer(0, MAX_PORT, {
    default: 8_787,
    group: 'Network',
    roles: ['gateway', 'evaluators'],
    description: "The gateway's port; 0 takes a free one.",
  }),
  GATEWAYS: integer(1, 64, {
    default: 1,
    group: 'Network',
    roles: ['supervisor', 'gateway'],
    description: 'Gateway processes that share the port, when `npm start` runs them.',
  }),
  GATEWAY_SHARE_PORT: choice(['true', 'false'], {
    default: 'false',
    group: 'Network',
    roles: ['gateway'],
    description: '`true`: gateways of one user, started separately, share the port (SO_REUSEPORT).',
  }),
  // The first three descriptors are stdin, stdout and stderr.
  GATEWAY_SOCKET_FD: optionalInteger(3, MAX_PORT, {
    group: 'Network',
    roles: ['gateway'],
    description:
      'The descriptor of a bound socket that the process was given, used in place of `HOST` and `GATEWAY_PORT`: 3 from a systemd socket unit. Run `node main.ts gateway`, because npm passes no descriptors on.',
  }),
  GATEWAY_SOCKET_FDS: integer(1, 64, {
    default: 1,
    group: 'Network',
    roles: ['gateway'],
    description:
      'How many descriptors from `GATEWAY_SOCKET_FD` on are that socket. The process accepts a connection of each in a turn of its event loop; `npm start` passes 8, divided among its gateways.',
  }),
  GATEWAY_ALLOWED_ORIGINS: pageOrigins({
    group: 'Network',
    roles: ['gateway'],
    description:
      'Pages that may call the gateway from browsers ([more](api/endpoints.md#browsers)). Without it no page may.',
  }),
  API_PORT: integer(0, MAX_PORT, {
    default: 8_585,
    group: 'Network',
    roles: ['api'],
    description: "The API's port; 0 takes a free one.",
  }),
  API_DASHBOARD: choice(['true', 'false'], {
    default: 'true',
    group: 'Network',
    roles: ['supervisor', 'api'],
    description:
      '`false`: the API serves no pages, neither the [dashboard](guides/dashboard.md) nor the API reference at `/openapi`.',
  }),
  PUBLIC_URL: pagesOrigin({
    group: 'Network',
    roles: ['supervisor', 'api'],
    description:
      "The dashboard's address in browsers, where that is not loopback on the API's own machine ([dashboard](guides/dashboard.md#addresses)).",
  }),
  INGEST_PORT: integer(0, MAX_PORT, {
    default: 0,
    group: 'Network',
    roles: ['ingest'],
    description: 'Health and metrics of ingest, on loopback; 0 takes a free port.',
  }),
  EVALUATORS_PORT: integer(0, MAX_PORT, {
    default: 0,
    group: 'Network',
    roles: ['evaluators'],
    description: 'Health and metrics of the evaluators, on loopback; 0 takes a free port.',
  }),
  TLS_CERT_FILE: optionalText('a PEM file', {
    group: 'Network',
    roles: ['gateway', 'api', 'evaluators'],
    description:
      'The certificate that the gateway and the API show. It needs `TLS_KEY_FILE`; both files are read again when they change ([deployment](deployment.md)).',
  }),
  TLS_KEY_FILE: optionalText('a PEM file', {
    group: 'Network',
    roles: ['gateway', 'api', 'evaluators'],
    description: 'The private key of `TLS_CERT_FILE`.',
  }),
};
