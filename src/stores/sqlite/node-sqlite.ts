import type * as sqlite from 'node:sqlite';

type NodeSqlite = typeof sqlite;
export type Connection = sqlite.DatabaseSync;

/** Node's own SQLite module, loaded when the first file is opened. */
let loaded: NodeSqlite | undefined;

export function nodeSqlite(): NodeSqlite {
  loaded ??= withoutItsWarning(() => process.getBuiltinModule('node:sqlite'));
  return loaded;
}

/** Node 22 warns once per process that its SQLite is experimental. The tests run on it, so this warning is hidden; every other warning is shown. */
function withoutItsWarning(load: () => NodeSqlite): NodeSqlite {
  const usual = Object.getOwnPropertyDescriptor(process, 'emitWarning')!;
  const emitWarning = usual.value as (...args: unknown[]) => void;
  process.emitWarning = (...args: unknown[]) => {
    const isItsOwn = args[1] === 'ExperimentalWarning' && String(args[0]).startsWith('SQLite ');
    if (!isItsOwn) Reflect.apply(emitWarning, process, args);
  };
  try {
    return load();
  } finally {
    Object.defineProperty(process, 'emitWarning', usual);
  }
}
