import { planeError } from '../../domain/errors.ts';
import { asText } from './answers.ts';
import { sendCommand, type Connection } from './connection.ts';

/** One setting of the server that decides whether calls can be lost. */
export interface SafetyFinding {
  readonly setting: string;
  readonly found: string;
  readonly needed: string;
  readonly fix: string;
  readonly fatal: boolean;
}

/** Reads INFO only: managed servers often forbid CONFIG. */
export async function inspectServer(
  connection: Connection,
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
  return { findings, facts };
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

export async function refuseUnsafeServer(connection: Connection): Promise<ServerFacts> {
  const { findings, facts } = await inspectServer(connection);
  const fatal = findings.filter((finding) => finding.fatal);
  if (fatal.length > 0) {
    throw planeError('STORE_UNSAFE', {
      problems: fatal.map(({ setting, found, needed }) => `${setting} is ${found}, needs ${needed}`),
    });
  }
  return facts;
}
