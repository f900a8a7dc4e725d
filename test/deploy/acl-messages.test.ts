import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Role } from '../../src/stores/redis/acl-roles.ts';
import { planeFolder, type PlaneFolder } from '../cli/plane-folder.ts';
import { runCli } from '../cli/run-cli.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startAclServer, type AclServer } from './acl-server.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let server: AclServer;
const planes: PlaneFolder[] = [];

/** A working directory whose commands log in to Redis as this role. */
function as(role: Role): PlaneFolder {
  const plane = planeFolder([], server.login(role));
  planes.push(plane);
  return plane;
}

beforeAll(async () => {
  server = await startAclServer();
  const adopted = await as('admin').cli('store', 'adopt', '--yes');
  if (adopted.code !== 0) throw new Error(`store adopt ended with ${adopted.code}: ${adopted.stderr}`);
});
afterAll(async () => {
  for (const plane of planes) plane.remove();
  await server.stop();
  failOnLeaks();
});

describe('with a user of its role, after `store adopt` alone', () => {
  it('a worker with services starts, and says which functions are missing when they are not loaded', async () => {
    const plane = as('worker');
    writeFileSync(plane.file('sallyport.json'), JSON.stringify({ services: { conversations: {} } }));
    const args = ['worker', '--modules', plane.modules];
    const started = await plane.startWaiting(...args);
    await started.waitForLine(/^Health: /);
    expect(await server.refusals()).toStrictEqual([]);
    await started.stop();
    await server.redis.cli('FUNCTION', 'DELETE', 'sallyport_services_1');
    const refused = await plane.cli(...args);
    expect(refused.code).toBe(69);
    expect(refused.stderr).toContain('The server does not have the function library sallyport_services_1');
    expect(refused.stderr).toContain('As the administrator of the store: sallyport store upgrade');
    const upgraded = await as('admin').cli('store', 'upgrade');
    expect(upgraded.stdout).toContain('Loaded the functions sallyport_services_1.');
    await server.refusals();
  });

  it('a wrong role, a wrong password and a missing right are named, each with its fix', async () => {
    const wrongRole = await as('monitor').cli('worker', '--modules', as('monitor').modules);
    expect(wrongRole.code).toBe(77);
    expect(wrongRole.stderr).toContain('The Redis user sallyport-monitor cannot do the work of the role worker');
    expect(wrongRole.stderr).toContain('Its rights look like those of the role monitor.');
    expect(wrongRole.stderr).toContain('Log in as the user of that role');
    const wrongPassword = await runCli(['workers'], {
      cwd: as('operator').path,
      env: { ...server.login('operator'), SALLYPORT_REDIS_PASSWORD_FILE: server.passwordFile('client') },
    });
    expect(wrongPassword.code).toBe(77);
    expect(wrongPassword.stderr).toContain('Redis refused the login as sallyport-operator: WRONGPASS');
    expect(wrongPassword.stderr).toContain('Compare redis.username and the password file');
    const noRight = await as('client').cli('tokens', 'list');
    expect(noRight.code).toBe(77);
    expect(noRight.stderr).toContain('NOPERM');
    expect(noRight.stderr).toContain(
      'You are logged in as sallyport-client, the role client; this command needs the role operator.',
    );
    expect(noRight.stderr).toContain('Log in as sallyport-operator');
    const noAdmin = await as('operator').cli('store', 'adopt', '--yes');
    expect(noAdmin.stderr).toContain('this command needs the role admin');
    await server.refusals();
  });
});
