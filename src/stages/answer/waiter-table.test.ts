import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaiterTable } from './waiter-table.ts';

type Waiter = { readonly correlationId: string };

describe('waiting room', () => {
  it('finds every waiter by its number and none by the number of one that left, in any order', () => {
    const step = fc.record({ enters: fc.boolean(), which: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 600, maxLength: 2000 }), (steps) => {
        const table = new WaiterTable<Waiter>();
        const inside: Waiter[] = [];
        const gone: Waiter[] = [];
        let entered = 0;
        for (const { enters, which } of steps) {
          if (enters || inside.length === 0) {
            const waiter = { correlationId: table.newNumber() };
            table.add(waiter);
            inside.push(waiter);
            entered += 1;
          } else {
            const [left] = inside.splice(which % inside.length, 1);
            if (table.remove(left!)) gone.push(left!);
          }
        }
        expect(table.size).toBe(inside.length);
        expect(gone).toHaveLength(steps.length - entered);
        expect(new Set(table.all())).toEqual(new Set(inside));
        for (const waiter of inside) expect(table.find(waiter.correlationId)).toBe(waiter);
        for (const waiter of gone) {
          expect(table.find(waiter.correlationId)).toBeUndefined();
          expect(table.remove(waiter)).toBe(false);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('one who stays for ever does not make it grow, nor is its place given away', () => {
    const table = new WaiterTable<Waiter>();
    const patient = { correlationId: table.newNumber() };
    table.add(patient);
    for (let turn = 0; turn < 10_000; turn += 1) {
      const guest = { correlationId: table.newNumber() };
      table.add(guest);
      table.remove(guest);
    }
    expect(table.all()).toEqual([patient]);
    expect(table.find(patient.correlationId)).toBe(patient);
  });

  it('numbers that were given long before they are used find a place', () => {
    const table = new WaiterTable<Waiter>();
    const waiters = Array.from({ length: 3000 }, () => ({ correlationId: table.newNumber() }));
    for (const waiter of waiters) table.add(waiter);
    expect(waiters.every((waiter) => table.find(waiter.correlationId) === waiter)).toBe(true);
  });

  it.each(['', '~', 'zz', '-1', '1.5', '01', '1e0', '257', 'Infinity'])('finds no waiter for %j', (correlationId) => {
    const table = new WaiterTable<Waiter>();
    table.add({ correlationId: table.newNumber() });
    expect(table.find(correlationId)).toBeUndefined();
  });
});
