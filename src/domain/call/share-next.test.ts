import { describe, expect, it } from 'vitest';
import { deferred, type Deferred } from '../../../test/support/sample-call.ts';
import { shareNext } from './share-next.ts';

describe('shareNext', () => {
  function stage() {
    const reads: Deferred<string>[] = [];
    const ask = shareNext(() => {
      const read = deferred<string>();
      reads.push(read);
      return read.promise;
    });
    return { reads, ask };
  }

  it('gives those who come while a read is under way the next one, and one for all of them', async () => {
    const { reads, ask } = stage();
    const first = ask();
    const later = [ask(), ask()];
    reads[0]!.resolve('old');
    expect(await first).toBe('old');
    expect(reads).toHaveLength(2);
    reads[1]!.resolve('new');
    expect(await Promise.all(later)).toEqual(['new', 'new']);
    void ask();
    expect(reads).toHaveLength(3);
  });

  it('a read that fails fails only for the callers that share it', async () => {
    const { reads, ask } = stage();
    const first = ask();
    const second = ask();
    reads[0]!.reject(new Error('away'));
    await expect(first).rejects.toThrow('away');
    reads[1]!.resolve('new');
    expect(await second).toBe('new');
  });
});
