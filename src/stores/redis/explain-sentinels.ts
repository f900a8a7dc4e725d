import { planeError, type PlaneError } from '../../domain/errors/errors.ts';
import { asList, asText } from './answers.ts';
import { openConnection, sendCommand, untilReady, type Connection } from './connection.ts';
import type { RedisConnectionOptions } from './redis-options.ts';

const ASK_MS = 1000;
const DEFAULT_NAME = 'mymaster';

/**
 * Finds out what the client library does not report: which sentinel answered, and whether it knows the name. Returns undefined if a sentinel knows
 * the primary.
 */
export async function explainSentinels(options: RedisConnectionOptions): Promise<PlaneError | undefined> {
  const { sentinels = [], sentinelName = DEFAULT_NAME, tls } = options;
  const silent: string[] = [];
  for (const { host, port } of sentinels) {
    const url = `${tls === undefined ? 'redis' : 'rediss'}://${host}:${port}`;
    const sentinel = openConnection(
      { url, commandTimeoutMs: ASK_MS, ...(tls === undefined ? {} : { tls }) },
      'commands',
    );
    try {
      await untilReady(sentinel, ASK_MS);
      const problem = await askFor(sentinelName, sentinel);
      return problem === undefined
        ? undefined
        : planeError('STORE_SENTINEL', { problem: `${host}:${port} ${problem}` });
    } catch {
      silent.push(`${host}:${port}`);
    } finally {
      sentinel.disconnect();
    }
  }
  return planeError('STORE_SENTINEL', { problem: `no sentinel answers at ${silent.join(', ')}` });
}

async function askFor(name: string, sentinel: Connection): Promise<string | undefined> {
  try {
    if ((await sendCommand(sentinel, 'SENTINEL', ['GET-MASTER-ADDR-BY-NAME', name])) !== null) return undefined;
    const masters = asList(await sendCommand(sentinel, 'SENTINEL', ['MASTERS'])).map((fields) =>
      nameOf(asList(fields)),
    );
    return `knows no primary named ${name}; it knows ${masters.join(', ') || 'none'}`;
  } catch {
    return 'is no sentinel';
  }
}

function nameOf(fields: readonly unknown[]): string {
  return asText(fields[fields.findIndex((field) => asText(field) === 'name') + 1] ?? '');
}
