import type { TrailPage } from '../domain/ports/audit-store.ts';
import { nameLane } from '../domain/audit/audit-record.ts';
import type { Terminal } from './terminal.ts';

/**
 * Warns of records that the trail's index returned for the query although their own text does not match it. That means that the index was
 * changed.
 */
export function warnOfStrays(terminal: Terminal, { strays = [] }: TrailPage): void {
  const [first] = strays;
  if (first === undefined) return;
  const which = `record ${first.sequence} of ${nameLane(first.lane)}`;
  const more = strays.length === 1 ? '' : ` and ${strays.length - 1} more`;
  terminal.warn(`${which}${more} left out: the index of the trail was changed. See sallyport audit verify.`);
}
