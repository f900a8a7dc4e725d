import { pino, stdSerializers, type LevelWithSilent } from 'pino';
import type { Log } from '../ports/log.ts';

/**
 * One JSON object per line on standard error; standard output belongs to commands. Every line says its stage: of the data path where it is
 * about a call, `operate` where it is about the plane itself, as in the table of errors.
 */
export function createLog(level: LevelWithSilent, name = 'sallyport'): Log {
  return pino(
    {
      name,
      level,
      formatters: { log: (facts) => ('stage' in facts ? facts : { stage: 'operate', ...facts }) },
      serializers: { error: stdSerializers.err },
      // Fields of this name never hold anything a reader of logs should have.
      redact: { paths: ['token', '*.token', 'password', '*.password', 'tokenDigest', '*.tokenDigest'], censor: '***' },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
