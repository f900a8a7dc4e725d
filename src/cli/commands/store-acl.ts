import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { aclLines, type Role } from '../../stores/redis/acl-roles.ts';
import { action } from '../command-context.ts';
import { readSecretFile } from '../read-secret-file.ts';
import { SingleOption } from '../single-option.ts';

const PASSWORD_BYTES = 32;

export function storeAclCommand(): Command {
  return new Command('acl')
    .description('Print the lines of a Redis ACL file: one user for each role')
    .addOption(
      new SingleOption(
        '--passwords <folder>',
        'a file ROLE.password for each role, made if it is not there; the lines then hold their digests',
      ),
    )
    .action(
      action(async (context) => {
        const { name } = context.loadConfig().config.redis;
        const folder = context.options['passwords'] as string | undefined;
        const lines = aclLines(name, (role) => (folder === undefined ? 'off' : `on #${digestOf(folder, role)}`));
        if (context.terminal.json) context.terminal.printJson(lines);
        else context.terminal.printRaw(`${lines.join('\n')}\n`);
      }),
    );
}

function digestOf(folder: string, role: Role): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${role}.password`);
  if (!existsSync(path))
    writeFileSync(path, `${randomBytes(PASSWORD_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  return createHash('sha256').update(readSecretFile(path).trim()).digest('hex');
}
