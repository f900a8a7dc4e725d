import { Command, Option } from 'commander';
import { findLostMarks, readMarks } from '../../audit/statement-marks.ts';
import { systemUser } from '../../base/system-user.ts';
import { action } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { SingleOption } from '../single-option.ts';
import { signerOf, withTrail } from '../with-trail.ts';

const MAX_REASON_LENGTH = 500;

export function auditAcceptRollbackCommand(): Command {
  return new Command('accept-rollback')
    .description('Sign that the trail goes on although signed statements are lost: after a restore of an older copy')
    .addOption(new SingleOption('--reason <text>', 'why, for everybody who verifies later').makeOptionMandatory())
    .addOption(new Option('--yes', 'really; verify names it from now on'))
    .action(
      action((context) =>
        withTrail(
          context,
          async (open) => {
            const { terminal, options } = context;
            const { trail, audit, store } = open;
            const reason = (options['reason'] as string).trim();
            if (reason === '' || reason.length > MAX_REASON_LENGTH)
              throw usage(`--reason has 1 to ${MAX_REASON_LENGTH} characters.`);
            const lost = await findLostMarks(trail, await readMarks(audit.keys, store));
            if (lost.length === 0) {
              if (terminal.json) terminal.printJson({ accepted: false });
              else terminal.print('Nothing to accept: the trail has every statement that is known of it');
              return;
            }
            if (options['yes'] !== true) throw usage(`${lost[0]!.problem}.`, 'If that is your own restore: --yes');
            const at = store === undefined ? Date.now() : await store.now();
            const by = systemUser();
            const rollback = await signerOf(open).acceptRollback(trail, { at, reason, by });
            if (rollback === undefined) return;
            const { number, after, givenUp } = rollback;
            if (terminal.json) terminal.printJson({ accepted: true, number, after, givenUp, reason, by });
            else terminal.print(`Statement ${number} follows statement ${after}; what was between them is given up`);
          },
          { store: true },
        ),
      ),
    );
}
