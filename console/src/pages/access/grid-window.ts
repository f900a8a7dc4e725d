/** The items from `first` up to, but not including, `end`. */
export interface Span {
  readonly first: number;
  readonly end: number;
}

export interface Axis {
  /** The scroll position (`offset`) and the visible length of the axis, in pixels. */
  readonly offset: number;
  readonly length: number;
  readonly itemSize: number;
  readonly count: number;
}

/** How many items are rendered beyond the visible ones, so that a fast scroll shows no empty area. */
const OVERSCAN = 4;

export function visibleSpan({ offset, length, itemSize, count }: Axis): Span {
  const first = Math.max(0, Math.floor(offset / itemSize) - OVERSCAN);
  const end = Math.min(count, Math.ceil((offset + length) / itemSize) + OVERSCAN);
  return { first: Math.min(first, count), end: Math.max(end, 0) };
}

/** The indexes to render. The focused one is always included, because an element that is removed from the page loses the focus. */
export function renderedIndexes({ first, end }: Span, focused: number, count: number): number[] {
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, step) => first + step);
  if (focused < 0 || focused >= count || (focused >= first && focused < end)) return indexes;
  return focused < first ? [focused, ...indexes] : [...indexes, focused];
}

/**
 * The scroll offset at which an item is completely visible; the current offset if it already is. `covered`: how much a sticky header hides
 * at the start.
 */
export function offsetToShow(index: number, { offset, length, itemSize }: Axis, covered: number): number {
  const start = index * itemSize;
  if (start < offset) return start;
  const seen = length - covered;
  return start + itemSize > offset + seen ? start + itemSize - seen : offset;
}
