import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { spawnNode } from '../support/process.ts';

const SCRIPT = join(fileURLToPath(new URL('../../', import.meta.url)), 'scripts/test-load.mjs');

async function testLoad(...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = await spawnNode(SCRIPT, args);
  const { code } = await child.exited;
  return { code, stdout: child.stdout, stderr: child.stderr };
}

test('test:load finds the files that have a deadline in them, or in a part of their suite, and leaves the others out', async () => {
  const { code, stdout } = await testLoad('--list');
  const files = stdout.trim().split('\n');
  expect(code).toBe(0);
  expect(files).toContain('test/plane/bad-input-redis.test.ts');
  // This suite has its deadlines in the files of its topics.
  expect(files).toContain('test/contract/redis.test.ts');
  expect(files).not.toContain('test/docs/links.test.ts');
  expect((await testLoad('--list', 'test/contract/')).stdout.trim().split('\n')).toEqual(
    files.filter((file) => file.startsWith('test/contract/')),
  );
});

test.each([
  ['--times', '0'],
  ['--times', 'many'],
  ['--tmies', '3'],
])('test:load %s %s is refused with its usage, before anything runs', async (...args) => {
  expect(await testLoad(...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--times 10') });
});
