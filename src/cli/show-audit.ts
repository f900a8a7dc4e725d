import { showRecord, type ShownRecord } from '../domain/audit/show-record.ts';
import type { ChainedRecord } from '../domain/audit/audit-record.ts';
import { escapeJson } from '../base/escape-text.ts';
import type { Cell, Terminal } from './terminal.ts';

const HEAD = ['TIME', 'EVENT', 'ENDED', 'TOOL', 'AGENT', 'SUBJECT', 'CALL', 'WHY'];

/** Prints records as a table. The caller passes the oldest first, as a log is read. */
export function printRecords(terminal: Terminal, records: readonly ChainedRecord[], withHead = true): void {
  terminal.printTable(
    withHead ? HEAD : undefined,
    records.map((each) => toRow(showRecord(each))),
  );
}

/** One line of JSON with the record exactly as it was chained. For a terminal, everything that it would interpret is escaped. */
export function jsonLine(record: ChainedRecord, isForTerminal: boolean): string {
  const line = lineOf(record);
  return isForTerminal ? escapeJson(line) : line;
}

function lineOf({ text, chain, payload }: ChainedRecord): string {
  const {
    arguments: args,
    detail,
    comment,
  } = showRecord({ text, chain, ...(payload === undefined ? {} : { payload }) });
  const shown = payload === undefined ? null : { arguments: args, detail, comment };
  return `{"record":${text},"chain":"${Buffer.from(chain).toString('hex')}","payload":${JSON.stringify(shown)}}\n`;
}

function toRow(record: ShownRecord): Cell[] {
  const { at, event, outcome, tool = '', agent = '', subject = '', callId = '' } = record;
  const ended: Cell =
    outcome === undefined ? '' : outcome === 'ok' ? { text: 'ok', style: 'green' } : { text: outcome, style: 'yellow' };
  return [timeOf(at), event, ended, tool, agent, subject, callId, whyOf(record)];
}

/** Formats the time of a record. If a writer of the sink has changed the record, its time may be invalid. */
function timeOf(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? `time ${at}` : date.toISOString();
}

function whyOf(record: ShownRecord): string {
  const { code, rule, hook, grant, approval, decision, by, resolution, parent, detail, comment, erased } = record;
  const { via, changed, policyVersion, token, tokenName, scopes, session, sessions, resultChangedBy } = record;
  const isAdministrative = record.callId === undefined;
  const parts = [
    ...(isAdministrative
      ? [
          policyVersion !== undefined && `policy version ${policyVersion}`,
          changed?.join(', '),
          token && `token ${token} (${tokenName ?? ''}: ${scopes?.join(', ') ?? ''})`,
          session && `session ${session}`,
          sessions !== undefined && sessions > 1 && `with ${sessions - 1} delegated`,
        ]
      : []),
    code,
    rule && `rule ${rule}`,
    hook && `hook ${hook}`,
    resultChangedBy && `result changed by ${resultChangedBy.join(', ')}`,
    grant && `grant ${grant}`,
    approval && `approval ${approval}`,
    decision,
    by && `by ${by}${via === undefined ? '' : ` (${via})`}`,
    resolution,
    parent && `called by ${parent}`,
    detail,
    comment,
    erased && 'erased',
  ];
  return parts.filter(Boolean).join('; ');
}
