import { Command } from 'commander';
import { parseScopedId, type SessionId } from '../../domain/identity/ids.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action } from '../command-context.ts';
import { CommandFailure } from '../command-failure.ts';
import { EXIT } from '../exit-codes.ts';
import { withStore } from '../with-store.ts';

export function sessionsRevokeCommand(): Command {
  return new Command('revoke')
    .description('End a session now; its queued calls are denied')
    .argument('<session>', 'its id')
    .addOption(commentOption())
    .action(
      action((context, id: string) =>
        withStore(context, async (store) => {
          const request = { session: id as SessionId, ...administeredBy(context) };
          const answer = parseScopedId(id) === undefined ? 'unknown' : await store.revokeSession(request);
          if (answer === 'unknown') {
            throw new CommandFailure(
              'SESSION_UNKNOWN',
              EXIT.notOk,
              `There is no session ${id.slice(0, 80)}.`,
              'List them with: sallyport sessions list',
            );
          }
          if (context.terminal.json) context.terminal.printJson({ session: id, revoked: true });
          else context.terminal.print('Revoked. Calls of it that have not started will be denied.');
        }),
      ),
    );
}
