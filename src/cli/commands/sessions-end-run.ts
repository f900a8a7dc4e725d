import { Command } from 'commander';
import { parseScopedId, type RunId, type SessionId } from '../../domain/identity/ids.ts';
import { administeredBy, commentOption } from '../cli-actor.ts';
import { action } from '../command-context.ts';
import { CommandFailure } from '../command-failure.ts';
import { EXIT } from '../exit-codes.ts';
import { withStore } from '../with-store.ts';

export function sessionsEndRunCommand(): Command {
  return new Command('end-run')
    .description('End one run of a session now; its queued calls are denied, the session lives on')
    .argument('<session>', 'its id')
    .argument('<run>', 'the run, as `sessions open` and `sessions list --json` show it')
    .addOption(commentOption())
    .action(
      action((context, id: string, run: string) =>
        withStore(context, async (store) => {
          const session = parseScopedId(id) === undefined ? undefined : await store.readSession(id as SessionId);
          if (session?.runs.includes(run as RunId) !== true) {
            throw new CommandFailure(
              session === undefined ? 'SESSION_UNKNOWN' : 'RUN_UNKNOWN',
              EXIT.notOk,
              session === undefined
                ? `There is no session ${id.slice(0, 80)}.`
                : `The session has no run ${run.slice(0, 80)}.`,
              'List them with: sallyport sessions list --json',
            );
          }
          await store.endRun({ session: session.id, run: run as RunId, ...administeredBy(context) });
          if (context.terminal.json) context.terminal.printJson({ session: id, run, ended: true });
          else context.terminal.print('Ended. Calls of it that have not started will be denied.');
        }),
      ),
    );
}
