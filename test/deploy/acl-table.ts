import {
  AUDIT_FAMILIES,
  DEPLOYMENT_AUDIT_FAMILIES,
  DEPLOYMENT_FAMILIES,
  functionsOf,
  LANE_FAMILIES,
  ROLE_FACTS,
  ROLES,
  TOKEN_FAMILIES,
  type Role,
} from '../../src/stores/redis/acl-roles.ts';

type Ask = (role: Role, command: readonly string[]) => Promise<boolean>;
type Kind = 'hash' | 'stream' | 'zset' | 'set' | 'list' | 'string';

/** The type of each family's keys. It selects the commands that stand for reading, changing and deleting. */
const KINDS: Readonly<Record<string, Kind>> = {
  meta: 'hash',
  calls: 'hash',
  live: 'zset',
  'pool:*': 'stream',
  'session:*': 'hash',
  runs: 'hash',
  'recent:*': 'list',
  windows: 'hash',
  'reply:*': 'stream',
  retained: 'hash',
  'forget:*': 'list',
  'body:*': 'string',
  'backlog:*': 'list',
  sessions: 'zset',
  'parked:*': 'set',
  'delegates:*': 'zset',
  'approval:*': 'hash',
  'approvals:*': 'zset',
  'callbacks:*': 'zset',
  'grant:*': 'hash',
  grants: 'zset',
  'grants:*': 'zset',
  'effect:*': 'hash',
  'outbound:*': 'zset',
  'redirect:*': 'hash',
  redirects: 'zset',
  'owed:*': 'hash',
  journal: 'list',
  drain: 'hash',
  audit: 'stream',
  incarnation: 'hash',
  policy: 'hash',
  catalog: 'hash',
  pins: 'hash',
  offers: 'hash',
  workers: 'set',
  'worker:*': 'string',
  pools: 'set',
  statements: 'hash',
  'token:*': 'hash',
  tokens: 'zset',
  'tokens:*': 'zset',
  'once:*': 'string',
};

const PROBES: Readonly<Record<Kind, Readonly<Record<'r' | 'c' | 'd', readonly (readonly string[])[]>>>> = {
  hash: {
    r: [['HGET', 'f'], ['HMGET', 'f'], ['HGETALL']],
    c: [
      ['HSET', 'f', 'v'],
      ['HSETNX', 'f', 'v'],
    ],
    d: [['HDEL', 'f'], ['DEL']],
  },
  zset: {
    r: [
      ['ZRANGE', '0', '1'],
      ['ZREVRANGE', '0', '1'],
    ],
    c: [['ZADD', '1', 'm']],
    d: [['ZREM', 'm'], ['DEL']],
  },
  stream: { r: [['XRANGE', '-', '+']], c: [['XADD', '*', 'f', 'v']], d: [['XDEL', '1-1'], ['DEL']] },
  set: { r: [['SMEMBERS']], c: [['SADD', 'm']], d: [['SREM', 'm'], ['DEL']] },
  list: {
    r: [
      ['LRANGE', '0', '1'],
      ['LINDEX', '0'],
    ],
    c: [['RPUSH', 'v']],
    d: [['LPOP'], ['LTRIM', '1', '-1'], ['DEL']],
  },
  string: { r: [['GET']], c: [['SET', 'v']], d: [['DEL']] },
};

/** What the role may do with plain commands, outside of functions: `r` read, `c` change, `d` delete. The server itself is asked. */
async function cellOf(ask: Ask, role: Role, family: string, prefix: string): Promise<string> {
  const key = `${prefix}${family.replace('*', 'x')}`;
  let cell = '';
  for (const [letter, commands] of Object.entries(PROBES[KINDS[family]!])) {
    const answers = await Promise.all(commands.map(([name, ...args]) => ask(role, [name!, key, ...args])));
    if (answers.includes(true)) cell += letter;
  }
  return cell === '' ? '–' : cell;
}

/** Builds the table of docs/security.md from the answers of the server. Families with the same rights share a row. */
export async function keyTable(ask: Ask): Promise<string> {
  const places: { readonly family: string; readonly prefix: string; readonly of?: string }[] = [
    ...[...LANE_FAMILIES, ...AUDIT_FAMILIES].map((family) => ({ family, prefix: '{sallyport:0}:' })),
    ...[...DEPLOYMENT_FAMILIES, ...TOKEN_FAMILIES].map((family) => ({ family, prefix: '{sallyport}:' })),
    ...DEPLOYMENT_AUDIT_FAMILIES.map((family) => ({ family, prefix: '{sallyport}:', of: ' of the deployment' })),
  ];
  const rows = new Map<string, string[]>();
  for (const { family, prefix, of = '' } of places) {
    const cells = await Promise.all(ROLES.map((role) => cellOf(ask, role, family, prefix)));
    const rights = cells.join(' | ');
    rows.set(rights, [...(rows.get(rights) ?? []), `\`${family}\`${of}`]);
  }
  const body = [...rows].map(([rights, families]) => `| ${families.join(', ')} | ${rights} |`);
  return [`| keys | ${ROLES.join(' | ')} |`, `|---|${'---|'.repeat(ROLES.length)}`, ...body].join('\n');
}

export function roleTable(): string {
  const rows = ROLES.map((role) => {
    const { functions, sentence } = ROLE_FACTS[role];
    const names =
      functions === 'all'
        ? 'all'
        : functionsOf(role)
            .toSorted()
            .map((name) => `\`${name}\``)
            .join(', ');
    return `| ${role} | ${sentence} | ${names} |`;
  });
  return ['| role | who | functions |', '|---|---|---|', ...rows].join('\n');
}
