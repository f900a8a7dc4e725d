import { createHash } from 'node:crypto';
import { countNoun } from '../base/count-noun.ts';
import type { ForeignStatement } from '../domain/audit/audit-record.ts';
import type { AuditEntry, JournalElement, JournalPage, SequenceRange } from '../domain/ports/audit-store.ts';

export interface DrainPlan {
  /** Records to be chained and committed. */
  readonly records: readonly AuditEntry[];
  /** Records that are already in the sink: an earlier owner committed them and stopped before it removed them from the lane. */
  readonly repeated: readonly AuditEntry[];
  /** Sequence of the last record that has left the lane once this plan is carried out. */
  readonly through: number;
  /** Position of the last element to be removed, counted since the lane was created; `last` is the digest of that element. */
  readonly position: number;
  readonly last: string;
  readonly surplus: number;
  readonly foreign: number;
  /** Elements and records that a process with a Redis role has appended by hand, bypassing the functions. */
  readonly found?: Omit<ForeignStatement, 'kind' | 'at' | 'store' | 'lane'>;
  readonly problem?: DrainProblem;
}

export interface DrainProblem {
  readonly what: string;
  /** The records that are missing. */
  readonly gap?: SequenceRange;
}

/**
 * Decides what happens to a page of a lane's journal. A record gets its number from its place in the journal and never from its own bytes.
 * The attack: any role that audits can append, and a record with a number that belongs to another one must neither displace that one nor
 * stop the drain. Loss is found by sums: every record that the lane has counted must be in the sink or in the journal.
 *
 *     counted + surplus = drained + waiting      all is well
 *                       > drained + waiting      records are lost: stop at the place where the lane's numbers jump
 *                       < drained + waiting      records were appended by hand: take them, and report it
 *
 * @param sunk the last record in the sink
 */
export function planDrain(page: JournalPage, sunk: number): DrainPlan {
  const { drained, surplus, elements } = page;
  const waiting = page.length - elements.filter(({ entry }) => entry === undefined).length;
  const isWhole = page.position + elements.length >= page.removed + page.length;
  const missing = page.counted + surplus - drained - waiting;
  if (drained + waiting < sunk) {
    const what = `the lane has had ${countNoun(drained + waiting, 'record')} and the sink has ${sunk}: the store holds older data`;
    return { ...take(page, 0, sunk), problem: { what } };
  }
  if (missing > 0) {
    const jump = findJump(page);
    if (jump === undefined && !isWhole) return take(page, elements.length, sunk);
    const plan = take(page, jump ?? elements.length, sunk);
    return { ...plan, problem: describeLoss(page, plan.through, missing, jump) };
  }
  // Elements after this page may not be records. So whether there are too many records is known only if the page reaches the end of the
  // journal.
  return take(page, elements.length, sunk, isWhole ? -missing : 0);
}

function describeLoss(page: JournalPage, through: number, missing: number, jump: number | undefined): DrainProblem {
  const gap = { from: through + 1, to: through + missing };
  const which = missing === 1 ? `record ${gap.from} is missing` : `records ${gap.from} to ${gap.to} are missing`;
  const then =
    jump === undefined
      ? `the lane has counted ${page.counted}`
      : `the lane goes on with ${page.elements[jump]!.entry!.counted}`;
  return { what: `${which}; ${then}`, gap };
}

/** Index of the first element whose number, counted by the lane itself, skips one or more numbers; undefined if there is none. */
function findJump({ drained, surplus, elements }: JournalPage): number | undefined {
  let before = drained - surplus;
  const at = elements.findIndex(({ entry }) => {
    if (entry === undefined) return false;
    if (entry.counted > before + 1) return true;
    before = Math.max(before, entry.counted);
    return false;
  });
  return at === -1 ? undefined : at;
}

function take(page: JournalPage, count: number, sunk: number, uncounted = 0): DrainPlan {
  const taken = page.elements.slice(0, count);
  const entries: AuditEntry[] = [];
  for (const { entry } of taken) {
    if (entry === undefined) continue;
    const { counted: _, ...record } = entry;
    entries.push({ ...record, sequence: page.drained + entries.length + 1 });
  }
  const through = page.drained + entries.length;
  const strange = taken.filter(({ entry }) => entry === undefined);
  const first = page.removed + 1;
  return {
    records: entries.filter(({ sequence }) => sequence > sunk),
    repeated: entries.filter(({ sequence }) => sequence <= sunk),
    through,
    position: page.removed + taken.length,
    last: taken.at(-1)?.digest ?? '',
    surplus: page.surplus + uncounted,
    foreign: page.foreign + strange.length,
    ...(strange.length === 0 && uncounted === 0
      ? {}
      : {
          found: {
            after: page.drained,
            through,
            elements: strange.length,
            bytes: strange.reduce((sum, { bytes }) => sum + bytes, 0),
            digest: digestOf(strange),
            positions: [first, page.removed + taken.length],
            uncounted,
          },
        }),
  };
}

function digestOf(elements: readonly JournalElement[]): string {
  const hash = createHash('sha256');
  for (const { digest } of elements) hash.update(digest);
  return hash.digest('hex');
}
