import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import { startProgram } from '../support/watched-process.ts';
import { planeFolder } from './plane-folder.ts';
import { jsonOf } from './run-cli.ts';

const TOP = fileURLToPath(new URL('../..', import.meta.url));
const LINES = ['22', '24', '26'];
const OTHERS = LINES.filter((line) => line !== process.versions.node.split('.')[0]);
/** Tests of code whose results depend on Node.js itself: on its URL parser and its Unicode tables. */
const DEPENDENT = ['src/base/http/host-of-address.test.ts', 'src/gate/rules'];

let programs: Readonly<Record<string, string>>;
beforeAll(async () => {
  const setup = await startProgram(process.execPath, ['scripts/node-lines.mjs'], { cwd: TOP });
  const { code } = await setup.exited;
  if (code !== 0) throw new Error(setup.stderr);
  programs = JSON.parse(setup.stdout.trim().split('\n').at(-1)!) as Record<string, string>;
}, 300_000);
afterAll(failOnLeaks);

/** A short form of `npm run test:nodes`. */
describe.each(OTHERS)('Node %s', (line) => {
  it('serves an embedded plane and answers a call, and prints no warning', async () => {
    const plane = planeFolder([], {}, programs[line]!);
    const dev = await plane.start('dev');
    try {
      const result = await plane.call('basic.echo', { text: 'hello' });
      expect(result).toMatchObject({ code: 0, stderr: '' });
      expect(jsonOf(result)).toStrictEqual({ text: 'hello' });
    } finally {
      await dev.stop();
      plane.remove();
    }
    expect(dev.stderr).not.toContain('Warning');
    expect(dev.exit).toMatchObject({ code: 0 });
  }, 180_000);

  it('gives the verdicts that every line gives', async () => {
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '--reporter', 'dot', ...DEPENDENT];
    const run = await startProgram(programs[line]!, args, { cwd: TOP, env: { NO_COLOR: '1' } });
    const { code } = await run.exited;
    expect(code === 0 ? '' : run.stdout).toBe('');
    expect(run.stdout).toMatch(/Test Files +\d+ passed/);
  }, 180_000);
});
