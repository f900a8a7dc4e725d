import { join } from 'node:path';
import { expect } from 'vitest';
import { openPostgresSink } from '../../src/audit/postgres-sink.ts';
import { readTrustedKeys } from '../../src/audit/signing-keys.ts';
import { verifyTrail } from '../../src/audit/verify-trail.ts';
import { walkTrail } from '../../src/audit/walk-trail.ts';
import type { AuditRecord } from '../../src/domain/audit/audit-record.ts';
import type { Outcome } from '../../src/domain/outcome/outcome.ts';
import type { CallAnswer, SessionHandle } from '../../src/exports/client.ts';
import type { AuditTrail } from '../../src/domain/ports/audit-store.ts';
import { keepsTrail } from '../../src/domain/ports/store.ts';
import { parseRecord } from '../../src/domain/audit/record-bytes.ts';
import { startCli } from '../cli/run-cli.ts';
import { eventually } from '../support/process.ts';
import type { PostgresServer } from '../support/postgres-server.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import {
  outcomeOf,
  stagePlane,
  type BackendName,
  type PlaneWorker,
  type StagedPlane,
} from '../plane/support/stage-plane.ts';

const WORKERS = 2;
const AT_ONCE = 24;
/** The number of answers after which the next process is killed. */
const KILL_EVERY = 45;
const LEASE_MS = 1200;

interface Ended {
  readonly tool: string;
  readonly callId: string;
  readonly outcome: Outcome;
}

const TOOLS = [
  'basic.echo',
  'basic.fails',
  'basic.writeAgain',
  'basic.privileged',
  'basic.nest',
  'basic.write',
] as const;

/** Makes calls of all kinds while workers and gateways are killed, then checks that every call has its records and the chain is whole. */
export async function runKillSoak(backend: BackendName, calls: number, postgres: PostgresServer): Promise<void> {
  const plane = await stagePlane(backend);
  await plane.setPolicy({
    roles: {},
    permissions: { '*': { allow: ['*'] }, 'basic.privileged': { allow: ['alice'] } },
    paused: {},
    loops: { default: { enabled: false } },
  });
  const drained = backend === 'redis' ? await stageGateway(plane, postgres) : undefined;
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(plane)));
  try {
    const ended = await makeCalls(plane, calls, async (kill) => {
      const victim = kill % WORKERS;
      await crash(workers[victim]!.process);
      workers[victim] = await startWorker(plane);
      if (kill % 3 === 0) await drained?.crash();
    });
    // No caller of this test waits for nested calls. Those whose worker was killed have to end too.
    await eventually(async () => (await plane.store.listCalls({ limit: 1 })).length === 0, { what: 'all calls ended' });
    const trail = keepsTrail(plane.store) ? plane.store : await drained!.finish();
    await judge(trail, ended, plane, drained?.keys);
  } finally {
    await drained?.stop();
    await plane.stop();
  }
}

const startWorker = (plane: StagedPlane): Promise<PlaneWorker> =>
  plane.startWorker({ leaseMs: LEASE_MS, concurrency: 16, health: false });

async function crash(victim: WatchedProcess): Promise<void> {
  victim.kill('SIGKILL');
  await victim.exited;
}

async function makeCalls(plane: StagedPlane, calls: number, onKill: (kill: number) => Promise<void>): Promise<Ended[]> {
  const session = await plane.openSession();
  const ended: Ended[] = [];
  let [next, kills] = [0, 0];
  let killing: Promise<void> = Promise.resolve();
  let failure: unknown;
  async function call(): Promise<void> {
    while (next < calls && failure === undefined) {
      const number = next++;
      const tool = TOOLS[number % TOOLS.length]!;
      const answer = await plane.client.call(session, tool, argumentsOf(tool, number, plane), { deadlineMs: 60_000 });
      ended.push(await endOf(plane, session, tool, answer));
      if (ended.length % KILL_EVERY !== 0) continue;
      killing = killing.then(() => onKill(++kills)).catch((error: unknown) => void (failure ??= error));
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, call));
  await killing;
  if (failure !== undefined) throw new Error('a killed process did not come back', { cause: failure });
  expect(kills).toBeGreaterThan(0);
  return ended;
}

function argumentsOf(tool: (typeof TOOLS)[number], number: number, plane: StagedPlane) {
  if (tool === 'basic.echo') return { text: `n${number}` };
  if (tool === 'basic.fails') return { how: 'failure' };
  if (tool === 'basic.privileged') return {};
  if (tool === 'basic.nest') return { tool: 'basic.privileged', args: {} };
  return { file: plane.effectFile, line: `n${number}` };
}

