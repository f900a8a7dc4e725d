import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toolId } from '../domain/identity/ids.ts';
import type { Catalog } from '../domain/tool/catalog.ts';
import {
  deferred,
  partialStore,
  sampleCatalog,
  samplePublished,
  type Deferred,
} from '../../test/support/sample-call.ts';
import { createCatalogView } from './catalog-view.ts';

const ADD = samplePublished();
const LIST = samplePublished({ id: toolId('notes', 'list'), digest: 'digest-of-list' });
const both = (sequence: number): Catalog => sampleCatalog(sequence, ADD, LIST);

describe('catalog view', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A view whose reads and checks of the store stay open until the test resolves them. */
  function stage() {
    const reads: Deferred<Catalog>[] = [];
    const checks: Deferred<Catalog | undefined>[] = [];
    const store = partialStore({
      readCatalog: () => {
        const read = deferred<Catalog>();
        reads.push(read);
        return read.promise;
      },
      watchCatalog: ({ waitMs }) => {
        expect(waitMs).toBe(0);
        const check = deferred<Catalog | undefined>();
        checks.push(check);
        return check.promise;
      },
    });
    return { reads, checks, view: createCatalogView(store) };
  }

  /** A view that has just read a catalog with one tool. */
  async function stageKnown() {
    const staged = stage();
    const first = staged.view.refresh();
    staged.reads[0]!.resolve(sampleCatalog(1, ADD));
    await first;
    return staged;
  }

  it('stays the same object, and frozen, until the sequence moves, and reads no more than that', async () => {
    const answers = [sampleCatalog(1, ADD), undefined, both(2)];
    const asked: number[] = [];
    const view = createCatalogView(
      partialStore({
        readCatalog: async () => sampleCatalog(1, ADD),
        watchCatalog: async ({ after, waitMs }) => {
          expect(waitMs).toBe(0);
          asked.push(after);
          return answers.shift();
        },
      }),
    );
    const first = await view.current();
    expect(await view.current()).toBe(first);
    expect(await view.refresh()).toBe(first);
    expect(Object.isFrozen(first.modules[0]!.tools[0]!.limits)).toBe(true);
    expect((await view.current()).sequence).toBe(2);
    expect(asked).toEqual([0, 1, 1]);
  });

  it('reads the catalog once for what it knows', async () => {
    const { reads, view } = stage();
    const asked = [view.find('notes.add'), view.find('notes.add')];
    reads[0]!.resolve(sampleCatalog(1, ADD));
    expect((await Promise.all(asked)).map((found) => found?.tool.id)).toEqual(['notes.add', 'notes.add']);
    await view.find('notes.add');
    expect(reads).toHaveLength(1);
  });

  it('looks again for a name it does not know, but not each time it is named', async () => {
    const { reads, checks, view } = stage();
    const first = view.find('notes.list');
    reads[0]!.resolve(sampleCatalog(1, ADD));
    expect(await first).toBeUndefined();
    for (let time = 0; time < 10; time += 1) expect(await view.find('notes.list')).toBeUndefined();
    expect(reads).toHaveLength(1);
    vi.advanceTimersByTime(1001);
    const later = view.find('notes.list');
    checks[0]!.resolve(both(2));
    expect((await later)?.tool.digest).toBe('digest-of-list');
    expect([reads.length, checks.length]).toEqual([1, 1]);
  });

  it('a withdrawn tool is not found once the view is older than a second', async () => {
    const { checks, view } = await stageKnown();
    vi.advanceTimersByTime(1001);
    expect(view.known('notes.add')).toBeUndefined();
    const asked = [view.find('notes.add'), view.find('notes.add')];
    expect(checks).toHaveLength(1);
    checks[0]!.resolve(sampleCatalog(2, LIST));
    expect(await Promise.all(asked)).toEqual([undefined, undefined]);
    expect(view.known('notes.list')).toBeDefined();
  });

  it('an old view is used on when the store says that the catalog did not change', async () => {
    const { checks, view } = await stageKnown();
    vi.advanceTimersByTime(60_000);
    const asked = view.find('notes.add');
    checks[0]!.resolve(undefined);
    expect((await asked)?.tool.id).toBe('notes.add');
    expect(view.known('notes.add')).toBeDefined();
    expect(checks).toHaveLength(1);
  });

  it('a busy caller does not wait: the view is checked in the background, once at a time', async () => {
    const { checks, view } = await stageKnown();
    vi.advanceTimersByTime(500);
    expect(view.known('notes.add')).toBeDefined();
    expect(checks).toHaveLength(0);
    vi.advanceTimersByTime(1);
    for (let time = 0; time < 3; time += 1) expect(view.known('notes.add')).toBeDefined();
    expect(checks).toHaveLength(1);
    checks[0]!.resolve(sampleCatalog(2, LIST));
    await vi.advanceTimersByTimeAsync(0);
    expect(view.known('notes.add')).toBeUndefined();
  });

  it('the age of a view counts from the start of its read, and a failed check does not make it younger', async () => {
    const { checks, view } = await stageKnown();
    vi.advanceTimersByTime(501);
    view.known('notes.add');
    vi.advanceTimersByTime(400);
    checks[0]!.resolve(undefined);
    await vi.advanceTimersByTimeAsync(0);
    vi.advanceTimersByTime(400);
    expect(view.known('notes.add')).toBeDefined();
    checks[1]!.reject(new Error('gone'));
    await vi.advanceTimersByTimeAsync(0);
    vi.advanceTimersByTime(201);
    expect(view.known('notes.add')).toBeUndefined();
    const asked = view.find('notes.add');
    checks[2]!.reject(new Error('still gone'));
    await expect(asked).rejects.toThrow('still gone');
  });

  it('an older catalog that arrives later does not replace a newer one', async () => {
    const { reads, view } = stage();
    const first = view.refresh();
    reads[0]!.resolve(both(5));
    await first;
    const second = view.refresh();
    reads[1]!.resolve(sampleCatalog(4, ADD));
    expect((await second).sequence).toBe(5);
    expect(await view.find('notes.list')).toBeDefined();
  });

  it('a read that fails is not kept', async () => {
    const { reads, view } = stage();
    const failing = view.refresh();
    reads[0]!.reject(new Error('gone'));
    await expect(failing).rejects.toThrow('gone');
    const next = view.refresh();
    reads[1]!.resolve(both(1));
    expect((await next).sequence).toBe(1);
  });

  it('a watcher is notified of every new catalog until it stops', async () => {
    const news: Deferred<Catalog | undefined>[] = [];
    const after: number[] = [];
    const store = partialStore({
      watchCatalog: (request) => {
        after.push(request.after);
        const next = deferred<Catalog | undefined>();
        news.push(next);
        return next.promise;
      },
    });
    const view = createCatalogView(store);
    const heard: number[] = [];
    const stop = view.watch(({ sequence }) => heard.push(sequence));
    news[0]!.resolve(both(3));
    await vi.advanceTimersByTimeAsync(0);
    news[1]!.resolve(undefined);
    await vi.advanceTimersByTimeAsync(0);
    news[2]!.reject(new Error('gone'));
    await vi.advanceTimersByTimeAsync(500);
    news[3]!.resolve(both(4));
    await vi.advanceTimersByTimeAsync(0);
    stop();
    news[4]!.resolve(both(5));
    await vi.advanceTimersByTimeAsync(0);
    expect(heard).toEqual([3, 4]);
    expect(after).toEqual([-1, 3, 3, 3, 4]);
  });
});
