/**
 * All exit codes with their meanings. The help, docs/errors.md and the constants below are
 * made from this table. 69 to 78 are codes of sysexits.h.
 */
const TABLE = {
  ok: [0, 'it was done; a call ended `ok`'],
  notOk: [1, 'the call ended otherwise, is still under way, or what was asked for was not done'],
  usage: [2, 'the command line was not understood'],
  unavailable: [69, 'something is not available: store, port, folder'],
  internal: [70, 'a defect of Sallyport'],
  auth: [77, 'not allowed: session, token file, login'],
  config: [
    78,
    'the configuration, a policy or a module path cannot be used, the Redis server is not safe, or Node is too old',
  ],
  interrupted: [130, 'ended by a second Ctrl-C'],
  terminated: [143, 'ended by a second SIGTERM'],
} as const satisfies Readonly<Record<string, readonly [code: number, meaning: string]>>;

type ExitName = keyof typeof TABLE;

export const EXIT = Object.freeze(Object.fromEntries(Object.entries(TABLE).map(([name, [code]]) => [name, code]))) as {
  readonly [Name in ExitName]: (typeof TABLE)[Name][0];
};

export const EXIT_CODES: readonly { readonly code: number; readonly meaning: string }[] = Object.values(TABLE).map(
  ([code, meaning]) => ({ code, meaning }),
);
