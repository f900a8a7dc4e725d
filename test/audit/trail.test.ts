import { existsSync, chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeSigningKey, openSigningKey, readTrustedKeys } from '../../src/audit/signing-keys.ts';
import { eraseSubject } from '../../src/audit/erase-subject.ts';
import { signHeads } from '../../src/audit/sign-heads.ts';
import { openSigner, type StatementSigner } from '../../src/audit/statement-signer.ts';
import { showRecord } from '../../src/domain/audit/show-record.ts';
import { verifyTrail } from '../../src/audit/verify-trail.ts';
import type { AuditSink, AuditTrail, TrailPage, TrailPlace } from '../../src/domain/ports/audit-store.ts';
import { parseRecord, toSignedHead } from '../../src/domain/audit/record-bytes.ts';
import { encode } from '../../src/base/message-pack.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { append, cutTo, stageTrails, type StagedTrail } from './trails.ts';

const STAGES = stageTrails();

describe.each(Object.keys(STAGES))('the trail of %s', (name) => {
  let staged: StagedTrail;
  let folder: TemporaryFolder;
  let signer: StatementSigner;
  beforeEach(async () => {
    folder = temporaryFolder();
    signer = openSigner(join(folder.path, 'keys'));
    staged = await STAGES[name]!();
    await staged.fill(10);
  });
  afterEach(async () => {
    await staged.close();
    folder.remove();
  });

  const keys = () => readTrustedKeys(join(folder.path, 'keys'));
  const verify = (trail: AuditTrail = staged.trail) => verifyTrail(trail, keys());
  const problemAfter = async (sql: string) => (await verify(await staged.tamper(sql))).problem;

  it('is in order as it was written, and says how far it is signed', async () => {
    await signHeads(staged.trail, signer, 1);
    await staged.fill(2);
    const { problem, records, lanes } = await verify();
    expect(problem).toBeUndefined();
    expect(records).toBe(12);
    expect(lanes).toMatchObject([{ lane: 0, first: 1, last: 12, signed: 10 }]);
  });

  it.each([
    ['one byte of a record', `UPDATE auditRecord SET record = replace(record, 'acme', 'acmf') WHERE sequence = 4`],
    ['one byte of a link', `UPDATE auditRecord SET chain = CAST(x'${'00'.repeat(32)}' AS BLOB) WHERE sequence = 4`],
    ['one byte of a payload', `UPDATE auditPayload SET bytes = CAST(x'80' AS BLOB) WHERE sequence = 4`],
    ['the salt of a payload', `UPDATE auditPayload SET salt = CAST(x'80' AS BLOB) WHERE sequence = 4`],
  ])('names the record after %s was changed', async (_what, sql) => {
    expect(await problemAfter(sql)).toMatchObject({ lane: 0, sequence: 4, what: expect.stringContaining('changed') });
  });

  it('names a record that was removed', async () => {
    const problem = await problemAfter('DELETE FROM auditRecord WHERE sequence = 4');
    expect(problem).toMatchObject({ sequence: 4, what: 'it is missing; record 5 stands in its place' });
  });

  it('names the first of a pair that was exchanged', async () => {
    const sql = `UPDATE auditRecord SET sequence = -4 WHERE sequence = 4; UPDATE auditRecord SET sequence = 4 WHERE sequence = 5;
      UPDATE auditRecord SET sequence = 5 WHERE sequence = -4`;
    expect(await problemAfter(sql)).toMatchObject({ sequence: 4, what: expect.stringContaining('record 5') });
  });

  /** Deletes the last three records and sets the head back too, so that nothing but a signature or the store shows that there were more. */
  const TRUNCATE = `DELETE FROM auditRecord WHERE sequence > 7; DELETE FROM auditPayload WHERE sequence > 7;
    UPDATE auditLane SET sequence = 7, chain = (SELECT chain FROM auditRecord WHERE sequence = 7)`;

  it('names the first record of a tail that was cut off, when a signed head or the store knows how long it was', async () => {
    await signHeads(staged.trail, signer, 1);
    const trail = await staged.tamper(TRUNCATE);
    expect((await verify(trail)).problem).toMatchObject({ sequence: 8, what: expect.stringContaining('there are 10') });
    const told = await staged.tamper('DELETE FROM auditStatement');
    const known = [{ store: staged.store, lane: 0, sequence: 10 }];
    expect((await verifyTrail(told, keys(), known)).problem).toMatchObject({ sequence: 8 });
  });

  it('names a tail that was rewritten without the key', async () => {
    await signHeads(staged.trail, signer, 1);
    await staged.tamper(TRUNCATE);
    await staged.fill(5);
    expect((await verify()).problem).toBeDefined();
  });

  it('names a lane that is gone as a whole', async () => {
    await signHeads(staged.trail, signer, 1);
    const sql = 'DELETE FROM auditPayload; DELETE FROM auditRecord; DELETE FROM auditLane';
    expect(await problemAfter(sql)).toMatchObject({ lane: 0, sequence: 1 });
  });

  it('erases what a subject said and keeps the chain; only a holder of the key can', async () => {
    expect(await eraseSubject(staged.trail, signer, { tenant: 'acme', subject: 'ann', at: 5 })).toBe(5);
    expect((await verify()).problem).toBeUndefined();
    const all = (await staged.trail.queryTrail({ filter: {}, limit: 100 })).records.map(showRecord);
    expect(all.filter(({ subject }) => subject === 'ann').map(({ erased, arguments: args }) => [erased, args])).toEqual(
      Array.from({ length: 5 }, () => [true, undefined]),
    );
    expect(all.filter(({ subject, erased }) => subject === 'bob' && erased === undefined)).toHaveLength(5);
    const bob = (await staged.trail.queryTrail({ filter: { subject: 'bob' }, limit: 1 })).records[0]!;
    const { sequence } = parseRecord(bob.text)!;
    const problem = await problemAfter(`DELETE FROM auditPayload WHERE sequence = ${sequence}`);
    expect(problem).toMatchObject({ sequence, what: 'its payload is gone, and no erasure says so' });
  });

  it('forgets statements with the records they are about, and says as much about the others as before', async () => {
    const signed = async (at: number): Promise<void> => void (await signHeads(staged.trail, signer, at));
    const kept = async (): Promise<string[]> =>
      (await staged.trail.listStatements({ limit: 100 })).map(
        ({ text }) => (JSON.parse(text) as { kind: string }).kind,
      );
    const cutBefore = async (sequence: number): Promise<void> => {
      const [head] = await staged.trail.auditHeads();
      const where = { store: staged.store, lane: 0, fromSequence: sequence - 1, limit: 1 };
      const { chain } = (await staged.trail.readTrail(where))[0]!;
      const cut = toSignedHead({ ...head!, sequence: sequence - 1, chain });
      expect(await cutTo({ trail: staged.trail, signer, readKeys: keys }, cut)).toEqual(cut);
    };
    for (let round = 1; round <= 5; round += 1) {
      await signed(round);
      await staged.fill(4);
    }
    await eraseSubject(staged.trail, signer, { tenant: 'acme', subject: 'bob', at: 6 });
    expect(await kept()).toHaveLength(6);
    await cutBefore(15);
    await cutBefore(17);
    expect(await kept()).toEqual(['heads', 'heads', 'heads', 'erasure', 'cut', 'cut']);
    expect(await verify()).toMatchObject({ lanes: [{ first: 17, last: 30, signed: 30 }] });
    await staged.fill(2);
    await signed(7);
    await cutBefore(31);
    expect(await kept()).toEqual(['heads', 'cut']);
    expect(await verify()).toMatchObject({ lanes: [{ first: 31, last: 32, signed: 32 }] });
    expect((await verify()).problem).toBeUndefined();
  });

  it('finds records by who did it, next to one whose text PostgreSQL does not take for JSON', async () => {
    await staged.intend(() => encode({ by: 'x' }));
    await staged.intend(() => encode({ by: 'operator "by":"x" \0' }));
    const { records } = await staged.trail.queryTrail({ filter: { by: 'x' }, limit: 10 });
    expect(records.map(({ text }) => parseRecord(text)!.by)).toEqual(['x']);
  });

  it('does not accept a cut that was signed without the key', async () => {
    const [head] = await staged.trail.auditHeads();
    const cut = { ...toSignedHead(head!), sequence: 3 };
    const stranger = openSigningKey(join(folder.path, 'other')).key;
    const others = join(folder.path, 'other');
    const needs = { trail: staged.trail, signer: openSigner(others), readKeys: () => readTrustedKeys(others) };
    await cutTo(needs, cut);
    expect((await verify()).problem?.what).toContain(`key ${stranger.id}, which is not among the trusted ones`);
    expect(await problemAfter('DELETE FROM auditStatement')).toMatchObject({ sequence: 1 });
  });

  it('names a statement that was changed', async () => {
    await signHeads(staged.trail, signer, 1);
    const problem = await problemAfter(`UPDATE auditStatement SET text = replace(text, ':10', ':11')`);
    expect(problem?.what).toMatch(/signed statement 1: its signature by key \w+ is wrong/);
  });

  it('is signed by one key after the other, and all of them count', async () => {
    const key = openSigningKey(join(folder.path, 'keys')).key;
    const before = await signHeads(staged.trail, signer, 1);
    expect(await signHeads(staged.trail, signer, 2, before)).toEqual(before);
    await staged.fill(2);
    const next = makeSigningKey(join(folder.path, 'keys'));
    expect(next.id).not.toBe(key.id);
    expect(openSigningKey(join(folder.path, 'keys'))).toMatchObject({ key: { id: next.id }, isNew: false });
    await signHeads(staged.trail, signer, 3, before);
    const { problem, statements, lanes } = await verify();
    expect({ problem, statements, signed: lanes[0]!.signed }).toEqual({
      problem: undefined,
      statements: 2,
      signed: 12,
    });
  });

  it('finds records by time, who, what and how they ended, the newest first', async () => {
    const found = async (filter: object, limit = 100) =>
      (await staged.trail.queryTrail({ filter, limit })).records.map(({ text }) => parseRecord(text)!);
    const all = await found({});
    expect(all).toHaveLength(10);
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted((one, other) => other - one));
    expect(await found({ subject: 'ann', tenant: 'acme' })).toHaveLength(5);
    expect(await found({ subject: 'ann', tenant: 'other' })).toEqual([]);
    // In the embedded store two of the ten records are about sessions: it opened one for each subject.
    const sessions = await found({ event: 'session.opened' });
    const calls = await found({ tool: 'files.write', event: 'call.settled' });
    expect([...sessions, ...calls]).toHaveLength(10);
    expect(await found({ by: 'unknown' })).toEqual(sessions);
    expect(await found({ by: 'operator ada' })).toEqual([]);
    expect(await found({ agent: 'nobody' })).toEqual([]);
    expect(await found({ callId: calls[3]!.callId })).toEqual([calls[3]]);
    expect(await found({ from: all[2]!.at, to: all[2]!.at + 1 })).toContainEqual(all[2]);
    expect(await found({ to: all.at(-1)!.at })).toEqual([]);
    const [ok, other] = [await found({ outcome: 'ok' }), await found({ outcome: 'not-ok' })];
    expect(ok.length + other.length).toBe(calls.length);
    expect(other.every(({ outcome }) => outcome === 'failed')).toBe(true);
    expect(await found({}, 3)).toEqual(all.slice(0, 3));
    // A value that looks like SQL is treated as text.
    expect(await found({ subject: "' OR '1'='1" })).toEqual([]);
  });

  it('is read page by page without a gap or a repetition, while new records arrive', async () => {
    const { records: all } = await staged.trail.queryTrail({ filter: {}, limit: 100 });
    const read: string[] = [];
    let next: TrailPlace | undefined;
    do {
      const page: TrailPage = await staged.trail.queryTrail({ filter: {}, limit: 3, ...(next && { before: next }) });
      read.push(...page.records.map(({ text }) => text));
      ({ next } = page);
      if (read.length === 3) await staged.fill(2);
    } while (next !== undefined);
    expect(read).toEqual(all.map(({ text }) => text));
  });

  it('reads no more records than the limit, and returns where it stopped', async () => {
    const { records: all } = await staged.trail.queryTrail({ filter: {}, limit: 100 });
    const filter = { agent: 'nobody' };
    const first = await staged.trail.queryTrail({ filter, limit: 5, scan: 4 });
    const { at, lane, sequence } = parseRecord(all[3]!.text)!;
    expect(first).toEqual({ records: [], next: { at, lane, sequence, store: staged.store } });
    const second = await staged.trail.queryTrail({ filter: {}, limit: 5, scan: 4, before: first.next! });
    expect(second.records.map(({ text }) => text)).toEqual(all.slice(4, 8).map(({ text }) => text));
    expect(await staged.trail.queryTrail({ filter, limit: 5, scan: 4, before: second.next! })).toEqual({ records: [] });
  });
});

