import type { Mutant } from '../mutant.ts';

const EMBEDDED = 'test/contract/embedded.test.ts';
const REDIS = 'test/contract/redis.test.ts';
const CANCEL = 'test/mcp/owed-cancel.test.ts';
const TIME = 'test/mcp/owed-time.test.ts';
const CALLS = 'test/mcp/owed-calls.test.ts';
const OPENING = 'test/mcp/owed-opening.test.ts';
const OLDER = 'test/redis/older-build.test.ts';
const UNIT = 'src/gateway/mcp/owed-request.test.ts';

/** Bugs in the calls owed to MCP clients: which call a repeated request takes, and when such a call is released or cancelled. */
export const OWED: readonly Mutant[] = [
  {
    id: 'taken-calls-stay-owed',
    bug: 'A repeat that takes an owed call leaves it in the set: two repeats are given one call.',
    file: 'src/stores/redis/functions/hold-owed.lua',
    find: 'entry.holder, entry.attempt = holder, attempt',
    replace: 'entry.attempt = attempt',
    caughtBy: [
      { file: REDIS, title: 'a repeat takes an owed call, once' },
      {
        file: REDIS,
        title: 'two owed calls answer two repeats, the older one first, and a third is a call of its own',
      },
    ],
  },
  {
    id: 'embedded-taken-calls-stay-owed',
    bug: 'The same on the embedded store.',
    file: 'src/stores/embedded/transitions/owed.ts',
    find: 'UPDATE owed SET holder = ?, attempt = ?, expiresAt',
    replace: 'UPDATE owed SET holder = NULL || ?, attempt = ?, expiresAt',
    caughtBy: [{ file: EMBEDDED, title: 'a repeat takes an owed call, once' }],
  },
  {
    id: 'open-requests-are-owed',
    bug: 'A call whose request is open counts as owed: of two identical calls at the same time one is made.',
    file: 'src/stores/redis/functions/hold-owed.lua',
    find: 'if entry.holder == owed.NOBODY and entry.owed_from <= came_at then',
    replace: 'if entry.owed_from <= came_at then',
    caughtBy: [{ file: REDIS, title: 'an open request of another gateway that beats is not owed' }],
  },
  {
    id: 'embedded-open-requests-are-owed',
    bug: 'The same on the embedded store.',
    file: 'src/stores/embedded/transitions/owed.ts',
    find: 'holder === null && owedFrom <= cameAt',
    replace: 'holder !== undefined && owedFrom <= cameAt',
    caughtBy: [{ file: EMBEDDED, title: 'an open request of the same gateway is not owed' }],
  },
  {
    id: 'overtaken-calls-are-made',
    bug: 'A call whose cancellation came before it is made: its client has sent it again, and it is made twice.',
    file: 'src/gateway/mcp/sessions-of-2025.ts',
    find: 'if (named !== undefined && !session.open.has(named)) session.overtaken.add(named);',
    replace: 'void named;',
    caughtBy: [{ file: CANCEL, title: 'a call whose cancellation came before it is not made' }],
  },
  {
    id: 'parallel-requests-take-each-other',
    bug: 'A request that came before its twin was told to come back takes that call: of two intended calls one is made.',
    file: 'src/stores/redis/functions/hold-owed.lua',
    find: 'local came_at = now - (tonumber(waited_ms) or 0)',
    replace: 'local came_at = now',
    caughtBy: [{ file: REDIS, title: 'takes the call only if that answer was lost' }],
  },
  {
    id: 'embedded-parallel-requests-take-each-other',
    bug: 'The same on the embedded store.',
    file: 'src/stores/embedded/transitions/owed.ts',
    find: 'const cameAt = transaction.now - Math.floor(request.waitedMs ?? 0);',
    replace: 'const cameAt = transaction.now;',
    caughtBy: [{ file: EMBEDDED, title: 'takes the call only if that answer was lost' }],
  },
  {
    id: 'lost-answers-keep-their-calls',
    bug: 'A client whose "come back" was lost makes its call again: its repeat had come before.',
    file: 'src/gateway/mcp/owed-calls.ts',
    find: "else if (change.to === 'lost') open.wake(place);",
    replace: '',
    caughtBy: [{ file: CALLS, title: 'when that answer is lost' }],
  },
  {
    id: 'late-releases-are-not-for-their-repeats',
    bug: 'A release that the store took late is not for the repeat that came before: its call is made again.',
    file: 'src/gateway/mcp/owed-calls.ts',
    find: "if (now.to === 'owed' && now.owedAfterMs === 0) next = { ...now, to: 'lost' };",
    replace: '',
    caughtBy: [{ file: CALLS, title: 'first sends the release that the store did not take' }],
  },
  {
    id: 'living-gateways-lose-their-calls',
    bug: 'An entry of another gateway is taken although that gateway has beaten since.',
    file: 'src/stores/redis/functions/hold-owed.lua',
    find: 'if since and owed.beat_of(lane, entry.holder) <= since and now >= since + lease_ms then',
    replace: 'if since and now >= since + lease_ms then',
    caughtBy: [{ file: REDIS, title: 'an open request of another gateway that beats is not owed' }],
  },
  {
    id: 'a-lost-holder-releases-its-entry',
    bug: 'A gateway that was taken for dead removes the entry that another request holds by now.',
    file: 'src/stores/redis/functions/release-owed.lua',
    find: "if not entry or entry.attempt ~= attempt then return 'GONE' end",
    replace: "if not entry then return 'GONE' end",
    caughtBy: [{ file: REDIS, title: 'a holder that lost its entry to another cannot release it' }],
  },
  {
    id: 'calls-leave-before-the-answer-is-written',
    bug: 'A call is owed no more before its answer was written: a client that loses it makes a second call.',
    file: 'src/gateway/mcp/owed-request.ts',
    find: "void (this.#sent ?? Promise.resolve<Sent>('finished')).then(",
    replace: "void Promise.resolve<Sent>('finished').then(",
    caughtBy: [
      { file: UNIT, title: 'holds its call until all of the answer was written' },
      { file: UNIT, title: 'owes its call when the connection ends before the answer was written' },
    ],
  },
  {
    id: 'lost-connections-owe-nothing',
    bug: 'A call whose connection was lost while it ran is not owed.',
    file: 'src/gateway/mcp/owed-request.ts',
    find: '    this.#isLost = true;\n    void this.lose();\n',
    replace: '    this.#isLost = true;\n',
    caughtBy: [{ file: UNIT, title: 'owes its call at once when the response is' }],
  },
  {
    id: 'cancelled-requests-stay-open',
    bug: 'A request that its client cancelled holds its call until the call has ended: the same request again is a second effect.',
    file: 'src/gateway/mcp/owed-request.ts',
    find: "else signal.addEventListener('abort', () => this.#end(), { once: true });",
    replace: '',
    caughtBy: [{ file: UNIT, title: 'owes its call at once when its client cancels' }],
  },
  {
    id: 'named-calls-are-anybodys',
    bug: 'Another agent of the subject that names a call takes its entry: the repeat of the owner is a second effect.',
    file: 'src/stores/redis/functions/hold-owed.lua',
    find: 'if not entry or entry.digest ~= digest or owed.is_over(book, entry, now) then',
    replace: 'if not entry or owed.is_over(book, entry, now) then',
    caughtBy: [{ file: REDIS, title: 'a call that is named with another digest stays owed, and stays held' }],
  },
  {
    id: 'embedded-named-calls-are-anybodys',
    bug: 'The same on the embedded store.',
    file: 'src/stores/embedded/transitions/owed.ts',
    find: 'name = ?3 AND digest = ?4 AND',
    replace: 'name = ?3 AND ?4 IS NOT NULL AND',
    caughtBy: [{ file: EMBEDDED, title: 'a call that is named with another digest stays owed, and stays held' }],
  },
  {
    id: 'cancelled-repeats-cancel-the-call',
    bug: 'A client that stops waiting for an earlier call cancels it, and the question about it.',
    file: 'src/gateway/mcp/call-once.ts',
    find: 'call({ ...request, signal: neverCancels }, answered, onEvent, key)',
    replace: 'call(request, answered, onEvent, key)',
    caughtBy: [{ file: 'test/mcp/owed-stdio.test.ts', title: 'a question outlives a repeat over' }],
  },
  {
    id: 'repeats-undo-cancels-of-operators',
    bug: 'A repeat makes a call anew that an operator has cancelled.',
    file: 'src/gateway/mcp/owed-request.ts',
    find: "kind === 'cancelled' && executed === 'no' && error?.facts?.['by'] === 'request'",
    replace: "kind === 'cancelled' && executed === 'no' && error?.facts?.['by'] !== ''",
    caughtBy: [
      { file: UNIT, title: 'a call is called off by the request that made it, and by nothing that named it' },
      { file: CANCEL, title: 'that an operator cancels stays cancelled: its repeat makes no other one' },
    ],
  },
  {
    id: 'repeats-call-in-the-background',
    bug: 'A repeat whose call was cancelled makes another one behind the answer, with a question that no client waits for.',
    file: 'src/gateway/mcp/call-once.ts',
    find: 'attach(request, answered, onEvent, held);',
    replace:
      "attach(request, answered, onEvent, held).then(async (end) => {\n    if (end.kind !== 'settled' || end.outcome.kind !== 'cancelled') return end;\n    await request.owed.drop();\n    return callOwed(request, answered, onEvent);\n  });",
    caughtBy: [{ file: CANCEL, title: 'that an operator cancels while its repeat waits leaves no other call behind' }],
  },
  {
    id: 'called-off-calls-are-final',
    bug: 'A repeat is told that the call was cancelled, although only the request that made it was, and nothing ran.',
    file: 'src/gateway/mcp/pursue-call.ts',
    find: 'if (anew !== undefined) return follow(context, anew);',
    replace: '',
    caughtBy: [{ file: CANCEL, title: 'a call that its own request called off is made anew by the repeat' }],
  },
  {
    id: 'held-calls-expire',
    bug: 'An entry that a living gateway holds expires while its request is open.',
    file: 'src/stores/redis/functions/shared/owed.lua',
    find: 'if entry and owed.lives(book.lane, entry.holder) then',
    replace: 'if entry and entry.expires_at > now then',
    caughtBy: [{ file: REDIS, title: 'an entry that a living gateway holds does not expire' }],
  },
  {
    id: 'embedded-held-calls-expire',
    bug: 'The same on the embedded store.',
    file: 'src/stores/embedded/transitions/owed.ts',
    find: 'expiresAt <= ?1 AND NOT ${LIVES} LIMIT ?2',
    replace: 'expiresAt <= ?1 LIMIT ?2',
    caughtBy: [{ file: EMBEDDED, title: 'an entry that a living gateway holds does not expire' }],
  },
  {
    id: 'lost-calls-expire-before-their-question',
    bug: 'A call whose client was lost is owed for an hour, however long the question about it waits.',
    file: 'src/gateway/mcp/call-once.ts',
    find: '?? APPROVAL_LIMITS.maxTimeoutMs',
    replace: '?? APPROVAL_LIMITS.defaultTimeoutMs',
    caughtBy: [{ file: TIME, title: 'is owed an hour longer than a question that waits for a week' }],
  },
  {
    id: 'dead-gateways-fill-the-bound',
    bug: 'Entries of gateways that died count as open requests: their subject is refused every call.',
    file: 'src/stores/redis/functions/hold-owed.lua',
    find: 'if not entry or not owed.lives(lane, entry.holder) then',
    replace: 'if not entry or entry.holder == owed.NOBODY then',
    caughtBy: [
      {
        file: 'test/redis/owed.test.ts',
        title: 'entries of a gateway that died make room, and those of one that lives do not',
      },
    ],
  },
  {
    id: 'embedded-dead-gateways-fill-the-bound',
    bug: 'The same on the embedded store.',
    file: 'src/stores/embedded/transitions/owed.ts',
    find: 'AND NOT ${LIVES} ORDER BY expiresAt LIMIT 1',
    replace: 'AND ?1 > 0 AND holder IS NULL ORDER BY expiresAt LIMIT 1',
    caughtBy: [
      {
        file: 'src/stores/embedded/transitions/owed.test.ts',
        title: 'entries of a gateway that died make room, and those of one that lives do not',
      },
    ],
  },
  {
    id: 'forgotten-calls-are-earlier-ones',
    bug: 'A repeat takes the entry of a call that was forgotten: it runs a second time, and the answer says that it did not.',
    file: 'src/gateway/mcp/call-once.ts',
    find: '(await plane.store.readCall(callId)) === undefined',
    replace: '(await plane.store.readCall(callId)) === null',
    caughtBy: [{ file: TIME, title: 'an entry that has outlived its call is not taken' }],
  },
  {
    id: 'lost-answers-leave-entries-held',
    bug: 'A gateway whose request to hold a call was carried out, but not answered, holds the call and does not know it.',
    file: 'src/gateway/mcp/owed-calls.ts',
    find: 'if (mayBeDone(error)) undo(request);',
    replace: 'void mayBeDone(error);',
    caughtBy: [
      { file: CALLS, title: 'a call that was taken in a request whose answer was lost is owed to the next one' },
      { file: CALLS, title: 'an entry that was made in a request whose answer was lost is removed' },
    ],
  },
  {
    id: 'repeats-overtake-failed-releases',
    bug: 'A repeat does not wait for a release that the store has not taken yet, and is a second effect.',
    file: 'src/gateway/mcp/unfinished-work.ts',
    find: 'await Promise.all(same.map((work) => work.attempt()));',
    replace: 'void same;',
    caughtBy: [
      { file: CALLS, title: 'a repeat at the same gateway first sends the release that the store did not take' },
    ],
  },
  {
    id: 'refused-requests-are-undone',
    bug: 'A request that the store refused is asked about again, once a second.',
    file: 'src/gateway/mcp/owed-calls.ts',
    find: 'if (mayBeDone(error)) undo(request);',
    replace: 'if (mayBeDone(error) || true) undo(request);',
    caughtBy: [{ file: CALLS, title: 'a request that the store refused holds nothing' }],
  },
  {
    id: 'lost-requests-pile-up',
    bug: 'A gateway whose store is away remembers any number of requests, and asks for all of them each second.',
    file: 'src/gateway/mcp/owed-calls.ts',
    find: 'unfinished.size >= MAX_UNFINISHED',
    replace: 'unfinished.size >= MAX_UNFINISHED * 1e6',
    caughtBy: [{ file: CALLS, title: 'a store that is away is asked for no more than it can be asked again' }],
  },
  {
    id: 'older-builds-lose-owed-calls',
    bug: 'What a process of the build before lets go of expires at once, and its repeat is a second effect.',
    file: 'src/stores/redis/functions/release-owed.lua',
    find: "to == 'owed' and math.max(",
    replace: "to == 'never' and math.max(",
    caughtBy: [{ file: OLDER, title: 'what it lets go of without a lifetime' }],
  },
  {
    id: 'older-builds-open-no-runs',
    bug: 'A process of the build before, which sends no bound, opens no run.',
    file: 'src/stores/redis/functions/change-session.lua',
    find: 'tonumber(ARGV[7]) or math.huge',
    replace: 'tonumber(ARGV[7]) or 0',
    caughtBy: [{ file: OLDER, title: 'opens runs, also more than a later build opens' }],
  },
  {
    id: 'lost-requests-take-calls',
    bug: 'A request that lost its connection while it waited takes the call that its repeat waits for.',
    file: 'src/gateway/mcp/owed-calls.ts',
    find: 'if (signal.aborted || isLost?.() === true) return',
    replace: 'if (signal.aborted) return',
    caughtBy: [
      { file: CALLS, title: 'a request that lost its connection while it waited for another gateway takes nothing' },
    ],
  },
  {
    id: 'full-stores-fail-mcp-calls',
    bug: 'At the memory limit of Redis an MCP call is an internal error, and not overloaded.',
    file: 'src/stores/redis/owed-store.ts',
    find: "error.code === 'STORE_FULL'",
    replace: "error.code === 'INTERNAL'",
    caughtBy: [
      { file: 'test/redis/owed.test.ts', title: 'a store at its memory limit holds nothing, and says that it is full' },
    ],
  },
  {
    id: 'unread-output-cancels-calls',
    bug: 'A client that no longer reads the output of sallyport mcp cancels its calls.',
    file: 'src/gateway/mcp/stdio.ts',
    find: `  process.stdout.prependListener('error', gone);
`,
    replace: '',
    caughtBy: [
      { file: 'test/mcp/owed-stdio.test.ts', title: 'when its client no longer reads what sallyport mcp writes' },
    ],
  },
  {
    id: 'resources-are-asked-about-again',
    bug: 'The same read of a resource is another call, and another question, each time.',
    file: 'src/gateway/mcp/surfaces.ts',
    find: 'params, tool, args, callMeta });',
    replace: 'params, tool, args, callMeta: { ...callMeta, key: randomId() } });',
    caughtBy: [
      { file: TIME, title: 'that waits for a person is one question, and the same request again is given its answer' },
    ],
  },
  {
    id: 'clients-reach-the-calls-owed',
    bug: 'The Redis user of clients and of workers may write and delete the calls owed.',
    file: 'src/stores/redis/acl-roles.ts',
    find: 'return owes ? LANE_FAMILIES :',
    replace: "return owes || role !== 'monitor' ? LANE_FAMILIES :",
    caughtBy: [
      { file: 'test/deploy/acl-boundary.test.ts', title: 'reaches the calls owed only if it serves MCP clients' },
    ],
  },
  {
    id: 'repeats-outrun-lost-connections',
    bug: 'A repeat does not wait for its gateway to notice that the first connection is gone, and is a second effect.',
    file: 'src/gateway/mcp/owed-calls.ts',
    find: 'else await open.enterInTurn(place, signal);',
    replace: 'else open.enter(place);',
    caughtBy: [
      {
        file: CALLS,
        title: 'a repeat at the same gateway waits for the gateway to notice that the first connection is gone',
      },
    ],
  },
  {
    id: 'lost-requests-make-calls',
    bug: 'A request that is cut while its session is opened still makes its call, and so does its repeat.',
    file: 'src/gateway/mcp/owed-calls.ts',
    find: "if (isLost?.() === true) return { kind: 'aborted' };\n        let",
    replace: 'let',
    caughtBy: [
      { file: CALLS, title: 'a request whose connection is gone before it holds an entry makes no call' },
      { file: OPENING, title: 'a request that is cut while its session is opened, and its repeat, are one call' },
    ],
  },
  {
    id: 'requests-of-one-step-do-not-meet',
    bug: 'A request is open only a step after it looked for identical ones: of two that come together neither waits for the other.',
    file: 'src/gateway/mcp/open-requests.ts',
    find: '      this.enter(name);\n      return Promise.resolve();',
    replace: '      return Promise.resolve().then(() => this.enter(name));',
    caughtBy: [
      {
        file: CALLS,
        title: 'of two identical requests that come in the same step, the second waits for the first to be lost',
      },
    ],
  },
  {
    id: 'waiting-requests-go-on-together',
    bug: 'When an open request has its answer, all that waited for it go on: a request that was cut meanwhile, and its repeat.',
    file: 'src/gateway/mcp/open-requests.ts',
    find: '    first?.();\n',
    replace: '    if (first !== undefined) for (const each of [...this.#places.get(name)!.waiting]) each();\n',
    caughtBy: [
      {
        file: CALLS,
        title:
          'of two requests that wait for the same one, the second waits for the first when that one has its answer',
      },
    ],
  },
  {
    id: 'stdio-revokes-questions',
    bug: '`sallyport mcp` revokes its session when its client goes, which cancels the question that it promised to keep.',
    file: 'src/cli/commands/mcp.ts',
    find: 'await sessions.leave(bearer.id);',
    replace: 'await sessions.close(bearer.id);',
    caughtBy: [{ file: 'test/mcp/owed-stdio.test.ts', title: 'a question outlives the client, and its' }],
  },
];
