import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RELEASE } from '../../src/base/release.ts';
import { EXIT_OF } from '../../src/cli/describe-failure.ts';
import { freePort } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

// Each test starts several processes one after the other.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

let plane: PlaneFolder;
beforeEach(() => void (plane = planeFolder()));
afterEach(() => {
  plane.remove();
  failOnLeaks();
});

it('a second dev with the same port names the first one as the cause, and one in another folder names the port', async () => {
  const port = String(await freePort());
  const first = await plane.start('dev', ['--http-port', port]);
  const second = await plane.cli('dev', '--modules', plane.modules, '--http-port', port);
  expect(second).toMatchObject({ code: EXIT_OF.STORE_OWNED });
  expect(second.stderr).toMatch(/store\.sqlite.*\d+/);
  expect(second.stderr).not.toContain(`The port ${port}`);
  const elsewhere = await plane.cli('dev', '--modules', plane.modules, '--http-port', port, '--folder', 'other');
  expect(elsewhere.stderr).toContain(`The port ${port} on 127.0.0.1 is taken.`);
  await first.stop();
});

it('a policy file that names a module which is published a moment later is used then', async () => {
  const policy = (tool: string): string =>
    `permissions: { "*": { allow: ["*"] } }\nrules: [{ id: one, verdict: deny, tools: [${tool}] }]\n`;
  writeFileSync(plane.file('policy.yaml'), policy('basic.echo'));
  const dev = await plane.start('dev', ['--policy', 'policy.yaml', '--watch', 'true']);
  writeFileSync(plane.file('policy.yaml'), policy('later.echo'));
  await dev.waitForLine(/the new file is not used/);
  const { modules } = JSON.parse(readFileSync(plane.modules, 'utf8')) as { modules: object[] };
  writeFileSync(plane.modules, JSON.stringify({ modules: [...modules, { ...modules[0], id: 'later' }] }));
  await dev.waitForLine(/policy reloaded/);
  const { policy: now } = (await plane.json('policy', 'show')) as { policy: { rules: object[] } };
  expect(now.rules).toMatchObject([{ id: 'one', tools: ['later.echo'] }]);
  await dev.stop();
});

it('version prints what --version prints', async () => {
  const [word, flag] = [await plane.cli('version'), await plane.cli('--version')];
  expect(word).toEqual(flag);
  expect(word).toMatchObject({ code: 0, stdout: `${RELEASE}\n` });
});
