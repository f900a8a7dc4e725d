import { describe, expect, it } from 'vitest';
import { FailureBudget } from './failure-budget.ts';
import { RateLimit } from './rate-limit.ts';

const ADDRESS = '10.0.0.1';
const wrong = async (): Promise<undefined> => undefined;
const right = async (): Promise<string> => 'ada';
const limited = { code: 'RATE_LIMITED' };

const budgetOf = (burst: number): FailureBudget =>
  new FailureBudget(new RateLimit({ perSecond: 1 / 60, burst }, () => 0));

describe('the budget of wrong credentials', () => {
  it('answers wrong ones beyond it RATE_LIMITED, of this address only', async () => {
    const budget = budgetOf(2);
    expect([await budget.prove(ADDRESS, wrong), await budget.prove(ADDRESS, wrong)]).toEqual([undefined, undefined]);
    await expect(budget.prove(ADDRESS, wrong)).rejects.toMatchObject(limited);
    expect(await budget.prove('10.0.0.2', wrong)).toBeUndefined();
  });

  it('lets a right one in when wrong ones of its address have used it up', async () => {
    const budget = budgetOf(1);
    await budget.prove(ADDRESS, wrong);
    await expect(budget.prove(ADDRESS, wrong)).rejects.toMatchObject(limited);
    expect(await budget.prove(ADDRESS, right)).toBe('ada');
  });

  it('does not count right ones, and none that the store did not answer', async () => {
    const budget = budgetOf(1);
    const broken = async (): Promise<undefined> => {
      throw new Error('no store');
    };
    for (let at = 0; at < 5; at += 1) {
      expect(await budget.prove(ADDRESS, right)).toBe('ada');
      await expect(budget.prove(ADDRESS, broken)).rejects.toThrow('no store');
    }
    expect(await budget.prove(ADDRESS, wrong)).toBeUndefined();
  });

  it('asks the store for a few at a time once it is used up, in their order, and refuses what waits too long a line', async () => {
    const budget = budgetOf(1);
    await budget.prove(ADDRESS, wrong);
    let asking = 0;
    let max = 0;
    const answers: (() => void)[] = [];
    const slow = async (): Promise<string> => {
      asking += 1;
      max = Math.max(max, asking);
      await new Promise<void>((resolve) => void answers.push(resolve));
      asking -= 1;
      return 'ada';
    };
    const proofs = Array.from({ length: 4 + 256 }, () => budget.prove(ADDRESS, slow));
    await expect(budget.prove(ADDRESS, slow)).rejects.toMatchObject(limited);
    let done = 0;
    void Promise.all(proofs.map((proof) => proof.then(() => (done += 1))));
    while (done < proofs.length) {
      answers.shift()?.();
      await Promise.resolve();
    }
    expect(max).toBe(4);
    expect(await budget.prove(ADDRESS, right)).toBe('ada');
  });
});
