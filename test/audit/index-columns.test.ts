import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openArguments } from '../../src/audit/open-arguments.ts';
import { createSealer } from '../../src/audit/seal-arguments.ts';
import { verifyTrail } from '../../src/audit/verify-trail.ts';
import type { AuditFilter, AuditRecord } from '../../src/domain/audit/audit-record.ts';
import type { AuditSink } from '../../src/domain/ports/audit-store.ts';
import { chainEntry, parseRecord } from '../../src/domain/audit/record-bytes.ts';
import { withSealed } from '../../src/domain/audit/audit-detail.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { encode } from '../../src/base/message-pack.ts';
import { sampleEntry, stageTrails, type StagedTrail } from './trails.ts';

const STAGES = stageTrails();
/** Columns that a trail finds its records by, and what an attacker could write there. */
const CHANGES = [
  ['time', 'at', '5'],
  ['call', 'callId', "'0.x.y'"],
  ['call', 'callId', "''"],
] as const;
const POSTGRES_CHANGES = ['tenant', 'subject', 'agent', 'tool', 'event', 'outcome'].map(
  (column) => [column, column, "'x'"] as const,
);
const AUDITOR = generateKeyPairSync('x25519');

describe.each(Object.keys(STAGES))('the columns that the trail of %s finds its records by', (name) => {
  let staged: StagedTrail;
  beforeEach(async () => {
    staged = await STAGES[name]!();
    await staged.fill(10);
  });
  afterEach(() => staged.close());

  const problem = async () => (await verifyTrail(staged.trail, new Map())).problem;
  const recordAt = async (sequence: number): Promise<AuditRecord> => {
    const [chained] = await staged.trail.readTrail({ store: staged.store, lane: 0, fromSequence: sequence, limit: 1 });
    return parseRecord(chained!.text)!;
  };
  const query = async (filter: AuditFilter) => {
    const { records, strays = [] } = await staged.trail.queryTrail({ filter, limit: 100 });
    return {
      found: records.map(({ text }) => parseRecord(text)!.sequence),
      strays: strays.map((each) => each.sequence),
    };
  };
  const exchangeCalls = async (one: string, other: string) =>
    staged.tamper(
      `UPDATE auditRecord SET callId = 'moved' WHERE callId = '${one}'; UPDATE auditRecord SET callId = '${one}'
       WHERE callId = '${other}'; UPDATE auditRecord SET callId = '${other}' WHERE callId = 'moved'`,
    );
  const seal = (text: string) =>
    staged.intend(({ callId, tool }) => {
      const digest = sha256(text);
      const sealed = createSealer(AUDITOR.publicKey).seal(text, { callId, tool, digest });
      return withSealed(encode({ effectiveDigest: digest }), sealed);
    });

  it('are compared with the record by verify, which names it', async () => {
    expect(await problem()).toBeUndefined();
    const changes = name === 'postgres' ? [...CHANGES, ...POSTGRES_CHANGES] : CHANGES;
    // Changed from the last record to the first, because verify names only the first wrong record.
    for (const [index, [what, column, value]] of changes.entries()) {
      const sequence = 10 - index;
      await staged.tamper(`UPDATE auditRecord SET ${column} = ${value} WHERE sequence = ${sequence}`);
      expect(await problem()).toEqual({
        store: staged.store,
        lane: 0,
        sequence,
        what: `its index says another ${what} than the record`,
      });
    }
  });

  it('cannot move the last record past an erasure or a cut', async () => {
    await staged.tamper(`UPDATE auditRecord SET sequence = 1000 WHERE sequence = 10;
      UPDATE auditPayload SET sequence = 1000 WHERE sequence = 10`);
    expect(await problem()).toMatchObject({ sequence: 10, what: expect.stringContaining('says another number') });
  });

  it('cannot bring in a record that stands before the chain', async () => {
    await staged.tamper(`CREATE TEMP TABLE forged AS SELECT * FROM auditRecord WHERE sequence = 4;
      UPDATE forged SET sequence = -3; INSERT INTO auditRecord SELECT * FROM forged; DROP TABLE forged`);
    expect(await problem()).toMatchObject({ sequence: 1 });
    const { callId } = await recordAt(4);
    expect(await query({ callId: callId! })).toEqual({ found: [4], strays: [] });
  });

  it('make no query show the records of another call or time: it leaves them out and says so', async () => {
    const [four, five] = [await recordAt(4), await recordAt(5)];
    await exchangeCalls(four.callId!, five.callId!);
    expect(await query({ callId: four.callId! })).toEqual({ found: [], strays: [5] });
    await staged.tamper('UPDATE auditRecord SET at = 5 WHERE sequence = 4');
    expect(await query({ from: 5, to: 6 })).toEqual({ found: [], strays: [4] });
    // A query without a filter does not use the changed columns, so it still shows the record.
    expect((await query({})).found).toContain(4);
  });

  it('never make open print the arguments of another call', async () => {
    const [one, other] = [await seal('{"of":"one"}'), await seal('{"of":"other"}')];
    expect(await openArguments(staged.trail, one, AUDITOR.privateKey)).toMatchObject({ arguments: '{"of":"one"}' });
    await exchangeCalls(one, other);
    await expect(openArguments(staged.trail, one, AUDITOR.privateKey)).rejects.toMatchObject({
      code: 'AUDIT_SEAL_BROKEN',
      message: expect.stringContaining('the index'),
    });
  });

  it('never make open take another start for the last one', async () => {
    const callId = await seal('{"of":"one"}');
    await staged.tamper(`UPDATE auditRecord SET at = 1 WHERE callId = '${callId}'`);
    await expect(openArguments(staged.trail, callId, AUDITOR.privateKey)).rejects.toMatchObject({
      code: 'AUDIT_SEAL_BROKEN',
    });
  });
});

describe.each(['postgres', 'sqlite'])('the sink %s', (name) => {
  it('is in order with a record whose text a column cannot hold as it is', async () => {
    const staged = await STAGES[name]!();
    const sink = staged.trail as AuditSink;
    const { fence: _, ...head } = await sink.openLane({ store: staged.store, lane: 0 });
    const callId = 'a\0b\uD800c' as AuditRecord['callId'] & string;
    const records = [chainEntry(sampleEntry(1, { callId }), staged.store, head.chain)];
    await sink.commit({ store: staged.store, lane: 0, fence: 1, previous: head, records });
    expect(await verifyTrail(sink, new Map())).toMatchObject({ records: 1 });
    expect((await verifyTrail(sink, new Map())).problem).toBeUndefined();
    await staged.close();
  });
});
