import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drainStatements } from '../../src/audit/drain-statements.ts';
import { followStatements } from '../../src/audit/follow-statements.ts';
import { keepTrail } from '../../src/audit/keep-trail.ts';
import { retainTrail } from '../../src/audit/retain-trail.ts';
import { signHeads } from '../../src/audit/sign-heads.ts';
import { readTrustedKeys } from '../../src/audit/signing-keys.ts';
import { openSigner, type StatementSigner } from '../../src/audit/statement-signer.ts';
import { verifyTrail } from '../../src/audit/verify-trail.ts';
import { EXIT_OF } from '../../src/cli/describe-failure.ts';
import type { AuditTrail } from '../../src/domain/ports/audit-store.ts';
import { parseRecord } from '../../src/domain/audit/record-bytes.ts';
import { eventually, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { changed, stageTrails, type StagedTrail } from './trails.ts';

const STAGES = stageTrails();
const FAR_FUTURE = Number.MAX_SAFE_INTEGER;
const ALL = { maxAgeMs: 1 };

/** Two gateways, each with its own folder of keys, take care of the same trail. */
describe.each(Object.keys(STAGES))('retention beside another gateway, on %s', (name) => {
  let staged: StagedTrail;
  let folder: TemporaryFolder;
  let keys: string;
  let otherKeys: string;
  let signer: StatementSigner;
  let other: StatementSigner;
  beforeEach(async () => {
    folder = temporaryFolder();
    [keys, otherKeys] = [join(folder.path, 'keys'), join(folder.path, 'other-keys')];
    [signer, other] = [openSigner(keys), openSigner(otherKeys)];
    staged = await STAGES[name]!();
    await staged.fill(4);
    await signHeads(staged.trail, signer, 1);
    await staged.fill(4);
  });
  afterEach(async () => {
    await staged.close();
    folder.remove();
  });

  const readKeys = () => readTrustedKeys(keys);
  const needsOf = (trail: AuditTrail) => ({ trail, signer, statements: followStatements(trail, readKeys) });
  const sequences = async (): Promise<number[]> => {
    const records = await staged.trail.readTrail({ store: staged.store, lane: 0, fromSequence: 1, limit: 100 });
    return records.map(({ text }) => parseRecord(text)!.sequence);
  };
  /** Copies the public keys of these folders into one folder, as an operator does for the setting `audit.trustedKeys`. */
  const trust = (...folders: string[]): string => {
    const trusted = join(folder.path, 'trusted');
    mkdirSync(trusted, { recursive: true });
    for (const each of folders) {
      for (const file of readdirSync(each).filter((found) => found.endsWith('.public.pem')))
        copyFileSync(join(each, file), join(trusted, file));
    }
    return trusted;
  };

  it('waits with a warning for a key that is not trusted, is no problem, and goes on when it is', async () => {
    await signHeads(staged.trail, other, 2);
    const trusted = trust();
    const trustBoth = () => readTrustedKeys(keys, trusted);
    const settings = { signEveryMs: 100, retention: ALL };
    const now = async (): Promise<number> => FAR_FUTURE;
    const care = keepTrail(staged.trail, signer, trustBoth, now, settings, SILENT_LOG);
    await eventually(() => care.warning?.includes('which is not among the trusted ones') ?? care.problem);
    expect(care.problem).toBeUndefined();
    expect(await sequences()).toHaveLength(8);
    expect((await verifyTrail(staged.trail, trustBoth())).problem?.what).toContain('not among the trusted ones');
    trust(otherKeys);
    await eventually(async () => (await sequences()).length === 0, { what: 'all records deleted' });
    await eventually(() => care.warning === undefined, { what: 'no warning' });
    await care.stop();
    expect(care.problem).toBeUndefined();
    expect((await verifyTrail(staged.trail, trustBoth())).problem).toBeUndefined();
  });

  it('refuses a folder of trusted keys that is not there', () => {
    const nowhere = join(folder.path, 'nowhere');
    const refused = { code: 'AUDIT_TRUSTED_KEYS_MISSING', fix: 'Make the folder, or correct audit.trustedKeys.' };
    expect(() => readTrustedKeys(keys, nowhere)).toThrow(expect.objectContaining(refused) as Error);
    // A file where the folder should be is refused in the same way.
    writeFileSync(nowhere, '');
    expect(() => readTrustedKeys(keys, nowhere)).toThrow(expect.objectContaining(refused) as Error);
    expect(EXIT_OF.AUDIT_TRUSTED_KEYS_MISSING).toBe(78);
  });

  it('walks over a lane once, however often another gateway signs meanwhile', async () => {
    await signHeads(staged.trail, signer, 2);
    let walks = 0;
    const readTrail: AuditTrail['readTrail'] = async (request) => {
      if (request.limit > 100) {
        walks += 1;
        await signer.sign(staged.trail, () => ({ kind: 'rotation', at: walks, nextKey: 'x' }));
      }
      return staged.trail.readTrail(request);
    };
    const { cuts } = await retainTrail(needsOf(changed(staged.trail, { readTrail })), ALL, FAR_FUTURE);
    expect({ cuts: cuts.length, walks }).toEqual({ cuts: 1, walks: 1 });
    expect((await verifyTrail(staged.trail, readKeys())).problem).toBeUndefined();
  });

  it('reads each statement once', async () => {
    await signHeads(staged.trail, signer, 2);
    for (let at = 0; at < 20; at += 1) await signer.sign(staged.trail, () => ({ kind: 'rotation', at, nextKey: 'x' }));
    let rows = 0;
    const listStatements: AuditTrail['listStatements'] = async (request) => {
      const page = await staged.trail.listStatements(request);
      rows += page.length;
      return page;
    };
    const trail = changed(staged.trail, { listStatements });
    const statements = followStatements(trail, readKeys);
    expect(await statements.read()).toMatchObject({ kind: 'good', statements: { count: 22 } });
    await staged.fill(2);
    await signHeads(staged.trail, signer, 3);
    rows = 0;
    const { cuts } = await retainTrail({ trail, signer, statements }, ALL, FAR_FUTURE);
    expect(cuts).toMatchObject([{ sequence: 10 }]);
    expect(rows).toBeLessThan(8);
    // The follower has forgotten the statements that the cut dropped: it knows the same as a follower that reads the trail anew.
    const after = await statements.read();
    expect(after).toEqual(await followStatements(staged.trail, readKeys).read());
    expect((await verifyTrail(staged.trail, readKeys())).problem).toBeUndefined();
  });

  it('notices statements that were deleted or changed behind what it has read', async () => {
    await signHeads(staged.trail, signer, 2);
    await staged.fill(2);
    const current = changed(staged.trail, {
      listStatements: (request) => staged.trail.listStatements(request),
      lastStatement: () => staged.trail.lastStatement(),
    });
    const statements = followStatements(current, readKeys);
    expect(await statements.read()).toMatchObject({ kind: 'good', statements: { count: 2 } });
    await staged.tamper('DELETE FROM auditStatement WHERE number = 2');
    expect(await statements.read()).toMatchObject({ kind: 'good', statements: { count: 1 } });
    await signHeads(staged.trail, openSigner(join(folder.path, 'third-keys')), 3);
    expect(await statements.read()).toMatchObject({ kind: 'unknown-key' });
    await staged.tamper('UPDATE auditStatement SET number = 3 WHERE number = 1');
    expect(await statements.read()).toMatchObject({ kind: 'unknown-key' });
    await staged.tamper('DELETE FROM auditStatement WHERE number = 2');
    expect(await statements.read()).toMatchObject({ kind: 'bad' });
  });

  it('neither delays a signature nor the end of the process', async () => {
    await signHeads(staged.trail, signer, 2);
    let [isWalking, walks] = [false, 0];
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const readTrail: AuditTrail['readTrail'] = async (request) => {
      if (request.limit > 100) {
        isWalking = true;
        walks += 1;
        await released;
      }
      return staged.trail.readTrail(request);
    };
    const trail = changed(staged.trail, { readTrail });
    const now = async (): Promise<number> => FAR_FUTURE;
    const care = keepTrail(trail, signer, readKeys, now, { signEveryMs: 100, retention: ALL }, SILENT_LOG);
    await eventually(() => isWalking, { what: 'a walk over the lane' });
    await staged.fill(2);
    const signed = async () => (await verifyTrail(staged.trail, readKeys())).lanes[0]!.signed;
    await eventually(async () => (await signed()) === 10, { what: 'a signature beside the walk' });
    await staged.fill(2);
    const stopped = care.stop();
    release();
    await stopped;
    expect({ walks, problem: care.problem }).toEqual({ walks: 1, problem: undefined });
    expect((await sequences()).at(0)).toBe(1);
    expect(await signed()).toBe(12);
  });

  const BACK_TO_4 = `DELETE FROM auditRecord WHERE sequence > 4; DELETE FROM auditPayload WHERE sequence > 4;
    UPDATE auditLane SET sequence = 4, chain = (SELECT chain FROM auditRecord WHERE sequence = 4);
    DELETE FROM auditStatement WHERE number > 1;
    ${name === 'embedded' ? 'UPDATE lane SET auditSequence = 4;' : ''}`;

  it('signs on after a restore that an operator has accepted, without a restart', async () => {
    const last = await signHeads(staged.trail, signer, 2);
    await staged.tamper(BACK_TO_4);
    await signer.acceptRollback(staged.trail, { at: 3, reason: 'a restore', by: 'ann' });
    await staged.intend(() => new Uint8Array());
    await staged.fill(4);
    // The signature must be by a trusted key, because a writer of the sink could invent a rollback.
    const refused = signHeads(staged.trail, signer, 4, last, () => readTrustedKeys(otherKeys));
    await expect(refused).rejects.toMatchObject({ code: 'AUDIT_CHAIN_CHANGED' });
    const { heads, number } = await signHeads(staged.trail, signer, 4, last, readKeys);
    expect(number).toBeGreaterThan(last.number + 1);
    expect(heads).toMatchObject([{ lane: 0 }]);
    expect((await verifyTrail(staged.trail, readKeys())).problem).toBeUndefined();
  });

  it('gives the drain no gap that a rollback has given up', async () => {
    await signHeads(staged.trail, signer, 2);
    const current = changed(staged.trail, {
      listStatements: (request) => staged.trail.listStatements(request),
      lastStatement: () => staged.trail.lastStatement(),
      addStatement: (statement) => staged.trail.addStatement(statement),
    });
    const drain = drainStatements(current, keys);
    const place = { store: staged.store, lane: 0 };
    await drain.add({ kind: 'gap', at: 3, ...place, from: 9, to: 9, reason: 'x', by: 'x' });
    expect(await drain.gaps(place)).toHaveLength(1);
    await staged.tamper(BACK_TO_4);
    await signer.acceptRollback(staged.trail, { at: 4, reason: 'a restore', by: 'ann' });
    expect(await drain.gaps(place)).toEqual([]);
  });
});
