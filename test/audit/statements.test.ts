import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readExpected } from '../../src/audit/expected-trail.ts';
import { signHeads } from '../../src/audit/sign-heads.ts';
import { readSignedHeads, signText } from '../../src/audit/sign-statement.ts';
import { openSigningKey, readTrustedKeys } from '../../src/audit/signing-keys.ts';
import { readMarks } from '../../src/audit/statement-marks.ts';
import { openSigner, type StatementSigner } from '../../src/audit/statement-signer.ts';
import { verifyTrail, type TrailChecks } from '../../src/audit/verify-trail.ts';
import type { NumberedText } from '../../src/domain/audit/audit-record.ts';
import { toSignedHead } from '../../src/domain/audit/record-bytes.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { cutTo, stageTrails, type StagedTrail } from './trails.ts';

const STAGES = stageTrails();

/** Returns SQL that inserts `count` statements as an older release signed them, without numbers in the text. Their rows end at number 0. */
function oldStatements(keys: string, heads: readonly unknown[], count: number): string {
  const { key } = openSigningKey(keys);
  return Array.from({ length: count }, (_, index) => {
    const { text, signature } = signText({ kind: 'heads', at: index, heads } as unknown as NumberedText, key);
    const bytes = `CAST(x'${Buffer.from(signature).toString('hex')}' AS BLOB)`;
    const values = `${index - count + 1}, '${text}', '${key.id}', ${bytes}`;
    return `INSERT INTO auditStatement (number, text, keyId, signature) VALUES (${values});`;
  }).join('\n');
}

