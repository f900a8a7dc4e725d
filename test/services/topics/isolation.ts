import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Identity } from '../../../src/domain/identity/session.ts';
import { newTenant, stageServices, type Scene } from '../scene.ts';

/** Few values, so that identities share some. Some of them would become equal if their parts were joined without quoting. */
const part = fc.constantFrom('a', 'b', 'a:b', 'a"', '["a"]', '');
const optional = fc.option(part, { nil: undefined });
const anybody = fc.record({
  subject: part,
  channel: optional,
  space: optional,
  platform: optional,
  agent: fc.constantFrom('main', 'helper'),
});
type Anybody = Pick<Identity, 'subject' | 'agent'> & Record<'channel' | 'space' | 'platform', string | undefined>;

const definedOf = (who: Anybody): Partial<Identity> =>
  Object.fromEntries(Object.entries(who).filter(([, value]) => value !== undefined));

function conversationOf({ subject, channel, space = '', platform = '' }: Anybody): string {
  return JSON.stringify(channel === undefined ? { subject } : { platform, space, channel });
}

export function describeIsolation(scene: Scene): void {
  it('every subject finds exactly what was written in its own conversation, knowledge and tasks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anybody, { minLength: 2, maxLength: 12 }), async (people) => {
        const { as } = await stageServices(scene.store);
        const tenants = [newTenant(), newTenant()];
        const writers = people.map((who, index) => ({ who, tenant: tenants[index % 2]!, mark: `mark${index}` }));
        for (const { who, tenant, mark } of writers) {
          const { conversations, knowledge, tasks } = as({ ...definedOf(who), tenant });
          await conversations.append({ role: 'user', text: `secret ${mark}` });
          await knowledge.put({ name: mark, text: 'secret' });
          await tasks.create({ title: mark });
        }
        for (const [index, { who, tenant }] of writers.entries()) {
          const { conversations, knowledge, tasks } = as({ ...definedOf(who), tenant });
          const marksOf = (isMine: (other: Anybody) => boolean): string[] =>
            writers.flatMap((one) => (one.tenant === tenant && isMine(one.who) ? [one.mark] : [])).sort();
          const said = marksOf((other) => conversationOf(other) === conversationOf(who)).map(
            (mark) => `secret ${mark}`,
          );
          const own = marksOf(({ subject }) => subject === who.subject);
          const found = await conversations.search({ text: 'secret', limit: 50 });
          expect(found.map(({ text }) => text).sort()).toEqual(said);
          expect((await conversations.window()).map(({ text }) => text).sort()).toEqual(said);
          // A word that another subject wrote must not lead to a document here, not even to one with the same number in the index.
          const foreign = writers[(index + 1) % writers.length]!.mark;
          const led = (await conversations.search({ text: foreign })).map(({ text }) => text);
          expect(led).toEqual(said.filter((text) => text === `secret ${foreign}`));
          const known = await knowledge.search({ text: 'secret', limit: 50 });
          expect(known.map(({ name }) => name).sort()).toEqual(own);
          expect((await tasks.list()).map(({ title }) => title).sort()).toEqual(own);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('ids of another subject find nothing', async () => {
    const { as } = await stageServices(scene.store);
    const tenant = newTenant();
    const [ann, bob] = [as({ tenant, subject: 'ann' }), as({ tenant, subject: 'bob' })];
    const task = await ann.tasks.create({ title: 'mine' });
    const entity = await ann.knowledge.put({ name: 'safe' });
    await expect(bob.tasks.update({ id: task.id, title: 'taken' })).rejects.toThrow('There is no task');
    expect(await bob.tasks.delete(task.id)).toBe(false);
    expect(await bob.knowledge.get(entity.id)).toBeNull();
    expect(await bob.knowledge.delete(entity.id)).toBe(false);
    await expect(bob.knowledge.neighbourhood({ of: entity.id })).rejects.toThrow('There is no entity');
    expect(await ann.tasks.list()).toEqual([task]);
    expect(await ann.knowledge.get(entity.id)).toEqual(entity);
  });

  it('a key of one subject does not hide a message of another in the same channel', async () => {
    const { as } = await stageServices(scene.store);
    const place = { tenant: newTenant(), channel: 'lobby' };
    await as({ ...place, subject: 'ann' }).conversations.append({ role: 'user', text: 'from ann', key: 'k' });
    await as({ ...place, subject: 'bob' }).conversations.append({ role: 'user', text: 'from bob', key: 'k' });
    const shown = await as({ ...place, subject: 'cy' }).conversations.window();
    expect(shown.map(({ by, text }) => [by, text])).toEqual([
      ['ann', 'from ann'],
      ['bob', 'from bob'],
    ]);
  });

  it('knowledge is shared as widely as the operator says', async () => {
    const tenant = newTenant();
    const namesFor = async (scope: string, who: Partial<Identity>): Promise<(string | undefined)[]> => {
      const { as } = await stageServices(scene.store, { config: { knowledge: { scope } } });
      await as({ tenant, subject: 'ann', channel: 'lobby' }).knowledge.put({ name: scope });
      return [(await as({ tenant, ...who }).knowledge.find({ name: scope }))?.name];
    };
    expect(await namesFor('channel', { subject: 'bob', channel: 'lobby' })).toEqual(['channel']);
    expect(await namesFor('channel', { subject: 'bob', channel: 'other' })).toEqual([undefined]);
    expect(await namesFor('tenant', { subject: 'bob', channel: 'other' })).toEqual(['tenant']);
  });
}
