import { findEntryPoints, type EntryPoint, type ParameterOrder } from './entry-points.ts';

/**
 * Marks a guarding function for all code, including another copy of this package. Only `isWrapped` reads it. No check depends on it: a tool
 * could set it on itself.
 */
const WRAPPED = Symbol.for('sallyport.gate.wrapped');

interface Guarded {
  readonly gate: object;
  readonly run: object;
  /** The tool's own function, behind the guard. */
  readonly entry: EntryPoint;
}

/** Keyed by the guarding function, because a copied object (`{ ...tool }`) keeps it. Weak: an entry disappears together with its tool. */
const guards = new WeakMap<object, Guarded>();

/** Whether all known ways into this tool lead through a gate. */
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
 * Returns a copy of the tool whose code is entered through the gate: same prototype, same members, same flags on them. A tool without code
 * is returned as it is, and so is a tool that was wrapped for this run. A tool that was wrapped for another run of the same gate is checked
 * only once, for the new run. Checks of another gate are made in addition.
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

/** A copy with one member replaced: same prototype, same members, same flags on them. */
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
