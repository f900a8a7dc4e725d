/**
 * The code that a module was loaded from, as it was at that time: its own file, and the other code in its folder that it shares with other
 * modules.
 */
export interface ModuleSources {
  readonly file: string;
  readonly own: Uint8Array;
  readonly shared: ReadonlyMap<string, Uint8Array>;
}

/** Sources by the object that they belong to, a loaded module or a tool's source. They are released together with that object. */
const kept = new WeakMap<object, ModuleSources>();

export function keepSources(owner: object, sources: ModuleSources): void {
  kept.set(owner, sources);
}

export function passSourcesOn(from: object, to: object): void {
  const sources = kept.get(from);
  if (sources !== undefined) kept.set(to, sources);
}

/** The code of a module by the absolute path of each file. */
export function sourcesOf(owner: object): ReadonlyMap<string, Uint8Array> | undefined {
  const sources = kept.get(owner);
  return sources && new Map([...sources.shared, [sources.file, sources.own]]);
}
