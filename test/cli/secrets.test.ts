import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

const VAULT = fileURLToPath(new URL('../fixtures/secrets-plane/vault.mjs', import.meta.url));
const VALUE = 'hunter2/hunter2+hunter2';

const CONFIG = `secrets:
  providers:
    - name: CANARY
      file: ./canary
policyFile: policy.yaml
`;
const POLICY = `permissions:
  '*': { allow: ['*'] }
agents: null
secrets:
  main: [CANARY]
`;

describe('sallyport dev with secrets', () => {
  let plane: PlaneFolder;
  let dev: WatchedProcess;
  beforeAll(async () => {
    plane = planeFolder();
    writeFileSync(plane.modules, JSON.stringify([{ id: 'vault', file: VAULT, runner: 'process' }]));
    writeFileSync(plane.file('sallyport.yaml'), CONFIG);
    writeFileSync(plane.file('policy.yaml'), POLICY);
    writeFileSync(plane.file('canary'), `${VALUE}\n`, { mode: 0o600 });
    dev = await plane.start('dev');
  });
  afterAll(async () => {
    await dev.stop();
    plane.remove();
    failOnLeaks();
  });

  it('gives tools the values of references, and callers none', async () => {
    const called = await plane.call(
      'vault.unsafe',
      { file: plane.file('proof'), key: 'secret:CANARY' },
      '--agent',
      'main',
    );
    expect(called.stdout).toContain('[secret CANARY]');
    expect(readFileSync(plane.file('proof'), 'utf8')).toContain('"digest"');
    const refused = await plane.call(
      'vault.unsafe',
      { file: plane.file('proof'), key: 'secret:CANARY' },
      '--agent',
      'other',
    );
    expect(refused.stdout + refused.stderr).toContain('may not use the secret CANARY');
  });

  it('says what is wrong with a file that others can read, and runs nothing', async () => {
    chmodSync(plane.file('canary'), 0o644);
    const before = readFileSync(plane.file('proof'), 'utf8');
    const called = await plane.call(
      'vault.unsafe',
      { file: plane.file('proof'), key: 'secret:CANARY' },
      '--agent',
      'main',
    );
    expect(called.stdout + called.stderr).toContain('its file can be read by other users');
    expect(readFileSync(plane.file('proof'), 'utf8')).toBe(before);
  });

  it('keeps a redaction key of its own beside the store, for its owner alone', () => {
    const path = plane.file('.sallyport/redaction.key');
    expect(readFileSync(path, 'utf8')).toMatch(/^1 [\w-]{43}\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('prints the value nowhere', () => {
    expect(dev.stdout + dev.stderr).not.toContain('hunter2');
  });
});
