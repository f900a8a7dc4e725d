import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUDIT_FAMILIES, functionsOf, LANE_FAMILIES, ROLES, type Role } from '../../src/stores/redis/acl-roles.ts';
import { openConnection, sendCommand, untilReady, type Connection } from '../../src/stores/redis/connection.ts';
import { functionName, readFunctions } from '../../src/stores/redis/function-library.ts';
import { startAclServer, type AclServer } from './acl-server.ts';
import { keyTable, roleTable } from './acl-table.ts';

let server: AclServer;
let connection: Connection;
beforeAll(async () => {
  server = await startAclServer();
  connection = openConnection({ url: server.redis.url, commandTimeoutMs: 10_000 }, 'commands');
  await untilReady(connection, 10_000);
});
afterAll(async () => {
  connection.disconnect();
  await server.stop();
});

/** Asks the server whether the role may run this command, without running it. */
async function isAllowed(role: Role, command: readonly string[]): Promise<boolean> {
  const answer = String(await sendCommand(connection, 'ACL', ['DRYRUN', `sallyport-${role}`, ...command]));
  if (answer === 'OK') return true;
  if (/has no permissions|permissions to (run|access)/.test(answer)) return false;
  throw new Error(`${command.join(' ')}: ${answer}`);
}

/** Exactly what docs/security.md and docs/audit.md say about the audit, command by command. */
const APPENDING = { journal: ['llen', 'rpush'], drain: ['hmget'], audit: [] };
const DRAINING = {
  journal: ['lindex', 'llen', 'ltrim', 'rpush'],
  drain: ['hdel', 'hmget', 'hset'],
  audit: ['xdel', 'xrange'],
};
const COPYING = ['del', 'dump', 'pexpiretime', 'restore', 'type'];
const withCopying = (commands: readonly string[], more: readonly string[] = []): string[] =>
  [...commands, ...COPYING, ...more].toSorted();
const AUDIT_COMMANDS: Readonly<Record<Role, Readonly<Record<string, readonly string[]>>>> = {
  client: APPENDING,
  worker: APPENDING,
  operator: APPENDING,
  gateway: DRAINING,
  monitor: { journal: ['llen'], drain: ['hmget'], audit: [] },
  admin: {
    journal: withCopying(DRAINING.journal),
    drain: withCopying(DRAINING.drain),
    audit: withCopying(DRAINING.audit),
  },
};

/** All commands of the server with at least one key argument that this role may send for this key. */
async function commandsOn(role: Role, key: string): Promise<string[]> {
  const described = (await sendCommand(connection, 'COMMAND', [])) as [
    string,
    number,
    string[],
    number,
    ...unknown[],
  ][];
  const allowed: string[] = [];
  for (const [name, arity, , firstKey] of described) {
    if (firstKey < 1) continue;
    const length = Math.max(Math.abs(arity), firstKey + 1);
    const words = Array.from({ length }, (_, index) => (index === 0 ? name : index === firstKey ? key : '1'));
    // The arguments after this key are `1`. A command with a second key counts only if the role may use a key of that name too.
    if (await isAllowed(role, words).catch(() => false)) allowed.push(name);
  }
  return allowed.toSorted();
}

const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');

/** The part of the page between `<!-- name -->` and `<!-- end -->`. */
function between(name: string): string {
  return new RegExp(`<!-- ${name} -->\\n\\n([\\s\\S]*?)\\n\\n<!-- end -->`).exec(page)?.[1] ?? '';
}

