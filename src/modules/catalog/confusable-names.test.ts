import { describe, expect, it } from 'vitest';
import { nameSkeleton, TakenNames } from './confusable-names.ts';

describe('TakenNames', () => {
  it.each([
    ['notes', 'Notes'],
    ['notes', 'n\u043etes'],
    ['notes', '\uff4eotes'],
    ['local', 'Iocal'],
    ['local', '1ocal'],
    ['google', 'g00gle'],
    ['web-fetch', 'web_fetch'],
    ['web-fetch', 'webfetch'],
    ['a_b', 'a__b'],
    ['scm', '5cm'],
    ['modem', 'modern'],
    ['ALI', 'ali'],
    ['paypal', '\u0440\u0430\u0443\u0440\u0430\u04cf'],
  ])('finds that %s is easily confused with %s', (taken, name) => {
    const names = new TakenNames();
    names.take(taken);
    expect(names.findConfusable(name)).toStrictEqual({ how: 'easily confused', with: taken });
  });

  it('distinguishes the same name from a similar one', () => {
    const names = new TakenNames();
    names.take('notes');
    expect(names.findConfusable('notes')).toStrictEqual({ how: 'the same', with: 'notes' });
    expect(names.findConfusable('votes')).toBeUndefined();
    expect(names.findConfusable('note')).toBeUndefined();
  });

  it('keeps plain different names apart', () => {
    const skeletons = ['clock', 'files', 'notes', 'shell', 'web', 'tool2', 'tool3', 'a', 'b'].map(nameSkeleton);
    expect(new Set(skeletons).size).toBe(skeletons.length);
  });
});
