import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Check } from '../../src/operate/check.ts';
import type { WorkerEntry } from '../../src/domain/ports/fleet-registry.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

let plane: PlaneFolder;
beforeEach(() => void (plane = planeFolder()));
afterEach(() => plane.remove());

const plugin = (members: string): void =>
  writeFileSync(
    plane.file('guard.mjs'),
    `export default { id: 'guard', hooks: [{ id: 'h', on: 'before_tool_call', run() {}, ${members} }] };`,
  );
const configure = (entry: string): void =>
  writeFileSync(plane.file('sallyport.yaml'), `worker:\n  hooks:\n    - ${entry}\n`, { mode: 0o600 });

describe('hooks of a worker', () => {
  it('are loaded at its start, and seen in the fleet and by doctor', async () => {
    plugin("tools: ['basic.*']");
    configure('{ file: ./guard.mjs, timeoutMs: 2000 }');
    const dev = await plane.start('dev');
    try {
      const workers = (await plane.json('workers')) as unknown as WorkerEntry[];
      expect(workers[0]!.hooks).toMatchObject([{ hook: 'guard.h', on: 'before_tool_call', failed: 0 }]);
      const { checks } = (await plane.json('doctor')) as unknown as { checks: Check[] };
      expect(checks.find(({ name }) => name === 'hooks')).toMatchObject({ state: 'ok' });
    } finally {
      await dev.stop();
    }
  });

  it.each([
    ["tools: ['basic.*'], onTimeout: 'allow'", /guard\.mjs: hook h: "onTimeout" is not possible/],
    ["tools: ['basics.echo']", /guard\.mjs: hook h: tools: there is no tool basics\.echo/],
  ])('that cannot be used keep it from starting: %s', async (members, problem) => {
    plugin(members);
    configure('{ file: ./guard.mjs }');
    const { code, stderr } = await plane.cli('dev', '--modules', plane.modules);
    expect(stderr).toMatch(problem);
    expect(code).toBe(78);
  });

  it('that are not there keep it from starting', async () => {
    configure('{ file: ./gone.mjs }');
    const { code, stderr } = await plane.cli('dev', '--modules', plane.modules);
    expect(stderr).toMatch(/gone\.mjs: it cannot be loaded/);
    expect(code).toBe(78);
  });
});
