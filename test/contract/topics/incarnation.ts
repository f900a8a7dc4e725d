import { expect, it } from 'vitest';
import { PlaneError } from '../../../src/domain/errors/errors.ts';
import { acceptOne, openSession } from '../fixtures.ts';
import type { Scene } from '../scene.ts';

export function describeIncarnation(scene: Scene): void {
  it('a store is the same for all its connections, and stays the same when they close', async () => {
    const first = await scene.open();
    const session = await openSession(first);
    await acceptOne(first, session);
    await first.checkIncarnation();
    const lanes = first.lanes;
    await first.close();
    const second = await scene.open();
    await second.checkIncarnation();
    expect(second.lanes).toBe(lanes);
    expect(await second.readSession(session.id)).toMatchObject({ id: session.id });
  });

  it('store time does not go back and is the same for all connections', async () => {
    const [first, second] = await scene.openPair();
    const times: number[] = [];
    for (let round = 0; round < 20; round += 1) times.push(await (round % 2 === 0 ? first : second).now());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it('a store whose data was taken away says so', async ({ skip }) => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptOne(store, session);
    const replaced = scene.replaceData();
    skip(replaced === undefined, 'the data of this store cannot be taken away while it is open');
    await replaced;
    const refusal = await store.checkIncarnation().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(PlaneError);
    expect(refusal).toMatchObject({ code: 'STORE_REPLACED' });
  });
}
