import { countNoun } from '../../base/count-noun.ts';
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { readExpected, type ExpectedTrail } from '../../audit/expected-trail.ts';
import type { AuditProblem } from '../../audit/verify-trail.ts';
import { verifyAudit } from '../../operate/verify-audit.ts';
import { nameLane, type ForeignStatement, type GapStatement } from '../../domain/audit/audit-record.ts';
import { action } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { EXIT } from '../exit-codes.ts';
import { SingleOption } from '../single-option.ts';
import { withTrail } from '../with-trail.ts';

export function auditVerifyCommand(): Command {
  return new Command('verify')
    .description(
      'Recompute all chains and check all signatures; exit code 1 and the first bad or missing record or statement otherwise',
    )
    .addOption(
      new SingleOption(
        '--expect <file>',
        'what verify --json printed earlier: the trail must continue exactly that one',
      ),
    )
    .action(
      action((context) =>
        withTrail(
          context,
          async ({ trail, audit, store }) => {
            const { terminal, options } = context;
            const expected = readExpectedFile(options['expect'] as string | undefined);
            const result = await verifyAudit(trail, store, audit, expected);
            const { problem, records, statements, statement, lanes, notices, gaps, foreign } = result;
            if (terminal.json) terminal.printJson({ valid: problem === undefined, ...result });
            else if (problem !== undefined) terminal.print(describe(problem), 'red');
            else {
              const last = statement === undefined ? '' : `, the last is number ${statement.number}`;
              terminal.print(
                `${countNoun(records, 'record')} in ${countNoun(lanes.length, 'lane')}, ${countNoun(statements, 'signed statement')}${last}: all in order`,
              );
              for (const gap of gaps) terminal.print(describeGap(gap), 'yellow');
              for (const found of foreign) terminal.print(describeForeign(found), 'yellow');
              for (const { lane, first } of lanes.filter((each) => each.first > 1)) {
                terminal.note(`${nameLane(lane)} begins with record ${first}: retention has deleted those before it`);
              }
              const loose = lanes.filter(({ signed, last: end }) => signed < end);
              for (const { lane, signed, last: end } of loose) {
                terminal.note(`${nameLane(lane)}: records ${signed + 1} to ${end} are newer than the last signed head`);
              }
            }
            if (!terminal.json) for (const notice of notices) terminal.warn(notice);
            return problem === undefined ? EXIT.ok : EXIT.notOk;
          },
          { store: true },
        ),
      ),
    );
}

function readExpectedFile(file: string | undefined): ExpectedTrail | undefined {
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(`${file} cannot be read: ${(error as Error).message}`);
  }
  const expected = readExpected(text);
  if (typeof expected !== 'string') return expected;
  throw usage(`${file} cannot be used: ${expected}.`, 'Give a file with the output of: sallyport audit verify --json');
}

function describe({ lane, sequence, store, what }: AuditProblem): string {
  if (sequence === undefined) return `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
  return `Record ${sequence} of lane ${lane} (store ${store}): ${what}`;
}

function describeGap({ lane, from, to, by, reason, at }: GapStatement): string {
  return `${nameLane(lane)}: records ${from} to ${to} were lost; ${by} went on without them on ${dateOf(at)}: ${reason}`;
}

function describeForeign({ lane, after, through, elements, bytes, uncounted, at }: ForeignStatement): string {
  const strange = elements === 0 ? [] : [`${elements} entries that are no records (${bytes} bytes)`];
  const extra = uncounted === 0 ? [] : [`${countNoun(uncounted, 'record')} that the lane had not counted`];
  const where = through > after ? `among records ${after + 1} to ${through}` : `behind record ${after}`;
  return `${nameLane(lane)}, ${where}: a role has appended ${[...strange, ...extra].join(' and ')}; found on ${dateOf(at)}`;
}

const dateOf = (at: number): string => new Date(at).toISOString();
