import { onBothStores, test, type Requirement } from './requirement.ts';

/** Requirements from a tool service on Redis Streams: what it did has to hold here. */
export const ROWS_RUNNING: readonly Requirement[] = [
  {
    id: 'A1',
    says: 'Only workers load the code of tools. The client reaches none of it, and works where the modules are not there.',
    tests: [
      test(
        'test/plane/client-imports.test.ts',
        'the client export reaches no code that loads, describes or runs tools',
      ),
      test('test/plane/client-library.test.ts', 'is enough for a process that cannot see the modules'),
    ],
    mutants: ['client-loads-tool-code'],
  },
  {
    id: 'A2',
    says: 'Modules come from a folder or a manifest and are reloaded when they change. A broken one is reported, the others are served.',
    tests: [
      test('test/catalog/load-modules.test.ts', 'loads files and folders with an index'),
      test('test/catalog/load-modules.test.ts', ' reports '),
      test('test/catalog/load-modules.test.ts', 'loads all the good ones'),
      test('src/modules/catalog/read-manifest.test.ts', 'refuses two setups with'),
      test('test/catalog/watch-modules.test.ts', 'loads a changed, an added and a removed module'),
      test('test/catalog/watch-modules.test.ts', 'serves the old module on while its new file is broken'),
    ],
    mutants: ['broken-modules-are-left-out-in-silence'],
  },
  {
    id: 'A3',
    says: 'The catalog has a digest per tool and for all. It is published by compare-and-set, and can be watched.',
    tests: [
      test(
        'src/modules/authoring/describe-module.test.ts',
        'changes the digest with what the caller sees and not with limits',
      ),
      test('src/modules/catalog/publish-catalog.test.ts', 'never replaces a newer version by an older one'),
      test('src/modules/catalog/publish-catalog.test.ts', 'loses nothing when 20 workers publish at once'),
      ...onBothStores('writeCatalog by two writers lets exactly one win'),
      ...onBothStores('watchCatalog is woken by a publication on another connection'),
    ],
    mutants: ['older-module-replaces-newer', 'catalog-writers-do-not-compare'],
  },
  {
    id: 'A4',
    says: 'Workers of a pool share its calls with bounded concurrency. A subject with thousands of calls does not delay another; too many are refused at the door.',
    tests: [
      ...onBothStores("another subject's call overtakes the backlog of a noisy one"),
      ...onBothStores('claim sees only its own pool'),
      ...onBothStores("accept refuses above the subject's backlog and leaves other subjects alone"),
      test('src/worker/slots.test.ts', 'gives out all slots and never more'),
      test('test/plane/fairness.test.ts', 'does not delay another subject beyond its window'),
      test('test/plane/fairness.test.ts', 'are refused at the door with a hint'),
    ],
    mutants: ['slots-are-given-twice', 'subjects-have-no-window', 'window-not-enforced', 'backlogs-have-no-bound'],
  },
  {
    id: 'A5',
    says: 'Leases are renewed and fenced. A lost call is run again, or ends as indeterminate; one that kills workers ends as crashed.',
    tests: [
      ...onBothStores('reclaim takes over a lost call with a higher fence and the same bytes'),
      ...onBothStores('a worker that lost its call can do nothing with it any more'),
      ...onBothStores('an unsafe call lost while running is never started again'),
      ...onBothStores('a call that lost two workers after its start is used up'),
      test('test/plane/crash-points.test.ts', 'one answer'),
    ],
    mutants: [
      'reclaim-acknowledges-what-it-takes',
      'start-repeats-an-unsafe-call',
      'embedded-start-repeats-an-unsafe-call',
      'poison-call-never-crashed',
    ],
  },
  {
    id: 'A6',
    says: 'A call is accepted and started only with a live session and its token. Identity comes from the session alone; nothing switches that off.',
    tests: [
      ...onBothStores('accept answers a wrong token exactly as an unknown session, and writes nothing'),
      ...onBothStores('accept names why a session ended'),
      ...onBothStores('start refuses a call whose session was revoked after the claim'),
      test('test/plane/forgery.test.ts', 'is refused as a whole and runs nothing'),
    ],
    mutants: ['any-token-opens-a-session', 'start-forgets-the-session'],
  },
  {
    id: 'A7',
    says: 'A tool gets who calls, what the caller says (marked untrusted), and the services it declared. Nothing else.',
    tests: [
      test('src/worker/runners/run-tool.test.ts', 'has what a tool may know and nothing else'),
      test('src/worker/services/open-access.test.ts', 'offers only the methods that are named'),
      test('test/plane/services.test.ts', 'a tool reaches the services its module declared, and no others'),
      test('test/plane/services.test.ts', 'identity comes from the session, for any arguments'),
      test(
        'test/services/embedded.test.ts',
        'every subject finds exactly what was written in its own conversation, knowledge and tasks',
      ),
      test(
        'test/services/redis.test.ts',
        'every subject finds exactly what was written in its own conversation, knowledge and tasks',
      ),
    ],
    mutants: ['services-offer-every-method'],
  },
  {
    id: 'A8',
    says: 'Tools send through the gateway: each message once, never by a worker that lost the call. Raw operations are asked of it.',
    tests: [
      ...onBothStores('a known effect key is not published again, by any owner of the call'),
      ...onBothStores('an effect of a worker that lost the call is refused, and nothing is queued'),
      test('test/plane/platform.test.ts', 'a raw operation is answered, and not done again'),
      test('test/contract/platform-adapters.test.ts', 'sees an adapter that sends a second time under the same key'),
    ],
    mutants: ['known-effect-is-published-again', 'effect-sent-without-the-lease'],
  },
  {
    id: 'A9',
    says: 'Files, messages and offered tools travel with the outcome to every waiter, checked and within their size.',
    tests: [
      test('test/plane/write-backs.test.ts', 'reach two waiters, a replay, and whoever asks after pending'),
      test('test/plane/write-backs.test.ts', 'a result past the cap is refused with a clear code'),
      test('test/plane/write-backs.test.ts', 'a result that cannot be sent ends failed, executed yes'),
      test('src/worker/runners/run-tool.test.ts', 'counts files and the answer together'),
      test('test/plane/injected.test.ts', 'is there for the rest of its run'),
      ...onBothStores('settle answers every waiter once, under its own correlation id'),
    ],
    mutants: ['files-have-no-size', 'reply-sent-to-another-waiter'],
  },
  {
    id: 'A10',
    says: 'One record per call: the same key and body is answered again or joined, another body is a conflict. All 13 scenarios of crashes, retries and forgeries end right.',
    tests: [
      ...onBothStores('accept of the same key and body attaches one more waiter to the one call'),
      ...onBothStores('accept of the same key with another body is a conflict and adds no waiter'),
      ...onBothStores('accept of a settled call replays its outcome'),
      test('test/plane/crash-points.test.ts', 'one answer'),
      test('test/plane/drain.test.ts', 'finishes its 20 running calls and leaves 20 queued ones'),
      test('test/plane/pause.test.ts', 'its settlements are fenced'),
      test('test/plane/retries.test.ts', 'under the same key while it runs is one run'),
      test('test/plane/retries.test.ts', 'under the same key with other arguments or another tool is a conflict'),
      test('test/plane/staleness.test.ts', 'who refreshes and runs it once under the same key'),
      test('test/plane/staleness.test.ts', 'without rejection loops'),
      test('test/plane/forgery.test.ts', 'is refused and writes nothing'),
      test('test/plane/revocation.test.ts', 'were reached without pub/sub'),
      test('test/plane/agents.test.ts', 'run exactly what each of them selected, all at once'),
      test('test/plane/nested.test.ts', 'of a privileged tool needs its own permission'),
      test('test/audit/late.test.ts', 'without a sink privileged calls are refused first'),
      test('test/plane/secrets.test.ts', 'leave no trace in replies, events, audit, logs or the files of the store'),
      test('test/plane/fairness.test.ts', 'are refused at the door with a hint'),
    ],
    mutants: [
      'accept-skips-the-idempotency-claim',
      'embedded-accept-skips-the-idempotency-claim',
      'same-key-with-another-body-is-the-same-call',
    ],
  },
  {
    id: 'A11',
    says: 'A call names the digest of its tool. Another one is stale; the client reads the catalog again and repeats the call itself. Rolling deploys do not flap.',
    tests: [
      test(
        'src/stages/identify/identify.test.ts',
        'answers stale with its own digest when no worker serves the requested one',
      ),
      test(
        'src/stages/identify/identify.test.ts',
        'hands a call back at once, marked, whose tool another worker serves',
      ),
      test('test/plane/client-library.test.ts', 'is read again by itself when a tool has changed'),
      test('test/plane/staleness.test.ts', 'without rejection loops'),
    ],
    mutants: ['tool-digest-not-compared', 'rolling-deploy-answers-stale'],
  },
  {
    id: 'A12',
    says: 'The policy has a version, and every claim sees the current one, also when nobody was told of the change.',
    tests: [
      test('src/stages/identify/identify.test.ts', 'asks the policy that comes with the claim, not one it knew before'),
      test('src/worker/policy-cache.test.ts', 'a version written while a read was under way is read again'),
      ...onBothStores('every lane has moved when writePolicy has returned'),
      ...onBothStores('a call accepted before a policy change is claimed with an old epoch'),
      test('test/plane/revocation.test.ts', 'were reached without pub/sub'),
    ],
    mutants: ['policy-read-under-way-is-enough'],
  },
  {
    id: 'A13',
    says: 'Privileged is part of a tool. Such a tool is closed until it is named, and its intent is in the audit before it runs. Arguments are redacted at any depth, with a digest of all.',
    tests: [
      test(
        'src/domain/policy/policy.test.ts',
        'neither all subjects nor a whole tenant nor all tools opens a privileged tool',
      ),
      test('src/stages/execute/begin.test.ts', 'writes the intent of a privileged tool with its mark, and of no other'),
      ...onBothStores('start commits the intent of a privileged call to the audit before it answers'),
      test(
        'src/observe/redact/create-redactor.test.ts',
        'mask members whose name has a secret word in it, at any depth',
      ),
      test('src/gate/approvals/render-question.test.ts', 'with length and digest of what runs'),
    ],
    mutants: ['everybody-opens-privileged-tools', 'privileged-tools-leave-no-intent'],
  },
  {
    id: 'A14',
    says: 'References to secrets are filled in where the tool runs. The values are scrubbed from all that leaves it.',
    tests: [
      test('src/worker/secrets/run-with-secrets.test.ts', 'gives the tool values in place of references'),
      test('src/worker/secrets/run-with-secrets.test.ts', 'scrubs results, keys, blocks and write-backs'),
      test('src/worker/secrets/taint.test.ts', 'leaves nothing of any secret in any text'),
      test('test/plane/secrets.test.ts', 'leave no trace in replies, events, audit, logs or the files of the store'),
    ],
    mutants: ['results-keep-secrets'],
  },
  {
    id: 'A15',
    says: 'How a call ended is read from the structure of its result, never from words in it. What did not end well is logged as a warning.',
    tests: [
      test('src/stages/execute/judge-result.test.ts', 'judges '),
      test('src/stages/execute/ending-to-outcome.test.ts', ', executed '),
      test('src/stages/settle/log-failure.test.ts', 'is logged as a warning'),
    ],
    mutants: ['words-in-text-decide', 'trouble-is-not-logged'],
  },
  {
    id: 'A16',
    says: 'What a tool throws becomes a safe sentence with a code and the call id. The cause is for the operator.',
    tests: [
      test('src/worker/runners/describe-thrown.test.ts', 'describeThrown gives the operator stack and causes'),
      test(
        'test/runners/run-and-judge.test.ts',
        'answers failed, denied and exception, the cause of which is only logged',
      ),
    ],
    mutants: ['models-are-told-the-cause'],
  },
  {
    id: 'A17',
    says: 'A long call is pending with its id and goes on under the same lease. Any process can fetch, await, redirect or cancel it.',
    tests: [
      test('src/client/client.test.ts', 'answers pending when its patience is over'),
      test('test/plane/long-calls.test.ts', "is pending after its tool's own waitMs"),
      test('test/plane/long-calls.test.ts', 'is cancelled by another process'),
      test('test/plane/long-calls.test.ts', 'is redirected: its outcome goes to the channel once'),
      ...onBothStores('the outcome of a redirected call is published once'),
    ],
    mutants: ['nobody-runs-out-of-patience'],
  },
  {
    id: 'A18',
    says: 'A tool can be pinned to its caller. It goes the same way: identified, gated, settled, audited.',
    tests: [
      test('src/stages/identify/identify.test.ts', 'refuses it on a worker of the fleet'),
      test('test/plane/pinned.test.ts', 'runs in the process of its caller'),
      test(
        'test/plane/pinned.test.ts',
        'is refused by permission and by selection at its execution, and the audit says so',
      ),
    ],
    mutants: ['pinned-tools-run-anywhere'],
  },
  {
    id: 'A19',
    says: 'A tool calls other tools by the same way, with the id of its own call, as the same subject and with no more rights.',
    tests: [
      ...onBothStores('accept takes a nested call on the word of the live parent'),
      ...onBothStores('accept refuses a nested call of a worker that lost the parent'),
      test('test/plane/nested.test.ts', "carries its parent's id, session, run and identity"),
      test('test/plane/nested.test.ts', 'that is denied is denied inside the parent'),
      test('test/plane/agents.test.ts', 'get nothing more through a tool that calls another'),
    ],
    mutants: ['lost-parents-make-calls', 'capability-widened-by-nested-calls'],
  },
  {
    id: 'A20',
    says: 'A worker is ready only while its loop turns. SIGTERM loses nothing. The fleet shows who lives.',
    tests: [
      test('test/plane/hygiene.test.ts', 'turns red while the consumer loop is wedged'),
      test('test/plane/drain.test.ts', 'finishes its 20 running calls and leaves 20 queued ones'),
      ...onBothStores('a worker without a heartbeat leaves the list'),
      test('src/compose/fleet-membership.test.ts', 'says it again when the store does not know it any more'),
    ],
    mutants: ['forgotten-workers-stay-away', 'wedged-workers-are-ready', 'drain-abandons-running-calls'],
  },
  {
    id: 'A21',
    says: 'Redis with TLS, Sentinel and Cluster; patience with a store that is away.',
    tests: [
      test('test/redis/connections.test.ts', 'CA and is refused without it'),
      test('test/redis/connections.test.ts', 'goes on after the primary was killed and the replica promoted'),
      test(
        'test/redis/connections.test.ts',
        'blocks no request: a server that never answers ends in STORE_UNAVAILABLE after the patience',
      ),
      test('test/contract/redis-cluster.test.ts', 'claim sees only its own lane, and every lane has its calls'),
    ],
    mutants: ['any-certificate-will-do'],
  },
  {
    id: 'A22',
    says: 'Unit files for systemd, a container image, and one command for development.',
    tests: [
      test('test/deploy/units.test.ts', 'waits longer for the end than the grace takes'),
      test('test/deploy/units.test.ts', 'takes its password as a credential'),
      test('test/deploy/health-check.test.ts', 'asks the role that the process has'),
      test('test/deploy/health-check.test.ts', 'is red for a process that is frozen or gone'),
      test('test/cli/dev.test.ts', 'answers a call from a second process'),
    ],
    mutants: ['systemd-kills-before-the-grace'],
  },
  {
    id: 'A23',
    says: 'MessagePack with a version on the wire; bytes travel as bytes.',
    tests: [
      test('src/domain/call/envelope.test.ts', 'gives back what was encoded, optional fields included'),
      test('src/domain/call/envelope.test.ts', 'visibly'),
      test('src/domain/outcome/outcome-bytes.test.ts', 'is read as it was written'),
      test('test/runners/process-runner.test.ts', 'carries a file of 8 MiB unchanged'),
    ],
    mutants: ['unknown-version-accepted'],
  },
];
