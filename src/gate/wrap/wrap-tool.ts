import { findEntryPoints, type EntryPoint, type ParameterOrder } from './entry-points.ts';

/**
 * Marks a guarding function, so that another copy of this package recognises it too. Only `isWrapped` reads the mark. No check depends on
 * it, because a tool could set it on itself.
 */
const WRAPPED = Symbol.for('sallyport.gate.wrapped');

interface Guarded {
  readonly gate: object;
  readonly run: object;
  /** The tool's own function, behind the guard. */
  readonly entry: EntryPoint;
}

/**
 * Facts about each guarding function. The key is the function and not the tool object, because a copied object (`{ ...tool }`) keeps the
 * function. Weak: an entry disappears together with its function.
 */
const guards = new WeakMap<object, Guarded>();

/** Whether all known functions of this tool are called through a gate. */
export function isWrapped(tool: unknown): boolean {
  if (typeof tool !== 'object' || tool === null) return false;
  const entries = findEntryPoints(tool, 'input-first');
  return entries.length > 0 && entries.every(({ enter }) => guards.has(enter) || Object.hasOwn(enter, WRAPPED));
}

export interface Wrapping {
  readonly gate: object;
  readonly run: object;
  readonly reads: ParameterOrder;
  readonly guard: (entry: EntryPoint) => EntryPoint['enter'];
}

/**
 * Returns a copy of the tool with the same prototype, members and flags, whose functions are called through the gate. A tool without
 * functions is returned as it is, and so is a tool that was wrapped for this run. A tool that was wrapped for another run of the same gate
 * is checked only once, for the new run. The checks of another gate are made in addition.
 */
export function wrapEntries<Tool extends object>(tool: Tool, wrapping: Wrapping): Tool {
  const open = findEntryPoints(tool, wrapping.reads).filter(({ enter }) => guards.get(enter)?.run !== wrapping.run);
  return open.reduce((copy, entry) => replaceMember(copy, entry.path, guardOnce(entry, wrapping)), tool);
}

function guardOnce(found: EntryPoint, { gate, run, guard }: Wrapping): EntryPoint['enter'] {
  const known = guards.get(found.enter);
  const entry = known?.gate === gate ? { ...known.entry, reads: found.reads } : found;
  const guarding = guard(entry);
  guards.set(guarding, { gate, run, entry });
  return Object.defineProperties(guarding, {
    [WRAPPED]: { value: true },
    name: { value: entry.enter.name, configurable: true },
    length: { value: entry.enter.length, configurable: true },
  });
}

/** Returns a copy with one member replaced. The prototype, the other members and their flags stay the same. */
export function replaceMember<Holder extends object>(holder: Holder, path: readonly string[], value: unknown): Holder {
  const [name, ...rest] = path as [string, ...string[]];
  const inner = (holder as Record<string, unknown>)[name] as object;
  const own = Object.getOwnPropertyDescriptor(holder, name);
  const descriptor = {
    value: rest.length === 0 ? value : replaceMember(inner, rest, value),
    writable: own?.writable ?? true,
    enumerable: own?.enumerable ?? !(name in holder),
    configurable: own?.configurable ?? true,
  };
  const copy = Object.create(Object.getPrototypeOf(holder) as object | null, {
    ...Object.getOwnPropertyDescriptors(holder),
    [name]: descriptor,
  }) as Holder;
  if (Object.isFrozen(holder)) return Object.freeze(copy);
  if (Object.isSealed(holder)) return Object.seal(copy);
  return Object.isExtensible(holder) ? copy : Object.preventExtensions(copy);
}