describe.each(['postgres', 'sqlite'])('the sink %s', (name) => {
  let staged: StagedTrail;
  beforeEach(async () => void (staged = await STAGES[name]!()));
  afterEach(() => staged.close());
  const sink = () => staged.trail as AuditSink;

  it('takes no records from a drainer that came before the last one', async () => {
    expect(await append(sink(), 2, 5)).toBe('committed');
    expect(await append(sink(), 2, 4)).toBe('fenced');
    expect(await append(sink(), 2, 5)).toBe('committed');
    expect(await sink().auditHeads()).toMatchObject([{ sequence: 4 }]);
  });

  it('takes no records that do not start at its head, and writes nothing of them', async () => {
    await append(sink(), 2);
    const head = await sink().openLane({ store: staged.store, lane: 0 });
    const [record] = await sink().readTrail({ store: staged.store, lane: 0, fromSequence: 2, limit: 1 });
    const batch = { store: staged.store, lane: 0, fence: 9, records: [record!] };
    expect(await sink().commit({ ...batch, previous: { ...head, sequence: 1 } })).toBe('fenced');
    expect(await sink().commit({ ...batch, previous: { ...head, chain: new Uint8Array(32) } })).toBe('fenced');
    expect((await verifyTrail(sink(), new Map())).records).toBe(2);
  });

  it('keeps head and records as they were when a record cannot be written', async () => {
    await append(sink(), 2);
    const head = await sink().openLane({ store: staged.store, lane: 0 });
    const [record] = await sink().readTrail({ store: staged.store, lane: 0, fromSequence: 2, limit: 1 });
    const broken = { ...record!, chain: null as unknown as Uint8Array };
    const batch = { store: staged.store, lane: 0, fence: 9, previous: head, records: [broken] };
    await expect(sink().commit(batch)).rejects.toThrow(/audit sink cannot be used/);
    expect(await sink().auditHeads()).toMatchObject([{ sequence: 2, chain: head.chain }]);
    expect((await verifyTrail(sink(), new Map())).problem).toBeUndefined();
  });

  it('keeps the chains of several stores and lanes apart', async () => {
    await append(sink(), 2);
    const other = await sink().openLane({ store: 'store-2', lane: 0 });
    const lane = await sink().openLane({ store: staged.store, lane: 1 });
    expect([other.sequence, lane.sequence]).toEqual([0, 0]);
    expect(Buffer.compare(other.chain, lane.chain)).not.toBe(0);
  });
});

describe('signing keys', () => {
  it('are closed to others, and one that is open is not used', () => {
    const folder = temporaryFolder();
    const place = join(folder.path, 'keys');
    openSigningKey(place);
    const file = join(place, 'signing.pem');
    expect(existsSync(file)).toBe(true);
    expect(readdirSync(place)).toHaveLength(2);
    chmodSync(file, 0o640);
    expect(() => openSigningKey(place)).toThrow(/other users can read it/);
    folder.remove();
  });
});
