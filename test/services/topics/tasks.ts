import { expect, it } from 'vitest';
import type { TaskList } from '../../../src/domain/ports/tool-services.ts';
import { newTenant, stageServices, type Scene, type StagingOptions } from '../scene.ts';

export function describeTasks(scene: Scene): void {
  async function openOne(options: StagingOptions = {}) {
    const tenant = newTenant();
    const { as } = await stageServices(scene.store, options);
    return (callId?: string): TaskList => as({ tenant }, callId).tasks;
  }
  const titlesOf = (list: readonly { readonly title: string }[]): string[] => list.map(({ title }) => title);

  it('a task is made, changed, done and opened again', async () => {
    const list = (await openOne())();
    const made = await list.create({ title: 'buy milk', notes: 'two', due: '2030-01-01T10:00:00+01:00' });
    expect(made).toEqual({
      id: '1',
      title: 'buy milk',
      notes: 'two',
      due: '2030-01-01T09:00:00.000Z',
      state: 'open',
      createdAt: expect.any(String),
    });
    const { notes: _, due: __, ...plain } = made;
    const changed = await list.update({ id: '1', title: 'buy bread', notes: null, due: null });
    expect(changed).toEqual({ ...plain, title: 'buy bread' });
    const done = await list.complete('1');
    expect(done).toEqual({ ...changed, state: 'done', doneAt: expect.any(String) });
    expect(await list.complete('1')).toEqual(done);
    expect(await list.update({ id: '1', state: 'open' })).toEqual(changed);
  });

  it('lists open, done and all, newest first', async () => {
    const list = (await openOne())();
    for (const title of ['a', 'b', 'c']) await list.create({ title });
    await list.complete('2');
    expect(titlesOf(await list.list())).toEqual(['c', 'a']);
    expect(titlesOf(await list.list({ state: 'done' }))).toEqual(['b']);
    expect(titlesOf(await list.list({ state: 'all', limit: 2 }))).toEqual(['c', 'b']);
  });

  it('due gives open tasks by their time', async () => {
    const list = (await openOne())();
    await list.create({ title: 'late', due: '2001-01-01T00:00:00Z' });
    await list.create({ title: 'later', due: '2000-01-01T00:00:00Z' });
    await list.create({ title: 'far', due: '2999-01-01T00:00:00Z' });
    await list.create({ title: 'whenever' });
    await list.create({ title: 'done', due: '2001-01-01T00:00:00Z' });
    await list.complete('5');
    expect(titlesOf(await list.due())).toEqual(['later', 'late']);
    expect(titlesOf(await list.due({ by: '3000-01-01T00:00:00Z' }))).toEqual(['later', 'late', 'far']);
  });

  it('a call that is run again makes its task once', async () => {
    const open = await openOne();
    const made = await open('call-1').create({ title: 'once' });
    expect(await open('call-1').create({ title: 'once' })).toEqual(made);
    expect(await open().list()).toHaveLength(1);
  });

  it('changes made at the same time are all there', async () => {
    const open = await openOne();
    await open().create({ title: 'x' });
    await Promise.all([
      open().update({ id: '1', title: 'renamed' }),
      open().update({ id: '1', notes: 'noted' }),
      open().complete('1'),
    ]);
    expect(await open().list({ state: 'all' })).toMatchObject([{ title: 'renamed', notes: 'noted', state: 'done' }]);
  });

  it('refuses unknown ids, odd times and too many', async () => {
    const list = (await openOne({ config: { tasks: { maxTasks: 1 } } }))();
    await expect(list.complete('7')).rejects.toMatchObject({ code: 'TASK_UNKNOWN' });
    await expect(list.create({ title: 'x', due: 'tomorrow' })).rejects.toMatchObject({ code: 'SERVICE_INVALID' });
    await list.create({ title: 'one' });
    await expect(list.create({ title: 'two' })).rejects.toMatchObject({ code: 'TASKS_FULL' });
    expect([await list.delete('1'), await list.delete('1')]).toEqual([true, false]);
    expect((await list.create({ title: 'two' })).id).toBe('2');
  });
}
