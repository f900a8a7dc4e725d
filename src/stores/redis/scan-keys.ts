import { asList, asText } from './answers.ts';
import { mastersOf, NODE_READY_TIMEOUT_MS, sendCommand, untilReady, type Connection } from './connection.ts';
import { deploymentKeys, laneKeys } from './keys.ts';

const KEYS_PER_PAGE = 1000;

/** Yields every key with this prefix, on all nodes. The result is complete only while no client writes. */
export async function* scanKeys(commands: Connection, prefix: string): AsyncGenerator<string[]> {
  for (const node of mastersOf(commands)) {
    await untilReady(node, NODE_READY_TIMEOUT_MS);
    const seen = new Set<string>();
    let cursor = '0';
    do {
      const answer = asList(
        await sendCommand(node, 'SCAN', [cursor, 'MATCH', `${prefix}*`, 'COUNT', String(KEYS_PER_PAGE)]),
      );
      cursor = asText(answer[0]);
      // SCAN can return a key twice while the server's table grows or shrinks.
      const fresh = asList(answer[1])
        .map(asText)
        .filter((key) => !seen.has(key));
      for (const key of fresh) seen.add(key);
      if (fresh.length > 0) yield fresh;
    } while (cursor !== '0');
  }
}

export const lanePrefix = (name: string, lane: number): string => laneKeys(name, lane).prefix;

export function deploymentPrefix(name: string): string {
  return deploymentKeys(name).incarnation.slice(0, -'incarnation'.length);
}

/** Finds any key of this deployment. Lanes are numbers, so keys of another deployment whose name begins in the same way do not match. */
export async function findAnyKey(commands: Connection, name: string, lanes: number): Promise<string | undefined> {
  for await (const keys of scanKeys(commands, `{${name}`)) {
    const own = keys.find((key) => key.startsWith(deploymentPrefix(name)) || isLaneKey(key, name, lanes));
    if (own !== undefined) return own;
  }
  return undefined;
}

function isLaneKey(key: string, name: string, lanes: number): boolean {
  const number = key.startsWith(`{${name}:`) ? /^\d+(?=\}:)/.exec(key.slice(name.length + 2))?.[0] : undefined;
  return number !== undefined && Number(number) < Math.max(lanes, 1024);
}
