/** The code a module was loaded from, as it was then: its own file, and what it shares with others in its folder. */
export interface ModuleSources {
  readonly file: string;
  readonly own: Uint8Array;
  readonly shared: ReadonlyMap<string, Uint8Array>;
}

/** By the object that names them, a loaded module or a tool's source: they are forgotten together. */
const kept = new WeakMap<object, ModuleSources>();

export function keepSources(owner: object, sources: ModuleSources): void {
  kept.set(owner, sources);
}

export function passSourcesOn(from: object, to: object): void {
  const sources = kept.get(from);
  if (sources !== undefined) kept.set(to, sources);
}

/** Code by the absolute path of its file. */
export function sourcesOf(owner: object): ReadonlyMap<string, Uint8Array> | undefined {
  const sources = kept.get(owner);
  return sources && new Map([...sources.shared, [sources.file, sources.own]]);
}
