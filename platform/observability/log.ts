import { destination, type LevelWithSilent, type Logger, pino, stdTimeFunctions } from 'pino';

export type { Logger } from 'pino';

/** Fields that hold secrets, wherever an object with them is logged: at the top or one level down. */
const SECRET_FIELDS = [
  'authorization',
  'serviceAuth',
  '["service-auth"]',
  '["x-api-key"]',
  '["api-key"]',
  'apiKey',
  'bootstrapApiKey',
  'password',
  'databaseUrl',
  'cookie',
  '["set-cookie"]',
];

function redactedPaths(): string[] {
  return SECRET_FIELDS.flatMap((field) => {
    const below = field.startsWith('[') ? `*${field}` : `*.${field}`;
    return [field, below, `*.${below}`];
  });
}

/** Of lines that could not be written, and are once there is room again. Those beyond are dropped. */
const MAX_WAITING_BYTES = 64 * 1024;

/**
 * The log of one process: JSON lines on stderr, each with its role. Written synchronously, so that the last line
 * before a crash is there; the services log events, not requests, so this costs nothing on the hot path.
 */
export function createLogger(options: { role: string; level: LevelWithSilent }): Logger {
  const out = destination({ dest: 2, sync: true, maxLength: MAX_WAITING_BYTES });
  // A full disk, or whoever read the log is gone: there is nobody to tell, and the service must not die of it.
  out.on('error', () => {});
  return pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: redactedPaths(), censor: '[redacted]' },
    },
    out,
  );
}
