/** The filter as in the address of the page: only the fields that were set. Times are dates and times in this browser's zone. */
export interface AuditFilter {
  readonly from?: string;
  readonly to?: string;
  readonly tenant?: string;
  readonly subject?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly event?: string;
  readonly outcome?: string;
  readonly callId?: string;
  readonly by?: string;
}

const FILTER_NAMES = ['from', 'to', 'tenant', 'subject', 'agent', 'tool', 'event', 'outcome', 'callId', 'by'] as const;

export function filterOf(given: Readonly<Record<string, string | undefined>>): AuditFilter {
  const set = FILTER_NAMES.map((name) => [name, given[name]?.trim()] as const).filter(([, value]) => value);
  return Object.fromEntries(set) as AuditFilter;
}

/** The filter as the gateway takes it: times in milliseconds. A time that cannot be parsed is left out, never guessed. */
export function queryOf({ from, to, ...rest }: AuditFilter): Record<string, string | number> {
  const times = { from: readLocal(from), to: readLocal(to) };
  const known = Object.entries(times).filter((entry): entry is [string, number] => entry[1] !== undefined);
  return { ...rest, ...Object.fromEntries(known) };
}

function readLocal(text: string | undefined): number | undefined {
  const at = text === undefined ? Number.NaN : new Date(text).getTime();
  return Number.isNaN(at) || at < 0 ? undefined : at;
}
