import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { drainLane } from '../../src/audit/drain-lane.ts';
import { drainStatements } from '../../src/audit/drain-statements.ts';
import { openSqliteSink } from '../../src/stores/sqlite/audit/sqlite-sink.ts';
import { verifyTrail } from '../../src/audit/verify-trail.ts';
import type { AuditState } from '../../src/domain/ports/audit-store.ts';
import { keepsTrail } from '../../src/domain/ports/store.ts';
import { outcomeOf, stagePlane, type StagedPlane } from '../plane/support/stage-plane.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { SILENT_LOG } from '../support/sample-call.ts';

const FAR = { records: 1e9, lateMs: 1e9 };

let plane: StagedPlane;
beforeAll(async () => void (plane = await stagePlane('redis')));
afterAll(async () => {
  await plane.stop();
  failOnLeaks();
});

it('without a sink privileged calls are refused first, then all; when it is there, both run and every record is in it', async () => {
  const lines: Record<string, unknown>[] = [];
  const client = await plane.connect({ log: { warn: (facts) => void lines.push(facts as Record<string, unknown>) } });
  await plane.setPolicy({
    roles: {},
    permissions: { '*': { allow: ['*'] }, 'basic.privileged': { allow: ['alice'] } },
    paused: {},
    loops: { default: { enabled: false } },
  });
  // Opening the session writes the first of the records that wait for the sink.
  const session = await plane.openSession();
  const audit = { privileged: { ...FAR, records: 2 }, everything: { ...FAR, records: 4 } };
  await plane.startWorker({ audit, health: false });
  const call = async (tool: string, args = {}) => outcomeOf(plane, session, await client.call(session, tool, args));
  const refuses = async (): Promise<AuditState['refuses']> => (await plane.store.auditState({ lane: 0 })).refuses;
  const refused = { kind: 'overloaded', executed: 'no', retryable: true, error: { code: 'AUDIT_UNAVAILABLE' } };

  expect(await call('basic.echo', { text: 'one' })).toMatchObject({ kind: 'ok' });
  await eventually(async () => (await refuses()) === 'privileged', { what: 'a late audit' });
  expect(await call('basic.privileged')).toMatchObject(refused);
  expect(await call('basic.echo', { text: 'two' })).toMatchObject({ kind: 'ok' });
  expect(await refuses()).toBe('everything');
  expect(lines).toEqual([]);
  expect(await call('basic.echo', { text: 'three' })).toMatchObject(refused);
  expect(lines).toMatchObject([{ stage: 'accept', tool: 'basic.echo', code: 'AUDIT_UNAVAILABLE' }]);

  const sink = await openSqliteSink(join(plane.folder, 'audit.sqlite'));
  const bounds = { privileged: FAR, everything: FAR };
  const { store } = plane;
  if (keepsTrail(store)) throw new Error('a Redis store keeps no trail');
  const lane = drainLane(
    0,
    { drainer: 'd', leaseMs: 60_000, bounds },
    { store, sink, statements: drainStatements(sink, join(plane.folder, 'keys')), log: SILENT_LOG },
  );
  expect(await lane.round()).toBe(4);
  expect(await call('basic.echo', { text: 'three' })).toMatchObject({ kind: 'ok' });
  expect(await call('basic.privileged')).toMatchObject({ kind: 'ok' });
  expect(await lane.round()).toBe(3);
  expect(await verifyTrail(sink, new Map())).toMatchObject({ records: 7 });
  expect((await verifyTrail(sink, new Map())).problem).toBeUndefined();
  await sink.close();
});
