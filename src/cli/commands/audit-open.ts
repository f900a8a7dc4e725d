import { Command } from 'commander';
import { parseAuditorKey } from '../../audit/auditor-keys.ts';
import { openArguments } from '../../audit/open-arguments.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { readPrivateFile } from '../../base/read-private-file.ts';
import { escapeJson } from '../../base/escape-text.ts';
import { action } from '../command-context.ts';
import { SingleOption } from '../single-option.ts';
import { withTrail } from '../with-trail.ts';

export function auditOpenCommand(): Command {
  return new Command('open')
    .description("Print the sealed arguments of a privileged call, whole, with the auditor's private key")
    .addOption(new SingleOption('--key <file>', "the auditor's private key").makeOptionMandatory())
    .addOption(new SingleOption('--call <id>', 'id of the call').makeOptionMandatory())
    .action(
      action(async (context) => {
        const { terminal, options } = context;
        const file = options['key'] as string;
        const read = readPrivateFile(file);
        if (read.kind === 'problem') throw planeError('AUDITOR_KEY_INVALID', { file, problem: `it ${read.problem}` });
        const auditor = parseAuditorKey(file, read.text);
        return withTrail(context, async ({ trail }) => {
          const opened = await openArguments(trail, options['call'] as string, auditor);
          const { callId, tool, at } = opened.record;
          const facts = { callId, tool, at, digest: opened.record.effectiveDigest };
          if (terminal.json)
            return terminal.printJson({ ...facts, arguments: JSON.parse(opened.arguments) as unknown });
          // For a terminal, escape everything that it would interpret. In a file or a pipe, the bytes are exactly those that ran.
          terminal.print(process.stdout.isTTY ? escapeJson(opened.arguments) : opened.arguments);
        });
      }),
    );
}
