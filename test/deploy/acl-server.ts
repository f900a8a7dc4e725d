import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from '../cli/run-cli.ts';
import { temporaryFolder } from '../support/process.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import type { Role } from '../../src/stores/redis/acl-roles.ts';

export interface AclServer {
  /** Its `url` and `cli` log in as the test's own user. */
  readonly redis: RedisServer;
  /** The address without a user. */
  readonly url: string;
  passwordFile(role: Role): string;
  password(role: Role): string;
  /** Environment of a process that logs in as this role. */
  login(role: Role): Record<string, string>;
  /** Commands that Redis has refused since this was last called, each as `user command object`. */
  refusals(): Promise<string[]>;
  stop(): Promise<void>;
}

/** The test's own user. The default user is closed, as in the lines that are printed. */
export const TESTER = { username: 'tester', password: 'only-in-this-test' } as const;
export const TESTER_LINE = `user ${TESTER.username} on >${TESTER.password} ~* &* +@all\n`;

/** A real server whose users are the lines that `sallyport store acl` prints, and the test's own. */
export async function startAclServer(): Promise<AclServer> {
  const folder = temporaryFolder('sallyport-acl');
  const passwords = join(folder.path, 'passwords');
  const lines = await runCli(['store', 'acl', '--passwords', passwords], { cwd: folder.path });
  if (lines.code !== 0) throw new Error(lines.stderr);
  const file = join(folder.path, 'users.acl');
  writeFileSync(file, `${lines.stdout}${TESTER_LINE}`);
  const redis = await startRedis({ ...TESTER, extra: ['--aclfile', file] });
  const url = `redis://127.0.0.1:${redis.port}`;
  const passwordFile = (role: Role): string => join(passwords, `${role}.password`);
  return {
    redis,
    url,
    passwordFile,
    password: (role) => readFileSync(passwordFile(role), 'utf8').trim(),
    login: (role) => ({
      SALLYPORT_STORE: 'redis',
      SALLYPORT_REDIS_URL: url,
      SALLYPORT_REDIS_USERNAME: `sallyport-${role}`,
      SALLYPORT_REDIS_PASSWORD_FILE: passwordFile(role),
      SALLYPORT_REDIS_CREATE: 'false',
    }),
    async refusals() {
      const log = JSON.parse(await redis.cli('--json', 'ACL', 'LOG')) as Record<string, string>[];
      await redis.cli('ACL', 'LOG', 'RESET');
      return log.map((entry) => `${entry['username']} ${entry['reason']} ${entry['object']}`);
    },
    async stop() {
      await redis.stop();
      folder.remove();
    },
  };
}
