import { Command } from 'commander';
import { readTrustedKeys } from '../../audit/signing-keys.ts';
import { verifyTrail, type AuditProblem } from '../../audit/verify-trail.ts';
import { knownLengths } from '../../compose/known-lengths.ts';
import { action } from '../command-context.ts';
import { EXIT } from '../exit-codes.ts';
import { withTrail } from '../with-trail.ts';

export function auditVerifyCommand(): Command {
  return new Command('verify')
    .description(
      'Recompute all chains and check all signatures; exit code 1 and the first bad or missing record otherwise',
    )
    .action(
      action((context) =>
        withTrail(
          context,
          async ({ trail, audit, store }) => {
            const { terminal } = context;
            const known = await knownLengths(store);
            const result = await verifyTrail(trail, readTrustedKeys(audit.keys), known);
            const { problem, records, statements, lanes } = result;
            if (terminal.json) terminal.printJson({ valid: problem === undefined, ...result });
            else if (problem !== undefined) terminal.print(describe(problem), 'red');
            else {
              terminal.print(
                `${records} records in ${lanes.length} lanes, ${statements} signed statements: all in order`,
              );
              const loose = lanes.filter(({ signed, last }) => signed < last);
              for (const { lane, signed, last } of loose) {
                terminal.note(`lane ${lane}: records ${signed + 1} to ${last} are newer than the last signed head`);
              }
            }
            return problem === undefined ? EXIT.ok : EXIT.notOk;
          },
          { store: true },
        ),
      ),
    );
}

function describe({ lane, sequence, store, what }: AuditProblem): string {
  if (sequence === undefined) return what;
  return `Record ${sequence} of lane ${lane} (store ${store}): ${what}`;
}
