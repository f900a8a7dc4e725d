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
 * The write commands that our functions and plain writes leave in the append-only file, with arguments that Redis accepts. `KEY` is
 * replaced. Redis rewrites some commands on the way there: PEXPIRE becomes PEXPIREAT, XREADGROUP becomes XCLAIM and XGROUP SETID.
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
  /** The append-only file would be dropped in part at the next restart. `refused` is the server's own sentence. */
  | { readonly kind: 'refused'; readonly refused: string }
  | { readonly kind: 'unknown'; readonly why: string };

/** Whether a restart of the server would run our transactions again. Runs nothing: the server only says what it would allow. */
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
    // A lost connection is tried again by the caller; everything else is the server's word.
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
  // One command that names a key of each family.
  return [...commands, ['DEL', ...keys]];
}

/**
 * Whether a connection without a password is let in, on any server that holds data. Sends only PING: a server that asks for a
 * password refuses every command alike.
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
      // NOPERM: logged in without a password, with few rights. DENIED: protected mode, for connections from elsewhere.
      if (/\bNOPERM\b/.test(message)) return true;
      if (!/\b(NOAUTH|DENIED)\b/.test(message)) throw toPlaneError(error);
    } finally {
      anonymous.disconnect();
    }
  }
  return false;
}
