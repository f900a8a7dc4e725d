import {
  AUDIT_FAMILIES,
  DEPLOYMENT_AUDIT_FAMILIES,
  DEPLOYMENT_FAMILIES,
  LANE_FAMILIES,
  TOKEN_FAMILIES,
} from './acl-roles.ts';
import {
  mastersOf,
  NODE_READY_TIMEOUT_MS,
  openAnonymous,
  sendCommand,
  toPlaneError,
  untilReady,
  type Connection,
} from './connection.ts';

/**
 * The write commands that the functions and plain writes leave in the append-only file, with arguments that Redis accepts. `KEY` is replaced. Redis
 * rewrites some commands before it writes them there: PEXPIRE becomes PEXPIREAT, XREADGROUP becomes XCLAIM and XGROUP SETID.
 */
const REPLAYED: readonly (readonly string[])[] = [
  ['DEL', 'KEY'],
  ['UNLINK', 'KEY'],
  ['HDEL', 'KEY', 'f'],
  ['HINCRBY', 'KEY', 'f', '1'],
  ['HSET', 'KEY', 'f', 'v'],
  ['HSETNX', 'KEY', 'f', 'v'],
  ['LPOP', 'KEY'],
  ['LPUSH', 'KEY', 'v'],
  ['LREM', 'KEY', '1', 'v'],
  ['LTRIM', 'KEY', '0', '1'],
  ['PERSIST', 'KEY'],
  ['PEXPIRE', 'KEY', '1'],
  ['PEXPIREAT', 'KEY', '1'],
  ['RPUSH', 'KEY', 'v'],
  ['SADD', 'KEY', 'm'],
  ['SET', 'KEY', 'v'],
  ['SREM', 'KEY', 'm'],
  ['XACK', 'KEY', 'g', '1-1'],
  ['XADD', 'KEY', '*', 'f', 'v'],
  ['XCLAIM', 'KEY', 'g', 'c', '0', '1-1'],
  ['XDEL', 'KEY', '1-1'],
  ['XGROUP', 'CREATE', 'KEY', 'g', '0'],
  ['XGROUP', 'CREATECONSUMER', 'KEY', 'g', 'c'],
  ['XGROUP', 'DELCONSUMER', 'KEY', 'g', 'c'],
  ['XGROUP', 'SETID', 'KEY', 'g', '0'],
  ['ZADD', 'KEY', '1', 'm'],
  ['ZPOPMIN', 'KEY'],
  ['ZREM', 'KEY', 'm'],
  ['ZREMRANGEBYSCORE', 'KEY', '0', '1'],
];

export type ReplayAnswer =
  | { readonly kind: 'runs' }
  /** The server would drop a part of the append-only file at its next restart. `refused` is the server's own message. */
  | { readonly kind: 'refused'; readonly refused: string }
  | { readonly kind: 'unknown'; readonly why: string };

/** Checks whether a restart of the server would run the store's transactions again. Runs nothing: it asks the server what it would allow. */
export async function checkReplay(connection: Connection, name: string): Promise<ReplayAnswer> {
  try {
    for (const node of mastersOf(connection)) {
      await untilReady(node, NODE_READY_TIMEOUT_MS);
      const answers = await Promise.all(probesOf(name).map((probe) => dryRun(node, probe)));
      const refused = answers.find((answer) => answer !== 'OK');
      if (refused !== undefined) return { kind: 'refused', refused };
    }
    return { kind: 'runs' };
  } catch (error) {
    const plane = toPlaneError(error);
    // The caller retries after a lost connection. Every other error is an answer of the server.
    if (plane.code === 'STORE_UNAVAILABLE') throw plane;
    const mayNotAsk = plane.code === 'STORE_FORBIDDEN';
    return {
      kind: 'unknown',
      why: mayNotAsk ? 'this user may not ask ACL DRYRUN' : 'the server does not answer ACL DRYRUN',
    };
  }
}

async function dryRun(node: Connection, probe: readonly string[]): Promise<string> {
  return String(await sendCommand(node, 'ACL', ['DRYRUN', 'default', ...probe]));
}

function probesOf(name: string): string[][] {
  const sample = (family: string): string => family.replace('*', 'x');
  const [lane, deployment, service] = [`{${name}:0}:`, `{${name}}:`, `{${name}:services:x}:meta`];
  const keys = [
    ...[...LANE_FAMILIES, ...AUDIT_FAMILIES].map((family) => `${lane}${sample(family)}`),
    ...[...DEPLOYMENT_FAMILIES, ...TOKEN_FAMILIES, ...DEPLOYMENT_AUDIT_FAMILIES].map(
      (family) => `${deployment}${sample(family)}`,
    ),
    service,
  ];
  const commands = REPLAYED.map((words) => words.map((word) => (word === 'KEY' ? `${lane}meta` : word)));
  // The last command names a key of every family, so that missing rights to a family are noticed too.
  return [...commands, ['DEL', ...keys]];
}

/**
 * Checks whether any server that holds data accepts a connection without a password. Sends only PING: a server that requires a password rejects
 * every command in the same way.
 */
export async function isOpenToAnyone(connection: Connection): Promise<boolean> {
  for (const node of mastersOf(connection)) {
    const anonymous = openAnonymous(node);
    try {
      await anonymous.connect();
      await sendCommand(anonymous, 'PING', []);
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      // NOPERM: logged in without a password, with few rights. DENIED: protected mode, which rejects connections from other machines.
      if (/\bNOPERM\b/.test(message)) return true;
      if (!/\b(NOAUTH|DENIED)\b/.test(message)) throw toPlaneError(error);
    } finally {
      anonymous.disconnect();
    }
  }
  return false;
}
