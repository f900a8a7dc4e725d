import { expect, it } from 'vitest';
import type { Knowledge } from '../../../src/domain/ports/tool-services.ts';
import { newTenant, stageServices, type Scene, type StagingOptions } from '../scene.ts';

export function describeKnowledge(scene: Scene): void {
  async function openOne(options: StagingOptions = {}): Promise<Knowledge> {
    const { as } = await stageServices(scene.store, options);
    return as({ tenant: newTenant() }).knowledge;
  }

  /** Makes the relations a → b → c → d and e → b. */
  async function chain(knowledge: Knowledge): Promise<Record<string, string>> {
    const ids: Record<string, string> = {};
    for (const name of ['a', 'b', 'c', 'd', 'e']) ids[name] = (await knowledge.put({ name, type: 'node' })).id;
    for (const [from, relation, to] of [
      ['a', 'next', 'b'],
      ['b', 'next', 'c'],
      ['c', 'next', 'd'],
      ['e', 'likes', 'b'],
    ] as const) {
      await knowledge.relate({ from: ids[from]!, relation, to: ids[to]! });
    }
    return ids;
  }
  const namesOf = (found: { readonly entities: readonly { readonly name: string }[] }): string[] =>
    found.entities.map(({ name }) => name).sort();

  it('put makes an entity once per type and name, and merges facts', async () => {
    const knowledge = await openOne();
    const made = await knowledge.put({ name: 'Ada Lovelace', type: 'person', facts: { born: 1815, fan: true } });
    const changed = await knowledge.put({ name: 'ada  lovelace', type: 'Person', text: 'Wrote', facts: { fan: null } });
    expect(changed).toEqual({ ...made, text: 'Wrote', facts: { born: 1815 } });
    expect(await knowledge.find({ name: 'Ada Lovelace', type: 'person' })).toEqual(changed);
    expect(await knowledge.get(made.id)).toEqual(changed);
    expect(await knowledge.find({ name: 'Ada Lovelace' })).toBeNull();
  });

  it('entities put at the same time all stay', async () => {
    const knowledge = await openOne();
    const names = Array.from({ length: 12 }, (_, index) => `thing ${index % 6}`);
    await Promise.all(names.map((name, index) => knowledge.put({ name, facts: { [`fact${index}`]: index } })));
    const found = await knowledge.search({ text: 'thing', limit: 50 });
    expect(found.map(({ name }) => name).sort()).toEqual([...new Set(names)].sort());
    expect((await knowledge.find({ name: 'thing 0' }))?.facts).toEqual({ fact0: 0, fact6: 6 });
  });

  it('search finds by name, text and facts, as they are now', async () => {
    const knowledge = await openOne();
    await knowledge.put({ name: 'Berlin', type: 'city', text: 'a city on the Spree', facts: { country: 'Germany' } });
    await knowledge.put({ name: 'Paris', type: 'city', text: 'a city on the Seine' });
    const names = async (text: string): Promise<string[]> =>
      (await knowledge.search({ text })).map(({ name }) => name).sort();
    expect(await names('spree')).toEqual(['Berlin']);
    expect(await names('germany')).toEqual(['Berlin']);
    expect(await names('city')).toEqual(['Berlin', 'Paris']);
    await knowledge.put({ name: 'Berlin', type: 'city', text: 'the capital' });
    expect(await names('spree')).toEqual([]);
    expect(await names('capital')).toEqual(['Berlin']);
  });

  it('neighbourhood goes as far as asked, along the relation asked for, in both directions', async () => {
    const knowledge = await openOne();
    const ids = await chain(knowledge);
    expect(namesOf(await knowledge.neighbourhood({ of: ids['b']! }))).toEqual(['a', 'b', 'c', 'e']);
    const two = await knowledge.neighbourhood({ of: ids['a']!, depth: 2, relation: 'next' });
    expect([namesOf(two), two.relations.length, two.complete]).toEqual([['a', 'b', 'c'], 2, true]);
    expect(namesOf(await knowledge.neighbourhood({ of: ids['a']!, depth: 4 }))).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('neighbourhood says when its limit cut it, and shows no relation with an end that is cut off', async () => {
    const knowledge = await openOne();
    const ids = await chain(knowledge);
    const cut = await knowledge.neighbourhood({ of: ids['b']!, depth: 2, limit: 2 });
    expect([cut.entities.length, cut.complete]).toEqual([2, false]);
    const shown = new Set(cut.entities.map(({ id }) => id));
    for (const { from, to } of cut.relations) expect(shown.has(from) && shown.has(to)).toBe(true);
  });

  it('relate needs both ends, and counts once', async () => {
    const knowledge = await openOne();
    const { id } = await knowledge.put({ name: 'a' });
    await expect(knowledge.relate({ from: id, relation: 'knows', to: 'nobody' })).rejects.toThrow(
      'There is no entity nobody',
    );
    const other = await knowledge.put({ name: 'b' });
    const wish = { from: id, relation: 'knows', to: other.id };
    await knowledge.relate(wish);
    await knowledge.relate({ ...wish, facts: { since: 2020 } });
    const { relations } = await knowledge.neighbourhood({ of: id });
    expect(relations).toEqual([{ ...wish, facts: { since: 2020 } }]);
    expect([await knowledge.unrelate(wish), await knowledge.unrelate(wish)]).toEqual([true, false]);
  });

  it('delete takes the relations with it', async () => {
    const knowledge = await openOne();
    const ids = await chain(knowledge);
    expect(await knowledge.delete(ids['b']!)).toBe(true);
    expect(await knowledge.get(ids['b']!)).toBeNull();
    for (const name of ['a', 'e']) {
      expect((await knowledge.neighbourhood({ of: ids[name]!, depth: 3 })).relations).toEqual([]);
    }
  });

  it('merge moves relations and facts, and leaves one entity', async () => {
    const knowledge = await openOne();
    const ids = await chain(knowledge);
    await knowledge.put({ name: 'b', type: 'node', text: 'from b', facts: { kept: 'b', added: 1 } });
    await knowledge.put({ name: 'c', type: 'node', text: 'from c', facts: { kept: 'c' } });
    const merged = await knowledge.merge({ from: ids['b']!, into: ids['c']! });
    expect(merged).toMatchObject({ name: 'c', text: 'from c\nfrom b', facts: { kept: 'c', added: 1 } });
    expect(await knowledge.get(ids['b']!)).toBeNull();
    const around = await knowledge.neighbourhood({ of: ids['c']! });
    expect(namesOf(around)).toEqual(['a', 'c', 'd', 'e']);
    expect(around.relations).toHaveLength(3);
    await expect(knowledge.merge({ from: ids['b']!, into: ids['c']! })).rejects.toThrow('There is no entity');
  });

  it('a relation made while its end is deleted leaves nothing dangling', async () => {
    const knowledge = await openOne();
    for (let round = 0; round < 10; round += 1) {
      const [a, b] = [await knowledge.put({ name: `a${round}` }), await knowledge.put({ name: `b${round}` })];
      await Promise.allSettled([knowledge.relate({ from: a.id, relation: 'knows', to: b.id }), knowledge.delete(b.id)]);
      const { relations, entities } = await knowledge.neighbourhood({ of: a.id });
      expect([relations, entities.length]).toEqual([[], 1]);
      // The relation must be gone, not only hidden: otherwise an entity of the same name would get it back.
      await knowledge.put({ name: `b${round}` });
      expect((await knowledge.neighbourhood({ of: a.id })).relations).toEqual([]);
    }
  });

  it('refuses more entities and relations than configured', async () => {
    const knowledge = await openOne({ config: { knowledge: { maxEntities: 2, maxRelations: 1 } } });
    const [a, b] = [await knowledge.put({ name: 'a' }), await knowledge.put({ name: 'b' })];
    await expect(knowledge.put({ name: 'c' })).rejects.toMatchObject({ code: 'KNOWLEDGE_FULL' });
    await knowledge.relate({ from: a.id, relation: 'x', to: b.id });
    const another = knowledge.relate({ from: b.id, relation: 'x', to: a.id });
    await expect(another).rejects.toMatchObject({ code: 'KNOWLEDGE_FULL' });
    expect((await knowledge.put({ name: 'a', text: 'changed' })).text).toBe('changed');
  });
}
