import { Command, Option } from 'commander';
import { OUTCOME_FILTERS, type CallFilter } from '../../domain/call/call-filter.ts';
import type { TrailPlace } from '../../domain/ports/audit-store.ts';
import type { CallRow } from '../../gateway/api/call-schema.ts';
import { readSettled, type SettledPage } from '../../gateway/follow/read-settled.ts';
import { action, type CommandContext } from '../command-context.ts';
import { usage } from '../command-failure.ts';
import { showDuration } from '../duration.ts';
import { LIVE_STATES, readLiveCalls, type LiveCall } from '../live-calls.ts';
import { readCount } from '../read-count.ts';
import { SingleOption } from '../single-option.ts';
import type { Cell } from '../terminal.ts';
import { withStore } from '../with-store.ts';
import { withTrail } from '../with-trail.ts';

const DEFAULT_LIMIT = 50;

interface ListFlags extends CallFilter {
  readonly state?: string | undefined;
  readonly limit?: number | undefined;
}

export function callsListCommand(): Command {
  return new Command('list')
    .description('Calls under way, soonest deadline first; or settled ones, newest first')
    .addOption(
      new Option('--state <state>', 'only calls in this state (default: live, which is all but settled)').choices([
        'live',
        ...LIVE_STATES,
        'settled',
      ]),
    )
    .addOption(
      new Option('--outcome <kind>', 'only settled calls that ended so; or a group of outcomes, like not-ok').choices(
        OUTCOME_FILTERS,
      ),
    )
    .addOption(new SingleOption('--tool <tool>', 'only of this tool'))
    .addOption(new SingleOption('--agent <agent>', 'only by this agent'))
    .addOption(new SingleOption('--subject <subject>', 'only for this subject'))
    .addOption(new SingleOption('--tenant <tenant>', 'only of this tenant'))
    .addOption(new SingleOption('--run <run>', 'only of this run'))
    .addOption(new SingleOption('--text <text>', 'only with this in a name or code, or at the beginning of an id'))
    .addOption(new SingleOption('--limit <count>', `how many at most (default: ${DEFAULT_LIMIT})`, readCount))
    .action(
      action((context) => {
        const { limit = DEFAULT_LIMIT, state, ...filter } = filterFlags(context.options);
        const { outcome } = filter;
        if (state === 'settled' || (state === undefined && outcome !== undefined))
          return listSettled(context, filter, limit);
        if (outcome !== undefined)
          throw usage('Only settled calls have an outcome.', 'Use --outcome without --state, or with --state settled.');
        return listLive(context, state ?? 'live', filter, limit);
      }),
    );
}

function filterFlags(options: CommandContext['options']): ListFlags {
  const { limit, state, outcome, tool, agent, subject, tenant, run, text } = options as ListFlags;
  return { limit, state, outcome, tool, agent, subject, tenant, run, text };
}

function listLive(context: CommandContext, state: string, filter: CallFilter, limit: number): Promise<void> {
  const { terminal } = context;
  return withStore(context, async (store) => {
    const { calls, isCut } = await readLiveCalls(store, { state, filter, limit });
    if (terminal.json) return terminal.printJson(calls);
    if (calls.length === 0) {
      const isFiltered = state !== 'live' || Object.values(filter).some((value) => value !== undefined);
      const none = isFiltered ? 'No such call is under way.' : 'No call is under way.';
      return terminal.note(`${none} Calls that have ended: sallyport calls list --state settled`);
    }
    const now = await store.now();
    terminal.printTable(
      ['CALL', 'TOOL', 'STATE', 'SUBJECT', 'AGENT', 'AGE', 'ENDS IN'],
      calls.map((call) => toLiveRow(call, now)),
    );
    if (isCut) noteCut(context, limit);
  });
}

function toLiveRow(call: LiveCall, now: number): Cell[] {
  return [
    call.callId,
    call.tool,
    call.cancelRequested ? `${call.state}, cancelling` : call.state,
    call.identity.subject,
    call.identity.agent,
    showDuration(now - call.acceptedAt),
    showDuration(call.deadline - now),
  ];
}

/** Lists settled calls from the audit. The audit has all of them, including those whose outcome the store no longer keeps. */
function listSettled(context: CommandContext, filter: CallFilter, limit: number): Promise<void> {
  const { terminal } = context;
  return withTrail(context, async ({ trail }) => {
    const rows: CallRow[] = [];
    let place: TrailPlace | undefined;
    do {
      const page: SettledPage = await readSettled(trail, filter, place, limit - rows.length);
      rows.push(...page.rows.map(({ row }) => row));
      place = page.next;
    } while (place !== undefined && rows.length < limit);
    if (terminal.json) return terminal.printJson(rows);
    if (rows.length === 0) return terminal.note('No call has ended like that.');
    terminal.printTable(
      ['ENDED', 'CALL', 'TOOL', 'OUTCOME', 'CODE', 'SUBJECT', 'AGENT', 'RAN FOR'],
      rows.map(toSettledRow),
    );
    if (place !== undefined) noteCut(context, limit);
  });
}

function toSettledRow(row: CallRow): Cell[] {
  const { callId, tool, outcome = '', code = '', subject, agent, settledAt, ranMs } = row;
  return [
    settledAt === undefined ? '' : new Date(settledAt).toISOString(),
    callId,
    tool,
    { text: outcome, style: outcome === 'ok' ? 'green' : 'yellow' },
    code,
    subject,
    agent,
    ranMs === undefined ? '' : showDuration(ranMs),
  ];
}

function noteCut({ terminal }: CommandContext, limit: number): void {
  terminal.note(`These are the first ${limit}. More: --limit ${limit * 2}`);
}