describe.each(Object.keys(STAGES))('signed statements of %s', (name) => {
  let staged: StagedTrail;
  let folder: TemporaryFolder;
  let keys: string;
  let signer: StatementSigner;
  beforeEach(async () => {
    folder = temporaryFolder();
    keys = join(folder.path, 'keys');
    signer = openSigner(keys);
    staged = await STAGES[name]!();
  });
  afterEach(async () => {
    await staged.close();
    folder.remove();
  });

  /** Signs four times. Statement `n` covers the first `2 n` records. */
  async function signFour(): Promise<void> {
    for (let round = 1; round <= 4; round += 1) {
      await staged.fill(2);
      await signHeads(staged.trail, signer, round);
    }
  }
  const verify = async (checks: TrailChecks = {}) =>
    verifyTrail(staged.trail, readTrustedKeys(keys), [], { marks: await readMarks(keys, undefined), ...checks });
  const problemAfter = async (sql: string): Promise<string | undefined> => {
    await staged.tamper(sql);
    return (await verify()).problem?.what;
  };

  it('are numbered from 1 without gaps, each chained to the one before', async () => {
    await signFour();
    const texts = (await staged.trail.listStatements({ limit: 9 })).map(({ text }) => JSON.parse(text) as NumberedText);
    expect(texts.map(({ number, kind }) => [number, kind])).toEqual([
      [1, 'chain-start'],
      [2, 'heads'],
      [3, 'heads'],
      [4, 'heads'],
    ]);
    expect(new Set(texts.map(({ previous }) => previous)).size).toBe(4);
    const { problem, statement, notices } = await verify();
    expect({ problem, notices }).toEqual({ problem: undefined, notices: [] });
    expect(JSON.parse(readFileSync(join(keys, 'last-statement.json'), 'utf8'))).toEqual(statement);
    expect(statement?.number).toBe(4);
  });

  const BACK_TO_4 = `DELETE FROM auditRecord WHERE sequence > 4; DELETE FROM auditPayload WHERE sequence > 4;
    UPDATE auditLane SET sequence = 4, chain = (SELECT chain FROM auditRecord WHERE sequence = 4);
    DELETE FROM auditStatement WHERE number > 2;
    ${name === 'embedded' ? 'UPDATE lane SET auditSequence = 4;' : ''}`;
  const COPY = 'INSERT INTO auditStatement (number, text, keyId, signature) SELECT';

  const ATTACKS: readonly (readonly [what: string, sql: string, said: string])[] = [
    [
      'all are deleted',
      'DELETE FROM auditStatement',
      'the trail has no statement, and the folder of the keys knows statement 4',
    ],
    [
      'the oldest is deleted',
      'DELETE FROM auditStatement WHERE number = 1',
      'signed statement 1 is missing: after 0 comes 2',
    ],
    [
      'two in the middle are deleted',
      'DELETE FROM auditStatement WHERE number IN (2, 3)',
      'signed statements 2 to 3 are missing: after 1 comes 4',
    ],
    [
      'one is there twice',
      `${COPY} 5, text, keyId, signature FROM auditStatement WHERE number = 1`,
      'signed statement 1 stands in the place of 5',
    ],
    [
      'they are renumbered after one was deleted',
      'DELETE FROM auditStatement WHERE number = 2; UPDATE auditStatement SET number = 2 WHERE number = 3; UPDATE auditStatement SET number = 3 WHERE number = 4',
      'signed statement 3 stands in the place of 2',
    ],
    [
      'two are exchanged',
      'UPDATE auditStatement SET number = 9 WHERE number = 2; UPDATE auditStatement SET number = 2 WHERE number = 3; UPDATE auditStatement SET number = 3 WHERE number = 9',
      'signed statement 3 stands in the place of 2',
    ],
    [
      'one is put before the first',
      `${COPY} 0, text, keyId, signature FROM auditStatement WHERE number = 2`,
      'signed statement 2 is not in its place',
    ],
  ];

  it('fail verification after any change by a writer of the trail without the keys', async () => {
    await signFour();
    await staged.tamper('CREATE TABLE saved AS SELECT * FROM auditStatement');
    const columns = 'number, text, keyId, signature';
    const restore = `DELETE FROM auditStatement; INSERT INTO auditStatement (${columns}) SELECT ${columns} FROM saved;`;
    const tried = name === 'embedded' ? ATTACKS.slice(0, 2) : ATTACKS;
    for (const [what, sql, said] of tried)
      expect([what, await problemAfter(`${restore} ${sql}`)]).toEqual([what, expect.stringContaining(said)]);
    expect(await problemAfter(restore)).toBeUndefined();
    expect(await problemAfter(BACK_TO_4)).toBe(
      'the trail ends at statement 2, and the folder of the keys knows statement 4: an older copy was put back, or statements were deleted',
    );
    const everything =
      'DELETE FROM auditStatement; DELETE FROM auditPayload; DELETE FROM auditRecord; DELETE FROM auditLane';
    expect(await problemAfter(everything)).toContain('the trail has no statement, and the folder of the keys knows');
  });

  it('are not signed any further on a trail that was set back, so that nothing makes the loss look whole', async () => {
    await signFour();
    await staged.tamper(BACK_TO_4);
    await staged.fill(2);
    await expect(signHeads(staged.trail, signer, 9)).rejects.toMatchObject({ code: 'AUDIT_WENT_BACK' });
    await expect(signer.startChain(staged.trail, 9)).rejects.toMatchObject({ code: 'AUDIT_WENT_BACK' });
    expect((await staged.trail.lastStatement())?.number).toBe(2);
    await staged.tamper('DELETE FROM auditStatement');
    await expect(signHeads(staged.trail, signer, 9)).rejects.toMatchObject({ code: 'AUDIT_WENT_BACK' });
    expect(await staged.trail.lastStatement()).toBeUndefined();
  });

  it('go on after a rollback that was accepted with a signature, which is named; an exported head is not fooled', async () => {
    await signFour();
    const exported = await verify();
    expect(await signer.acceptRollback(staged.trail, { at: 5, reason: 'no', by: 'ada' })).toBeUndefined();
    await staged.tamper(BACK_TO_4);
    const accepted = await signer.acceptRollback(staged.trail, { at: 5, reason: 'the disk died', by: 'ada' });
    expect(accepted).toMatchObject({ number: 5, after: 2, givenUp: [{ number: 4 }] });
    await staged.fill(2);
    await signHeads(staged.trail, signer, 6);
    const { problem, statement, notices } = await verify();
    expect({ problem, number: statement?.number }).toEqual({ problem: undefined, number: 6 });
    expect(notices).toEqual([expect.stringMatching(/^statement 5: .* ada gave up .* after 2 up to 4: the disk died$/)]);
    // The key folder of a gateway that was off during the rollback: its mark names statement 3, which was given up.
    writeFileSync(join(keys, 'last-statement.json'), JSON.stringify({ number: 3, hash: 'ab'.repeat(32) }));
    expect((await verify()).problem).toBeUndefined();
    await staged.fill(2);
    await signHeads(staged.trail, signer, 7);
    const expected = readExpected(JSON.stringify({ valid: true, ...exported }));
    if (typeof expected === 'string') throw new Error(expected);
    expect((await verify({ expected })).problem?.what).toContain('was given up by 5');
  });

  it('of a release without numbers are covered by the first one with a number', async () => {
    await staged.fill(4);
    const heads = await readSignedHeads(staged.trail);
    await staged.tamper(oldStatements(keys, heads, 3));
    expect(await verify()).toMatchObject({ statements: 3, notices: [expect.stringContaining('not numbered yet')] });
    await staged.fill(2);
    await signHeads(staged.trail, signer, 5);
    const { problem, statements, statement, notices } = await verify();
    expect({ problem, statements, number: statement?.number, notices }).toEqual({
      problem: undefined,
      statements: 4,
      number: 1,
      notices: [],
    });
    const text = (await staged.trail.lastStatement())!.text;
    expect(JSON.parse(text)).toMatchObject({ kind: 'chain-start', older: 3, number: 1 });
    expect(await problemAfter('DELETE FROM auditStatement WHERE number = -1')).toContain(
      'made over other older statements',
    );
  });

  // The embedded store shares the code that the tests below check with the SQLite sink, and takes longer to set up.
  if (name === 'embedded') return;

  it('may have a mark that is behind, as a crash leaves it, and none of another history', async () => {
    await signFour();
    const file = join(keys, 'last-statement.json');
    const before = readFileSync(file, 'utf8');
    await staged.fill(2);
    await signHeads(staged.trail, signer, 5);
    writeFileSync(file, before);
    expect((await verify()).problem).toBeUndefined();
    await staged.fill(2);
    await signHeads(staged.trail, signer, 6);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ number: 6 });
    writeFileSync(file, JSON.stringify({ number: 4, hash: 'ab'.repeat(32) }));
    expect((await verify()).problem?.what).toContain('statement 4 is not the one that the folder of the keys knows');
    await expect(signHeads(staged.trail, signer, 7)).rejects.toMatchObject({ code: 'AUDIT_WENT_BACK' });
    writeFileSync(file, '{}');
    await expect(verify()).rejects.toMatchObject({ code: 'AUDIT_KEYS_UNSAFE' });
    const byHand = { statementMark: () => Promise.resolve({ number: Number.NaN, hash: '' }) };
    await expect(readMarks(keys, byHand)).rejects.toMatchObject({ code: 'AUDIT_WENT_BACK' });
  });

  it('of several signers at once are one chain', async () => {
    await staged.fill(2);
    const heads = await readSignedHeads(staged.trail);
    const signers = [1, 2, 3].map((each) => openSigner(each === 1 ? keys : join(folder.path, `keys-${each}`)));
    for (const round of [1, 2, 3]) {
      const answers = signers.map((each) => each.sign(staged.trail, () => ({ kind: 'heads', at: round, heads })));
      expect(await Promise.all(answers)).toEqual(['added', 'added', 'added']);
    }
    const all = signers.map((_, index) => readTrustedKeys(index === 0 ? keys : join(folder.path, `keys-${index + 1}`)));
    const trusted = new Map(all.flatMap((each) => [...each]));
    for (const index of [0, 1, 2]) {
      const marks = await readMarks(index === 0 ? keys : join(folder.path, `keys-${index + 1}`), undefined);
      const { problem, statement } = await verifyTrail(staged.trail, trusted, [], { marks });
      expect({ problem, number: statement?.number }).toEqual({ problem: undefined, number: 10 });
    }
  });

  it('are dropped only with a signature that says how far, and stay as that says', async () => {
    await signFour();
    await signer.sign(staged.trail, () => ({ kind: 'rotation', at: 5, nextKey: 'x' }));
    await staged.fill(2);
    await signHeads(staged.trail, signer, 6);
    const [head] = await staged.trail.auditHeads();
    const where = { store: staged.store, lane: 0, fromSequence: 9, limit: 1 };
    const cut = toSignedHead({ ...head!, sequence: 9, chain: (await staged.trail.readTrail(where))[0]!.chain });
    const cutAt = (at: number) =>
      cutTo({ trail: staged.trail, signer, readKeys: () => readTrustedKeys(keys) }, cut, at);
    await cutAt(7);
    const numbers = (await staged.trail.listStatements({ limit: 9 })).map(({ number }) => number);
    expect(numbers).toEqual([5, 6, 7]);
    expect((await verify()).problem).toBeUndefined();
    // A mark of a dropped statement is no problem either: a gateway that was off for long still has one.
    const old = { number: 2, hash: 'ab'.repeat(32), keeper: 'x' };
    expect((await verify({ marks: [old] })).problem).toBeUndefined();
    expect(await cutAt(8)).toBeUndefined();
    expect(await problemAfter('DELETE FROM auditStatement WHERE number = 5')).toContain(
      'are not the 1 that the last cut',
    );
    expect(await problemAfter('DELETE FROM auditStatement WHERE number = 6')).toContain(
      'are not the 1 that the last cut',
    );
  });

  it('have to be there in time: records and a key that wait for too long are named', async () => {
    const limits = { maxMs: 1000, keyAgeMs: 100 };
    expect((await verify({ unsigned: { ...limits, now: 0 } })).problem).toBeUndefined();
    openSigningKey(keys);
    expect((await verify({ unsigned: { ...limits, now: 0, keyAgeMs: 1001 } })).problem?.what).toContain(
      'there is a key',
    );
    await staged.fill(1);
    const [first] = (await staged.trail.queryTrail({ filter: {}, limit: 1 })).records;
    const { at } = JSON.parse(first!.text) as { at: number };
    expect((await verify({ unsigned: { ...limits, now: at + 1000 } })).problem).toBeUndefined();
    const late = (await verify({ unsigned: { ...limits, now: at + 1001 } })).problem;
    expect(late).toMatchObject({
      lane: 0,
      sequence: 1,
      what: expect.stringContaining('waited for a signature for 1 s'),
    });
    await signHeads(staged.trail, signer, at + 1001);
    expect((await verify({ unsigned: { ...limits, now: at + 9999 } })).problem).toBeUndefined();
    // A recent statement shows that a signer is running. A record that it does not cover came late from the drain and is signed next.
    await staged.fill(1);
    expect((await verify({ unsigned: { ...limits, now: at + 2001 } })).problem).toBeUndefined();
    expect((await verify({ unsigned: { ...limits, now: at + 99_999 } })).problem).toMatchObject({ sequence: 2 });
  });

  it('continue exactly the trail that was exported earlier', async () => {
    await signFour();
    const exported = await verify();
    const expected = readExpected(JSON.stringify({ valid: true, ...exported }));
    if (typeof expected === 'string') throw new Error(expected);
    await staged.fill(2);
    await signHeads(staged.trail, signer, 5);
    expect((await verify({ expected })).problem).toBeUndefined();
    const lanes = expected.lanes.map((each) => ({ ...each, chain: 'ab'.repeat(32) }));
    expect((await verify({ expected: { ...expected, lanes } })).problem).toMatchObject({
      sequence: 8,
      what: 'it is not the record that the exported file knows',
    });
    const longer = expected.lanes.map((each) => ({ ...each, sequence: 99 }));
    expect((await verify({ expected: { lanes: longer } })).problem).toMatchObject({ sequence: 11 });
    // The trail is set back and the marks of the key folder are ignored: only the exported file knows that statements are missing.
    await staged.tamper(BACK_TO_4);
    expect((await verify({ marks: [] })).problem).toBeUndefined();
    expect((await verify({ marks: [], expected })).problem?.what).toContain('the exported file knows statement 4');
  });
});

describe('an exported head', () => {
  it.each([
    '',
    '[]',
    '{"valid":false,"lanes":[]}',
    '{"valid":true,"lanes":[{}]}',
    '{"valid":true,"lanes":[],"statement":{}}',
  ])('is refused when it is none: %s', (text) => expect(typeof readExpected(text)).toBe('string'));
});
