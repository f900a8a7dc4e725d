import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/process.ts';
import { startCommand } from './start-command.ts';

let temporary: TemporaryFolder;
beforeEach(() => {
  temporary = temporaryFolder('sallyport-start');
});
afterEach(() => temporary.remove());

function advice({
  modules,
  command = 'sallyport',
  flags = '',
}: { modules?: string; command?: string; flags?: string } = {}) {
  return startCommand({ worker: { modules } }, { cwd: temporary.path, command, sameStore: `${command}${flags}` });
}

it('names the modules, which dev needs where there is no folder of them', () => {
  expect(advice()).toBe('sallyport dev --modules PATH');
});

it('is dev alone where it finds modules', () => {
  expect(advice({ modules: '/tools' })).toBe('sallyport dev');
  mkdirSync(join(temporary.path, 'modules'));
  expect(advice()).toBe('sallyport dev');
});

it('is npm start at the top of a clone, with the flags of the store', () => {
  mkdirSync(join(temporary.path, 'scripts'));
  writeFileSync(join(temporary.path, 'scripts/start.mjs'), '');
  expect(advice({ command: './sallyport' })).toBe('npm start');
  expect(advice({ command: './sallyport', flags: ' --folder plane' })).toBe('npm start -- --folder plane');
  expect(advice()).toBe('sallyport dev --modules PATH');
});
