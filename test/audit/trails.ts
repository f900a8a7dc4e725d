import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { followStatements } from '../../src/audit/follow-statements.ts';
import { cutLane } from '../../src/audit/retain-trail.ts';
import type { TrustedKeys } from '../../src/audit/signing-keys.ts';
import type { StatementSigner } from '../../src/audit/statement-signer.ts';
import { openSqliteSink } from '../../src/stores/sqlite/audit/sqlite-sink.ts';
import { openPostgresSink } from '../../src/audit/postgres-sink.ts';
import type { AuditEvent, SignedHead } from '../../src/domain/audit/audit-record.ts';
import type { AuditEntry, AuditSink, AuditTrail } from '../../src/domain/ports/audit-store.ts';
import { Database } from '../../src/stores/sqlite/database.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { storeFile } from '../../src/stores/embedded/ownership.ts';
import { chainEntry } from '../../src/domain/audit/record-bytes.ts';
import { encode } from '../../src/base/message-pack.ts';
import { claimMany, openSession, acceptMany, holdOne, settleRequest, startRequest } from '../contract/fixtures.ts';
import { temporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts';

/** Every kind of trail, by name. Also starts and stops a PostgreSQL server for the test file that calls this. */
export function stageTrails(): Readonly<Record<string, () => Promise<StagedTrail>>> {
  let server: PostgresServer;
  beforeAll(async () => void (server = await startPostgres()));
  afterAll(async () => {
    await server.stop();
    failOnLeaks();
  });
  return { postgres: () => stagePostgres(server), sqlite: stageSqlite, embedded: stageEmbedded };
}

/** A trail with records in it, whose stored data a test can change without its knowledge. */
export interface StagedTrail {
  readonly trail: AuditTrail;
  readonly store: string;
  /** The folder with the trail's files; undefined for a trail in PostgreSQL. */
  readonly folder?: string;
  /** Adds `count` records to lane 0, of the subjects `ann` and `bob` in turn. */
  fill(count: number): Promise<void>;
  /** Adds the record that a privileged call is about to run, and returns the id of the call. */
  intend(makeDetail: DetailMaker): Promise<string>;
  /** Runs SQL that uses the names of the SQLite tables (see `TO_POSTGRES`), then opens the trail again. */
  tamper(sql: string): Promise<AuditTrail>;
  close(): Promise<void>;
}

type DetailMaker = (call: { readonly callId: string; readonly tool: string }) => Uint8Array;

const STORE = 'store-1';

export function sampleEntry(sequence: number, more: Partial<AuditEntry> = {}): AuditEntry {
  const subject = sequence % 2 === 0 ? 'bob' : 'ann';
  return {
    lane: 0,
    sequence,
    at: 1000 + sequence,
    event: 'call.settled' as AuditEvent,
    callId: `0.abcdefghijkl.${String(sequence).padStart(22, '0')}`,
    tool: 'files.write',
    session: 's',
    run: 'r',
    bodyDigest: 'd',
    identity: JSON.stringify({ agent: 'main', subject, tenant: 'acme' }),
    detail: encode({ outcome: sequence % 3 === 0 ? 'failed' : 'ok', arguments: `{"n":${sequence}}` }),
    ...more,
  } as AuditEntry;
}

/** Appends to a sink as a drainer does. */
export async function append(sink: AuditSink, count: number, fence = 1): Promise<'committed' | 'fenced'> {
  const { fence: _, ...head } = await sink.openLane({ store: STORE, lane: 0 });
  let { chain } = head;
  const records = Array.from({ length: count }, (__, index) => {
    const chained = chainEntry(sampleEntry(head.sequence + 1 + index), STORE, chain);
    ({ chain } = chained);
    return chained;
  });
  return sink.commit({ store: STORE, lane: 0, fence, previous: head, records });
}

/** Deletes up to this record, as retention does once it has chosen. Undefined: nothing was deleted. */
export async function cutTo(
  { trail, signer, readKeys }: { trail: AuditTrail; signer: StatementSigner; readKeys: () => TrustedKeys },
  head: SignedHead,
  at = 1,
): Promise<SignedHead | undefined> {
  const needs = { trail, signer, statements: followStatements(trail, readKeys) };
  const made = await cutLane(needs, head, at, async () => ({ head, why: 'age' }));
  return made?.kind === 'cut' ? made.cut : undefined;
}

/** The trail with some of its methods replaced. */
export function changed(trail: AuditTrail, methods: Partial<AuditTrail>): AuditTrail {
  return new Proxy(trail, {
    get: (target, name) => {
      if (name in methods) return methods[name as keyof AuditTrail];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function appendIntent(sink: AuditSink, makeDetail: DetailMaker): Promise<string> {
  const { fence: _, ...head } = await sink.openLane({ store: STORE, lane: 0 });
  const { callId, tool } = sampleEntry(head.sequence + 1);
  const detail = makeDetail({ callId: callId!, tool: tool! });
  const entry = sampleEntry(head.sequence + 1, { event: 'call.intended', detail });
  await sink.commit({
    store: STORE,
    lane: 0,
    fence: 1,
    previous: head,
    records: [chainEntry(entry, STORE, head.chain)],
  });
  return callId!;
}

const TO_POSTGRES: readonly [RegExp, string][] = [
  [/auditRecord/g, 'audit_record'],
  [/auditPayload/g, 'audit_payload'],
  [/auditStatement/g, 'audit_statement'],
  [/auditLane/g, 'audit_lane'],
  [/keyId/g, 'key_id'],
  [/callId/g, 'call_id'],
  [/CAST\(x'([0-9a-f]+)' AS BLOB\)/g, "'\\x$1'::bytea"],
];

async function stagePostgres(server: PostgresServer): Promise<StagedTrail> {
  const schema = `t${process.hrtime.bigint()}`;
  const open = (): Promise<AuditSink> => openPostgresSink({ url: server.url, schema });
  let sink = await open();
  return {
    get trail() {
      return sink;
    },
    store: STORE,
    fill: async (count) => void (await append(sink, count)),
    intend: (makeDetail) => appendIntent(sink, makeDetail),
    async tamper(sql) {
      const translated = TO_POSTGRES.reduce((text, [from, to]) => text.replaceAll(from, to), sql);
      await server.query(`SET search_path = ${schema}; ${translated}`);
      await sink.close();
      sink = await open();
      return sink;
    },
    close: () => sink.close(),
  };
}

export async function stageSqlite(): Promise<StagedTrail> {
  const folder = temporaryFolder('sallyport-audit');
  const file = join(folder.path, 'audit.sqlite');
  let sink = await openSqliteSink(file);
  return {
    get trail() {
      return sink;
    },
    store: STORE,
    folder: folder.path,
    fill: async (count) => void (await append(sink, count)),
    intend: (makeDetail) => appendIntent(sink, makeDetail),
    async tamper(sql) {
      await sink.close();
      change(file, sql);
      sink = await openSqliteSink(file);
      return sink;
    },
    async close() {
      await sink.close();
      folder.remove();
    },
  };
}

export async function stageEmbedded(): Promise<StagedTrail> {
  const folder = temporaryFolder('sallyport-audit');
  const open = () => openEmbeddedStore({ folder: folder.path, mode: 'own' });
  let opened = await open();
  const { store } = await opened.auditState({ lane: 0 });
  return {
    get trail() {
      return opened;
    },
    store,
    folder: folder.path,
    async fill(count) {
      for (const subject of ['ann', 'bob']) {
        const half = subject === 'ann' ? Math.ceil(count / 2) : Math.floor(count / 2);
        if (half === 0) continue;
        // One call fewer, because opening the session adds a record too.
        const session = await openSession(opened, { subject });
        await acceptMany(opened, session, half - 1);
        for (const delivery of await claimMany(opened, { lane: 0 })) {
          const audit = encode({ outcome: 'ok', arguments: '{"n":1}' });
          await opened.settleCall(settleRequest(delivery, undefined, { audit }));
        }
      }
    },
    async intend(makeDetail) {
      const delivery = await holdOne(opened, await openSession(opened, { subject: 'ann' }));
      await opened.startCall(startRequest(delivery, { intent: makeDetail(delivery) }));
      return delivery.callId;
    },
    async tamper(sql) {
      await opened.close();
      change(storeFile(folder.path), sql);
      opened = await open();
      return opened;
    },
    async close() {
      await opened.close();
      folder.remove();
    },
  };
}

function change(file: string, sql: string): void {
  const database = new Database(file, 1000);
  database.execute(sql);
  database.close();
}

export { startPostgres };
