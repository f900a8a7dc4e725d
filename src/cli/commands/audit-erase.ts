import { countNoun } from '../../base/count-noun.ts';
import { Command, Option } from 'commander';
import { eraseSubject } from '../../audit/erase-subject.ts';
import { action } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { SingleOption } from '../single-option.ts';
import { signerOf, withTrail } from '../with-trail.ts';

export function auditEraseCommand(): Command {
  return new Command('erase')
    .description("Delete the arguments and words in a subject's records for ever; the chain stays whole")
    .addOption(new SingleOption('--tenant <tenant>', 'of this tenant (default: default)'))
    .addOption(new SingleOption('--subject <subject>', 'of this subject').makeOptionMandatory())
    .addOption(new Option('--yes', 'really; it cannot be undone'))
    .action(
      action((context) =>
        withTrail(
          context,
          async (open) => {
            const { trail, store } = open;
            const { terminal, options } = context;
            const tenant = (options['tenant'] as string | undefined) ?? 'default';
            const subject = options['subject'] as string;
            if (options['yes'] !== true) throw usage('What is erased cannot be brought back.', 'If it is meant: --yes');
            const at = store === undefined ? Date.now() : await store.now();
            const erased = await eraseSubject(trail, signerOf(open), { tenant, subject, at });
            if (terminal.json) terminal.printJson({ tenant, subject, erased });
            else terminal.print(`Erased ${countNoun(erased, 'payload')} of ${subject}`);
          },
          { store: true },
        ),
      ),
    );
}
