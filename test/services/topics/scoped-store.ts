import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CommitAnswer, DocumentHead, Put } from '../../../src/worker/services/storage/scoped-store.ts';
import { newScope, type Scene } from '../scene.ts';

const NOTES = 'notes';
const note = (more: Partial<Put> = {}): Put => ({ collection: NOTES, body: '{}', ...more });

function headsOf(answer: CommitAnswer): readonly DocumentHead[] {
  if (answer.kind !== 'committed') throw new Error(`the commit was answered with ${answer.kind}`);
  return answer.documents;
}

export function describeScopedStore(scene: Scene): void {
  const put = async (scope: string, ...puts: Put[]) => headsOf(await scene.store.commit(scope, { puts }));
  const bodies = async (scope: string, query: { label?: string; before?: number; limit?: number } = {}) =>
    (await scene.store.list(scope, NOTES, { limit: 100, ...query })).map(({ body }) => body);

  it('names new documents by a growing number that is never used again', async () => {
    const scope = newScope();
    const [one, two] = await put(scope, note(), note());
    expect([one!.id, two!.id]).toEqual(['1', '2']);
    await scene.store.commit(scope, { deletes: [{ collection: NOTES, id: '2' }] });
    expect((await put(scope, note()))[0]!.id).toBe('3');
  });

  it('lists the newest first, by label and before an order', async () => {
    const scope = newScope();
    await put(scope, note({ body: 'a', labels: ['x'] }), note({ body: 'b' }), note({ body: 'c', labels: ['x', 'y'] }));
    expect(await bodies(scope)).toEqual(['c', 'b', 'a']);
    expect(await bodies(scope, { label: 'x' })).toEqual(['c', 'a']);
    expect(await bodies(scope, { label: 'x', before: 3 })).toEqual(['a']);
    expect(await bodies(scope, { limit: 1 })).toEqual(['c']);
  });

  it('moves a changed document to the front unless it keeps its place, and takes it out of what it was found by', async () => {
    const scope = newScope();
    await put(scope, note({ id: 'one', body: '1', labels: ['x'], terms: ['old'] }), note({ id: 'two', body: '2' }));
    expect(await put(scope, note({ id: 'one', body: '1b', keepOrder: true, labels: ['y'], terms: ['new'] }))).toEqual([
      expect.objectContaining({ id: 'one', version: 2, order: 1 }),
    ]);
    expect(await bodies(scope)).toEqual(['2', '1b']);
    expect([await bodies(scope, { label: 'x' }), await bodies(scope, { label: 'y' })]).toEqual([[], ['1b']]);
    expect((await scene.store.postings(scope, NOTES, ['old', 'new'], 10)).lists).toEqual([[], ['one']]);
    await put(scope, note({ id: 'one', body: '1c' }));
    expect(await bodies(scope)).toEqual(['1c', '2']);
  });

  it('refuses a second document with the same key, and frees the key with its document', async () => {
    const scope = newScope();
    await put(scope, note({ key: 'k', body: 'first' }));
    expect(await scene.store.commit(scope, { puts: [note({ key: 'k' })] })).toEqual({ kind: 'exists', id: '1' });
    expect(await bodies(scope)).toEqual(['first']);
    await scene.store.commit(scope, { deletes: [{ collection: NOTES, id: '1' }] });
    expect(await put(scope, note({ key: 'k' }))).toHaveLength(1);
  });

  it('refuses a commit whose checks do not hold, as a whole', async () => {
    const scope = newScope();
    await put(scope, note({ id: 'a', body: 'a' }));
    const version = await scene.store.scopeVersion(scope);
    const puts = [note({ id: 'b' })];
    const deletes = [{ collection: NOTES, id: 'a' }];
    const refused = [
      { checks: [{ collection: NOTES, id: 'a', version: 2 }], puts, deletes },
      { checks: [{ collection: NOTES, id: 'none' }], puts, deletes },
      { scopeVersion: version - 1, puts, deletes },
    ];
    for (const batch of refused) expect(await scene.store.commit(scope, batch)).toEqual({ kind: 'conflict' });
    expect(await bodies(scope)).toEqual(['a']);
    expect(await scene.store.scopeVersion(scope)).toBe(version);
  });

  it('refuses a new document over the most, but not a change of one', async () => {
    const scope = newScope();
    await put(scope, note({ id: 'a', most: 1 }));
    expect(await scene.store.commit(scope, { puts: [note({ id: 'b', most: 1 })] })).toEqual({ kind: 'full' });
    expect(await put(scope, note({ id: 'a', most: 1, body: 'changed' }))).toHaveLength(1);
  });

  it('hides what has expired, in every way of reading, and lets its key be used again', async () => {
    const scope = newScope();
    await put(scope, note({ key: 'k', body: 'gone', labels: ['x'], ttlMs: 1 }), note({ body: 'stays' }));
    const start = await scene.store.now();
    while ((await scene.store.now()) <= start + 2);
    expect(await bodies(scope)).toEqual(['stays']);
    expect(await bodies(scope, { label: 'x' })).toEqual([]);
    expect((await scene.store.read(scope, NOTES, ['1', '2'])).map((found) => found?.body)).toEqual([
      undefined,
      'stays',
    ]);
    expect((await scene.store.vectors(scope, NOTES, 10)).map(({ id }) => id)).toEqual(['2']);
    expect(await put(scope, note({ key: 'k' }))).toHaveLength(1);
  });

  it('a document that stays outlives others beside it, whichever came first', async () => {
    const scope = newScope();
    await put(scope, note({ body: 'stays', terms: ['word'] }), note({ body: 'gone', terms: ['word'], ttlMs: 1 }));
    const start = await scene.store.now();
    while ((await scene.store.now()) <= start + 2);
    expect(await bodies(scope)).toEqual(['stays']);
    expect((await scene.store.postings(scope, NOTES, ['word'], 10)).lists[0]).toContain('1');
  });

  it('prunes the oldest of a collection, with everything they are found by', async () => {
    const scope = newScope();
    for (const body of ['a', 'b', 'c', 'd']) {
      const puts = [note({ body, key: body, terms: ['word', body], labels: ['x'] })];
      await scene.store.commit(scope, { puts, prune: { collection: NOTES, most: 2 } });
    }
    expect(await bodies(scope)).toEqual(['d', 'c']);
    expect(await bodies(scope, { label: 'x' })).toEqual(['d', 'c']);
    const { documents, lists } = await scene.store.postings(scope, NOTES, ['word', 'a', 'd'], 10);
    expect({ documents, lists }).toEqual({ documents: 2, lists: [['4', '3'], [], ['4']] });
    expect(await put(scope, note({ key: 'a' }))).toHaveLength(1);
  });

  it('keeps a vector only for the version it was made of', async () => {
    const scope = newScope();
    await put(scope, note({ id: 'a' }), note({ id: 'b' }));
    await put(scope, note({ id: 'b', keepOrder: true }));
    const vector = Uint8Array.of(1, 2, 255);
    await scene.store.keepVectors(scope, NOTES, [
      { id: 'a', version: 1, vector },
      { id: 'b', version: 1, vector },
    ]);
    const read = async () =>
      (await scene.store.vectors(scope, NOTES, 10)).map((one) => [one.id, one.vector && [...one.vector]]);
    expect(await read()).toEqual([
      ['b', undefined],
      ['a', [1, 2, 255]],
    ]);
    await put(scope, note({ id: 'a' }));
    expect(await read()).toEqual([
      ['a', undefined],
      ['b', undefined],
    ]);
  });

  it('orders commits of several workers: each gets a number of its own', async () => {
    const scope = newScope();
    const stores = [scene.store, await scene.open()];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => stores[index % 2]!.commit(scope, { puts: [note()] })),
    );
    const ids = answers.map((answer) => Number(headsOf(answer)[0]!.id)).sort((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  });

  it('keeps any text as it is', async () => {
    const scope = newScope();
    const point = fc.oneof(fc.integer({ min: 1, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }));
    const text = fc.array(point, { minLength: 1, maxLength: 200 }).map((points) => String.fromCodePoint(...points));
    await fc.assert(
      fc.asyncProperty(text, text, async (body, key) => {
        const answer = await scene.store.commit(scope, { puts: [note({ body: JSON.stringify(body), key })] });
        const id = answer.kind === 'committed' ? answer.documents[0]!.id : undefined;
        if (id === undefined) return;
        const [found] = await scene.store.read(scope, NOTES, [id]);
        expect(JSON.parse(found!.body)).toBe(body);
      }),
      { numRuns: 50 },
    );
  });
}
