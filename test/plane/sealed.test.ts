import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeAuditorKeys, type AuditorKeyFiles } from '../../src/audit/auditor-keys.ts';
import { drainLanes } from '../../src/audit/drain-lanes.ts';
import { drainStatements } from '../../src/audit/drain-statements.ts';
import { openArguments } from '../../src/audit/open-arguments.ts';
import { openPostgresSink } from '../../src/audit/postgres-sink.ts';
import { openSqliteSink } from '../../src/stores/sqlite/audit/sqlite-sink.ts';
import { eraseSubject } from '../../src/audit/erase-subject.ts';
import { openSigner } from '../../src/audit/statement-signer.ts';
import { startWorker, type RunningWorker, type WorkerOptions } from '../../src/compose/start-worker.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { SessionHandle } from '../../src/exports/client.ts';
import type { AuditSink, AuditTrail } from '../../src/domain/ports/audit-store.ts';
import { keepsTrail } from '../../src/domain/ports/store.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { decide, park, policyWith } from './support/gate-plane.ts';
import { OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/sealed-plane', import.meta.url));
const TRAILS = [
  ['embedded', 'the store itself'],
  ['redis', 'a sqlite sink'],
  ['redis', 'a postgres sink'],
] as const;

describe.each(TRAILS)('sealed arguments on %s, kept by %s', (backend, keeper) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  let worker: RunningWorker;
  let keys: AuditorKeyFiles;
  let auditor: KeyObject;
  let postgres: PostgresServer | undefined;
  let sink: AuditSink | undefined;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    keys = makeAuditorKeys(join(plane.folder, 'auditor'));
    auditor = createPrivateKey(readFileSync(keys.privateFile));
    const ask = { id: 'ask-stage', verdict: 'ask', arguments: [{ at: '/environment', equals: 'stage' }] } as const;
    const permissions = { ...OPEN_POLICY.permissions, 'vault.danger': { allow: ['alice'] } };
    await plane.setPolicy(policyWith([ask], { permissions }));
    worker = await startWorker(optionsWith({ auditor: { keyFile: keys.publicFile } }));
    if (keeper === 'a postgres sink') postgres = await startPostgres();
  });
  beforeEach(async () => {
    session = await plane.openSession();
  });
  afterAll(async () => {
    await worker.drain();
    await sink?.close();
    await postgres?.stop();
    await plane.stop();
  });

  const optionsWith = (more: object): WorkerOptions =>
    ({ ...plane.storeOptions, modules: MODULES, health: false, log: SILENT_LOG, ...more }) as WorkerOptions;

  /** The trail with all records in it; on Redis they are drained first. */
  async function trail(): Promise<AuditTrail> {
    if (keepsTrail(plane.store)) return plane.store;
    sink ??=
      postgres === undefined
        ? await openSqliteSink(join(plane.folder, 'audit.sqlite'))
        : await openPostgresSink({ url: postgres.url, schema: 'sealed' });
    const bound = { records: 1_000_000, lateMs: 1_000_000_000 };
    const settings = { drainer: 'd', leaseMs: 10_000, bounds: { privileged: bound, everything: bound } };
    const statements = drainStatements(sink, join(plane.folder, 'audit-keys'));
    await drainLanes(settings, { store: plane.store, sink, statements, log: SILENT_LOG }).stop();
    return sink;
  }

  async function call(args: JsonObject): Promise<string> {
    const answer = await plane.client.call(session, 'vault.danger', args, { waitMs: 60_000 });
    if (answer.kind !== 'settled') throw new Error(answer.kind);
    expect(answer.outcome.kind).toBe('ok');
    return answer.callId;
  }

  it('are the whole arguments that ran, of a mebibyte too', async () => {
    const more = `password=hunter2 ${'ä '.repeat(345_000)}`;
    const callId = await call({ environment: ' TEST', more });
    const opened = await openArguments(await trail(), callId, auditor);
    expect(opened.arguments).toBe(canonicalJson({ environment: 'test', more }));
    expect(opened.record).toMatchObject({ callId, event: 'call.intended', tool: 'vault.danger' });
  });

  it('are what an approver made of them', async () => {
    const parked = await park(plane, session, 'vault.danger', { environment: 'stage' });
    const edited = { environment: 'test', more: 'edited' };
    await decide(plane, parked.approval, 'allow-once', { arguments: edited });
    expect((await parked.outcome).kind).toBe('ok');
    expect((await openArguments(await trail(), parked.callId, auditor)).arguments).toBe(canonicalJson(edited));
  });

  it('are not there for other keys, other tools, workers without a key, and after an erasure', async () => {
    const callId = await call({ environment: 'test' });
    const stranger = makeAuditorKeys(join(plane.folder, 'stranger'));
    const other = createPrivateKey(readFileSync(stranger.privateFile));
    await expect(openArguments(await trail(), callId, other)).rejects.toMatchObject({ code: 'AUDIT_SEAL_KEY' });
    const plain = await plane.client.call(session, 'vault.plain', { environment: 'test' }, { waitMs: 60_000 });
    if (plain.kind !== 'settled') throw new Error(plain.kind);
    await expect(openArguments(await trail(), plain.callId, auditor)).rejects.toMatchObject({
      code: 'AUDIT_NOT_SEALED',
    });

    await worker.drain();
    worker = await startWorker(optionsWith({}));
    const unsealed = await call({ environment: 'test' });
    await expect(openArguments(await trail(), unsealed, auditor)).rejects.toThrow(/its worker had no auditor key/);

    const signer = openSigner(join(plane.folder, 'signing'));
    await eraseSubject(await trail(), signer, { tenant: 'default', subject: 'alice', at: await plane.store.now() });
    await expect(openArguments(await trail(), callId, auditor)).rejects.toThrow(/its payload was erased/);
  });

  it('refuse the start of a worker with a private key or without its file', async () => {
    for (const keyFile of [keys.privateFile, join(plane.folder, 'absent.pem')]) {
      await expect(startWorker(optionsWith({ auditor: { keyFile } }))).rejects.toMatchObject({
        code: 'AUDITOR_KEY_INVALID',
      });
    }
  });
});
