import type { Mutant } from '../mutant.ts';

const REDIS = 'test/contract/redis.test.ts';
const EMBEDDED = 'test/contract/embedded.test.ts';

/** Bugs against the requirements in requirements/rows-running.ts, whose ids begin with A: how tools are run. */
export const ROWS_RUNNING: readonly Mutant[] = [
  {
    id: 'client-loads-tool-code',
    bug: 'The client export imports the code that loads modules.',
    file: 'src/exports/client.ts',
    find: "export { connect, type ConnectOptions } from '../compose/connect.ts';",
    replace:
      "export { connect, type ConnectOptions } from '../compose/connect.ts';\nexport { loadModules } from '../catalog/load-modules.ts';",
    caughtBy: [
      {
        file: 'test/plane/client-imports.test.ts',
        title: 'the client export reaches no code that loads, describes or runs tools',
      },
    ],
  },
  {
    id: 'broken-modules-are-left-out-in-silence',
    bug: 'A module that cannot be loaded is missing, and nobody is told.',
    file: 'src/modules/catalog/load-modules.ts',
    find: "if (!('declaration' in result)) return [result];",
    replace: "if (!('declaration' in result)) return [];",
    caughtBy: [{ file: 'test/catalog/load-modules.test.ts', title: ' reports ' }],
  },
  {
    id: 'older-module-replaces-newer',
    bug: 'A worker that starts late publishes its old version of a module over the new one.',
    file: 'src/modules/catalog/publish-catalog.ts',
    find: 'return order < 0 || (order === 0 && yieldsToEqual);',
    replace: 'return order < -9 || (order === 0 && yieldsToEqual);',
    caughtBy: [
      { file: 'src/modules/catalog/publish-catalog.test.ts', title: 'never replaces a newer version by an older one' },
    ],
  },
  {
    id: 'catalog-writers-do-not-compare',
    bug: 'Catalog and policy on Redis are written whatever version the writer had read.',
    file: 'src/stores/redis/functions/write-versioned.lua',
    find: 'if version ~= expected then',
    replace: 'if false then',
    caughtBy: [{ file: REDIS, title: 'writeCatalog by two writers lets exactly one win' }],
  },
  {
    id: 'slots-are-given-twice',
    bug: 'A worker does not count the slots it has given out, and runs more calls at once than it may.',
    file: 'src/worker/slots.ts',
    find: 'free -= count;',
    replace: 'free -= count - count;',
    caughtBy: [{ file: 'src/worker/slots.test.ts', title: 'gives out all slots and never more' }],
  },
  {
    id: 'subjects-have-no-window',
    bug: 'All calls of a subject stand in the queue at once, and whoever comes later waits behind them.',
    file: 'src/stores/embedded/transitions/queue.ts',
    find: 'backlog === 0 && standing < window',
    replace: 'backlog + standing + window >= 0',
    caughtBy: [{ file: EMBEDDED, title: "another subject's call overtakes the backlog of a noisy one" }],
  },
  {
    id: 'any-token-opens-a-session',
    bug: 'The embedded store takes a call with any token, as long as the session is there.',
    file: 'src/stores/embedded/transitions/accept-call.ts',
    find: 'return isTokenOf(session, proof.tokenDigest);',
    replace: 'return isTokenOf(session, proof.tokenDigest) || proof.tokenDigest.length > 0;',
    caughtBy: [
      { file: EMBEDDED, title: 'accept answers a wrong token exactly as an unknown session, and writes nothing' },
    ],
  },
  {
    id: 'services-offer-every-method',
    bug: 'A tool can call methods of a service that are not offered to tools.',
    file: 'src/worker/services/open-access.ts',
    find: ' || !service.methods.includes(method)',
    replace: '',
    caughtBy: [{ file: 'src/worker/services/open-access.test.ts', title: 'offers only the methods that are named' }],
  },
  {
    id: 'known-effect-is-published-again',
    bug: 'A call that runs again sends its messages again, under the same key.',
    file: 'src/stores/redis/functions/publish-effect.lua',
    find: 'if known[1] then',
    replace: 'if false then',
    caughtBy: [{ file: REDIS, title: 'a known effect key is not published again, by any owner of the call' }],
  },
  {
    id: 'files-have-no-size',
    bug: 'Files that a tool sends do not count, so that an outcome has no bound.',
    file: 'src/worker/runners/plain-result.ts',
    find: 'plainWriteBacks(writeBacks, budget)',
    replace: 'plainWriteBacks(writeBacks, new SizeBudget(Infinity))',
    caughtBy: [{ file: 'src/worker/runners/run-tool.test.ts', title: 'counts files and the answer together' }],
  },
  {
    id: 'rolling-deploy-answers-stale',
    bug: 'A worker that does not serve a definition answers stale although another worker serves it.',
    file: 'src/stages/identify/identify.ts',
    find: 'if (pauseMs !== undefined) {',
    replace: 'if (pauseMs !== undefined && peers.serving < 0) {',
    caughtBy: [
      {
        file: 'src/stages/identify/identify.test.ts',
        title: 'hands a call back at once, marked, whose tool another worker serves',
      },
    ],
  },
  {
    id: 'policy-read-under-way-is-enough',
    bug: 'A worker takes a policy that was read before the change it was told of.',
    file: 'src/worker/policy-cache.ts',
    find: 'attempt < 2 &&',
    replace: 'attempt < 1 &&',
    caughtBy: [
      { file: 'src/worker/policy-cache.test.ts', title: 'a version written while a read was under way is read again' },
    ],
  },
  {
    id: 'everybody-opens-privileged-tools',
    bug: 'A permission for everybody opens privileged tools.',
    file: 'src/domain/policy/policy.ts',
    find: 'permission.allow ?? [], identity, tool.privileged)',
    replace: 'permission.allow ?? [], identity)',
    caughtBy: [
      {
        file: 'src/domain/policy/policy.test.ts',
        title: 'neither all subjects nor a whole tenant nor all tools opens a privileged tool',
      },
    ],
  },
  {
    id: 'privileged-tools-leave-no-intent',
    bug: 'A privileged tool runs without a record that it is about to.',
    file: 'src/stages/execute/begin.ts',
    find: 'const intent = privileged ?',
    replace: 'const intent = privileged && fence < 0 ?',
    caughtBy: [
      {
        file: 'src/stages/execute/begin.test.ts',
        title: 'writes the intent of a privileged tool with its mark, and of no other',
      },
    ],
  },
  {
    id: 'results-keep-secrets',
    bug: 'What a tool returns is not scrubbed of the secrets it was given.',
    file: 'src/worker/secrets/run-with-secrets.ts',
    find: 'return taint.isEmpty ?',
    replace: "return taint.isEmpty || ending.kind === 'returned' ?",
    caughtBy: [
      { file: 'src/worker/secrets/run-with-secrets.test.ts', title: 'scrubs results, keys, blocks and write-backs' },
    ],
  },
  {
    id: 'words-in-text-decide',
    bug: 'A text that a tool fetched is taken for a failure because of the words in it.',
    file: 'src/stages/execute/judge-result.ts',
    find: "text.startsWith('Error:')",
    replace: '/error|denied/i.test(text)',
    caughtBy: [{ file: 'src/stages/execute/judge-result.test.ts', title: 'judges ' }],
  },
  {
    id: 'trouble-is-not-logged',
    bug: 'A call that did not end well leaves no line in the log.',
    file: 'src/stages/settle/settle-outcome.ts',
    find: 'log.warn({ ...call, outcome: kind,',
    replace: 'log.debug({ ...call, outcome: kind,',
    caughtBy: [{ file: 'src/stages/settle/log-failure.test.ts', title: 'is logged as a warning' }],
  },
  {
    id: 'models-are-told-the-cause',
    bug: 'The text of an exception reaches the model.',
    file: 'src/stages/execute/ending-to-outcome.ts',
    find: 'type: ending.type }',
    replace: 'type: ending.cause }',
    caughtBy: [
      {
        file: 'test/runners/run-and-judge.test.ts',
        title: 'answers failed, denied and exception, the cause of which is only logged',
      },
    ],
  },
  {
    id: 'nobody-runs-out-of-patience',
    bug: 'A caller waits for ever instead of getting the id of a long call.',
    file: 'src/client/call-in-flight.ts',
    find: 'else this.#needs.timers.start(this, waitMs);',
    replace: 'else this.#needs.timers.start(this, waitMs + 3_600_000);',
    caughtBy: [{ file: 'src/client/client.test.ts', title: 'answers pending when its patience is over' }],
  },
  {
    id: 'pinned-tools-run-anywhere',
    bug: 'A worker of the fleet runs a tool that is pinned to its caller.',
    file: 'src/stages/identify/identify.ts',
    find: 'tool.declaration.pinned !== needs.placement',
    replace: 'id.length === 0',
    caughtBy: [{ file: 'src/stages/identify/identify.test.ts', title: 'refuses it on a worker of the fleet' }],
  },
  {
    id: 'lost-parents-make-calls',
    bug: 'A worker that lost a call can still make calls in its name.',
    file: 'src/stores/embedded/transitions/accept-call.ts',
    find: 'return findOwnedCall(transaction, proof.owned)?.session === session.id;',
    replace: 'return findOwnedCall(transaction, proof.owned)?.session !== null;',
    caughtBy: [{ file: EMBEDDED, title: 'accept refuses a nested call of a worker that lost the parent' }],
  },
  {
    id: 'forgotten-workers-stay-away',
    bug: 'A worker that the store has forgotten beats on and never says again what it serves.',
    file: 'src/compose/fleet-membership.ts',
    find: "(await registry.beatWorker({ worker, ttlMs })) === 'beaten'",
    replace: '(await registry.beatWorker({ worker, ttlMs })).length > 0',
    caughtBy: [
      {
        file: 'src/compose/fleet-membership.test.ts',
        title: 'says it again when the store does not know it any more',
      },
    ],
  },
  {
    id: 'wedged-workers-are-ready',
    bug: 'A worker whose loop stands still says that it is ready.',
    file: 'src/compose/supervisor-thread.ts',
    find: 'now - beatSeenAt > WEDGED_AFTER_MS',
    replace: 'now - beatSeenAt > 1e9 + WEDGED_AFTER_MS',
    caughtBy: [{ file: 'test/plane/hygiene.test.ts', title: 'turns red while the consumer loop is wedged' }],
  },
  {
    id: 'any-certificate-will-do',
    bug: 'Redis is believed whoever signed its certificate.',
    file: 'src/stores/redis/connection.ts',
    find: '...(caFile === undefined ? {} :',
    replace: 'rejectUnauthorized: false,\n    ...(caFile === undefined ? {} :',
    caughtBy: [{ file: 'test/redis/connections.test.ts', title: 'CA and is refused without it' }],
  },
  {
    id: 'systemd-kills-before-the-grace',
    bug: 'systemd kills a worker before its grace is over.',
    file: 'deploy/systemd/sallyport-worker@.service',
    find: 'TimeoutStopSec=45',
    replace: 'TimeoutStopSec=20',
    caughtBy: [{ file: 'test/deploy/units.test.ts', title: 'waits longer for the end than the grace takes' }],
  },
];
