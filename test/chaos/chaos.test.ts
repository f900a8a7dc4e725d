import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually, spawnNode } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';

const MAIN = fileURLToPath(new URL('../../dist/chaos/main.js', import.meta.url));
/** A run takes seconds on an idle machine, but much longer on a busy one. */
const TIMEOUT_MS = 600_000;

interface Told {
  readonly invariants: readonly { readonly id: string; readonly tried: number; readonly violated: number }[];
  readonly violations: readonly object[];
  readonly faults: readonly { readonly kind: string }[];
}

async function chaos(...args: string[]): Promise<WatchedProcess> {
  return spawnNode(MAIN, args);
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        const stat = readFileSync(`/proc/${candidate}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid;
      } catch {
        return false;
      }
    });
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

afterAll(failOnLeaks);

describe.each(['redis', 'embedded'])('the chaos run on %s', (store) => {
  it(
    'violates nothing',
    async () => {
      const run = await chaos('--store', store, '--calls', '200', '--faults', '9', '--layers', 'none', '--json');
      await run.exited;
      const [told] = JSON.parse(run.stdout) as [Told];
      expect(told.violations).toEqual([]);
      expect(run.exit?.code).toBe(0);
      expect(told.faults).toHaveLength(9);
      expect(told.faults.map(({ kind }) => kind)).toContain('stop-at-send');
      const tried = told.invariants.filter((each) => each.tried > 0).map(({ id }) => id);
      expect(tried).toEqual(
        expect.arrayContaining([
          'I1',
          'I2',
          'I3',
          'I4',
          'I5',
          'I6',
          'I7',
          'I8',
          'I9',
          'I10',
          'I11',
          'I13',
          'I14',
          'I15',
        ]),
      );
    },
    TIMEOUT_MS,
  );

  it(
    'leaves no process behind when it is interrupted',
    async () => {
      const run = await chaos('--store', store, '--calls', '2000', '--faults', '40', '--layers', 'none');
      await run.waitForLine(/\d+ of \d+ workers up/, 120_000);
      const children = childrenOf(run.pid);
      expect(children.length).toBeGreaterThan(3);
      run.kill('SIGINT');
      expect((await run.exited).code).toBe(130);
      await eventually(() => !children.some(isAlive), { what: 'every process to be gone' });
    },
    TIMEOUT_MS,
  );
});

describe('the chaos command', () => {
  it.each([
    [['--store', 'mongo'], '--store is redis, embedded or both'],
    [['--calls', 'many'], '--calls needs a whole number'],
    [['--faults', '-1'], '--faults'],
    [['--seed', '1.5'], '--seed needs a whole number'],
    [['--layers', 'nonsense'], 'There is no layer "nonsense"'],
    [['--unknown'], '--unknown'],
    [['extra'], 'extra'],
  ])('refuses %j and says why', async (args, why) => {
    const run = await chaos(...args);
    expect((await run.exited).code).toBe(2);
    expect(run.stderr).toContain(why);
    expect(run.stderr).toContain('npm run chaos');
  });

  it('lists its options', async () => {
    const run = await chaos('--help');
    expect((await run.exited).code).toBe(0);
    expect(run.stdout).toContain('--seeds');
  });
});
