import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followStatements } from '../../src/audit/follow-statements.ts';
import { keepTrail } from '../../src/audit/keep-trail.ts';
import { retainTrail, type Retention } from '../../src/audit/retain-trail.ts';
import { signHeads } from '../../src/audit/sign-heads.ts';
import { readTrustedKeys } from '../../src/audit/signing-keys.ts';
import { openSigner, type StatementSigner } from '../../src/audit/statement-signer.ts';
import { verifyTrail } from '../../src/audit/verify-trail.ts';
import type { AuditHead, SignedHead } from '../../src/domain/audit/audit-record.ts';
import type { AuditTrail } from '../../src/domain/ports/audit-store.ts';
import { firstLink, nextLink, parseRecord, toSignedHead } from '../../src/domain/audit/record-bytes.ts';
import { eventually, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { changed, cutTo, stageTrails, type StagedTrail } from './trails.ts';

const STAGES = stageTrails();
const FAR_FUTURE = Number.MAX_SAFE_INTEGER;

describe.each(Object.keys(STAGES))('retention of the trail of %s', (name) => {
  let staged: StagedTrail;
  let folder: TemporaryFolder;
  let keys: string;
  let signer: StatementSigner;
  beforeEach(async () => {
    folder = temporaryFolder();
    keys = join(folder.path, 'keys');
    signer = openSigner(keys);
    staged = await STAGES[name]!();
    await staged.fill(4);
    // The embedded store takes times from this machine's clock. Waiting for the next millisecond makes the next six records younger.
    const filledAt = Date.now();
    await eventually(() => Date.now() > filledAt, { everyMs: 1 });
    await staged.fill(6);
    await signHeads(staged.trail, signer, 1);
  });
  afterEach(async () => {
    await staged.close();
    folder.remove();
  });

  const readKeys = () => readTrustedKeys(keys);
  const needsOf = (trail: AuditTrail) => ({ trail, signer, statements: followStatements(trail, readKeys) });
  const retain = async (retention: Retention, now: number): Promise<readonly SignedHead[]> =>
    (await retainTrail(needsOf(staged.trail), retention, now)).cuts;
  const verify = () => verifyTrail(staged.trail, readKeys());
  const headOfLane = async (): Promise<AuditHead> => (await staged.trail.auditHeads())[0]!;
  const records = () => staged.trail.readTrail({ store: staged.store, lane: 0, fromSequence: 1, limit: 100 });
  const cutFirst = async (sequence: number): Promise<void> => {
    const [record] = await staged.trail.readTrail({ store: staged.store, lane: 0, fromSequence: sequence, limit: 1 });
    const cut = toSignedHead({ ...(await headOfLane()), sequence, chain: record!.chain });
    await cutTo({ trail: staged.trail, signer, readKeys }, cut);
  };
  const timeOf = async (sequence: number): Promise<number> => parseRecord((await records())[sequence - 1]!.text)!.at;

  it('cuts by age and by size with a signature, and the trail begins where that says', async () => {
    const { bytes } = await headOfLane();
    const at = await timeOf(5);
    expect(await timeOf(4)).toBeLessThan(at);
    expect(await retain({ maxAgeMs: 1 }, at + 1)).toMatchObject([{ lane: 0, sequence: 4 }]);
    const after = await verify();
    expect(after.problem).toBeUndefined();
    expect(after.lanes[0]!.first).toBe(5);
    await retain({ maxBytes: Math.floor(bytes / 2) }, at);
    const small = await verify();
    expect(small.problem).toBeUndefined();
    expect(small.lanes[0]!.last).toBe(10);
    expect(small.records).toBeLessThan(6);
    expect((await headOfLane()).bytes).toBeLessThanOrEqual(bytes / 2);
    expect(await retain({}, at)).toEqual([]);
  });

  it('deletes nothing that no signed head vouches for', async () => {
    await staged.fill(2);
    await retain({ maxAgeMs: 1 }, FAR_FUTURE);
    expect((await records()).map(({ text }) => parseRecord(text)!.sequence)).toEqual([11, 12]);
    expect((await verify()).problem).toBeUndefined();
  });

  /** Sets a record's time to 1, in its text and in its column. */
  const changeTime = (record: string): { text: string; sql: string } => {
    const [time] = /"at":\d+/.exec(record)!;
    return { text: record.replace(time, '"at":1'), sql: `record = replace(record, '${time}', '"at":1'), at = 1` };
  };
  const blob = (bytes: Uint8Array): string => `CAST(x'${Buffer.from(bytes).toString('hex')}' AS BLOB)`;

  it('deletes no record whose time was changed', async () => {
    const { sql } = changeTime((await records())[0]!.text);
    await staged.tamper(`UPDATE auditRecord SET ${sql} WHERE sequence = 1`);
    await expect(retain({ maxAgeMs: 1 }, 3)).rejects.toThrow('record 1 of lane 0: it was changed');
    expect(await records()).toHaveLength(10);
    expect((await verify()).problem).toMatchObject({ sequence: 1 });
  });

  /** What a writer of the sink can do without the key: change records, and compute links and a head that fit the changed records. */
  const makeChainAnew = async (): Promise<void> => {
    let chain = firstLink(staged.store, 0);
    const changes = (await records()).map((record, index) => {
      const { text, sql } = changeTime(record.text);
      chain = nextLink(chain, text);
      return `UPDATE auditRecord SET ${sql}, chain = ${blob(chain)} WHERE sequence = ${index + 1};`;
    });
    await staged.tamper(`${changes.join(' ')} UPDATE auditLane SET chain = ${blob(chain)}`);
  };

  it('deletes no record of a chain that was made anew without the key', async () => {
    await makeChainAnew();
    await expect(retain({ maxAgeMs: 1 }, 3)).rejects.toThrow('when the head was signed');
    expect(await records()).toHaveLength(10);
  });

  it('deletes no record of a chain that was made anew and signed by a process that did not look', async () => {
    await makeChainAnew();
    await signHeads(staged.trail, signer, 2);
    expect((await verify()).problem).toMatchObject({ sequence: 10, what: expect.stringContaining('two signed heads') });
    await expect(retain({ maxAgeMs: 1 }, 3)).rejects.toThrow('two signed heads');
    expect(await records()).toHaveLength(10);
  });

  it('is not helped by a signature: what differs from the heads that this process signed last is not signed', async () => {
    const last = await signHeads(staged.trail, signer, 2);
    await makeChainAnew();
    await expect(signHeads(staged.trail, signer, 3, last)).rejects.toMatchObject({ code: 'AUDIT_CHAIN_CHANGED' });
  });

  it('deletes nothing while statements are missing, which would make the loss look whole', async () => {
    for (const round of [2, 3]) {
      await staged.fill(2);
      await signHeads(staged.trail, signer, round);
    }
    await staged.tamper('DELETE FROM auditStatement WHERE number = 2');
    await expect(retain({ maxAgeMs: 1 }, FAR_FUTURE)).rejects.toThrow('signed statement 2 is missing');
    expect((await verify()).problem?.what).toContain('signed statement 2 is missing');
  });

  it('and verify look again when another process has cut meanwhile', async () => {
    await staged.fill(2);
    await signHeads(staged.trail, signer, 2);
    const lookers: ((trail: AuditTrail) => Promise<unknown>)[] = [
      async (trail) => expect((await verifyTrail(trail, readKeys())).problem).toBeUndefined(),
      (trail) => retainTrail(needsOf(trail), { maxAgeMs: 1 }, FAR_FUTURE),
    ];
    for (const [index, look] of lookers.entries()) {
      let isFirst = true;
      const readTrail: AuditTrail['readTrail'] = async (request) => {
        if (isFirst && request.limit > 100) {
          isFirst = false;
          await cutFirst(index + 1);
        }
        return staged.trail.readTrail(request);
      };
      await look(changed(staged.trail, { readTrail }));
      expect(isFirst).toBe(false);
    }
    expect((await verify()).problem).toBeUndefined();
  });

  it('that was refused stays a problem while signing succeeds', async () => {
    const { sql } = changeTime((await records())[0]!.text);
    await staged.tamper(`UPDATE auditRecord SET ${sql} WHERE sequence = 1`);
    let looks = 0;
    const now = async (): Promise<number> => {
      looks += 1;
      return 3;
    };
    const settings = { signEveryMs: 1000, retention: { maxAgeMs: 1 } };
    const care = keepTrail(staged.trail, signer, readKeys, now, settings, SILENT_LOG);
    await eventually(() => care.problem?.includes('record 1 of lane 0'));
    const before = looks;
    await eventually(() => looks > before + 2);
    expect(care.problem).toContain('record 1 of lane 0');
    await care.stop();
  });

  it('measures a lane, and does not believe the size that the sink says', async () => {
    const { bytes } = await headOfLane();
    await staged.tamper('UPDATE auditLane SET bytes = 1000000000');
    expect(await retain({ maxBytes: bytes }, 0)).toEqual([]);
    expect(await records()).toHaveLength(10);
  });
});
