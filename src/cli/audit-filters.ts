import { InvalidArgumentError, type Command } from 'commander';
import { AUDIT_EVENTS, type AuditFilter } from '../domain/audit/audit-record.ts';
import { OUTCOME_KINDS } from '../domain/outcome/outcome.ts';
import type { CommandContext } from './command-context.ts';
import { readDuration } from './duration.ts';
import { SingleOption } from './single-option.ts';

/** Reads a time such as `2026-11-15T09:30:00Z`, or how long ago: `2h`. Returns milliseconds since 1970. */
function readMoment(text: string): number {
  if (/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text)) {
    const at = Date.parse(text);
    if (Number.isFinite(at)) return at;
  }
  try {
    return Date.now() - readDuration(text);
  } catch {
    throw new InvalidArgumentError('Give a time such as 2026-11-15T09:30:00Z or 2026-11-15, or how long ago: 2h.');
  }
}

function oneOf(flags: string, description: string, words: readonly string[]): SingleOption {
  const option = new SingleOption(flags, description, (text) => {
    if (words.includes(text)) return text;
    throw new InvalidArgumentError(`Expected one of ${words.join(', ')}.`);
  });
  option.completes = words;
  return option;
}

export function addFilters(command: Command): Command {
  return command
    .addOption(new SingleOption('--from <time>', 'not before this time, or not longer ago: 2h', readMoment))
    .addOption(new SingleOption('--to <time>', 'before this time', readMoment))
    .addOption(new SingleOption('--tenant <tenant>', 'only of this tenant'))
    .addOption(new SingleOption('--subject <subject>', 'only for this subject'))
    .addOption(new SingleOption('--agent <agent>', 'only by this agent'))
    .addOption(new SingleOption('--tool <tool>', 'only of this tool'))
    .addOption(new SingleOption('--call <id>', 'only of this call'))
    .addOption(new SingleOption('--by <who>', 'only what was decided or changed by: "operator ada"'))
    .addOption(oneOf('--event <event>', 'only this kind of record', AUDIT_EVENTS))
    .addOption(
      oneOf('--outcome <kind>', 'only calls that ended so; not-ok: otherwise than ok', ['not-ok', ...OUTCOME_KINDS]),
    );
}

const NAMES = ['from', 'to', 'tenant', 'subject', 'agent', 'tool', 'event', 'outcome', 'by'] as const;

export function filterOf({ options }: CommandContext): AuditFilter {
  const given = NAMES.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]);
  const call = options['call'] === undefined ? [] : [['callId', options['call']]];
  return Object.fromEntries([...given, ...call]) as AuditFilter;
}
