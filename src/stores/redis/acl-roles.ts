import { readdirSync, readFileSync } from 'node:fs';
import { functionName, readFunctions } from './function-library.ts';

/**
 * The Redis rights of each role. The users of deploy/redis/users.acl are generated from this table, docs/security.md shows it, and
 * test/deploy/acl-boundary.test.ts checks real users against it.
 *
 * Redis checks the commands inside a function against the calling user. So a role needs the data commands of its functions on the keys that they
 * write, and can also send these commands without the function. docs/security.md explains what that means.
 */
export const ROLES = ['client', 'worker', 'gateway', 'operator', 'monitor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The line that closes the default user. Redis 7.0 replays the transactions of its append-only file as this user: without these rights it drops
 * them at the next start. `off` and the missing password forbid that a client logs in as this user.
 */
export const DEFAULT_USER_LINE = 'user default off resetpass ~* &* +@all';

/** Key families of a lane, those of the hot path first: Redis compares them in this order. */
export const LANE_FAMILIES = [
  'meta',
  'calls',
  'live',
  'pool:*',
  'session:*',
  'runs',
  'recent:*',
  'windows',
  'reply:*',
  'retained',
  'forget:*',
  'body:*',
  'backlog:*',
  'sessions',
  'parked:*',
  'delegates:*',
  'approval:*',
  'approvals:*',
  'callbacks:*',
  'grant:*',
  'grants',
  'grants:*',
  'effect:*',
  'outbound:*',
  'redirect:*',
  'redirects',
  'owed:*',
] as const;

/** The audit has separate rights. Roles whose functions write records may append to the journal, and may not change it in any other way. */
const JOURNAL_FAMILY = 'journal';
/** How far the journal was drained. Only roles that drain write it. */
const DRAIN_FAMILY = 'drain';
/** The stream in which earlier releases kept the records. Roles that drain move its records to the journal. */
const OLD_AUDIT_FAMILY = 'audit';
export const AUDIT_FAMILIES = [JOURNAL_FAMILY, DRAIN_FAMILY, OLD_AUDIT_FAMILY] as const;
export const DEPLOYMENT_FAMILIES = [
  'incarnation',
  'policy',
  'catalog',
  'pins',
  'offers',
  'workers',
  'worker:*',
  'pools',
  'statements',
] as const;
/** The deployment's own audit lane, in the deployment's slot: the counter, and the records of policy, tokens and logins. */
export const DEPLOYMENT_AUDIT_FAMILIES = ['meta', JOURNAL_FAMILY, DRAIN_FAMILY] as const;
/** Also keys of the deployment, but with separate rights: a role that writes them decides who may use the gateway. */
export const TOKEN_FAMILIES = ['token:*', 'tokens', 'tokens:*', 'once:*'] as const;
type DeploymentFamily = (typeof DEPLOYMENT_FAMILIES)[number];

const CALLING = [
  'accept_calls',
  'cancel_call',
  'open_session',
  'change_session',
  'prove_session',
  'redirect_call',
  'drop_redirect',
  'lane_state',
];
const DECIDING = ['decide_approval', 'reveal_approval', 'find_grants', 'revoke_grant'];
const GOVERNING = [
  'write_policy',
  'advance_policy',
  'withdraw_modules',
  'write_pins',
  // When an operator withdraws modules, a module is published again if a worker turns out to serve it.
  'write_versioned',
  'resolve_call',
  'retry_effect',
  'audit_state',
];
const DELIVERING = ['claim_effects', 'finish_effect', 'send_redirects'];
const DRAINING = [
  'audit_state',
  'read_journal',
  'move_audit',
  'claim_audit',
  'drain_audit',
  'alarm_audit',
  'bound_audit',
  'note_statement',
];
const ADMITTING = [
  'create_token',
  'prove_token',
  'list_tokens',
  'note_token_session',
  'revoke_token',
  'use_once',
  'record_login',
];
/** Functions for calls owed to MCP clients. The MCP endpoints of the gateway and of `sallyport mcp` use them. */
const OWING = ['hold_owed', 'release_owed', 'beat_owed'];
const WORKING = [
  'accept_calls',
  'reclaim_calls',
  'renew_calls',
  'recheck_sessions',
  'start_calls',
  'settle_calls',
  'abandon_call',
  'cancel_call',
  'ask_approval',
  'find_grants',
  'use_grant',
  'claim_callbacks',
  'finish_callback',
  'inject_tools',
  'notify_waiters',
  'reap_calls',
  'reap_consumers',
  'forget_calls',
  'forget_pool',
  'lane_state',
  'publish_effect',
  'audit_state',
  'bound_audit',
  'register_worker',
  'write_versioned',
  // Finishes a policy change that its writer left incomplete.
  'advance_policy',
];

interface RoleFacts {
  readonly sentence: string;
  readonly functions: readonly string[] | 'all';
  /** Commands in addition to those that the role's functions use. */
  readonly commands: readonly string[];
  readonly lanes: 'write' | 'read' | 'look';
  readonly audit: 'look' | 'append' | 'drain';
  readonly writes: readonly DeploymentFamily[];
  readonly reads: readonly DeploymentFamily[];
  /** True for a role that makes, proves and revokes tokens of the gateway. */
  readonly tokens?: true;
}

const READING = [
  'hget',
  'hmget',
  'hgetall',
  'get',
  'zrange',
  'zrevrange',
  'zrangebyscore',
  'xlen',
  'xpending',
  'xrange',
];

/** @internal */
export const ROLE_FACTS: Readonly<Record<Role, RoleFacts>> = {
  client: {
    sentence: 'your programs: open sessions, call, wait, cancel, answer approvals',
    functions: [...CALLING, ...DECIDING],
    commands: ['xread', 'xdel', 'zrevrange', 'hgetall'],
    lanes: 'write',
    audit: 'append',
    writes: [],
    reads: ['incarnation', 'policy', 'catalog', 'pools'],
  },
  worker: {
    sentence: '`sallyport worker`: take calls, run tools, settle, publish the catalog',
    functions: WORKING,
    // The built-in module `tasks` reads the live calls of its own subject.
    commands: ['xreadgroup', 'xgroup|create', 'xlen', 'hgetall', 'zrange', 'zscan'],
    lanes: 'write',
    audit: 'append',
    // A worker reports what a server offers. It may not pin it.
    writes: ['catalog', 'offers', 'workers', 'worker:*', 'pools'],
    reads: ['policy', 'pins'],
  },
  gateway: {
    sentence:
      'the gateway: what clients and operators may, for those with a token; drains the audit, delivers what tools send',
    functions: [
      ...CALLING,
      ...DECIDING,
      ...GOVERNING,
      ...ADMITTING,
      ...DELIVERING,
      ...DRAINING,
      ...OWING,
      'register_worker',
    ],
    commands: ['xread', 'xdel', 'zrevrange', 'hgetall', 'blpop'],
    lanes: 'write',
    audit: 'drain',
    writes: ['policy', 'catalog', 'pins', 'workers', 'worker:*', 'statements'],
    reads: ['incarnation', 'offers', 'pools'],
    tokens: true,
  },
  operator: {
    sentence: 'people at the command line: all of it except `worker`, `gateway` and `store`',
    functions: [...CALLING, ...DECIDING, ...GOVERNING, ...ADMITTING, ...OWING],
    commands: ['xread', 'xdel', 'zrevrange', 'hgetall'],
    lanes: 'write',
    audit: 'append',
    writes: ['policy', 'catalog', 'pins'],
    reads: ['incarnation', 'offers', 'workers', 'worker:*', 'pools', 'statements'],
    tokens: true,
  },
  monitor: {
    sentence: '`sallyport doctor`, `workers`, metrics: counts and states, no arguments and no outcomes',
    functions: ['lane_state', 'audit_state'],
    commands: [],
    lanes: 'look',
    audit: 'look',
    writes: [],
    reads: ['incarnation', 'policy', 'catalog', 'pins', 'offers', 'workers', 'worker:*', 'pools'],
  },
  admin: {
    sentence: '`sallyport store`: loads the functions, makes, saves, restores and adopts the store',
    functions: 'all',
    commands: [...READING, 'scan', 'hscan', 'type', 'dump', 'restore', 'pexpiretime', 'config|get'],
    lanes: 'write',
    audit: 'drain',
    writes: [...DEPLOYMENT_FAMILIES],
    reads: [],
    tokens: true,
  },
};

/** Commands of every connection: those that the client library sends by itself, and those that a process sends at its start. */
const COMMON_COMMANDS = ['ping', 'info', 'time', 'cluster|info', 'cluster|slots', 'cluster|shards', 'acl|dryrun'];
const DEPLOYMENT_READS = ['hget', 'hmget', 'get', 'mget', 'exists', 'smembers'];
const DEPLOYMENT_WRITES = ['hset', 'hsetnx', 'hdel', 'set', 'del', 'sadd', 'srem', 'pexpire'];
/** Commands for the counter of the deployment's audit lane, and for its drain. */
const DEPLOYMENT_COUNTS = 'hget hmget hset hsetnx hincrby hdel hexists'.split(' ');
const TOKEN_COMMANDS =
  'exists hget hmget hset pexpireat del get set zadd zcard zrangebyscore zrem zrevrange zscore'.split(' ');
/** What the monitor may read of a lane: queue lengths, leased entries, pending approvals, kept bytes, and counters. */
const LANE_READS: readonly (readonly [keys: readonly string[], commands: readonly string[]])[] = [
  [['meta'], ['hget', 'hmget']],
  [['pool:*'], ['xlen', 'xpending']],
  [['approvals:*'], ['zrange', 'zcard']],
  [['retained'], ['hgetall']],
  // The use of each subject, under a digest of tenant and subject.
  [['windows'], ['hgetall']],
];
/** Audit rights by key family, with the access that the key pattern gives. `LLEN` needs neither read nor write access. */
const AUDIT_RIGHTS: Readonly<
  Record<RoleFacts['audit'], readonly (readonly [family: string, access: string, commands: readonly string[]])[]>
> = {
  look: [
    [JOURNAL_FAMILY, '%R~', ['llen']],
    [DRAIN_FAMILY, '%R~', ['hmget']],
  ],
  append: [
    [JOURNAL_FAMILY, '%W~', ['rpush', 'llen']],
    [DRAIN_FAMILY, '%R~', ['hmget']],
  ],
  drain: [
    [JOURNAL_FAMILY, '~', ['rpush', 'llen', 'lindex', 'ltrim']],
    [DRAIN_FAMILY, '~', ['hmget', 'hset', 'hdel']],
    [OLD_AUDIT_FAMILY, '~', ['xrange', 'xdel']],
  ],
};

export function functionsOf(role: Role): readonly string[] {
  const { functions } = ROLE_FACTS[role];
  return functions === 'all' ? [...readFunctions().keys()] : [...new Set(functions)];
}

/**
 * Returns the lines of the users' file: the default user first, then one user for each role. `loginOf` returns `off`, or `on` and the digest of a
 * password.
 */
export function aclLines(name: string, loginOf: (role: Role) => string): string[] {
  const users = ROLES.map((role) => `user ${name}-${role} reset ${loginOf(role)} ${rulesOf(name, role).join(' ')}`);
  return [DEFAULT_USER_LINE, ...users];
}

function rulesOf(name: string, role: Role): string[] {
  const facts = ROLE_FACTS[role];
  const lane = (family: string): string => `{${name}:[0-9]*}:${family}`;
  const record = (family: string): string => `{${name}}:${family}`;
  const ofLanes = functionsOf(role).filter((name) => !ADMITTING.includes(name));
  const own = facts.lanes === 'write' ? [...commandsOf(ofLanes), ...facts.commands] : facts.commands;
  const rules = [...allow([...COMMON_COMMANDS, ...own])];
  if (facts.lanes === 'write') rules.push(...laneFamiliesOf(role).map((family) => `~${lane(family)}`));
  // Each function is allowed by its name, on all keys of the deployment. Redis also checks the commands inside a function, so the function can
  // touch no more keys than these commands may.
  rules.push(selector([`~${lane('*')}`, `~${record('*')}`, ...allowFunctions(role)]));
  for (const [family, access, commands] of AUDIT_RIGHTS[facts.audit]) {
    rules.push(selector([`${access}${lane(family)}`, ...allow(commands)]));
  }
  for (const [family, access, commands] of deploymentAuditRights(role)) {
    rules.push(selector([`${access}${record(family)}`, ...allow(commands)]));
  }
  if (facts.lanes === 'look') {
    for (const [families, commands] of LANE_READS)
      rules.push(selector([...families.map((family) => `%R~${lane(family)}`), ...allow(commands)]));
  }
  const reads = [...new Set(['incarnation', 'meta', ...facts.reads])].map((family) => `%R~${record(family)}`);
  rules.push(selector([...reads, ...allow(DEPLOYMENT_READS)]));
  if (facts.writes.length > 0) {
    const keys = facts.writes.map((family) => `~${record(family)}`);
    rules.push(selector([...keys, ...allow([...DEPLOYMENT_READS, ...DEPLOYMENT_WRITES])]));
  }
  if (facts.tokens === true) {
    rules.push(selector([...TOKEN_FAMILIES.map((family) => `~${record(family)}`), ...allow(TOKEN_COMMANDS)]));
    // A role that changes tokens or the policy also counts and writes the audit records of these changes.
    rules.push(selector([`~${record('meta')}`, ...allow(DEPLOYMENT_COUNTS)]));
  }
  rules.push(...(EXTRA[role]?.map((build) => selector(build(lane, record, name))) ?? []));
  return rules;
}

/** Only roles that serve MCP clients may access calls owed. If another role deleted an entry, the client's repeat would become a second effect. */
function laneFamiliesOf(role: Role): readonly string[] {
  const owes = OWING.some((name) => functionsOf(role).includes(name));
  return owes ? LANE_FAMILIES : LANE_FAMILIES.filter((family) => family !== 'owed:*');
}

/** Roles that change policy and tokens write their audit records. Roles that only inspect the audit get read access to the deployment's lane. */
function deploymentAuditRights(role: Role): (typeof AUDIT_RIGHTS)['look'] {
  const { audit, tokens } = ROLE_FACTS[role];
  if (tokens === true) return AUDIT_RIGHTS[audit];
  return functionsOf(role).includes('audit_state') ? AUDIT_RIGHTS.look : [];
}

type KeyName = (family: string) => string;
type Extra = (lane: KeyName, record: KeyName, name: string) => string[];

const SERVICE_COMMANDS =
  'fcall|sps1_commit_scope fcall|sps1_keep_vectors time exists persist pexpire pttl hget hmget hset hdel zadd zcard zrange zrem zrevrange zrevrangebyscore'.split(
    ' ',
  );

const EXTRA: Partial<Record<Role, readonly Extra[]>> = {
  // A worker that finds older data than it saw before marks the store in the incarnation record. The mark stops all other processes.
  worker: [
    (_, record) => [`~${record('incarnation')}`, '+hget', '+hsetnx'],
    // Services keep their documents under their own keys, through their own functions.
    (_lane, _record, name) => [`~{${name}:services:*`, ...allow(SERVICE_COMMANDS)],
    () => allow(['function|list']),
  ],
  admin: [
    (lane, record) => [
      `~${lane('*')}`,
      `~${record('*')}`,
      ...allow(['del', 'dump', 'restore', 'pexpiretime', 'type', 'xinfo|stream']),
    ],
    () => allow(['scan', 'function|load', 'function|list', 'client|pause', 'client|unpause', 'bgsave', 'lastsave']),
  ],
};

function allow(commands: readonly string[]): string[] {
  return [...new Set(commands)].sort().map((command) => `+${command}`);
}

function allowFunctions(role: Role): string[] {
  const known = readFunctions();
  const rules = functionsOf(role).map((name) => {
    const command = known.get(name)?.flags.includes('no-writes') === true ? 'fcall_ro' : 'fcall';
    return `+${command}|${functionName(name)}`;
  });
  return [...rules, `+fcall_ro|${functionName('library')}`].sort();
}

function selector(rules: readonly string[]): string {
  return `(${rules.join(' ')})`;
}

const SHARED_PARTS = new URL('functions/shared/', import.meta.url);

/** Returns all commands that these functions, and the shared parts, can send. */
function commandsOf(names: readonly string[]): string[] {
  const known = readFunctions();
  const shared = readdirSync(SHARED_PARTS).map((file) => readFileSync(new URL(file, SHARED_PARTS), 'utf8'));
  const sources = [...shared, ...names.map((name) => known.get(name)?.source ?? '')];
  const found = sources.flatMap((source) =>
    [...source.matchAll(/(?:redis\.p?call|in_parts)\('([A-Z]+)'(?:, '([A-Z]+)')?/g)].map(([, command, word]) =>
      command === 'XGROUP' || command === 'XINFO' ? `${command}|${word}` : command!,
    ),
  );
  return [...new Set(found.map((command) => command.toLowerCase()))].sort();
}
