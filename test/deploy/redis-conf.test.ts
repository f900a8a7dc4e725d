import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { jsonOf, runCli } from '../cli/run-cli.ts';
import { freePort, temporaryFolder } from '../support/process.ts';
import { startRedis } from '../support/redis-server.ts';
import { TESTER, TESTER_LINE } from './acl-server.ts';

const FOLDER = fileURLToPath(new URL('../../deploy/redis/', import.meta.url));
const CONF = join(FOLDER, 'redis.conf');

describe('the example Redis configuration', () => {
  it('is accepted by a real server as it is, and found safe by doctor and by a start', async () => {
    const folder = temporaryFolder('sallyport-redis-conf');
    const port = await freePort();
    const users = join(folder.path, 'users.acl');
    const made = await runCli(['store', 'acl', '--passwords', 'secrets'], { cwd: folder.path });
    writeFileSync(users, `${made.stdout}${TESTER_LINE}`);
    // The shipped configuration file is read first; then the port, folder and users file of this test replace its settings.
    const places = ['--port', String(port), '--dir', folder.path, '--aclfile', users];
    const redis = await startRedis({ ...TESTER, port, directory: folder.path, extra: ['--include', CONF, ...places] });
    try {
      const env = (role: string) => ({
        SALLYPORT_STORE: 'redis',
        SALLYPORT_REDIS_URL: `redis://127.0.0.1:${port}`,
        SALLYPORT_REDIS_USERNAME: `sallyport-${role}`,
        SALLYPORT_REDIS_PASSWORD_FILE: join(folder.path, 'secrets', `${role}.password`),
      });
      expect((await runCli(['store', 'adopt', '--yes'], { cwd: folder.path, env: env('admin') })).code).toBe(0);
      const doctor = jsonOf(await runCli(['doctor', '--json'], { cwd: folder.path, env: env('admin') }));
      const checks = doctor['checks'] as { name: string; state: string }[];
      for (const name of [
        'version',
        'maxmemory-policy',
        'appendonly',
        'default-user',
        'anonymous',
        'durability',
        'store',
      ])
        expect(checks).toContainEqual(expect.objectContaining({ name, state: 'ok' }));
      expect(await redis.cli('CONFIG', 'GET', 'maxmemory')).toContain(String(2 * 1024 ** 3));
      await expect(redis.cli('DEBUG', 'SLEEP', '0')).rejects.toThrow(/not allowed/);
    } finally {
      await redis.stop();
      folder.remove();
    }
  });

  it('its users are those of `sallyport store acl`, all of them locked, and no other user may log in', async () => {
    const lines = readFileSync(join(FOLDER, 'users.acl'), 'utf8').trimEnd().split('\n');
    const printed = await runCli(['store', 'acl'], { cwd: FOLDER });
    expect(lines).toStrictEqual(printed.stdout.trimEnd().split('\n'));
    const [first, ...users] = lines;
    expect(first).toMatch(/^user default off /);
    for (const user of users) expect(user).toMatch(/^user sallyport-[a-z]+ reset off /);
  });
});
