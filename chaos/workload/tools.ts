import { createHash } from 'node:crypto';

interface ChaosTool {
  readonly effect: 'read' | 'idempotent' | 'unsafe';
  readonly serial?: true;
}

/** The tools that the module in `modules/` serves. The checks judge the effect log by this table, not by what the plane reports. */
export const TOOLS = {
  read: { effect: 'read' },
  put: { effect: 'idempotent' },
  send: { effect: 'unsafe' },
  line: { effect: 'unsafe', serial: true },
  turn: { effect: 'idempotent', serial: true },
  slowRead: { effect: 'read' },
  slowSend: { effect: 'unsafe' },
  /** A person is asked about each call. */
  asked: { effect: 'unsafe' },
  /** The policy opens and closes this tool all the time. */
  gated: { effect: 'read' },
  gatedSend: { effect: 'unsafe' },
  /** Calls the tool `leaf`. */
  nest: { effect: 'idempotent' },
  leaf: { effect: 'unsafe' },
  /** Kills its worker. */
  poison: { effect: 'read' },
} as const satisfies Record<string, ChaosTool>;

export type ToolName = keyof typeof TOOLS;

export const MODULE = 'chaos';

export function toolOf(id: string): ChaosTool | undefined {
  const name = id.startsWith(`${MODULE}.`) ? id.slice(MODULE.length + 1) : id;
  return Object.hasOwn(TOOLS, name) ? TOOLS[name as ToolName] : undefined;
}

/** Digest of a JSON value; the order of members does not matter. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(stableJson(value)).digest('base64url').slice(0, 16);
}

function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
