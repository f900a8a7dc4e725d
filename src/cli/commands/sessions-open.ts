import { Command, Option } from 'commander';
import { openSession, type OpenSessionOptions } from '../../client/open-session.ts';
import type { SessionHandle } from '../../domain/identity/session.ts';
import { cliActor } from '../cli-actor.ts';
import { action } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { readDuration } from '../duration.ts';
import { writeNewFile } from '../open-new-file.ts';
import { toSafeJson } from '../../base/escape-text.ts';
import { refuseLostOutput } from '../refuse-lost-output.ts';
import { SingleOption } from '../single-option.ts';
import { withFoundedStore } from '../with-store.ts';

const IDENTITY = ['tenant', 'subject', 'agent', 'channel', 'space', 'platform'] as const;

export function sessionsOpenCommand(): Command {
  const command = new Command('open').description('Open a session and print its id, run and token, once');
  for (const name of IDENTITY) command.addOption(new SingleOption(`--${name} <text>`, `the ${name} of its calls`));
  return command
    .addOption(new SingleOption('--lifetime <duration>', 'when it ends at the latest (default: 1h)', readDuration))
    .addOption(
      new SingleOption('--idle <duration>', 'when it ends without a call (default: its lifetime)', readDuration),
    )
    .addOption(new Option('--unattended', 'no person watches: what would ask one is denied at once'))
    .addOption(
      new SingleOption('--out <path>', 'write it to a new file that only you can read, instead of printing it'),
    )
    .action(
      action((context) => {
        const { terminal, options } = context;
        if (options['subject'] === undefined) throw usage('Say who the session is for: --subject NAME');
        const { lifetime, idle, out } = options as { lifetime?: number; idle?: number; out?: string };
        if (out === undefined) refuseLostOutput('The session', 'Write it to a file: --out FILE');
        const identity = Object.fromEntries(
          IDENTITY.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
        ) as unknown as OpenSessionOptions;
        return withFoundedStore(context, async (store) => {
          const wanted = {
            ...identity,
            agent: identity.agent ?? 'cli',
            ...(lifetime === undefined ? {} : { lifetimeMs: lifetime }),
            ...(idle === undefined ? {} : { idleMs: idle }),
            ...(options['unattended'] === true ? { unattended: true } : {}),
          };
          const open = async (): Promise<SessionHandle> => {
            const session = await openSession(store, wanted, cliActor());
            // Print the hint first, on standard error: if standard output is lost, the id for `revoke` is still known.
            terminal.hint(`To end it: sallyport sessions revoke ${session.id}`);
            return session;
          };
          if (out === undefined) return terminal.printJson(await open());
          const session = await writeNewFile(out, open, toSafeJson);
          const { token: _, ...shown } = session;
          if (terminal.json) terminal.printJson({ ...shown, out });
          else terminal.print(`${out}: session ${session.id}, until ${new Date(session.expiresAt).toISOString()}`);
        });
      }),
    );
}
