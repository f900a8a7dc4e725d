import { Command } from 'commander';
import { planeError } from '../../domain/errors/errors.ts';
import { readTokenText } from '../../domain/identity/token-text.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action } from '../command-context.ts';
import { withStore } from '../with-store.ts';

export function tokensRevokeCommand(): Command {
  return new Command('revoke')
    .description('Take a token back, with all sessions that were opened with it')
    .argument('<token>', 'its id, or the whole token if that has leaked')
    .addOption(commentOption())
    .action(
      action((context, given: string) =>
        withStore(context, async (store) => {
          const { terminal } = context;
          const id = readTokenText(given)?.id ?? given;
          if ((await store.revokeToken({ id, ...administeredBy(context) })) === 'unknown') {
            // Text that does not look like an id may be a secret, so the error does not quote it.
            throw planeError('TOKEN_UNKNOWN', { token: /^[a-z2-7]{1,16}$/.test(id) ? id : 'of that id' });
          }
          if (terminal.json) terminal.printJson({ id, revoked: true });
          else terminal.print(`Revoked ${id}, and all sessions that were opened with it.`);
        }),
      ),
    );
}