describe('what a role can do in Redis', () => {
  it('with keys is what docs/security.md says', async () => {
    const table = await keyTable(isAllowed);
    expect(between('redis keys')).toBe(table);
  });

  it('with functions is what docs/security.md says', () => {
    expect(between('redis roles')).toBe(roleTable());
  });

  it.each(ROLES)('%s calls the functions of its role and no others', async (role) => {
    const allowed: string[] = [];
    for (const { name, flags } of readFunctions().values()) {
      const command = flags.includes('no-writes') ? 'FCALL_RO' : 'FCALL';
      if (await isAllowed(role, [command, functionName(name), '1', '{sallyport:0}:meta'])) allowed.push(name);
    }
    expect(allowed.sort()).toStrictEqual([...functionsOf(role)].sort());
  });

  it('has a function that belongs to no role but the administrator only if it makes lanes or adopts them', () => {
    const used = new Set(ROLES.filter((role) => role !== 'admin').flatMap(functionsOf));
    const unused = [...readFunctions().keys()].filter((name) => !used.has(name));
    expect(unused).toStrictEqual(['found_lane', 'renumber_audit']);
  });

  it('covers every key that a function names', () => {
    const sources = [...readFunctions().values()].map(({ source }) => source);
    const named = sources.flatMap((source) => [...source.matchAll(/lane \.\. '([a-z]+)(:?)/g)]);
    const families = named.map(([, name, more]) => `${name}${more === ':' ? ':*' : ''}`);
    const known: readonly string[] = [...LANE_FAMILIES, ...AUDIT_FAMILIES];
    expect(families.filter((family) => !known.includes(family))).toStrictEqual([]);
  });

  it.each(ROLES)('%s has these commands on the audit, and no other command of the server', async (role) => {
    const found = Object.fromEntries(
      await Promise.all(
        AUDIT_FAMILIES.map(async (family) => [family, await commandsOn(role, `{sallyport:0}:${family}`)]),
      ),
    ) as Record<string, string[]>;
    expect(found).toStrictEqual(AUDIT_COMMANDS[role]);
  });

  it.each(ROLES)('%s reaches the calls owed only if it serves MCP clients', async (role) => {
    const serves = functionsOf(role).includes('hold_owed');
    const keys = ['owed:scope', 'owed:scope:ends', 'owed:beat:holder'].map((key) => `{sallyport:0}:${key}`);
    const found = await Promise.all(keys.map((key) => commandsOn(role, key)));
    expect(found.map((commands) => commands.length > 0)).toStrictEqual([serves, serves, serves]);
  });

  const NEVER = [
    ['FLUSHALL'],
    ['FLUSHDB'],
    ['CONFIG', 'SET', 'appendonly', 'no'],
    ['EVAL', 'return 1', '0'],
    ['SCRIPT', 'FLUSH'],
    ['FUNCTION', 'DELETE', 'sallyport_1'],
    ['FUNCTION', 'FLUSH'],
    ['ACL', 'SETUSER', 'sallyport-admin', 'on'],
    ['ACL', 'LIST'],
    ['KEYS', '*'],
    ['MONITOR'],
    ['SHUTDOWN'],
    ['DEBUG', 'SLEEP', '0'],
    ['REPLICAOF', 'NO', 'ONE'],
    ['CLIENT', 'KILL', 'ID', '1'],
    ['CLIENT', 'LIST'],
    ['MIGRATE', '127.0.0.1', '1', 'x', '0', '1'],
    ['SWAPDB', '0', '1'],
    ['PUBLISH', 'x', 'y'],
    ['GET', 'somebody-elses'],
    ['SET', 'somebody-elses', 'x'],
    ['HSET', '{other}:policy', 'f', 'v'],
    ['HGET', '{other:0}:meta', 'f'],
    ['RENAME', '{sallyport:0}:audit', '{sallyport:0}:calls'],
  ];
  it.each(ROLES)('%s has no power over the server, its users or other data', async (role) => {
    for (const command of NEVER)
      expect([command.join(' '), await isAllowed(role, command)]).toStrictEqual([command.join(' '), false]);
  });

  const ADMINISTRATION = [
    ['FUNCTION', 'LOAD', 'x'],
    ['CLIENT', 'PAUSE', '1', 'WRITE'],
    ['SCAN', '0'],
    // This shows every setting of the server, also paths and replication passwords.
    ['CONFIG', 'GET', '*'],
    ['DUMP', '{sallyport:0}:calls'],
    ['RESTORE', '{sallyport:0}:calls', '0', 'x'],
  ];
  it.each(ROLES)('%s administers the store only if it is the administrator', async (role) => {
    for (const command of ADMINISTRATION) expect(await isAllowed(role, command)).toBe(role === 'admin');
  });
});