async function endOf(plane: StagedPlane, session: SessionHandle, tool: string, answer: CallAnswer): Promise<Ended> {
  const outcome = await outcomeOf(plane, session, answer);
  if (answer.kind === 'refused') throw new Error(`${tool} was refused: ${outcome.error?.code}`);
  return { tool, callId: answer.callId, outcome };
}

const TERMINAL: readonly string[] = ['call.settled', 'call.expired', 'call.cancelled'];

/**
 * Expects of each call one record of its end that agrees with the outcome. Only a privileged tool has one more record, the intent, which
 * has to be there if the tool ran. All other calls in the audit have to be nested calls.
 */
async function judge(trail: AuditTrail, ended: readonly Ended[], plane: StagedPlane, keys?: string): Promise<void> {
  const known = await Promise.all(
    Array.from({ length: plane.store.lanes }, async (_, lane) => {
      const { store, drained } = await plane.store.auditState({ lane });
      return { store, lane, sequence: drained };
    }),
  );
  const verified = await verifyTrail(trail, keys === undefined ? new Map() : readTrustedKeys(keys), known);
  expect(verified.problem).toBeUndefined();
  const byCall = new Map<string, AuditRecord[]>();
  for await (const { text } of walkTrail(trail)) {
    const record = parseRecord(text)!;
    if (record.callId === undefined) continue;
    byCall.set(record.callId, [...(byCall.get(record.callId) ?? []), record]);
  }
  for (const { tool, callId, outcome } of ended) {
    const records = byCall.get(callId) ?? [];
    byCall.delete(callId);
    expect(records.filter(({ event }) => TERMINAL.includes(event))).toMatchObject([
      {
        tool,
        outcome: outcome.kind,
        executed: outcome.executed,
        subject: 'alice',
        ...(outcome.error && { code: outcome.error.code }),
      },
    ]);
    expectIntent(records, tool === 'basic.privileged');
  }
  const outer = new Set(ended.filter(({ tool }) => tool === 'basic.nest').map(({ callId }) => callId));
  for (const records of byCall.values()) {
    expect(records.filter(({ event }) => TERMINAL.includes(event))).toHaveLength(1);
    expectIntent(records, true);
    const parents = records.map(({ parent, by }) => parent ?? by);
    expect(parents.every((parent) => outer.has(parent!) || parent === 'reaper' || parent === 'parent')).toBe(true);
  }
  expect(byCall.size).toBeGreaterThan(0);
}

function expectIntent(records: readonly AuditRecord[], isPrivileged: boolean): void {
  const events = records.map(({ event }) => event);
  const intents = events.filter((event) => event === 'call.intended').length;
  const mayHaveRun = records.some(({ executed }) => executed === 'yes');
  expect(events).toHaveLength(1 + intents);
  expect(intents).toBeLessThanOrEqual(isPrivileged ? 1 : 0);
  if (isPrivileged && mayHaveRun) expect(events[0]).toBe('call.intended');
}

/** Starts the real gateway program, which drains the audit and which the test kills and starts again. */
async function stageGateway(plane: StagedPlane, postgres: PostgresServer) {
  const schema = `soak${process.hrtime.bigint()}`;
  const keys = join(plane.folder, 'keys');
  const env = {
    SALLYPORT_STORE: 'redis',
    SALLYPORT_REDIS_URL: plane.redis!.url,
    SALLYPORT_AUDIT_SINK: 'postgres',
    SALLYPORT_AUDIT_POSTGRES_URL: postgres.url,
    SALLYPORT_AUDIT_POSTGRES_SCHEMA: schema,
    SALLYPORT_AUDIT_KEYS: keys,
    SALLYPORT_AUDIT_SIGN_EVERY_MS: '200',
    SALLYPORT_GATEWAY_HEALTH_ENABLED: 'false',
  };
  const start = async (): Promise<WatchedProcess> => {
    const started = await startCli(['gateway', '--http-port', '0'], { cwd: plane.folder, env });
    await started.waitForLine(/^Gateway .* drains/);
    return started;
  };
  let gateway = await start();
  const sink = await openPostgresSink({ url: postgres.url, schema });
  return {
    keys,
    async crash() {
      await crash(gateway);
      gateway = await start();
    },
    async finish(): Promise<AuditTrail> {
      await eventually(
        async () => {
          const { sequence, drained } = await plane.store.auditState({ lane: 0 });
          return sequence === drained;
        },
        { what: 'all records in the sink' },
      );
      expect((await gateway.stop()).code).toBe(0);
      return sink;
    },
    async stop() {
      await gateway.stop();
      await sink.close();
    },
  };
}
