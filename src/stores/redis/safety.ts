import { planeError } from '../../domain/errors/errors.ts';
import { DEFAULT_USER_LINE } from './acl-roles.ts';
import { asText } from './answers.ts';
import { sendCommand, type Connection } from './connection.ts';
import { checkReplay } from './default-user.ts';

/** A setting of the server that decides whether calls can be lost. */
export interface SafetyFinding {
  readonly setting: string;
  readonly found: string;
  readonly needed: string;
  readonly fix: string;
  readonly fatal: boolean;
}

/** Inspects the server by INFO and ACL DRYRUN only, because managed servers often forbid CONFIG. `name` is the store's name. */
export async function inspectServer(
  connection: Connection,
  name: string,
): Promise<{ findings: SafetyFinding[]; facts: ServerFacts }> {
  const facts = await readFacts(connection);
  const findings: SafetyFinding[] = [];
  const major = Number(facts.version.split('.')[0]);
  if (!(major >= 7)) {
    findings.push({
      setting: 'version',
      found: facts.version,
      needed: '7.0 or newer',
      fix: 'Upgrade the server.',
      fatal: true,
    });
  }
  if (facts.maxmemoryPolicy !== 'noeviction') {
    findings.push({
      setting: 'maxmemory-policy',
      found: facts.maxmemoryPolicy,
      needed: 'noeviction',
      fix: 'CONFIG SET maxmemory-policy noeviction',
      fatal: true,
    });
  }
  if (!facts.appendOnly) {
    findings.push({
      setting: 'appendonly',
      found: 'no',
      needed: 'yes',
      fix: 'CONFIG SET appendonly yes',
      fatal: true,
    });
  }
  if (major >= 7) findings.push(...(await inspectReplay(connection, name)));
  return { findings, facts };
}

/** Checks the default user. If it has no rights, Redis drops every transaction of its append-only file when it starts. */
async function inspectReplay(connection: Connection, name: string): Promise<SafetyFinding[]> {
  const replay = await checkReplay(connection, name);
  if (replay.kind === 'runs') return [];
  const needed = 'a default user that may run everything and cannot log in';
  if (replay.kind === 'refused') {
    return [
      {
        setting: 'default-user',
        found: `without the rights to replay the append-only file (${replay.refused.replace(/\.$/, '')})`,
        needed,
        fix: `Write this line first into the users' file, then run ACL LOAD: ${DEFAULT_USER_LINE}`,
        fatal: true,
      },
    ];
  }
  return [
    {
      setting: 'default-user',
      found: `not checked, because ${replay.why}`,
      needed,
      fix: `Print the users again with sallyport store acl, or make sure of this line yourself: ${DEFAULT_USER_LINE}`,
      fatal: false,
    },
  ];
}

export interface ServerFacts {
  readonly version: string;
  readonly cluster: boolean;
  readonly maxmemoryPolicy: string;
  readonly maxmemoryBytes: number;
  readonly appendOnly: boolean;
}

async function readFacts(connection: Connection): Promise<ServerFacts> {
  const info = asText(await sendCommand(connection, 'INFO', ['everything']));
  const field = (name: string): string => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? '';
  return {
    version: field('redis_version') || field('valkey_version') || '0',
    cluster: field('cluster_enabled') === '1',
    maxmemoryPolicy: field('maxmemory_policy'),
    maxmemoryBytes: Number(field('maxmemory')),
    appendOnly: field('aof_enabled') === '1',
  };
}

export async function refuseUnsafeServer(connection: Connection, name: string): Promise<ServerFacts> {
  const { findings, facts } = await inspectServer(connection, name);
  const fatal = findings.filter((finding) => finding.fatal);
  if (fatal.length > 0) {
    throw planeError('STORE_UNSAFE', {
      problems: fatal.map(({ setting, found, needed }) => `${setting} is ${found}, needs ${needed}`),
    });
  }
  return facts;
}
