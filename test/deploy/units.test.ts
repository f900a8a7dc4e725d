import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/config-schema.ts';
import { runCli } from '../cli/run-cli.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const UNITS = readdirSync(join(DEPLOY, 'systemd')).sort();
const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });
const hasSystemd = analyze('--version').status === 0;
/** The limit for systemd's exposure score, which goes up to 10. A program that uses the network and compiles code cannot reach 0. */
const MAX_EXPOSURE = 2;

let folder: TemporaryFolder;
let installed: string[];
beforeAll(() => {
  folder = temporaryFolder('sallyport-units');
  installed = UNITS.map(install);
});
afterAll(() => folder.remove());

/** Installs a unit as a package would: the program that it names exists, and a template unit has an instance name. */
function install(unit: string): string {
  const program = join(folder.path, 'sallyport');
  writeFileSync(program, '#!/bin/sh\n');
  chmodSync(program, 0o755);
  const path = join(folder.path, unit.replace('@', '@default'));
  writeFileSync(path, readUnit(unit).replace('/usr/bin/sallyport', program));
  return path;
}

const readUnit = (unit: string): string => readFileSync(join(DEPLOY, 'systemd', unit), 'utf8');
const settingOf = (unit: string, name: string): string | undefined =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(readUnit(unit))?.[1];

describe('the systemd units', () => {
  it('are those of worker and gateway', () => {
    expect(UNITS).toStrictEqual(['sallyport-gateway.service', 'sallyport-worker@.service']);
  });

  it.skipIf(!hasSystemd)('are accepted by systemd-analyze verify without a remark (skipped without systemd)', () => {
    const { status, stdout, stderr } = analyze('verify', '--man=no', ...installed);
    expect({ status, said: `${stdout}${stderr}` }).toStrictEqual({ status: 0, said: '' });
  });

  it.skipIf(!hasSystemd)('are hardened, says systemd-analyze security (skipped without systemd)', ({ skip }) => {
    for (const unit of installed) {
      const { stdout, stderr } = analyze('security', '--no-pager', '--offline=true', unit);
      skip(stderr.includes('unrecognized option'), 'this systemd cannot look at files');
      const exposure = Number(/Overall exposure level.*: ([\d.]+)/.exec(stdout)?.[1]);
      expect(exposure).toBeLessThan(MAX_EXPOSURE);
    }
  });

  it.each(UNITS)('%s takes its password as a credential, and nothing secret from its environment', (unit) => {
    expect(settingOf(unit, 'LoadCredential')).toMatch(
      /^redis-password:\/etc\/sallyport\/secrets\/(worker|gateway)\.password$/,
    );
    expect(readUnit(unit)).toContain('Environment=SALLYPORT_REDIS_PASSWORD_FILE=%d/redis-password');
    expect(readUnit(unit)).not.toMatch(/^Environment=\S*(PASSWORD|SECRET|TOKEN)=/m);
  });

  it.each(UNITS)('%s waits longer for the end than the grace takes', (unit) => {
    const { graceMs } = configSchema.parse({}).worker;
    expect(Number(settingOf(unit, 'TimeoutStopSec')) * 1000).toBeGreaterThanOrEqual(graceMs + 10_000);
    expect(settingOf(unit, 'KillMode')).toBe('mixed');
  });

  it('a credential that belongs to root and names our user in its access list is read; elsewhere such a file is refused', async () => {
    const credentials = join(folder.path, 'credentials');
    mkdirSync(credentials, { mode: 0o500 });
    chmodSync(credentials, 0o700);
    const password = join(credentials, 'redis-password');
    writeFileSync(password, 'x\n');
    chmodSync(password, 0o440);
    const env = {
      SALLYPORT_STORE: 'redis',
      SALLYPORT_REDIS_URL: 'redis://127.0.0.1:1',
      SALLYPORT_REDIS_PATIENCE_MS: '1',
      SALLYPORT_REDIS_PASSWORD_FILE: password,
    };
    const refused = await runCli(['workers'], { cwd: folder.path, env });
    expect(refused.stderr).toContain('can be read by other users');
    const read = await runCli(['workers'], { cwd: folder.path, env: { ...env, CREDENTIALS_DIRECTORY: credentials } });
    expect(read.stderr).toContain('The store cannot be reached');
    chmodSync(password, 0o444);
    const open = await runCli(['workers'], { cwd: folder.path, env: { ...env, CREDENTIALS_DIRECTORY: credentials } });
    expect(open.stderr).toContain('can be read by other users');
  });

  it.each(['worker.yaml', 'gateway.yaml'])('the example configuration %s is one', async (name) => {
    const shown = await runCli(['config', 'show', '--config', join(DEPLOY, name)], { cwd: folder.path });
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stdout).toMatch(/redis\.create +false/);
  });
});
